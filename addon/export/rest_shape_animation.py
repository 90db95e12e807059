# SPDX-License-Identifier: GPL-3.0-or-later
"""Animated rest shapes: bodies at the Rest Frame with the shape keys of another frame.

A second copy of the scene stays at the Rest Frame. Its bodies have copies of their meshes, and the reader sets the
shape keys of these, so that all modifiers above Sinew's act on the reshaped mesh as they do at the Rest Frame. Only
shape keys change the rest shape; animated modifiers do not.
"""

from __future__ import annotations

from types import TracebackType

import bpy

from ...solver.runtime.arrays import Floats
from ...solver.runtime.errors import BadInput
from ..evaluation.evaluated_mesh import evaluated_mesh, positions
from ..evaluation.scene_copy import SceneCopy
from . import validation
from .participants import Participants
from .sampling_context import Sampling

# the evaluation time of absolute shape keys; for every key its value and whether it is muted
ShapeKeyMix = tuple[float, tuple[tuple[float, bool], ...]]


class RestShapeReader:
    """Reads the rest shapes of the bodies of a scene, for the duration of a `with` block."""

    def __init__(self, inputs: Participants, frame: int, first_needed: int | None) -> None:
        """Takes the Rest Frame, and the first frame to evaluate before it if the inputs depend on earlier frames."""
        self._reshaped = inputs.reshaped
        self._bodies = [*inputs.reshaped, *inputs.flexed]
        self._frame, self._first_needed = frame, first_needed
        self._scene_copy = SceneCopy(inputs.scene, {obj: inputs.modifier_counts[obj] for obj in self._bodies})
        self._meshes: list[bpy.types.Mesh] = []
        self._known: dict[bpy.types.Object, tuple[ShapeKeyMix, Floats]] = {}

    def __enter__(self) -> RestShapeReader:
        if not self._bodies:
            return self
        self._scene_copy.__enter__()
        try:
            for obj in self._bodies:
                self._meshes.append(make_mesh_single_user(self._scene_copy.copy_of(obj)))
            if self._first_needed is not None:
                self._scene_copy.evaluate_frames(self._first_needed, self._frame)
            self._scene_copy.set_frame(self._frame)
        except BaseException:
            self._remove()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bodies:
            self._remove()

    def is_animated(self, obj: bpy.types.Object) -> bool:
        """Whether the rest shape of a body follows its shape keys."""
        return obj in self._reshaped

    def vertices(self, sampling: Sampling, obj: bpy.types.Object, count: int) -> Floats:
        """Returns the vertices of `obj` at rest [Blender units], object space, with the shape keys of a moment, (n, 3).

        Raises:
            BadInput: There are not `count` of them, or a coordinate is not a number.
        """
        mix = shape_key_mix(obj.data.shape_keys.evaluated_get(sampling.scene_copy.depsgraph))
        known = self._known.get(obj)
        if known is None or known[0] != mix:
            known = (mix, self.mixed(obj, mix))
            if len(known[1]) != count:
                frame, now = sampling.moment.frame, len(known[1])
                raise BadInput("rest-shape-vertices", name=obj.name, frame=frame, first=count, now=now)
            validation.check_points(obj.name, known[1])
            self._known[obj] = known
        return known[1]

    def mixed(self, obj: bpy.types.Object, mix: ShapeKeyMix) -> Floats:
        """Returns the vertices of `obj` at rest [Blender units], object space, with a mix of shape keys, (n, 3)."""
        _apply_mix(self._scene_copy.copy_of(obj).data.shape_keys, mix)
        self._scene_copy.scene.view_layers[0].update()
        with evaluated_mesh(self._scene_copy.evaluated(obj)) as mesh:
            return positions(mesh)

    def _remove(self) -> None:
        self._scene_copy.__exit__(None, None, None)
        for mesh in self._meshes:
            bpy.data.meshes.remove(mesh)
        self._meshes.clear()


def make_mesh_single_user(copy: bpy.types.Object) -> bpy.types.Mesh:
    """Gives an object a copy of its mesh with shape keys that are not animated, and returns the copy."""
    mesh = copy.data.copy()
    copy.data = mesh
    mesh.shape_keys.animation_data_clear()
    return mesh


def shape_key_mix(keys: bpy.types.Key) -> ShapeKeyMix:
    """Returns the mix of shape keys at the present frame."""
    return keys.eval_time, tuple((block.value, block.mute) for block in keys.key_blocks)


def _apply_mix(keys: bpy.types.Key, mix: ShapeKeyMix) -> None:
    keys.eval_time = mix[0]
    for block, (value, mute) in zip(keys.key_blocks, mix[1], strict=True):
        block.value, block.mute = value, mute
