# SPDX-License-Identifier: GPL-3.0-or-later
"""Prefetched triangles are those that are read at once, or are not used."""

from __future__ import annotations

import numpy as np
import pytest

bpy = pytest.importorskip("bpy", reason="needs Blender's module")

from fixtures.blender_scenes import fresh
from sinew.addon.evaluation import prefetched_triangles
from sinew.addon.evaluation.evaluated_mesh import triangles


def crumpled_grid() -> bpy.types.Object:
    """Returns a grid of quads whose corners lie anyhow, so that some are cut along the other diagonal."""
    fresh()
    bpy.ops.mesh.primitive_grid_add(x_subdivisions=110, y_subdivisions=110)
    obj = bpy.context.object
    assert len(obj.data.vertices) >= prefetched_triangles.MIN_VERTICES
    shifts = np.random.default_rng(3).uniform(-0.012, 0.012, (len(obj.data.vertices), 3))
    for vertex, shift in zip(obj.data.vertices, shifts, strict=True):
        vertex.co += type(vertex.co)(shift)
    return obj


@pytest.mark.parametrize("kind", ["", "SMOOTH", "SUBSURF", "changed"])
def test_they_are_those_of_the_evaluated_mesh(kind: str) -> None:
    obj = crumpled_grid()
    if kind in ("SMOOTH", "SUBSURF"):
        obj.modifiers.new("Modifier", kind)
    bpy.context.view_layer.update()
    list(prefetched_triangles.prefetch([obj]))
    if kind == "changed":
        obj.data.vertices[0].co.x += 0.5
        obj.data.update()
        bpy.context.view_layer.update()
    mesh = obj.evaluated_get(bpy.context.evaluated_depsgraph_get()).data
    reads: list[object] = []
    usual = prefetched_triangles.triangles
    prefetched_triangles.triangles = lambda mesh: reads.append(mesh) or usual(mesh)
    try:
        found = prefetched_triangles.mesh_triangles(obj, mesh)
    finally:
        prefetched_triangles.triangles = usual
        prefetched_triangles.forget()
    np.testing.assert_array_equal(found, triangles(mesh))
    assert bool(reads) == bool(kind), "they are read anew where the mesh is another one"
