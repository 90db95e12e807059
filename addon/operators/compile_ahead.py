# SPDX-License-Identifier: GPL-3.0-or-later
"""The operator that compiles the solver before a bake needs it."""

from __future__ import annotations

import bpy

from ..baking.solver_warm_up import solver_in_waiting


class SINEW_OT_compile_ahead(bpy.types.Operator):
    """Compile the solver now, in the background, so that no bake on this machine has to"""

    bl_idname = "sinew.compile_ahead"
    bl_label = "Compile Now"
    bl_options = {"INTERNAL"}

    def execute(self, _context: bpy.types.Context) -> set[str]:
        """Starts compiling."""
        solver_in_waiting.compile()
        return {"FINISHED"}


CLASSES = (SINEW_OT_compile_ahead,)
