# SPDX-License-Identifier: GPL-3.0-or-later
"""Make Ragdoll: rigid bodies that drive the bones of an armature."""

from __future__ import annotations

import bpy

from ..objects import new_ragdolls, role_checks
from .error_reporting import reporting_errors


class SINEW_OT_make_ragdoll(bpy.types.Operator):
    """Make a rigid body drive each selected bone of the armature, or each that deforms. Meshes with a role that are
    children of a bone become its body, others get a capsule, which you can scale and shape in Edit Mode"""

    bl_idname = "sinew.make_ragdoll"
    bl_label = "Make Ragdoll"
    bl_options = {"REGISTER", "UNDO"}

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        """Whether the active object is an armature."""
        return context.object is not None and context.object.type == "ARMATURE"

    @reporting_errors
    def execute(self, context: bpy.types.Context) -> set[str]:
        """Makes the bodies of all bones, or none."""
        rig = context.object
        role_checks.check_changeable(rig)
        made = new_ragdolls.make_ragdoll(context, rig, new_ragdolls.chosen_bones(context, rig))
        self.report({"INFO"}, f"Made {len(made)} rigid {'body' if len(made) == 1 else 'bodies'} that drive bones")
        return {"FINISHED"}


CLASSES = (SINEW_OT_make_ragdoll,)
