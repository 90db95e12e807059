# SPDX-License-Identifier: GPL-3.0-or-later
"""Let a body that is too soft for its size stand, or hang on its bones."""

from __future__ import annotations

import bpy
from bpy.props import BoolProperty

from .. import roles
from ..drawing import own_weight
from ..messages import told
from .chosen import active_mesh

EVERY = "All bodies of the scene that are too soft to stand, instead of the active one"


def _meant(context: bpy.types.Context, every: bool) -> list[bpy.types.Object]:
    """Returns the active object, or every body of the scene that collapses, checked before any is changed."""
    if not every:
        return [active_mesh(context)]
    found = own_weight.collapsing(roles.bodies(context.scene), context.scene)
    for obj in found:
        roles.check_object(obj)
    return found


class SINEW_OT_stand_up(bpy.types.Operator):
    """Set Simulated Size so small that the body stands: it moves as fast as a small thing, so add Substeps"""

    bl_idname = "sinew.stand_up"
    bl_label = "Use a Simulated Size That Stands"
    bl_options = {"REGISTER", "UNDO"}

    every: BoolProperty(name="Every Body", description=EVERY)

    @told
    def execute(self, context: bpy.types.Context) -> set[str]:
        """Sets the Simulated Size of the active body, or of every one that collapses."""
        for obj in own_weight.collapsing(_meant(context, self.every), context.scene):
            obj.sinew.simulated_size = own_weight.size_that_stands(obj, context.scene)
            obj.sinew.use_simulated_size = True
        return {"FINISHED"}


class SINEW_OT_stiffen(bpy.types.Operator):
    """Raise Stiffness until the body stands, or stays on its bones: it sags a little and wobbles slowly"""

    bl_idname = "sinew.stiffen"
    bl_label = "Stiffen Until It Stands"
    bl_options = {"REGISTER", "UNDO"}

    every: BoolProperty(name="Every Body", description=EVERY)

    @told
    def execute(self, context: bpy.types.Context) -> set[str]:
        """Sets the Stiffness of the active body, or of every one that collapses."""
        for obj in _meant(context, self.every):
            if own_weight.collapses(obj, context.scene) or own_weight.hangs_far(obj, context.scene):
                obj.sinew.youngs_modulus = own_weight.stiffness_that_stands(obj, context.scene)
        return {"FINISHED"}


CLASSES = (SINEW_OT_stiffen, SINEW_OT_stand_up)
