# SPDX-License-Identifier: GPL-3.0-or-later
"""Give a mesh with too few vertices enough of them to bend."""

from __future__ import annotations

import bpy

from ...solver.errors import BadInput
from .. import roles
from ..messages import told


class SINEW_OT_subdivide(bpy.types.Operator):
    """Add a Simple Subdivision above Sinew's modifier, so that the mesh has vertices enough to bend"""

    bl_idname = "sinew.subdivide"
    bl_label = "Subdivide to Bend"
    bl_options = {"REGISTER", "UNDO"}

    @told
    def execute(self, context: bpy.types.Context) -> set[str]:
        """Subdivides the active object."""
        obj = context.object
        if obj is None:
            raise BadInput("nothing-selected")
        roles.check_object(obj)
        roles.subdivide(obj)
        return {"FINISHED"}


CLASSES = (SINEW_OT_subdivide,)
