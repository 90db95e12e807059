# SPDX-License-Identifier: GPL-3.0-or-later
"""Strings by the buttons: a mesh of edges alone becomes a rope, which is exported, hung, resumed and played."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

bpy = pytest.importorskip("bpy")

from fixtures.blender_scenes import evaluated, fresh
from fixtures.export_scenes import exported
from sinew.addon.command_line import commands
from sinew.addon.panels import tets_layout
from sinew.solver.runtime.errors import BadInput


def mesh_object(name: str, points: list, edges: list, faces: list) -> bpy.types.Object:
    mesh = bpy.data.meshes.new(name)
    mesh.from_pydata(points, edges, faces)
    obj = bpy.data.objects.new(name, mesh)
    bpy.context.scene.collection.objects.link(obj)
    bpy.context.view_layer.objects.active = obj
    obj.select_set(True)
    return obj


def rope(count: int = 10) -> bpy.types.Object:
    """Returns a rope of 0.5 m along x that is pinned at one end."""
    points = [(0.5 * k / count, 0.0, 0.0) for k in range(count + 1)]
    obj = mesh_object("Rope", points, [(k, k + 1) for k in range(count)], [])
    assert bpy.ops.sinew.make_body() == {"FINISHED"}
    obj.sinew.sheet_thickness = 0.01
    group = obj.vertex_groups.new(name="Hung")
    group.add([0], 1.0, "REPLACE")
    obj.sinew.pin_group = group.name
    return obj


def test_a_mesh_of_edges_becomes_a_rope(tmp_path: Path) -> None:
    fresh()
    obj = rope()
    assert obj.sinew.method == "SHEET" and obj.sinew.sheet_preset == "CUSTOM"
    assert tets_layout._tet_count_text(obj, bpy.context.scene) == "Its edges are strings"
    (body,) = exported(bpy.context.scene, tmp_path / "c.sinew")[0].bodies
    assert body.is_sheet and not len(body.triangles) and len(body.sheet.strands) == 10
    assert body.sheet.thickness == pytest.approx(0.01) and body.pinned.tolist() == [0]


def test_fringes_are_strings_and_with_seams_edges_between_faces_are_seams(tmp_path: Path) -> None:
    fresh()
    points = [(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0), (2, 0, 0), (2, 1, 0), (1.5, 1.5, 0)]
    # the last edge is the diagonal of the quad
    obj = mesh_object("Cloth", points, [(1, 4), (2, 6), (0, 2)], [(0, 1, 2, 3)])
    assert bpy.ops.sinew.make_body() == {"FINISHED"}
    assert bpy.ops.sinew.make_sheet() == {"FINISHED"}
    (body,) = exported(bpy.context.scene, tmp_path / "off.sinew")[0].bodies
    assert body.seams is None and len(body.sheet.strands) == 3
    obj.sinew.use_seams = True
    (body,) = exported(bpy.context.scene, tmp_path / "on.sinew")[0].bodies
    assert body.seams is not None and body.seams.edges.tolist() == [[0, 2]]
    assert sorted(map(sorted, body.sheet.strands.tolist())) == [[1, 4], [2, 6]]


def test_vertices_alone_and_a_wire_for_a_collider_are_refused_by_name(tmp_path: Path) -> None:
    fresh()
    rope()
    mesh_object("Dots", [(0, 0, 0), (1, 0, 0)], [], [])
    with pytest.raises(RuntimeError, match='"Dots" has no faces'):
        bpy.ops.sinew.make_body()
    wire = mesh_object("Wire", [(0, 0, 0), (1, 0, 0)], [(0, 1)], [])
    wire.sinew.role = "COLLIDER"
    with pytest.raises(BadInput, match='"Wire" has no faces'):
        exported(bpy.context.scene, tmp_path / "c.sinew")


@pytest.mark.slow
def test_a_baked_rope_swings_down_and_plays(tmp_path: Path) -> None:
    fresh()
    obj = rope()
    bpy.context.scene.frame_end = 12
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "shot.blend"))
    assert commands.run_in_blender(["bake"]) == 0
    x = evaluated(obj, 12)[0]
    assert np.abs(x[0]).max() < 1e-4 and x[-1, 2] < -0.2
    lengths = np.linalg.norm(np.diff(x, axis=0), axis=1)
    np.testing.assert_allclose(lengths, 0.05, rtol=0.05)
