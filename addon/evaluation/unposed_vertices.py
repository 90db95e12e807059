# SPDX-License-Identifier: GPL-3.0-or-later
"""Takes vertices back through the modifiers that pose a mesh: where they have to be in it to come to given places.

An Armature brings vertex i from q to A_i q + b_i, with the blend A_i of the matrices of its bones. What Blender makes
of four shapes of the mesh, the one it has and that moved along each axis, says A_i and b_i, whatever the bones, their
weights and the kind of the blend are. Where A_i has an inverse, q = A_i⁻¹ (p − b_i).
"""

from __future__ import annotations

import bpy
import numpy as np

from ...solver.runtime.arrays import Floats
from ...solver.runtime.errors import BadInput
from .evaluated_mesh import evaluated_mesh, positions, raw_positions
from .scene_copy import truncate_stack

MAX_CONDITION_NUMBER = 1.0e4  # of A_i, above which rounding of Blender's floats would be seen
TOLERANCE = 1.0e-4  # of the size, by which places may be missed


def unposed_vertices(scene: bpy.types.Scene, obj: bpy.types.Object, cut: int, wanted: Floats) -> Floats:
    """Returns where the vertices of a mesh have to be so that its first modifiers bring them to given places.

    Args:
        scene: That is shown, at its present frame and in its present pose.
        obj: A mesh.
        cut: How many of its modifiers count.
        wanted: Places in its space [Blender units], (n, 3).

    Raises:
        BadInput: "shape-vertices-made": a modifier makes or removes vertices; "shape-not-unique": a vertex has several
            places or none that come there; "shape-not-reached": a modifier does not move each vertex by a matrix.
    """
    with _Probe(scene, obj, cut) as probe:
        if len(probe.shape) != len(wanted) or len(probe.posed(probe.shape)) != len(wanted):
            raise BadInput("shape-vertices-made", name=obj.name, modifier=_making_modifier(scene, obj, cut))
        if not cut:
            return wanted
        size = max(float(np.ptp(probe.shape, axis=0).max()), 1.0e-6)
        begin = probe.posed(probe.shape)
        A = np.stack([(probe.posed(probe.shape + size * axis) - begin) / size for axis in np.eye(3)], axis=2)
        is_singular = ~(np.linalg.cond(A) < MAX_CONDITION_NUMBER)
        if is_singular.any():
            last = list(obj.modifiers)[cut - 1].name
            raise BadInput("shape-not-unique", name=obj.name, modifier=last, count=int(is_singular.sum()))
        found = probe.shape
        for _ in range(2):  # the second time takes Blender's rounding away
            found = found + np.linalg.solve(A, (wanted - probe.posed(found))[:, :, None])[:, :, 0]
        missed = np.abs(probe.posed(found) - wanted).max()
        if not missed < TOLERANCE * max(size, float(np.ptp(wanted, axis=0).max())):
            raise BadInput("shape-not-reached", name=obj.name, modifier=_bending_modifier(obj, cut))
        return found


class _Probe:
    """A copy of an object in the scene, with a mesh of its own, for the duration of a `with` block.

    Attributes:
        shape: Where the vertices of the mesh are without shape keys, (n, 3).
    """

    def __init__(self, scene: bpy.types.Scene, obj: bpy.types.Object, cut: int) -> None:
        self._scene, self._obj, self._cut = scene, obj, cut

    def __enter__(self) -> _Probe:
        self._mesh = self._obj.data.copy()
        self._copy = self._obj.copy()
        self._copy.sinew.role = "NONE"  # it is no body
        self._copy.data = self._mesh
        self._copy.shape_key_clear()
        self._copy.hide_viewport = False
        truncate_stack(self._copy, self._cut)
        self._scene.collection.objects.link(self._copy)
        self.shape = raw_positions(self._mesh).astype(np.float64)
        return self

    def __exit__(self, *_: object) -> None:
        bpy.data.objects.remove(self._copy)
        bpy.data.meshes.remove(self._mesh)

    def posed(self, shape: Floats) -> Floats:
        """Returns where the modifiers bring vertices, (n, 3)."""
        self._mesh.vertices.foreach_set("co", shape.astype(np.float32).ravel())
        self._mesh.update()
        layer = self._scene.view_layers[0]
        layer.update()
        with evaluated_mesh(self._copy.evaluated_get(layer.depsgraph)) as mesh:
            return positions(mesh)


def _making_modifier(scene: bpy.types.Scene, obj: bpy.types.Object, cut: int) -> str:
    """Returns the name of the first modifier that makes or removes vertices, or of the last one."""
    for number, modifier in enumerate(list(obj.modifiers)[:cut], 1):
        with _Probe(scene, obj, number) as probe:
            if len(probe.posed(probe.shape)) != len(probe.shape):
                return str(modifier.name)
    return ""


def _bending_modifier(obj: bpy.types.Object, cut: int) -> str:
    """Returns the name of the first modifier that is no Armature, or of the first one."""
    stack = list(obj.modifiers)[:cut]
    return str(next((each for each in stack if each.type != "ARMATURE"), stack[0]).name)
