# SPDX-License-Identifier: GPL-3.0-or-later
"""The operator that makes a closed copy of a mesh, which can break into closed pieces."""

from __future__ import annotations

import bpy
from bpy.props import FloatProperty

from ..blender_data import sinew_modifier
from ..objects.closed_copy import make_closed_copy
from .error_reporting import reporting_errors
from .selected_objects import active_mesh


class SINEW_OT_remesh_closed(bpy.types.Operator):
    """Remesh the object by voxels into a closed copy that can break, and make that the body. The original is hidden"""

    bl_idname = "sinew.remesh_closed"
    bl_label = "Make Closed Copy"
    bl_options = {"REGISTER", "UNDO"}

    voxel_size: FloatProperty(
        name="Voxel Size",
        description="Edge of the voxels in the object's space. Smaller keeps more detail; 0 follows the tet size",
        default=0.0,
        min=0.0,
        soft_max=1.0,
        precision=4,
        step=1,
        subtype="DISTANCE",
        unit="LENGTH",
    )

    @reporting_errors
    def execute(self, context: bpy.types.Context) -> set[str]:
        """Makes the copy and selects it."""
        obj = active_mesh(context)
        above = list(obj.modifiers)[: sinew_modifier.input_modifier_count(obj)]
        posing = next((modifier.name for modifier in above if modifier.type in sinew_modifier.POSING_MODIFIERS), None)
        made = make_closed_copy(context, obj, self.voxel_size or None)
        if posing is not None:
            self.report({"WARNING"}, f'"{made.name}" has the shape of this frame and no longer follows "{posing}"')
        self.report({"INFO"}, f'"{made.name}" is closed, {len(made.data.polygons):,} faces; "{obj.name}" is hidden')
        return {"FINISHED"}


CLASSES = (SINEW_OT_remesh_closed,)
