# SPDX-License-Identifier: GPL-3.0-or-later
"""A goal set in Blender: what the scene folder says of it, that a bake follows the rig, and its panel."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

bpy = pytest.importorskip("bpy")

from fixtures.blender_scenes import add_box, add_rig, fresh
from fixtures.export_scenes import exported
from fixtures.fake_layout import FakeLayout
from sinew.addon.export.input_digest import settings_digest
from sinew.addon.objects import flesh_supports, roles
from sinew.addon.panels import goal_layout, panels
from sinew.solver.simulation.simulation import Simulation
from test_addon import context_of


def rigged_body(strength: float = 1.0) -> tuple[bpy.types.Scene, bpy.types.Object]:
    scene = fresh()
    obj = add_box()
    add_rig(obj)
    roles.make_body(obj)
    obj.sinew.use_goal, obj.sinew.goal_strength = True, strength
    scene.frame_end = 6
    return scene, obj


def test_a_goal_arrives_with_its_targets(tmp_path: Path) -> None:
    scene, obj = rigged_body(0.25)
    obj.sinew.goal_stiffness, obj.sinew.goal_damping, obj.sinew.goal_group = 500.0, 0.5, "Top"
    obj.vertex_groups.new(name="Top").add([v.index for v in obj.data.vertices if v.co.z > 0], 0.5, "REPLACE")
    obj.sinew.keyframe_insert("goal_strength", frame=1)
    written, tracks = exported(scene, tmp_path / "c.sinew")
    (body,) = written.bodies
    assert (body.goal.strength, body.goal.stiffness, body.goal.damping) == (0.25, 500.0, 0.5)
    assert set(body.goal.paint) == {0.0, 0.5} and len(body.goal.paint) == len(body.vertices)
    assert tracks.sample("body.Box.goal_strength", 0.0) == 0.25
    assert tracks.sample("body.Box.goal.targets", 0.0) == pytest.approx(body.vertices)
    obj.sinew.use_goal = False
    written, tracks = exported(scene, tmp_path / "d.sinew")
    assert written.bodies[0].goal is None and not tracks.has("body.Box.goal.targets")


def test_full_strength_is_what_blender_shows(tmp_path: Path) -> None:
    """On every frame the baked vertices are those of the armature."""
    scene, obj = rigged_body()
    written, tracks = exported(scene, tmp_path / "c.sinew")
    simulation = Simulation(written, tracks)
    for frame in range(2, 7):
        moved = simulation.advance().positions["Box"]
        scene.frame_set(frame)
        shown = obj.evaluated_get(bpy.context.evaluated_depsgraph_get())
        mesh = shown.to_mesh()
        wanted = np.array([list(shown.matrix_world @ vertex.co) for vertex in mesh.vertices])
        shown.to_mesh_clear()
        assert moved == pytest.approx(wanted, abs=1e-5)
    assert np.abs(wanted - written.bodies[0].vertices).max() > 0.05


def test_flesh_that_follows_the_pose_has_none(tmp_path: Path) -> None:
    _, obj = rigged_body()
    layout = FakeLayout()
    bpy.context.view_layer.objects.active = obj
    context = context_of(obj)
    goal_layout.draw_goal(layout, context)
    assert {name for _, name in layout.drawn} == {"goal_strength", "goal_group", "goal_stiffness", "goal_damping"}
    obj.sinew.motion = "POSE"
    goal_layout.draw_goal(layout, context)
    assert "choose Jiggle" in " ".join(layout.lines)


@pytest.mark.parametrize(("motion", "is_free"), [("ELASTIC", True), ("JIGGLE", True), ("POSE", False)])
def test_the_switch_in_the_header(motion: str, is_free: bool) -> None:
    _, obj = rigged_body()
    obj.sinew.use_goal = False
    obj.sinew.motion = motion
    bpy.context.view_layer.objects.active = obj
    panel = type("Panel", (), {"layout": FakeLayout()})()
    panels._header_drawer("use_goal")(panel, bpy.context)
    assert panel.layout.enabled == is_free


def test_the_bake_is_outdated_by_a_goal() -> None:
    scene, obj = rigged_body()
    with_goal = settings_digest(scene)
    obj.sinew.goal_strength = 0.5
    other = settings_digest(scene)
    obj.sinew.use_goal = False
    without = settings_digest(scene)
    obj.sinew.goal_strength = 0.7
    assert len({with_goal, other, without}) == 3 and settings_digest(scene) == without


def test_what_a_goal_pulls_does_not_fall() -> None:
    """So Add Ground puts the ground right under it."""
    scene = fresh()
    obj = add_box("Box")
    roles.make_body(obj)
    assert flesh_supports.falls(scene, obj)
    obj.sinew.use_goal = True
    assert not flesh_supports.falls(scene, obj)
    obj.sinew.goal_strength = 0.0
    assert flesh_supports.falls(scene, obj)
