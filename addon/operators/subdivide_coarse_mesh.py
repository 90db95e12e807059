# SPDX-License-Identifier: GPL-3.0-or-later
"""The operator that gives a mesh enough vertices to bend."""

from __future__ import annotations

import bpy

from ..objects import coarse_mesh_subdivision
from .error_reporting import reporting_errors
from .selected_objects import active_mesh_and_selected_bodies


class SINEW_OT_subdivide(bpy.types.Operator):
    """Add a Simple Subdivision above Sinew's modifier, so that the selected meshes have enough vertices to bend"""

    bl_idname = "sinew.subdivide"
    bl_label = "Subdivide to Bend"
    bl_options = {"REGISTER", "UNDO"}

    @reporting_errors
    def execute(self, context: bpy.types.Context) -> set[str]:
        """Subdivides the active object, and what is selected and needs it too."""
        active, *others = active_mesh_and_selected_bodies(context)
        for obj in (active, *filter(coarse_mesh_subdivision.has_few_vertices, others)):
            coarse_mesh_subdivision.subdivide(obj)
        return {"FINISHED"}


CLASSES = (SINEW_OT_subdivide,)
