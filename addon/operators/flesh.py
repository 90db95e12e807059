# SPDX-License-Identifier: GPL-3.0-or-later
"""Make the selected meshes flesh, and let the rig pose them before Sinew does."""

from __future__ import annotations

import bpy

from .. import modifier_place, roles
from ..messages import told
from .chosen import active_mesh, meshes_to_simulate


class SINEW_OT_make_flesh(bpy.types.Operator):
    """Make the selected meshes flesh: it sits on bones, follows the pose, bulges and folds"""

    bl_idname = "sinew.make_flesh"
    bl_label = "Make Flesh"
    bl_options = {"REGISTER", "UNDO"}

    @told
    def execute(self, context: bpy.types.Context) -> set[str]:
        """Makes every selected mesh flesh, or none."""
        for obj in meshes_to_simulate(context):
            roles.make_flesh(obj)
        return {"FINISHED"}


class SINEW_OT_move_below_armature(bpy.types.Operator):
    """Move Sinew's modifier below the Armature, which then poses what is simulated instead of the result"""

    bl_idname = "sinew.move_below_armature"
    bl_label = "Move Sinew Below It"
    bl_options = {"REGISTER", "UNDO"}

    @told
    def execute(self, context: bpy.types.Context) -> set[str]:
        """Moves the modifier of the active object."""
        modifier_place.place_anew(active_mesh(context))
        return {"FINISHED"}


CLASSES = (SINEW_OT_make_flesh, SINEW_OT_move_below_armature)
