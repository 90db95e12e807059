# SPDX-License-Identifier: GPL-3.0-or-later
"""How bodies touch, in the window: settings, presets of friction, who touches whom, and what is said of a bake."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

bpy = pytest.importorskip("bpy")

from blender_scenes import add_box, fresh, write_cache
from sinew.addon import choices, collision_filter, export, friction, messages, roles
from sinew.addon.baking import bake_status, cache_look, cache_place, present_bake
from sinew.addon.baking.bake_job import Job
from sinew.addon.baking.status import Status
from sinew.addon.drawing import contact_display, contact_overlay, layout_collision, panels
from sinew.addon.reading import contact_notes, input_notes, inputs
from sinew.addon.reading.settings_read import NOT_PHYSICS
from sinew.solver.cache import layout
from sinew.solver.cache.tally import Tally
from sinew.solver.collision import SIDES, Collider, Collision
from sinew.solver.friction_presets import FRICTIONS
from test_addon import context_of, drawn

BODY = {"body_friction", "body_thickness", "self_collision"}
COLLIDER = {"use_collision", "collider_shape", "collider_sides", "friction", "thickness"}
BOTH = {"friction_preset", "collision_collection", "show_contacts"}


def body(name: str = "Jelly", divisions: int = 4) -> bpy.types.Object:
    obj = add_box(name, divisions=divisions)
    roles.make_body(obj)
    bpy.context.view_layer.update()
    return obj


def collider(name: str = "Bowl") -> bpy.types.Object:
    obj = add_box(name, divisions=1)
    roles.make_collider(obj)
    return obj


def collection(name: str, *objects: bpy.types.Object) -> bpy.types.Collection:
    made = bpy.data.collections.new(name)
    bpy.context.scene.collection.children.link(made)
    for obj in objects:
        made.objects.link(obj)
    return made


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
    assert [name.lower() for name, *_ in choices.COLLIDER_SIDES] == list(SIDES)


def test_self_collision_is_grey_where_flesh_has_a_switch_of_its_own() -> None:
    fresh()
    jelly = body()
    for motion in ("ELASTIC", "JIGGLE", "POSE"):
        jelly.sinew.motion = motion
        found = drawn(jelly, "draw_collision")
        is_pose = motion == "POSE"
        assert found.enabled_of("self_collision") != is_pose and found.enabled_of("body_friction")
        assert (layout_collision.POSE_TOUCHES_ITSELF in " ".join(found.lines)) == is_pose
    jelly.sinew.motion = "ELASTIC"
    jelly.sinew.use_fracture = True
    found = drawn(jelly, "draw_collision")
    assert found.enabled_of("self_collision") and layout_collision.PIECES_COLLIDE in " ".join(found.lines)


def test_a_ground_has_no_sides() -> None:
    fresh()
    bowl = collider()
    assert drawn(bowl, "draw_collider").enabled_of("collider_sides")
    bowl.sinew.collider_shape = "PLANE"
    found = drawn(bowl, "draw_collider")
    assert not found.enabled_of("collider_sides") and layout_collision.GROUND_HAS_FRONT in " ".join(found.lines)


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
    assert {item.identifier: item.value for item in menu} == friction.NUMBERS
    assert len(set(friction.NUMBERS.values())) == len(friction.NUMBERS) == len(FRICTIONS) + 1
    assert set(friction.NUMBERS) == {*FRICTIONS, friction.CUSTOM}
    assert menu["CUSTOM"].value == 0 and menu["RUBBER_ON_WOOD"].value == 1, "as in files of this version"
    assert [menu[key].name for key in ("RUBBER_ON_WOOD", "RUBBER_ON_GLASS", "STEEL_ON_ICE", "JELLY_ON_PLATE")] == [
        "Rubber on Wood",
        "Rubber on Glass",
        "Steel on Ice",
        "Jelly on Plate",
    ]
    for key, found in FRICTIONS.items():
        assert found.key == key and 0.0 < found.coefficient < 2.0 and len(found.source) > 30
        assert f"μ = {found.coefficient:g}" in menu[key].description and found.source in menu[key].description


@pytest.mark.parametrize(("make", "name"), [(body, "body_friction"), (collider, "friction")])
def test_a_friction_preset_fills_in_and_turns_to_custom(make, name: str) -> None:
    fresh()
    own = make().sinew
    assert own.friction_preset == "CUSTOM"
    for key, found in FRICTIONS.items():
        own.friction_preset = key
        assert own.friction_preset == key and getattr(own, name) == pytest.approx(found.coefficient)
    setattr(own, name, 0.31)
    assert own.friction_preset == "CUSTOM" and getattr(own, name) == pytest.approx(0.31)
    own.friction_preset = "CUSTOM"
    assert getattr(own, name) == pytest.approx(0.31)


def test_two_touch_where_each_is_in_the_collection_of_the_other() -> None:
    scene = fresh()
    a, b, bowl = body("A"), body("B"), collider()
    keys = {a: "A", b: "B", bowl: "Bowl"}

    def ignored() -> set[frozenset[str]]:
        return {frozenset(pair) for pair in collision_filter.ignored_pairs(scene, keys)}

    assert ignored() == set() and collision_filter.touched(scene, a) == [b, bowl]
    only_bowl, everything = collection("Only Bowl", bowl), collection("All", a, b)
    a.sinew.collision_collection = only_bowl
    assert ignored() == {frozenset("AB")}
    assert collision_filter.touched(scene, a) == [bowl] and collision_filter.touched(scene, b) == [bowl]
    everything.children.link(only_bowl)
    a.sinew.collision_collection = everything
    assert ignored() == set(), "what is in a collection inside it counts"
    bowl.sinew.collision_collection = collection("Only B", b)
    assert ignored() == {frozenset({"A", "Bowl"})}
    assert collision_filter.touched(scene, bowl) == [b], "colliders touch no colliders"
    assert set(collision_filter.ignored_pairs(scene, {a: "A"})) == set(), "only what is read"


def test_the_panel_names_what_is_touched() -> None:
    fresh()
    a, bowl = body("A"), collider()
    assert not any(line.startswith("Touches") for line in drawn(a, "draw_collision").lines)
    others = [body(f"B{i}") for i in range(4)]
    a.sinew.collision_collection = collection("Some", *others, bowl)
    assert "Touches B0, B1, B2 and 2 more" in " ".join(drawn(a, "draw_collision").lines)
    a.sinew.collision_collection = collection("Bowl Alone", bowl)
    assert "Touches Bowl" in drawn(a, "draw_collision").lines
    a.sinew.collision_collection = collection("Nothing")
    assert "Touches nothing: no other body or collider is in this collection" in " ".join(
        drawn(a, "draw_collision").lines
    )
    assert "filter-empty" in {note.kind for note in input_notes.notes(bpy.context.scene)}


def test_the_panel_says_whose_filter_leaves_nothing() -> None:
    scene = fresh()
    a, bowl = body("A"), collider()
    bowl.sinew.collision_collection = collection("Others", body("B"))
    assert layout_collision.touches_nothing(scene, a) == (
        'Touches nothing: "Bowl" does not collide with it, since this object is not in "Others"'
    )
    a.sinew.collision_collection = collection("Bowl Alone", bowl)
    assert 'since this object is not in "Others"' in " ".join(drawn(a, "draw_collision").lines)
    (note,) = (note for note in input_notes.notes(scene) if note.kind.startswith("filter"))
    assert note.kind == "filter-one-sided" and '"Bowl"' in note.sentence and '"Others"' in note.sentence
    bowl.sinew.collision_collection = collection("Nobody")
    assert "no body is in this collection" in " ".join(drawn(bowl, "draw_collider").lines)


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
    told = [note for note in input_notes.notes(scene) if note.kind == "driven-by-force"]
    assert len(told) == (how != "other"), "what takes no part may be driven"
    if how == "other":
        plate.parent = free
        told = [note for note in input_notes.notes(scene) if note.kind == "driven-by-force"]
    assert len(told) == 1 and f'"{plate.name}"' in told[0].sentence


def test_what_is_read_makes_a_bake_out_of_date() -> None:
    scene = fresh()
    jelly, bowl = body(), collider()
    known = {export.settings_digest(scene)}

    def changed() -> bool:
        now = export.settings_digest(scene)
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
    assert not changed(), "Follow Pose reads Self Contact instead"
    assert {"friction_preset", "show_contacts", "collision_collection"} <= NOT_PHYSICS


def test_enabled_can_be_keyed_and_nothing_else_here() -> None:
    fresh()
    own = collider().sinew
    keyed = {name for name in BODY | COLLIDER | BOTH - {"show_contacts"} if own.bl_rna.properties[name].is_animatable}
    assert keyed == {"use_collision"}


def test_simulated_sizes_that_differ_are_told_once_with_the_worst_pair() -> None:
    scene = fresh()
    a, b, c = body("A"), body("B"), body("C")
    for obj, size in ((a, 1.0), (b, 2.0), (c, 0.5)):
        obj.sinew.use_simulated_size, obj.sinew.simulated_size = True, size
    assert contact_notes.scale(a) == pytest.approx(0.5), "boxes are 2 m high"
    found = [note for note in contact_notes.notes(scene) if note.kind == "scales-differ"]
    assert [(note.details["name"], note.details["other"], note.details["times"]) for note in found] == [("C", "B", "4")]
    c.sinew.simulated_size = b.sinew.simulated_size = 1.05
    assert not [note for note in contact_notes.notes(scene) if note.kind == "scales-differ"], "alike enough"
    b.sinew.simulated_size = 2.0
    b.sinew.collision_collection = collection("Nobody")
    assert not [note for note in contact_notes.notes(scene) if note.kind == "scales-differ"], "they do not touch"


def test_a_plate_thinner_than_its_tets_is_told_where_others_touch_it() -> None:
    scene = fresh()
    plate = body("Plate")
    plate.scale = (2.0, 1.0, 0.025)  # 2 x 1 x 0.05 m
    bpy.context.view_layer.update()
    plate.sinew.sizing, plate.sinew.tet_size = "SIZE", 0.1

    def told() -> list:
        return [note for note in contact_notes.notes(scene) if note.kind == "thin-for-tets"]

    assert told() == [], "it is alone"
    body("Ball")
    (note,) = told()
    assert note.details["name"] == "Plate" and float(note.details["thickness"]) == pytest.approx(0.1 / 2.15, abs=0.0006)
    plate.sinew.tet_size = 0.02
    assert told() == []


def test_a_collider_says_what_presses_it() -> None:
    fresh()
    bowl = collider()
    assert not any("Pressed" in line for line in drawn(bowl, "draw_collider").lines)
    bowl["sinew_force"] = [0.0, -3000.0, 4000.0]
    assert "Pressed with 5 kN" in drawn(bowl, "draw_collider").lines


def test_no_collider_has_the_key_of_a_body() -> None:
    scene = fresh()
    ball = body("Ball")
    ball.sinew.key = "Ball"  # as it was baked
    ball.name = "Old Ball"
    bowl = collider("Ball")
    found = inputs.inputs_of(scene)
    assert found.bodies == {ball: "Ball"} and found.colliders == {bowl: "Ball_2"}


def test_the_tally_knows_the_busiest_frame() -> None:
    tally = Tally.of([{"frame": 1, "contacts": 3}, {"frame": 2, "contacts": 9, "unsettled": 2}, {"frame": 3}])
    assert (tally.contacts, tally.busiest_frame, tally.unsettled) == (9, 2, 2)
    assert tally.as_event()["contacts"] == 9
    level, line = messages.ending(Job("done", 1, 3, frame=3, tally=tally))
    assert (level, line) == ("INFO", "Baked frames 1 to 3, up to 9 contacts at once")
    told = messages.steps(tally)
    assert "Most contacts at once: 9, in frame 2" in told
    assert any("2 steps" in line and "Substeps" in line for line in told)


def test_a_running_bake_counts_its_contacts(monkeypatch: pytest.MonkeyPatch) -> None:
    fresh()
    jelly = body()
    for contacts, words in (
        (None, "900 tets"),
        (0, "900 tets"),
        (1, "900 tets, 1 contact"),
        (12, "900 tets, 12 contacts"),
    ):
        state = Status("baking", tets=900, contacts=contacts)
        monkeypatch.setattr(bake_status, "status", lambda _, state=state: state)
        assert words in drawn(jelly).lines


def test_many_unsettled_steps_are_noted(monkeypatch: pytest.MonkeyPatch) -> None:
    scene = fresh()
    jelly = body()
    for count, frame, is_told in ((0, 25, False), (4, 25, False), (6, 25, True), (6, 250, False), (1, 1, True)):
        state = Status("baked", frame=frame, tally=Tally(unsettled=count))
        monkeypatch.setattr(bake_status, "status", lambda _, state=state: state)
        assert scene.sinew.substeps == 4
        assert any("Substeps" in line for line in drawn(jelly).lines) == is_told, (count, frame)


# the contacts of a bake in the viewport


def write_contacts(folder: Path, frame: int, positions, forces, normals=None) -> None:
    path = contact_display.path_of(folder, frame)
    path.parent.mkdir(exist_ok=True)
    with open(path, "wb") as file:
        rows = {"positions": positions, "forces": forces} | ({} if normals is None else {"normals": normals})
        np.savez(file, **{name: np.asarray(values, np.float32) for name, values in rows.items()})


def baked(tmp_path: Path) -> tuple[bpy.types.Scene, bpy.types.Object, Path]:
    """Returns a scene with a body baked from frame 1 to 3, and its cache."""
    scene = fresh()
    jelly = body()
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "contacts.blend"))
    folder = cache_place.cache_folder(scene)
    points = np.array([v.co for v in jelly.data.vertices], float)
    folder.parent.mkdir(exist_ok=True)
    write_cache(folder, {present_bake.key_of(jelly): np.stack([points] * 3)})
    cache_look.forget()
    return scene, jelly, folder


def test_the_longest_arrow_is_half_a_body_long_and_points_along_its_force() -> None:
    positions = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [2.0, 0.0, 0.0]])
    forces = np.array([[0.0, 0.0, 8.0], [0.0, -2.0, 0.0], [1.0e-6, 0.0, 0.0]])
    contacts = contact_display.Contacts(positions, forces, contact_display._unit(forces))
    assert contacts.largest == 8.0
    lines = contact_display.arrow_lines(contacts, 3.0).reshape(-1, 5, 2, 3)
    assert len(lines) == 2, "next to nothing is no arrow"
    shafts = lines[:, 0]
    assert np.allclose(shafts[:, 0], positions[:2])
    assert np.allclose(shafts[:, 1] - shafts[:, 0], [[0.0, 0.0, 1.5], [0.0, -0.375, 0.0]])
    for arrow, length in zip(lines, (1.5, 0.375), strict=True):
        tip = arrow[0, 1]
        assert np.allclose(arrow[1:, 0], tip)
        back = arrow[1:, 1] - tip
        along = (arrow[0, 1] - arrow[0, 0]) / length
        assert np.allclose(back @ along, -contact_display.HEAD * length)
        assert np.allclose(
            np.linalg.norm(back - np.outer(back @ along, along), axis=1), contact_display.HEAD_WIDTH * length
        )
        assert np.allclose(back.sum(axis=0), -4.0 * contact_display.HEAD * length * along), "even on all sides"
    normals = contact_display.normal_lines(contacts, 3.0).reshape(-1, 2, 3)
    assert np.allclose(np.linalg.norm(normals[:, 1] - normals[:, 0], axis=1), contact_display.NORMAL * 3.0)
    assert contact_display.arrow_lines(contact_display.NONE, 1.0).shape == (0, 3)


def test_contacts_are_those_of_the_frame(tmp_path: Path) -> None:
    scene, jelly, folder = baked(tmp_path)
    write_contacts(folder, 2, [[1, 2, 3], [4, 5, 6]], [[0, 0, 5], [3, 0, 4]])
    write_contacts(folder, 3, [[1, 2, 3]], [[0, 0, 9]])
    counts, largest = {}, {}
    for frame in (0, 1, 2, 3, 7):
        scene.frame_set(frame)
        found = contact_overlay.contacts(scene)
        counts[frame], largest[frame] = len(found), found.largest
    assert counts == {0: 0, 1: 0, 2: 2, 3: 1, 7: 1}, "past the end it stays as it was"
    assert largest[2] == 5.0 and largest[7] == 9.0
    scene.frame_set(2)
    scene.sinew.show_contacts = True
    assert "2 contacts, up to 5 N each" in drawn(jelly, "draw_collision").lines
    scene.frame_set(1)
    assert "Nothing touches at this frame" in drawn(jelly, "draw_collision").lines
    assert np.allclose(contact_overlay.contacts(scene).normals, [[0, 0, 1]]), "without friction, along the force"
    scene.frame_set(2)
    write_contacts(folder, 2, [[1, 2, 3]] * 2, [[0, 3, 4]] * 2, [[0, 0, 1]] * 2)
    assert np.allclose(contact_overlay.contacts(scene).normals, [[0, 0, 1]] * 2), "friction pushes sideways"
    write_contacts(folder, 2, [[1, 2, 3]] * 3, [[0, 0, 2.5e3]] * 3)
    assert "3 contacts, up to 2.5 kN each" in drawn(jelly, "draw_collision").lines, "baked again"


def test_without_a_bake_contacts_are_silent(tmp_path: Path) -> None:
    scene = fresh()
    jelly = body()
    scene.sinew.show_contacts = True
    assert len(contact_overlay.contacts(scene)) == 0
    assert "Shown once there is a bake: Simulate" in drawn(jelly, "draw_collision").lines
    assert contact_display.load(tmp_path, 1) is contact_display.NONE


def test_a_file_that_cannot_be_read_shows_nothing(tmp_path: Path) -> None:
    path = contact_display.path_of(tmp_path, 1)
    path.parent.mkdir()
    for data in (b"", b"no archive", b"PK\x03\x04 cut"):
        path.write_bytes(data)
        contact_display.forget()
        assert len(contact_display.load(tmp_path, 1)) == 0
    write_contacts(tmp_path, 2, [[0, 0, 0], [np.nan, 0, 0]], [[0, 0, 1], [0, 0, 2]])
    assert len(contact_display.load(tmp_path, 2)) == 1, "what is no number is left out"
    np.savez(contact_display.path_of(tmp_path, 3), positions=np.zeros((2, 3)))
    write_contacts(tmp_path, 4, np.zeros((2, 3)), np.zeros((3, 3)))
    assert [len(contact_display.load(tmp_path, frame)) for frame in (3, 4)] == [0, 0]


def test_delete_bake_takes_the_contacts_along(tmp_path: Path) -> None:
    _, _, folder = baked(tmp_path)
    write_contacts(folder, 2, [[1, 2, 3]], [[0, 0, 5]])
    assert layout.is_ours(Path("contacts/000002.npz")) and not layout.is_ours(Path("contacts/mine.npz"))
    bpy.ops.sinew.delete_bake()
    assert not folder.exists()
