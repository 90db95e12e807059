# SPDX-License-Identifier: GPL-3.0-or-later
"""Preferences of the add-on, which belong to a person and a machine instead of a file."""

from __future__ import annotations

import bpy
from bpy.props import BoolProperty, IntProperty

# "sinew" from a clone, "bl_ext.user_default.sinew" as an extension
PACKAGE = __package__.rsplit(".", 2)[0]
COMPILING_LABEL = "Compiling the solver ahead, once per machine"


class SinewPreferences(bpy.types.AddonPreferences):
    """Edit › Preferences › Add-ons › Sinew."""

    bl_idname = PACKAGE

    threads: IntProperty(
        name="Threads",
        description="Processor threads that a bake uses; 0: all. Never changes the result",
        default=0,
        min=0,
        soft_max=64,
        max=1024,
    )

    compile_ahead: BoolProperty(
        name="Compile Ahead",
        description="Compile the solver when Blender has started, once per machine and version, in the background, "
        "at low priority. Off: the first bake compiles what it needs",
        default=True,
    )

    keep_ready: BoolProperty(
        name="Keep the Solver Ready",
        description="While the file has bodies, keep a process with the solver loaded, so that a bake begins at once. "
        "Takes 200 MB of memory",
        default=True,
    )

    def draw(self, _context: bpy.types.Context) -> None:
        """Draws the settings."""
        from ..baking.warm_solver import solver_in_waiting
        from ..panels import orphaned_caches_layout

        self.layout.use_property_split = True
        self.layout.prop(self, "threads", text="Threads (0 for All)")
        column = self.layout.column(heading="Before a Bake")
        column.prop(self, "compile_ahead")
        column.prop(self, "keep_ready")
        row = self.layout.row()
        row.enabled = not solver_in_waiting.is_compiling
        row.operator("sinew.compile_ahead", text=COMPILING_LABEL if solver_in_waiting.is_compiling else "Compile Now")
        orphaned_caches_layout.draw_list(self.layout)


def get_preferences() -> SinewPreferences | None:
    """Returns what is set, or None where Sinew runs without being installed."""
    return getattr(bpy.context.preferences.addons.get(PACKAGE), "preferences", None)


def threads() -> int | None:
    """Returns the number of threads that a bake is to use, None for all."""
    return getattr(get_preferences(), "threads", 0) or None


def register() -> None:
    """Adds the preferences."""
    bpy.utils.register_class(SinewPreferences)


def unregister() -> None:
    """Takes them away."""
    bpy.utils.unregister_class(SinewPreferences)
