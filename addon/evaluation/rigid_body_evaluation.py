# SPDX-License-Identifier: GPL-3.0-or-later
"""Evaluates objects that Blender's rigid body simulation moves.

A copy of the scene has no rigid bodies, so the artist's own scene is played, and its playhead restored.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import TracebackType

import bpy
from mathutils import Matrix

from ..blender_data import object_hiding
from .scene_copy import SceneCopy, truncate_stack


class LiveScene(SceneCopy):
    """The artist's scene, with copies of objects with a truncated stack for the duration of the `with` block."""

    def __init__(self, scene: bpy.types.Scene, cuts: Mapping[bpy.types.Object, int | None]) -> None:
        super().__init__(scene, cuts)
        self._playhead = (scene.frame_current, scene.frame_subframe)

    def __enter__(self) -> LiveScene:
        try:
            if self._hidden_motion is not None:
                self._hidden_motion.hide()
            self._scene = self._source
            for obj, cut in self._cuts.items():
                if cut is not None:
                    self._copies[obj] = self._copy(obj, cut)
        except BaseException:
            self._remove()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._remove()
        frame, subframe = self._playhead
        self._source.frame_set(frame, subframe=subframe)

    def evaluated(self, obj: bpy.types.Object) -> bpy.types.Object:
        """Returns the evaluated object, or its copy with a truncated stack; valid until the next `set_frame`."""
        return self._copies.get(obj, obj).evaluated_get(self.depsgraph)

    def matrix(self, obj: bpy.types.Object) -> Matrix:
        """Returns the world matrix of `obj` itself: copies take no part in the rigid body simulation."""
        return obj.evaluated_get(self.depsgraph).matrix_world

    def _copy(self, obj: bpy.types.Object, cut: int | None) -> bpy.types.Object:
        copy = obj.copy()
        self._copies[obj] = copy
        if obj.sinew.is_replaced:
            object_hiding.restore_visibility(copy)
        truncate_stack(copy, cut)
        self._source.collection.objects.link(copy)
        return copy

    def _remove(self) -> None:
        for copy in self._copies.values():
            bpy.data.objects.remove(copy)
        self._copies.clear()
        self._scene = None
        if self._hidden_motion is not None:
            self._hidden_motion.show()
