# SPDX-License-Identifier: GPL-3.0-or-later
"""An object may have several roles: a bone that other bodies collide with, or a collider that is hot."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

bpy = pytest.importorskip("bpy", reason="needs Blender's module")

from fixtures.blender_scenes import add_box, evaluated, fresh, world
from fixtures.export_scenes import exported
from fixtures.fake_layout import FakeLayout
from fixtures.flesh_rigs import arm, bone_mesh
from sinew.addon.export.input_digest import settings_digest
from sinew.addon.objects import collision_filter, roles
from sinew.addon.panels import collision_layout, flesh_layout, main_layout, panels
from sinew.addon.properties.role_definitions import BODY, BONE, COLLIDER, HEAT_SOURCE
from test_round_trip import baked


def context_of(obj: bpy.types.Object) -> Any:
    preferences = SimpleNamespace(system=SimpleNamespace(ui_scale=1.0))
    shown = {"preferences": preferences, "region": SimpleNamespace(width=300)}
    return SimpleNamespace(scene=bpy.context.scene, object=obj, **shown)


def jaw() -> tuple[bpy.types.Object, bpy.types.Object]:
    """Returns flesh from z = −1 to 1, and a bone in it that sticks out above, up to z = 1.6."""
    flesh = arm(divisions=4)
    flesh.sinew.divisions, flesh.sinew.self_contact = 6, False
    bone = bone_mesh("Jaw")
    for vertex in bone.data.vertices:
        vertex.co.z = 1.6 if vertex.co.z > 0.0 else -0.6
    return flesh, bone


def test_roles_are_read_together() -> None:
    _, bone = jaw()
    assert roles.roles_of(bone) == (BONE,) and not roles.has_role(bone, COLLIDER)
    bone.sinew.extra_roles = {COLLIDER, HEAT_SOURCE}
    assert roles.roles_of(bone) == (COLLIDER, HEAT_SOURCE, BONE)
    scene = bpy.context.scene
    assert [roles.bones(scene), roles.colliders(scene), roles.heat_sources(scene)] == [[bone]] * 3
    bone.sinew.role = BODY
    assert roles.roles_of(bone) == (BODY,), "the mesh of a body is the result of the bake"
    bone.sinew.role = "NONE"
    assert roles.roles_of(bone) == ()
    bone.sinew.role = BONE
    roles.make_collider(bone)
    assert roles.roles_of(bone) == (COLLIDER,), "a button gives one role"
    bone.sinew.extra_roles = {BONE}
    roles.clear_role(bone)
    assert roles.roles_of(bone) == () and not bone.sinew.extra_roles


def test_panels_of_all_roles_are_shown_and_others_are_offered() -> None:
    flesh, bone = jaw()
    assert main_layout.role_names(flesh) == "Flesh"
    flesh.sinew.use_muscle = True
    assert main_layout.role_names(flesh) == "Muscle"
    wrap = bone_mesh("Wrap")
    roles.make_wrap(wrap)
    flesh.sinew.use_muscle, flesh.sinew.wrap = False, wrap
    assert main_layout.role_names(flesh) == "Fat"
    flesh.sinew.wrap = None
    context = context_of(bone)
    layout = FakeLayout()
    main_layout.draw_main(layout, context)
    offered = {name for _, name in layout.drawn if name.startswith("extra_roles")}
    assert offered == {"extra_roles.COLLIDER", "extra_roles.HEAT"} and "Also Collider" in layout.lines
    assert panels._shown_panels(context) == {"bone"}
    bone.sinew.extra_roles = {COLLIDER}
    assert panels._shown_panels(context) == {"bone", "collider"}
    layout = FakeLayout()
    main_layout.draw_main(layout, context)
    assert "Jaw: Collider, Bone Mesh" in layout.lines
    assert any("passes through" in line for line in layout.lines), "what flesh makes of it"
    for draw in (flesh_layout.draw_bone, collision_layout.draw_collider):
        draw(layout, context)
    assert {"bone_body", "friction"} <= {name for _, name in layout.drawn}


def test_the_digest_reads_the_settings_of_all_roles() -> None:
    _, bone = jaw()
    scene = bpy.context.scene
    alone = settings_digest(scene)
    bone.sinew.friction = 0.9
    assert settings_digest(scene) == alone, "a bone has no friction"
    bone.sinew.extra_roles = {COLLIDER}
    both = settings_digest(scene)
    assert both != alone
    bone.sinew.friction = 0.1
    assert settings_digest(scene) != both
    bone.sinew.friction = 0.9
    bone.sinew.bone_distance = 0.125
    assert settings_digest(scene) != both
    bone.sinew.bone_distance, bone.sinew.extra_roles = 0.0, set()
    assert settings_digest(scene) == alone, "as in files that have one role only"


def test_a_heat_source_may_be_a_collider(tmp_path: Path) -> None:
    scene = fresh()
    body, plate = add_box("Wax", 3), add_box("Plate", 2)
    roles.make_body(body)
    body.sinew.use_heat = True
    roles.make_heat_source(plate)
    plate.sinew.extra_roles = {COLLIDER}
    plate.location.z = -3.0
    scene.frame_end = 2
    written, tracks = exported(scene, tmp_path / "a.sinew")
    assert [each.name for each in written.colliders] == [each.name for each in written.heat_sources] == ["Plate"]
    assert tracks.has("heat.Plate.matrix") and tracks.has("collider.Plate.matrix")


@pytest.mark.slow
@pytest.mark.parametrize("is_collider", [True, False])
def test_a_bone_that_is_also_a_collider_bakes(is_collider: bool, tmp_path: Path) -> None:
    """A falling block lies on the bone where that is a collider, and falls past it where it is not."""
    flesh, bone = jaw()
    scene = bpy.context.scene
    block = add_box("Block", 2, 0.6)
    for vertex in block.data.vertices:
        vertex.co *= 0.3
    block.location.z = 2.0
    roles.make_body(block)
    block.sinew.divisions = 3
    bone.sinew.extra_roles = {COLLIDER} if is_collider else set()
    bone.keyframe_insert("location", frame=1)
    bone.location.x += 0.05
    bone.keyframe_insert("location", frame=12)
    scene.frame_start, scene.frame_end = 1, 12
    assert (next(collision_filter.ignored_objects(scene), None) == (flesh, bone)) == is_collider
    cache = baked(scene, tmp_path / "jaw.sinew")
    assert cache.is_done() and not cache.integrity_problems()
    written, tracks = exported(scene, tmp_path / "again.sinew")
    assert [each.name for each in written.bones] == ["Jaw"]
    assert [each.name for each in written.colliders] == (["Jaw"] if is_collider else [])
    assert tracks.has("bone.Jaw.matrix") and tracks.has("collider.Jaw.matrix") == is_collider
    held = cache.read_model("Arm")["attached"] == 0
    first, last = (cache.read_frame(frame).x.astype(float) for frame in (1, 12))
    assert held.sum() > 5
    moved = last[: len(held)][held] - first[: len(held)][held]  # the nodes of Arm come first
    np.testing.assert_allclose(moved, np.broadcast_to([0.05, 0.0, 0.0], moved.shape), atol=1e-5)
    lowest = world(*evaluated(block, 12))[:, 2].min()
    assert lowest > 1.55 if is_collider else lowest < 1.2
