# SPDX-License-Identifier: GPL-3.0-or-later
"""The stage for what a copy of the scene cannot show: objects that Blender's rigid body simulation moves.

It plays the artist's own scene and sets the playhead back.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import TracebackType

import bpy
from mathutils import Matrix

from ..blender_data import visibility
from .scene_copy import SceneCopy, truncate_stack


class LiveScene(SceneCopy):
    """The artist's scene, with copies of the cut objects in it while the `with` block runs."""

    def __init__(self, scene: bpy.types.Scene, cuts: Mapping[bpy.types.Object, int | None]) -> None:
        super().__init__(scene, cuts)
        self._playhead = (scene.frame_current, scene.frame_subframe)

    def __enter__(self) -> LiveScene:
        try:
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
        """Returns the evaluated copy of a cut object, or the evaluated object; valid until the next `go_to`."""
        return self._copies.get(obj, obj).evaluated_get(self.depsgraph)

    def matrix(self, obj: bpy.types.Object) -> Matrix:
        """Returns where `obj` is in the world: only itself, and no copy, is in the rigid body simulation."""
        return obj.evaluated_get(self.depsgraph).matrix_world

    def _copy(self, obj: bpy.types.Object, cut: int | None) -> bpy.types.Object:
        copy = obj.copy()
        self._copies[obj] = copy
        if obj.sinew.is_replaced:
            visibility.restore_visibility(copy)
        truncate_stack(copy, cut)
        self._source.collection.objects.link(copy)
        return copy

    def _remove(self) -> None:
        for copy in self._copies.values():
            bpy.data.objects.remove(copy)
        self._copies.clear()
        self._scene = None
