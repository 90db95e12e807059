# SPDX-License-Identifier: GPL-3.0-or-later
"""The dot beside a setting that is shown in another unit, which Blender draws beside all others."""

from __future__ import annotations

import bpy
from bpy.props import StringProperty

from ..blender_data.animation_curves import DRIVEN, KEYED_NOW, keyframe_icon


class SINEW_OT_toggle_keyframe(bpy.types.Operator):
    """Insert a keyframe of this setting in the current frame, or delete it"""

    bl_idname = "sinew.toggle_keyframe"
    bl_label = "Insert or Delete Keyframe"
    bl_options = {"UNDO", "INTERNAL"}

    setting: StringProperty(name="Setting", options={"HIDDEN", "SKIP_SAVE"})

    def execute(self, context: bpy.types.Context) -> set[str]:
        """Inserts or deletes the keyframe, as the dot shows."""
        settings, frame = context.object.sinew, context.scene.frame_current
        icon = keyframe_icon(context.object, settings.path_from_id(self.setting), frame)
        if icon == DRIVEN:
            self.report({"WARNING"}, "A driver sets this value. Delete the driver first")
            return {"CANCELLED"}
        if icon == KEYED_NOW:
            settings.keyframe_delete(self.setting, frame=frame)
        else:
            settings.keyframe_insert(self.setting, frame=frame)
        return {"FINISHED"}


CLASSES = (SINEW_OT_toggle_keyframe,)
