# SPDX-License-Identifier: GPL-3.0-or-later
"""Sheets that hang, by the buttons: pins, empties, colliders, rigid bodies, soft bodies and bones."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

bpy = pytest.importorskip("bpy")

from fixtures.blender_scenes import add_box, evaluated, fresh
from fixtures.export_scenes import exported
from fixtures.fake_layout import FakeLayout
from sinew.addon.command_line import commands
from sinew.addon.objects import roles
from sinew.addon.panels import attachments_layout
from sinew.solver.simulation.simulation import Simulation
from test_addon import context_of

CELLS = 8


def curtain() -> bpy.types.Object:
    """Returns a curtain of 1 m that stands upright, made a sheet by the buttons, as the active object."""
    bpy.ops.mesh.primitive_grid_add(x_subdivisions=CELLS, y_subdivisions=CELLS, size=1.0, rotation=(np.pi / 2, 0, 0))
    obj = bpy.context.object
    obj.name = "Curtain"
    assert bpy.ops.sinew.make_body() == {"FINISHED"}
    bpy.context.scene.frame_end = 10
    return obj


def rod(role: str) -> bpy.types.Object:
    """Returns a bar 1 cm above the curtain, a little longer than its edge."""
    bar = add_box("Rod")
    bar.scale, bar.location = (1.2, 0.04, 0.04), (0.0, 0.0, 0.53)
    {"BODY": roles.make_body, "COLLIDER": roles.make_collider, "BONE": roles.make_bone}[role](bar)
    bpy.context.view_layer.update()
    return bar


def choose(*objects: bpy.types.Object) -> None:
    """Selects objects, the last one as the active one."""
    for obj in bpy.context.scene.objects:
        obj.select_set(obj in objects)
    bpy.context.view_layer.objects.active = objects[-1]


def heights(folder: Path) -> np.ndarray:
    """Returns how far the vertices of the upper edge have fallen at frame 10 [m]."""
    written, tracks = exported(bpy.context.scene, folder)
    before = next(body.vertices for body in written.bodies if body.name == "Curtain")
    simulation = Simulation(written, tracks)
    for _ in range(9):
        moved = simulation.advance()
    assert moved.report.converged
    edge = before[:, 2] > 0.499
    assert edge.sum() == CELLS + 1
    return before[edge, 2] - moved.positions["Curtain"][edge, 2]


@pytest.mark.slow
def test_a_curtain_that_is_pinned_by_its_upper_edge_hangs_in_a_bake(tmp_path: Path) -> None:
    fresh()
    obj = curtain()
    bpy.ops.object.mode_set(mode="EDIT")
    bpy.ops.mesh.select_all(action="DESELECT")
    bpy.ops.object.mode_set(mode="OBJECT")
    for vertex in obj.data.vertices:
        vertex.select = vertex.co.y > 0.499
    bpy.ops.object.mode_set(mode="EDIT")
    assert bpy.ops.sinew.pin_selected() == {"FINISHED"}
    bpy.ops.object.mode_set(mode="OBJECT")
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "shot.blend"))
    assert commands.run_in_blender(["bake"]) == 0
    x, start = evaluated(obj, 10)[0], evaluated(obj, 1)[0]
    is_pinned = start[:, 1] > 0.499
    np.testing.assert_allclose(x[is_pinned], start[is_pinned], atol=1e-6)
    assert np.linalg.norm(x - start, axis=1)[~is_pinned].max() > 1e-4


@pytest.mark.parametrize("role", ["COLLIDER", "BONE", "BODY"])
def test_attach_to_active_hangs_a_curtain_on_a_rod(tmp_path: Path, role: str) -> None:
    fresh()
    obj, bar = curtain(), rod(role)
    if role == "BODY":
        bar.sinew.method, bar.sinew.animated = "RIGID", True
    choose(obj, bar)
    assert bpy.ops.sinew.attach() == {"FINISHED"}
    (row,) = obj.sinew.attachments
    assert (row.target, row.kind, row.is_exact) == (bar, "FIXED", False)
    assert np.abs(heights(tmp_path / "c.sinew")).max() < 1e-3


def test_attach_to_active_attaches_a_body_to_a_sheet(tmp_path: Path) -> None:
    """Both hang together, whichever has the row."""
    fresh()
    obj, bar = curtain(), rod("BODY")
    bar.sinew.method, bar.sinew.youngs_modulus = "ROBUST", 1.0e8
    bar.sinew.pin_group = bar.vertex_groups.new(name="All").name
    bar.vertex_groups["All"].add([v.index for v in bar.data.vertices if v.co.z > 0.0], 1.0, "REPLACE")
    choose(bar, obj)
    assert bpy.ops.sinew.attach() == {"FINISHED"}
    assert not len(obj.sinew.attachments) and bar.sinew.attachments[0].target == obj
    assert not bar.sinew.attachments[0].is_exact
    assert np.abs(heights(tmp_path / "c.sinew")).max() < 5e-3


def test_a_curtain_hangs_on_an_empty_and_on_a_bone_of_an_armature(tmp_path: Path) -> None:
    fresh()
    obj = curtain()
    group = obj.vertex_groups.new(name="Rail")
    group.add([v.index for v in obj.data.vertices if v.co.y > 0.499], 1.0, "REPLACE")
    empty = bpy.data.objects.new("Hand", None)
    bpy.context.scene.collection.objects.link(empty)
    choose(obj, empty)
    assert bpy.ops.sinew.attach() == {"FINISHED"}
    obj.sinew.attachments[0].group = "Rail"
    assert np.abs(heights(tmp_path / "empty.sinew")).max() < 0.02
    obj.sinew.attachments.clear()
    bar, rig = rod("BONE"), bpy.data.objects.new("Rig", bpy.data.armatures.new("Rig"))
    bpy.context.scene.collection.objects.link(rig)
    choose(rig)
    bpy.ops.object.mode_set(mode="EDIT")
    bone = rig.data.edit_bones.new("Arm")
    bone.head, bone.tail = (-0.5, 0.0, 0.53), (0.5, 0.0, 0.53)
    bpy.ops.object.mode_set(mode="OBJECT")
    rig.data.bones.active = rig.data.bones["Arm"]
    place = bar.matrix_world.copy()
    bar.parent, bar.parent_type, bar.parent_bone = rig, "BONE", "Arm"
    bpy.context.view_layer.update()
    bar.matrix_world = place
    bpy.context.view_layer.update()
    choose(rig, obj)
    bpy.ops.sinew.add_attachment()
    row = obj.sinew.attachments[0]
    assert (row.target_type, row.armature, row.bone, row.kind) == ("BONE", rig, "Arm", "FIXED")
    assert np.abs(heights(tmp_path / "bone.sinew")).max() < 1e-3


def test_the_panel_asks_for_no_exact_row_of_a_sheet() -> None:
    fresh()
    obj, bar = curtain(), rod("BODY")
    choose(obj, bar)
    bpy.ops.sinew.attach()
    layout = FakeLayout()
    attachments_layout.draw_attachments(layout, context_of(obj))
    drawn = [name for _, name in layout.drawn]
    assert "breaking_force" in drawn and "is_exact" not in drawn


@pytest.mark.slow
def test_buttons_and_a_patch_on_a_curtain_are_baked_at_defaults(tmp_path: Path) -> None:
    fresh()
    cloth = curtain()
    cloth.name = "Curtain"
    cloth.sinew.pin_group = cloth.vertex_groups.new(name="Rail").name
    cloth.vertex_groups["Rail"].add([v.index for v in cloth.data.vertices if v.co.y > 0.499], 1.0, "REPLACE")
    place = {"location": (0.06, -0.008, 0.1), "rotation": (np.pi / 2, 0, 0)}
    bpy.ops.mesh.primitive_cylinder_add(radius=0.03, depth=0.01, **place)
    button = bpy.context.object
    assert bpy.ops.sinew.make_body() == {"FINISHED"}
    button.sinew.method = "RIGID"
    bpy.ops.mesh.primitive_grid_add(
        x_subdivisions=4, y_subdivisions=4, size=0.2, location=(-0.2, -0.004, -0.1), rotation=(np.pi / 2, 0, 0)
    )
    patch = bpy.context.object
    assert bpy.ops.sinew.make_body() == {"FINISHED"}
    choose(button, patch, cloth)
    assert bpy.ops.sinew.attach() == {"FINISHED"}
    assert button.sinew.attachments[0].target == patch.sinew.attachments[0].target == cloth
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "shot.blend"))
    assert commands.run_in_blender(["bake"]) == 0
    for obj, gap in ((button, 0.003), (patch, 0.004)):
        x = evaluated(obj, 10)[0] @ np.array(obj.matrix_world)[:3, :3].T + np.array(obj.matrix_world)[:3, 3]
        y = evaluated(cloth, 10)[0] @ np.array(cloth.matrix_world)[:3, :3].T + np.array(cloth.matrix_world)[:3, 3]
        near = np.linalg.norm(x[:, None] - y[None], axis=2).min()
        assert gap - 1e-3 < near < 0.09  # vertices of the curtain are 12.5 cm apart
        assert abs(x[:, 1].mean()) < 0.05
