# SPDX-License-Identifier: GPL-3.0-or-later
"""How bodies touch, in the window: settings, presets of friction, what is grey or locked, what outdates a bake."""

from __future__ import annotations

import json
import shutil

import numpy as np
import pytest

bpy = pytest.importorskip("bpy")

from fixtures.blender_scenes import fresh, write_cache
from fixtures.collision_objects import body, collection, collider
from sinew.addon.baking import attach_force_curves, bake_status
from sinew.addon.baking.bake_status import Status
from sinew.addon.blender_data.object_keys import body_key
from sinew.addon.cache import cache_folder_status, cache_paths
from sinew.addon.export import input_digest, input_warnings
from sinew.addon.objects import roles
from sinew.addon.panels import collision_layout, panels
from sinew.solver.bake.cache import layout
from sinew.solver.scene.contact import COLLIDER_SIDES, Collider, Collision
from sinew.solver.scene.friction_presets import FRICTION_PRESETS
from sinew.solver.scene.settings.preset_settings import CUSTOM_PRESET, FRICTION_NUMBERS
from sinew.solver.scene.settings.tables import OBJECT_SETTINGS, SCENE_SETTINGS
from test_addon import context_of, drawn

BODY = {"body_friction", "body_thickness", "self_collision"}
COLLIDER = {"use_collision", "collider_shape", "collider_sides", "friction", "thickness"}
BOTH = {"friction_preset", "collision_collection", "show_contacts"}


def names_of(obj: bpy.types.Object, part: str) -> set[str]:
    return {name for _, name in drawn(obj, part).drawn}


def test_every_setting_stands_in_its_panel() -> None:
    fresh()
    assert names_of(body(), "draw_collision") == BODY | BOTH
    assert names_of(collider(), "draw_collider") == COLLIDER | BOTH


def test_the_panels_belong_to_bodies_and_to_colliders() -> None:
    fresh()
    jelly, bowl = body(), collider()

    def shown(obj: bpy.types.Object) -> set[str]:
        found = [p for p in panels.CLASSES if issubclass(p, bpy.types.Panel) and p.bl_space_type == "PROPERTIES"]
        return {p.bl_label for p in found if p.poll(context_of(obj))} & {"Collision", "Collider"}

    assert (shown(jelly), shown(bowl)) == ({"Collision"}, {"Collider"})
    roles.make_flesh(jelly)
    assert shown(jelly) == {"Collision"}


def test_what_nobody_set_is_what_the_solver_takes() -> None:
    fresh()
    own = body().sinew
    assert (own.body_friction, own.body_thickness, own.self_collision) == (
        Collision.friction,
        Collision.thickness,
        Collision.self_contact,
    )
    assert (own.friction, own.thickness, own.collider_sides.lower()) == (
        Collider.friction,
        Collider.thickness,
        Collider.sides,
    )
    assert own.use_collision and own.collision_collection is None
    items = own.bl_rna.properties["collider_sides"].enum_items
    assert [item.identifier.lower() for item in items] == list(COLLIDER_SIDES)


def test_of_both_self_collisions_the_one_that_counts_is_shown() -> None:
    fresh()
    jelly = body()
    for motion in ("ELASTIC", "JIGGLE", "POSE"):
        jelly.sinew.motion = motion
        found = drawn(jelly, "draw_collision")
        is_pose = motion == "POSE"
        shown = {name for _, name in found.drawn if name in ("self_collision", "self_contact")}
        assert shown == {"self_contact" if is_pose else "self_collision"} and found.enabled_of("body_friction")
        assert all(map(found.enabled_of, shown)) and found.lines.count("Self Collisions") == 1
        assert (collision_layout.POSE_FRICTION_NOTE in " ".join(found.lines)) == is_pose
    jelly.sinew.motion = "ELASTIC"
    jelly.sinew.use_fracture = True
    found = drawn(jelly, "draw_collision")
    assert found.enabled_of("self_collision") and collision_layout.PIECES_COLLIDE_NOTE in " ".join(found.lines)


def test_a_ground_has_no_sides() -> None:
    fresh()
    bowl = collider()
    assert drawn(bowl, "draw_collider").enabled_of("collider_sides")
    bowl.sinew.collider_shape = "PLANE"
    found = drawn(bowl, "draw_collider")
    assert not found.enabled_of("collider_sides") and collision_layout.GROUND_SIDE_NOTE in " ".join(found.lines)


def test_settings_are_locked_while_baked(monkeypatch: pytest.MonkeyPatch) -> None:
    fresh()
    jelly, bowl = body(), collider()
    for state in (Status(), Status("baking"), Status("baked", frame=8)):
        monkeypatch.setattr(bake_status, "status", lambda _, state=state: state)
        for obj, part, names in ((jelly, "draw_collision", BODY), (bowl, "draw_collider", COLLIDER)):
            found = drawn(obj, part)
            for name in names | BOTH - {"show_contacts"}:
                assert found.enabled_of(name) == (not state.is_locked), name
            assert found.enabled_of("show_contacts")


