# SPDX-License-Identifier: GPL-3.0-or-later
"""A hidden copy of the scene: evaluates objects at any frame without moving the artist's playhead.

The copy contains only copies of the requested objects and has its own dependency graph. Blender adds what these
objects depend on (armatures, drivers, parents, constraint targets) and evaluates without writing any value back to
the file. The stacks of the copies end at Sinew's modifier.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import TracebackType

import bpy
from mathutils import Matrix

from ..blender_data import object_hiding, rigid_body_world, sinew_modifier
from ..blender_data.motion_track import HiddenMotion
from .render_levels import RenderLevels, apply_render_levels

COPY_NAME = ".Sinew Stage"


class SceneCopy:
    """The copy of a scene, for the duration of a `with` block."""

    def __init__(
        self, scene: bpy.types.Scene, cuts: Mapping[bpy.types.Object, int | None], plays_motion: bool = False
    ) -> None:
        """Takes a scene and the objects to evaluate, each with the number of its modifiers to use (None: all).

        With `plays_motion` the baked motion of objects plays in it, as in the artist's scene.
        """
        self._source = scene
        self._hidden_motion = HiddenMotion() if not plays_motion else None
        self._cuts = dict(cuts)
        self._copies: dict[bpy.types.Object, bpy.types.Object] = {}
        self._curves: list[bpy.types.Curve] = []
        self._scene: bpy.types.Scene | None = None

    def __enter__(self) -> SceneCopy:
        try:
            if self._hidden_motion is not None:
                self._hidden_motion.hide()
            self._scene = self._source.copy()
            self._scene.name = COPY_NAME
            _remove_contents(self._scene)
            rigid_body_world.detach(self._scene)
            for obj, cut in self._cuts.items():
                self._copies[obj] = self._copy(obj, cut)
        except BaseException:
            self._remove()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._remove()

    @property
    def scene(self) -> bpy.types.Scene:
        """The scene that is evaluated."""
        assert self._scene is not None, "a scene copy exists inside its with block only"
        return self._scene

    def set_frame(self, frame: int, subframe: float = 0.0) -> None:
        """Evaluates everything at a frame."""
        self.scene.frame_set(frame, subframe=subframe)

    def evaluate_frames(self, first: int, last: int) -> None:
        """Evaluates the frames from `first` to before `last` in order, for what depends on earlier frames."""
        for frame in range(first, last):
            self.set_frame(frame)

    @property
    def depsgraph(self) -> bpy.types.Depsgraph:
        """The dependency graph of the last evaluation."""
        return self.scene.view_layers[0].depsgraph

    def evaluated(self, obj: bpy.types.Object) -> bpy.types.Object:
        """Returns the evaluated copy of `obj`; valid until the next `set_frame`."""
        return self._copies[obj].evaluated_get(self.depsgraph)

    def copy_of(self, obj: bpy.types.Object) -> bpy.types.Object:
        """Returns the copy of `obj`."""
        return self._copies[obj]

    def matrix(self, obj: bpy.types.Object) -> Matrix:
        """Returns the world matrix of `obj`."""
        return self.evaluated(obj).matrix_world

    def evaluated_scene(self) -> bpy.types.Scene:
        """Returns the evaluated scene, for values such as gravity."""
        return self.depsgraph.scene_eval

    def use_render_levels(self, obj: bpy.types.Object, levels: RenderLevels) -> None:
        """Sets the render's levels of detail on the copy of `obj`."""
        apply_render_levels(self.scene, self._copies[obj], levels)

    def _copy(self, obj: bpy.types.Object, cut: int | None) -> bpy.types.Object:
        copy = obj.copy()
        self._copies[obj] = copy
        object_hiding.remove_drivers(copy)  # of a body that a result replaces
        copy.hide_viewport = False
        truncate_stack(copy, cut)
        if isinstance(copy.data, bpy.types.Curve):
            copy.data = _bare_curve(copy.data)
            self._curves.append(copy.data)
        self.scene.collection.objects.link(copy)
        return copy

    def _remove(self) -> None:
        for copy in self._copies.values():
            bpy.data.objects.remove(copy)
        self._copies.clear()
        for curve in self._curves:
            bpy.data.curves.remove(curve)
        self._curves.clear()
        if self._scene is not None:
            bpy.data.scenes.remove(self._scene)
            self._scene = None
        if self._hidden_motion is not None:
            self._hidden_motion.show()


def _bare_curve(curve: bpy.types.Curve) -> bpy.types.Curve:
    """Returns a copy of a curve without thickness, so that its mesh is the line itself."""
    copy = curve.copy()
    copy.dimensions = "3D"
    copy.bevel_depth = copy.extrude = copy.offset = 0.0
    copy.bevel_mode, copy.bevel_object = "ROUND", None
    return copy


def truncate_stack(copy: bpy.types.Object, cut: int | None) -> None:
    """Removes all but the first `cut` modifiers of an object (None: keeps all)."""
    for modifier in list(copy.modifiers)[cut:] if cut is not None else []:
        copy.modifiers.remove(modifier)


def input_modifier_counts(
    bodies: list[bpy.types.Object], others: list[bpy.types.Object]
) -> dict[bpy.types.Object, int | None]:
    """Returns the number of modifiers to use: those above Sinew's for bodies, all for other objects."""
    cuts: dict[bpy.types.Object, int | None] = {obj: sinew_modifier.input_modifier_count(obj) for obj in bodies}
    return cuts | dict.fromkeys(others)


def _remove_contents(scene: bpy.types.Scene) -> None:
    for child in list(scene.collection.children):
        scene.collection.children.unlink(child)
    for obj in list(scene.collection.objects):
        scene.collection.objects.unlink(obj)
    scene.sequence_editor_clear()
    for layer in list(scene.view_layers)[1:]:
        scene.view_layers.remove(layer)
    scene.view_layers[0].use = True
