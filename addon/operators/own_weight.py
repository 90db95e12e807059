# SPDX-License-Identifier: GPL-3.0-or-later
"""Let a body that is too soft for its size stand, or hang on its bones."""

from __future__ import annotations

import bpy

from ..drawing import own_weight
from ..messages import told
from .chosen import active_mesh


class SINEW_OT_stand_up(bpy.types.Operator):
    """Set Simulated Size so small that the body stands: it moves as fast as a small thing, so add Substeps"""

    bl_idname = "sinew.stand_up"
    bl_label = "Use a Simulated Size That Stands"
    bl_options = {"REGISTER", "UNDO"}

    @told
    def execute(self, context: bpy.types.Context) -> set[str]:
        """Sets the Simulated Size of the active body."""
        obj = active_mesh(context)
        if own_weight.collapses(obj, context.scene):
            obj.sinew.simulated_size = own_weight.size_that_stands(obj, context.scene)
            obj.sinew.use_simulated_size = True
        return {"FINISHED"}


class SINEW_OT_stiffen(bpy.types.Operator):
    """Raise Stiffness until the body stands, or stays on its bones: it sags a little and wobbles slowly"""

    bl_idname = "sinew.stiffen"
    bl_label = "Stiffen Until It Stands"
    bl_options = {"REGISTER", "UNDO"}

    @told
    def execute(self, context: bpy.types.Context) -> set[str]:
        """Sets the Stiffness of the active body."""
        obj = active_mesh(context)
        if own_weight.collapses(obj, context.scene) or own_weight.hangs_far(obj, context.scene):
            obj.sinew.youngs_modulus = own_weight.stiffness_that_stands(obj, context.scene)
        return {"FINISHED"}


CLASSES = (SINEW_OT_stiffen, SINEW_OT_stand_up)