def test_frictions_keep_their_numbers_in_files_and_name_their_source() -> None:
    fresh()
    menu = body().sinew.bl_rna.properties["friction_preset"].enum_items
    assert {item.identifier: item.value for item in menu} == FRICTION_NUMBERS
    assert len(set(FRICTION_NUMBERS.values())) == len(FRICTION_NUMBERS) == len(FRICTION_PRESETS) + 1
    assert set(FRICTION_NUMBERS) == {*FRICTION_PRESETS, CUSTOM_PRESET}
    assert menu["CUSTOM"].value == 0 and menu["RUBBER_ON_WOOD"].value == 1, "as in files of this version"
    assert [menu[key].name for key in ("RUBBER_ON_WOOD", "RUBBER_ON_GLASS", "STEEL_ON_ICE", "JELLY_ON_PLATE")] == [
        "Rubber on Wood",
        "Rubber on Glass",
        "Steel on Ice",
        "Jelly on Plate",
    ]
    for key, found in FRICTION_PRESETS.items():
        assert found.key == key and 0.0 < found.coefficient < 2.0 and len(found.source) > 30
        assert f"μ = {found.coefficient:g}" in menu[key].description


@pytest.mark.parametrize(("make", "name"), [(body, "body_friction"), (collider, "friction")])
def test_a_friction_preset_fills_in_and_turns_to_custom(make, name: str) -> None:
    fresh()
    own = make().sinew
    assert own.friction_preset == "CUSTOM"
    for key, found in FRICTION_PRESETS.items():
        own.friction_preset = key
        assert own.friction_preset == key and getattr(own, name) == pytest.approx(found.coefficient)
    setattr(own, name, 0.31)
    assert own.friction_preset == "CUSTOM" and getattr(own, name) == pytest.approx(0.31)
    own.friction_preset = "CUSTOM"
    assert getattr(own, name) == pytest.approx(0.31)


@pytest.mark.parametrize("how", ["own", "other", "key"])
def test_a_force_that_drives_what_it_came_from_is_told(how: str) -> None:
    scene = fresh()
    body("A")
    plate, free = collider(), bpy.data.objects.new("Free", None)
    scene.collection.objects.link(free)
    plate["sinew_force"] = [0.0, 0.0, 0.0]
    driven = {"own": plate, "other": free, "key": None}[how]
    if how == "key":
        plate.shape_key_add(name="Basis")
        plate.shape_key_add(name="Pressed")
        curve = plate.data.shape_keys.key_blocks["Pressed"].driver_add("value")
    else:
        curve = driven.driver_add("location", 2)
    variable = curve.driver.variables.new()
    variable.targets[0].id, variable.targets[0].data_path = plate, '["sinew_force"][2]'
    told = [note for note in input_warnings.input_warnings(scene) if note.kind == "driven-by-force"]
    assert len(told) == (how != "other"), "what takes no part may be driven"
    if how == "other":
        plate.parent = free
        told = [note for note in input_warnings.input_warnings(scene) if note.kind == "driven-by-force"]
    assert len(told) == 1 and f'"{plate.name}"' in told[0].sentence


def test_what_is_read_makes_a_bake_out_of_date() -> None:
    scene = fresh()
    jelly, bowl = body(), collider()
    known = {input_digest.settings_digest(scene)}

    def changed() -> bool:
        now = input_digest.settings_digest(scene)
        return now not in known and not known.add(now)

    jelly.sinew.body_friction = 0.1
    assert changed()
    jelly.sinew.body_thickness = 0.01
    assert changed()
    jelly.sinew.self_collision = True
    assert changed()
    bowl.sinew.collider_sides = "BOTH"
    assert changed()
    bowl.sinew.use_collision = False
    assert changed()
    bowl.sinew.keyframe_insert("use_collision", frame=3)
    assert changed()
    # who touches whom is read, not how that is said
    jelly.sinew.collision_collection = collection("Bowl Too", bowl)
    assert not changed()
    jelly.sinew.collision_collection = collection("Nobody")
    assert changed()
    # what is not read
    bowl.sinew.body_friction = 0.9
    bowl.sinew.self_collision = True
    jelly.sinew.thickness = 0.3
    jelly.sinew.collider_sides = "FRONT"
    scene.sinew.show_contacts = True
    assert not changed()
    jelly.sinew.motion = "POSE"
    assert changed()
    jelly.sinew.self_collision = False
    assert not changed(), "Follow Pose reads the other Self Collisions"
    unread = {name for name, setting in (OBJECT_SETTINGS | SCENE_SETTINGS).items() if not setting.changes_bake}
    assert {"friction_preset", "show_contacts", "collision_collection"} <= unread


def test_enabled_can_be_keyed_and_nothing_else_here() -> None:
    fresh()
    own = collider().sinew
    keyed = {name for name in BODY | COLLIDER | BOTH - {"show_contacts"} if own.bl_rna.properties[name].is_animatable}
    assert keyed == {"use_collision"}


def test_a_collider_says_what_presses_it() -> None:
    fresh()
    bowl = collider()
    assert not any("Pressed" in line for line in drawn(bowl, "draw_collider").lines)
    folder = cache_paths.cache_folder(bpy.context.scene)
    write_cache(folder, {"Jelly": np.zeros((3, 4, 3))})
    line = json.dumps({"frame": 2, "colliders": {body_key(bowl): [0.0, -3000.0, 4000.0, 0.0, 0.0, 0.0]}})
    (folder / layout.REPORT_FILE).write_text(line + "\n")
    cache_folder_status.invalidate()
    bpy.context.scene.frame_set(2)
    lines = drawn(bowl, "draw_collider").lines
    assert "Pressed with 5 kN" in lines and "Create Force Curves" in lines and "Remove Force Curves" not in lines
    attach_force_curves.create_curves(bpy.context.scene, [bowl])
    lines = drawn(bowl, "draw_collider").lines
    assert "Create Force Curves" not in lines and "Remove Force Curves" in lines
    (folder / layout.REPORT_FILE).write_text("\n" + line + "\n")
    assert "Update Force Curves" in drawn(bowl, "draw_collider").lines
    shutil.rmtree(folder)
