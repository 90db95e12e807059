# SPDX-License-Identifier: GPL-3.0-or-later
"""Seams by the buttons: edges without faces of a sheet, keyed, from a Cloth modifier, and baked."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

bpy = pytest.importorskip("bpy")
import bmesh

from fixtures.blender_scenes import evaluated, fresh
from fixtures.export_scenes import exported
from sinew.addon.command_line import commands
from sinew.solver.runtime.errors import BadInput

CELLS, GAP = 4, 0.1


def shirt() -> bpy.types.Object:
    """Returns two panels of 0.5 m in one mesh, sewn along one border by edges, made a sheet by the buttons."""
    mesh = bpy.data.meshes.new("Shirt")
    made = bmesh.new()
    borders = []
    for x in (-0.25 - 0.5 * GAP, 0.25 + 0.5 * GAP):
        found = bmesh.ops.create_grid(made, x_segments=CELLS, y_segments=CELLS, size=0.25)["verts"]
        bmesh.ops.translate(made, verts=found, vec=(x, 0.0, 0.0))
        inner = min(abs(v.co.x) for v in found)
        borders.append(sorted((v for v in found if abs(v.co.x) < inner + 1e-5), key=lambda v: v.co.y))
    for pair in zip(*borders, strict=True):
        made.edges.new(pair)
    made.to_mesh(mesh)
    obj = bpy.data.objects.new("Shirt", mesh)
    bpy.context.scene.collection.objects.link(obj)
    bpy.context.view_layer.objects.active = obj
    obj.select_set(True)
    assert bpy.ops.sinew.make_body() == {"FINISHED"}
    assert bpy.ops.sinew.make_sheet() == {"FINISHED"}
    bpy.context.scene.frame_end = 10
    return obj


def gap(obj: bpy.types.Object, frame: int) -> float:
    x = evaluated(obj, frame)[0]
    return max(float(np.linalg.norm(x[a] - x[b])) for a, b in (e.vertices for e in obj.data.edges if e.is_loose))


def test_edges_without_faces_are_seams_of_a_sheet(tmp_path: Path) -> None:
    fresh()
    obj = shirt()
    (body,) = exported(bpy.context.scene, tmp_path / "off.sinew")[0].bodies
    assert body.seams is None
    obj.sinew.use_seams, obj.sinew.seam_max_force, obj.sinew.seam_breaking_force = True, 3.0, 2.0
    (body,) = exported(bpy.context.scene, tmp_path / "on.sinew")[0].bodies
    seams = body.seams
    assert (len(seams.edges), seams.is_on, seams.max_force, seams.breaking_force) == (CELLS + 1, True, 3.0, 2.0)
    ends = body.vertices[seams.edges]
    np.testing.assert_allclose(np.abs(ends[:, 0] - ends[:, 1]), np.tile([GAP, 0.0, 0.0], (CELLS + 1, 1)), atol=1e-6)


def test_keys_become_tracks(tmp_path: Path) -> None:
    fresh()
    obj = shirt()
    for frame, value in ((1, False), (5, True)):
        obj.sinew.use_seams = value
        obj.sinew.keyframe_insert("use_seams", frame=frame)
    bpy.context.scene.frame_set(1)
    scene, tracks = exported(bpy.context.scene, tmp_path / "keyed.sinew")
    key = scene.bodies[0].key
    assert scene.bodies[0].seams is not None
    values = [float(tracks.sample(f"body.{key}.use_seams", scene.settings.time(frame))) for frame in (1, 4, 5, 9)]
    assert values == [0.0, 0.0, 1.0, 1.0]


def test_a_sheet_without_such_edges_is_refused(tmp_path: Path) -> None:
    fresh()
    obj = shirt()
    obj.sinew.use_seams = True
    made = bmesh.new()
    made.from_mesh(obj.data)
    bmesh.ops.delete(made, geom=[e for e in made.edges if not e.link_faces], context="EDGES")
    made.to_mesh(obj.data)
    with pytest.raises(BadInput) as caught:
        exported(bpy.context.scene, tmp_path / "none.sinew")
    assert caught.value.kind == "seams-without-edges" and caught.value.details["name"] == "Shirt"


def test_copy_from_cloth_takes_sewing() -> None:
    fresh()
    obj = shirt()
    cloth = obj.modifiers.new("Cloth", "CLOTH").settings
    cloth.use_sewing_springs, cloth.sewing_force_max = True, 0.002
    assert bpy.ops.sinew.copy_from_cloth() == {"FINISHED"}
    assert obj.sinew.use_seams and obj.sinew.seam_max_force == pytest.approx(2.0)


def test_a_bake_sews_at_defaults(tmp_path: Path) -> None:
    fresh()
    obj = shirt()
    obj.sinew.use_seams = True
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "shot.blend"))
    assert commands.run_in_blender(["bake"]) == 0
    assert gap(obj, 1) == pytest.approx(GAP, abs=1e-6)
    assert gap(obj, 10) < 0.005
