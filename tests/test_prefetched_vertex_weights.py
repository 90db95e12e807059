# SPDX-License-Identifier: GPL-3.0-or-later
"""Weights that are prefetched, slice by slice: the same as one by one, and not used where the mesh has others."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

bpy = pytest.importorskip("bpy", reason="needs Blender's module")

from fixtures.blender_scenes import fresh
from sinew.addon.evaluation import prefetched_vertex_weights, weight_digest
from sinew.addon.evaluation.vertex_weights import group_weights, weights
from sinew.solver.runtime.checksums import digest

CUTS = 40  # of a cube: more vertices than two slices


@pytest.fixture(autouse=True)
def forgotten() -> Iterator[None]:
    yield
    prefetched_vertex_weights.forget()


def painted() -> bpy.types.Object:
    """Returns a fine cube with two vertex groups, each of some vertices, and one that is empty."""
    fresh()
    bpy.ops.mesh.primitive_cube_add()
    obj = bpy.context.object
    bpy.ops.object.mode_set(mode="EDIT")
    bpy.ops.mesh.subdivide(number_cuts=CUTS)
    bpy.ops.object.mode_set(mode="OBJECT")
    groups = [obj.vertex_groups.new(name=name) for name in ("A", "Empty", "B")]
    numbers = np.random.default_rng(3)
    for group in (groups[0], groups[2]):
        for vertex in numbers.permutation(len(obj.data.vertices))[:5000].tolist():
            group.add([vertex], float(numbers.random()), "REPLACE")
    bpy.context.view_layer.update()
    assert len(obj.data.vertices) > 2 * prefetched_vertex_weights.SLICE_VERTICES
    return obj


def test_slices_give_the_weights_and_the_digest_of_a_look_at_each_vertex() -> None:
    obj = painted()
    slow = group_weights(obj.data, [0, 1, 2])
    table = [(i, e.group, e.weight) for i, v in enumerate(obj.data.vertices) for e in v.groups]
    usual = digest(["0 A", "1 Empty", "2 B", np.array(table, np.float32)])
    assert weight_digest.weight_digest(obj) == usual
    assert prefetched_vertex_weights.prefetched(obj, obj.data) is None
    assert len(list(prefetched_vertex_weights.prefetch([obj]))) >= 2, "the window answers in between"
    found = prefetched_vertex_weights.prefetched(obj, obj.data)
    assert found is not None
    for group in range(3):
        assert np.array_equal(found.of_group(group, len(obj.data.vertices)), slow[group])
    weight_digest.invalidate()
    assert weight_digest.weight_digest(obj) == usual
    assert np.array_equal(weights(obj, obj.data, "B", "Cube", "Pin Group"), slow[2])


def test_a_mesh_of_another_modifier_or_one_that_changes_meanwhile_is_read_as_ever() -> None:
    obj = painted()
    for kind, is_same in (("CAST", True), ("VERTEX_WEIGHT_EDIT", False)):
        obj.modifiers.new(kind, kind)
        evaluated = obj.evaluated_get(bpy.context.evaluated_depsgraph_get())
        list(prefetched_vertex_weights.prefetch([obj]))
        assert prefetched_vertex_weights.prefetched(obj, obj.data) is not None
        assert (prefetched_vertex_weights.prefetched(obj, evaluated.data) is not None) == is_same
    prefetched_vertex_weights.forget()
    for _ in prefetched_vertex_weights.prefetch([obj]):
        obj.data.vertices[0].co.x += 0.1
        obj.data.update()
        bpy.context.view_layer.update()
    assert prefetched_vertex_weights.prefetched(obj, obj.data) is None
