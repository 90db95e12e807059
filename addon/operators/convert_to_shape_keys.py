# SPDX-License-Identifier: GPL-3.0-or-later
"""Convert to Shape Keys."""

from __future__ import annotations

import bpy

from ...solver.runtime.errors import BadInput
from ..baking import bake_status
from ..baking.addon_session import session
from ..blender_data import object_hiding
from ..cache import cache_folder_status
from ..cache.bake_passes import body_folder
from ..fracture_meshes.result_objects import results_of
from ..playback import shape_keys
from ..properties.role_definitions import BODY
from ..runtime.quantity_text import size_text
from .error_reporting import reporting_errors


class SINEW_OT_convert_to_shape_keys(bpy.types.Operator):
    """Copy the active body with one shape key per baked frame, without rig or cache, and hide the body"""

    bl_idname = "sinew.convert_to_shape_keys"
    bl_label = "Convert to Shape Keys"
    bl_options = {"REGISTER", "UNDO"}

    @reporting_errors
    def execute(self, context: bpy.types.Context) -> set[str]:
        """Makes the copy, selects it, and hides what it was made of."""
        obj, scene = context.object, context.scene
        if session.is_baking(scene):
            raise BadInput("bake-running", name=scene.name)
        if obj is None:
            raise BadInput("nothing-selected")
        if obj.type != "MESH" or obj.sinew.role != BODY:
            raise BadInput("not-a-body", name=obj.name)
        needed = bake_status.shape_key_bytes(scene, obj)
        shown = [made for made in results_of(obj) if made.type == "MESH"]
        if len(shown) > 1:
            raise BadInput("shape-keys-of-pieces", name=obj.name)
        folder = body_folder(scene, obj)
        copy = shape_keys.convert_to_shape_keys(context, scene, obj, folder, shown[0] if shown else None)
        for each in [*shown, obj]:
            object_hiding.hide_permanently(each)
        frames = cache_folder_status.read_status(folder)
        kept = f"frames {frames.metadata.frame_start if frames.metadata else 1} to {frames.last_frame}"
        self.report({"INFO"}, f'"{copy.name}" has {kept} as shape keys, {size_text(needed)}; "{obj.name}" is hidden')
        return {"FINISHED"}


CLASSES = (SINEW_OT_convert_to_shape_keys,)
