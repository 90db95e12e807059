# SPDX-License-Identifier: GPL-3.0-or-later
"""Quick Jelly, Quick Clay and Quick Flesh on Armature, in Object › Quick Effects."""

from __future__ import annotations

from collections.abc import Sequence

import bpy

from ...solver.runtime.errors import SinewError
from ..baking import last_failure
from ..baking.addon_session import RunningBake, session
from ..blender_data.scene_by_session_uid import find_scene
from ..objects import quick_scene
from ..objects.initial_settings import JELLY_BY_SIZE
from ..objects.refused_bake_rollback import SceneSnapshot
from .selected_objects import selected_unshared_meshes
from .simulate import BakingOperator, push_undo_step


class QuickOperator(BakingOperator):
    """What the quick effects share: they make a scene in one undo step, and bake it.

    If the bake fails before its first frame, the scene becomes what it was before.
    """

    _snapshot: SceneSnapshot | None = None
    _scene_uid = 0

    def make(self, context: bpy.types.Context, meshes: Sequence[bpy.types.Object]) -> str:
        """Makes the scene of meshes and returns what was done.

        Raises:
            BadInput: The selection does not suit.
        """
        raise NotImplementedError

    def prepare(self, context: bpy.types.Context) -> None:
        """Makes the scene; raises as `make`."""
        meshes = selected_unshared_meshes(context)
        self._snapshot, self._scene_uid = SceneSnapshot(context.scene, meshes), context.scene.session_uid
        self._message = self.make(context, meshes)
        self._snapshot.note_additions(context.scene)
        push_undo_step(self.bl_label)  # type: ignore[attr-defined]
        self.report({"INFO"}, self._message)  # type: ignore[attr-defined]

    def _start(self, context: bpy.types.Context) -> RunningBake:
        try:
            return super()._start(context)
        except SinewError:
            self._restore_scene()
            raise

    def _end(self, bake: RunningBake) -> set[str]:
        job = bake.driver.job
        if job.error is not None and job.frame is None:
            scene = self._restore_scene()
            if scene is not None:  # the panel forgets what was refused once the scene is another one
                last_failure.store_error_event(scene, job.error)
        return super()._end(bake)

    def _restore_scene(self) -> bpy.types.Scene | None:
        """Takes back what was made, and returns the scene, if it is still there."""
        scene = find_scene(self._scene_uid)
        if self._snapshot is None or scene is None:
            return None
        self._snapshot.restore()
        session.forget_messages(scene)
        push_undo_step(f"{self.bl_label} Refused")  # type: ignore[attr-defined]
        return scene


class SINEW_OT_quick_jelly(QuickOperator, bpy.types.Operator):
    """Make the selected meshes jelly that stands and wobbles at their size, add a ground, and bake them"""

    bl_idname = "sinew.quick_jelly"
    bl_label = "Quick Jelly"
    bl_options = {"UNDO"}

    def make(self, context: bpy.types.Context, meshes: Sequence[bpy.types.Object]) -> str:
        """Makes the bodies and the ground."""
        return quick_scene.make_bodies(context, meshes, JELLY_BY_SIZE)


class SINEW_OT_quick_clay(QuickOperator, bpy.types.Operator):
    """Make the selected meshes clay that a fall dents at their size, add a ground, and bake them"""

    bl_idname = "sinew.quick_clay"
    bl_label = "Quick Clay"
    bl_options = {"UNDO"}

    def make(self, context: bpy.types.Context, meshes: Sequence[bpy.types.Object]) -> str:
        """Makes the bodies and the ground."""
        return quick_scene.make_bodies(context, meshes, "CLAY_BY_SIZE")


class SINEW_OT_quick_flesh(QuickOperator, bpy.types.Operator):
    """Make the selected meshes flesh that swings on the bones of their Armature modifiers, and bake them"""

    bl_idname = "sinew.quick_flesh"
    bl_label = "Quick Flesh on Armature"
    bl_options = {"UNDO"}

    def make(self, context: bpy.types.Context, meshes: Sequence[bpy.types.Object]) -> str:
        """Makes the flesh; raises as `quick_scene.make_flesh_on_armature`."""
        return quick_scene.make_flesh_on_armature(context, meshes)


CLASSES = (SINEW_OT_quick_jelly, SINEW_OT_quick_clay, SINEW_OT_quick_flesh)


def draw_menu_entries(self: bpy.types.Menu, _context: bpy.types.Context) -> None:
    """Adds the entries to Object › Quick Effects."""
    self.layout.separator()
    for each in CLASSES:
        self.layout.operator(each.bl_idname)
