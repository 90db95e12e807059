# SPDX-License-Identifier: GPL-3.0-or-later
"""Operators that let a body stand that is too soft for its size."""

from __future__ import annotations

import bpy
from bpy.props import BoolProperty

from ..objects import role_checks, roles, self_weight_collapse
from .error_reporting import reporting_errors
from .selected_objects import active_mesh_and_selected_bodies

EVERY_DESCRIPTION = "All bodies of the scene that are too soft to stand, instead of the active and selected ones"


def _target_bodies(context: bpy.types.Context, every: bool) -> list[bpy.types.Object]:
    """Returns the active and selected bodies, or every body of the scene that collapses, checked before any changes."""
    if every:
        found = self_weight_collapse.collapsing_bodies(roles.bodies(context.scene), context.scene)
    else:
        found = active_mesh_and_selected_bodies(context)
    for obj in found:
        role_checks.check_object(obj)
    return found


class SINEW_OT_stand_up(bpy.types.Operator):
    """Set a Simulated Size at which the body stands. It then moves as fast as a small one: raise Substeps Per Frame"""

    bl_idname = "sinew.stand_up"
    bl_label = "Use a Simulated Size That Stands"
    bl_options = {"REGISTER", "UNDO"}

    every: BoolProperty(name="Every Body", description=EVERY_DESCRIPTION)

    @reporting_errors
    def execute(self, context: bpy.types.Context) -> set[str]:
        """Sets the Simulated Size of the active and selected bodies that collapse, or of every one that collapses."""
        for obj in self_weight_collapse.collapsing_bodies(_target_bodies(context, self.every), context.scene):
            obj.sinew.simulated_size = self_weight_collapse.standing_size(obj, context.scene)
            obj.sinew.use_simulated_size = True
        return {"FINISHED"}


class SINEW_OT_stiffen(bpy.types.Operator):
    """Raise Stiffness until the body stands, or stays on its bones. It sags a little and wobbles slowly"""

    bl_idname = "sinew.stiffen"
    bl_label = "Stiffen Until It Stands"
    bl_options = {"REGISTER", "UNDO"}

    every: BoolProperty(name="Every Body", description=EVERY_DESCRIPTION)

    @reporting_errors
    def execute(self, context: bpy.types.Context) -> set[str]:
        """Sets the Stiffness of the active and selected bodies that are too soft, or of every one that collapses."""
        for obj in _target_bodies(context, self.every):
            if self_weight_collapse.collapses(obj, context.scene) or self_weight_collapse.is_too_soft_to_hang(
                obj, context.scene
            ):
                obj.sinew.youngs_modulus = self_weight_collapse.standing_stiffness(obj, context.scene)
        return {"FINISHED"}


CLASSES = (SINEW_OT_stiffen, SINEW_OT_stand_up)
