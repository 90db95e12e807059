# SPDX-License-Identifier: GPL-3.0-or-later
"""The panel of the add-on in Blender's Preferences."""

from __future__ import annotations

import bpy

from ..baking.solver_warm_up import solver_in_waiting
from ..properties.preferences import PACKAGE, PreferencesProperties
from . import orphaned_caches_layout, pie_menu_key

COMPILING_LABEL = "Compiling the solver ahead, once per machine"


class SinewPreferences(PreferencesProperties, bpy.types.AddonPreferences):
    """Edit › Preferences › Add-ons › Sinew."""

    bl_idname = PACKAGE

    def draw(self, context: bpy.types.Context) -> None:
        """Draws the settings, the key of the pie menu, Compile Now and the caches that no file plays."""
        self.layout.use_property_split = True
        self.layout.prop(self, "threads", text="Threads (0 for All)")
        column = self.layout.column(heading="Before a Bake")
        column.prop(self, "compile_ahead")
        column.prop(self, "keep_ready")
        self.layout.prop(self, "research_formulations")
        row = self.layout.row()
        row.enabled = not solver_in_waiting.is_compiling
        row.operator("sinew.compile_ahead", text=COMPILING_LABEL if solver_in_waiting.is_compiling else "Compile Now")
        pie_menu_key.draw_key(self.layout, context.window_manager.keyconfigs.user)
        orphaned_caches_layout.draw_list(self.layout)


def register() -> None:
    """Adds the preferences."""
    bpy.utils.register_class(SinewPreferences)


def unregister() -> None:
    """Takes them away."""
    bpy.utils.unregister_class(SinewPreferences)
