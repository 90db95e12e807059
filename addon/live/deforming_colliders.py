# SPDX-License-Identifier: GPL-3.0-or-later
"""Colliders whose mesh may change its shape while a run goes on: their vertices go through a file of the run.

A mesh with shape keys, below an Armature or with modifiers that follow something counts as one, whether it is keyed or
not: somebody may pose it. A look takes the evaluated mesh as it is shown, so it does not matter what has bent it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import bpy
import numpy as np
import numpy.typing as npt

from ...solver.bake.cache import layout
from ...solver.live.collider_shapes import ColliderShapesWriter
from ...solver.runtime.errors import SinewError
from ...solver.scene.scene import Scene
from ..baking.live_state import DeformingShape, LiveRun
from ..blender_data.object_handle import ObjectHandle
from ..evaluation.evaluated_mesh import evaluated_mesh, raw_positions
from ..evaluation.matrix_units import scale_to_metres, transform_points
from ..export.deforming_mesh_check import may_deform
from ..export.participants import Participants


def find_keys(inputs: Participants) -> frozenset[str]:
    """Returns the keys of the colliders that may change their shape."""
    meshes = {obj: key for obj, key in inputs.colliders.items() if obj.sinew.collider_shape == "MESH"}
    return frozenset(key for obj, key in meshes.items() if obj.data.shape_keys is not None or may_deform(obj))


def begin(run: LiveRun, inputs: Participants, written: Scene) -> None:
    """Lets a run send the shapes of the colliders that were written as deforming ones."""
    run.shapes_writer = ColliderShapesWriter(run.folder / layout.LIVE_FOLDER)
    counts = {each.key: len(each.vertices) for each in written.colliders}
    run.shapes = [
        DeformingShape(key, ObjectHandle.of(obj), counts[key])
        for obj, key in inputs.colliders.items()
        if key in inputs.deforming_colliders
    ]


def changes(run: LiveRun, scene: bpy.types.Scene) -> Iterator[dict[str, Any]]:
    """Yields commands for colliders that have changed since the last look; writes their shapes first.

    Raises:
        StorageFailed: The file cannot be written.
    """
    depsgraph = bpy.context.view_layer.depsgraph
    if run.shapes_writer is None or depsgraph is None or depsgraph.scene.session_uid != scene.session_uid:
        return
    for shape in run.shapes:
        obj = shape.owner.find()
        now = None if obj is None else _world_vertices(obj.evaluated_get(depsgraph), shape, scene)
        if now is None or (shape.sent is not None and np.array_equal(shape.sent, now)):
            continue
        shape.sent = now
        yield {"command": "deform", "collider": shape.key, "sample": run.shapes_writer.append(shape.key, now)}


def kept_shape(run: LiveRun) -> SinewError | None:
    """Returns the note about the first collider whose mesh has other vertices, which keeps its last shape; or None."""
    for shape in run.shapes:
        obj, now = shape.owner.find(), shape.count_now
        if obj is not None and now is not None and now != shape.count:
            return SinewError("live-collider-vertices-change", name=obj.name, first=shape.count, now=now)
    return None


def _world_vertices(
    evaluated: bpy.types.Object, shape: DeformingShape, scene: bpy.types.Scene
) -> npt.NDArray[np.float32] | None:
    """Returns where vertices are [m], (n, 3); None where they are others than before, or no numbers."""
    points = raw_positions(evaluated.data)
    if len(points) != shape.count:  # Blender subdivides some meshes only where they are drawn
        with evaluated_mesh(evaluated) as mesh:
            points = raw_positions(mesh)
    shape.count_now = len(points)
    if len(points) != shape.count:
        return None
    matrix = scale_to_metres(evaluated.matrix_world, scene.unit_settings.scale_length)
    found = transform_points(matrix, points.astype(np.float64)).astype(np.float32)
    return found if np.isfinite(found).all() else None
