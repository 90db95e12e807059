# SPDX-License-Identifier: GPL-3.0-or-later
"""What is set once per person and machine, not per file."""

from __future__ import annotations

import bpy
from bpy.props import IntProperty

# "sinew" from a clone, "bl_ext.user_default.sinew" as an extension
PACKAGE = __package__.rpartition(".")[0]


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

    def draw(self, _context: bpy.types.Context) -> None:
        """Draws the settings."""
        self.layout.use_property_split = True
        self.layout.prop(self, "threads", text="Threads (0 for All)")


def threads() -> int | None:
    """Returns the number of threads that a bake is to use, None for all."""
    entry = bpy.context.preferences.addons.get(PACKAGE)
    count = getattr(getattr(entry, "preferences", None), "threads", 0)
    return count or None


def register() -> None:
    """Adds the preferences."""
    bpy.utils.register_class(SinewPreferences)


def unregister() -> None:
    """Takes them away."""
    bpy.utils.unregister_class(SinewPreferences)
