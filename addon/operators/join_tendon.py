# SPDX-License-Identifier: GPL-3.0-or-later
"""The operator that unites a muscle with tendons."""

from __future__ import annotations

import bpy
from bpy.props import FloatProperty

from ...solver.runtime.errors import BadInput
from ..baking.error_messages import error_text
from ..objects import muscle_tendon_union
from .error_reporting import reporting_errors
from .selected_objects import active_mesh, selected_meshes


class SINEW_OT_join_tendon(bpy.types.Operator):
    """Unite the active muscle with the other selected meshes, which become its tendons, and smooth the seam"""

    bl_idname = "sinew.join_tendon"
    bl_label = "Join Tendon"
    bl_options = {"REGISTER", "UNDO"}

    voxel_size: FloatProperty(
        name="Voxel Size",
        description="Size of the faces of the new mesh; away from the seam it stays within half of it. "
        "0: a sixth of the thinnest part",
        default=0.0,
        min=0.0,
        precision=4,
        subtype="DISTANCE",
    )
    seam_width: FloatProperty(
        name="Seam Width",
        description="How far from the seam the surface may move as it is smoothed. 0: six voxels",
        default=0.0,
        min=0.0,
        precision=4,
        subtype="DISTANCE",
    )

    @reporting_errors
    def execute(self, context: bpy.types.Context) -> set[str]:
        """Unites them, and tells what is doubtful."""
        muscle = active_mesh(context)
        tendons = [obj for obj in selected_meshes(context) if obj != muscle]
        if not tendons:
            raise BadInput("join-without-tendon")
        count = len(tendons)
        doubts = muscle_tendon_union.join_tendons(context, muscle, tendons, self.voxel_size, self.seam_width)
        for doubt in doubts:
            self.report({"WARNING"}, error_text(doubt))
        if not doubts:
            words = "1 tendon" if count == 1 else f"{count} tendons"
            self.report(
                {"INFO"}, f'Joined {words} to "{muscle.name}", which the Tendon Group in the panel Fibres names'
            )
        return {"FINISHED"}


CLASSES = (SINEW_OT_join_tendon,)
