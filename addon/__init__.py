# SPDX-License-Identifier: GPL-3.0-or-later
"""What an artist sees: Sinew inside Blender."""

from __future__ import annotations

import atexit
import importlib

# in the order in which they are registered
PARTS = (
    "properties",
    "panels.preferences_panel",
    "operators",
    "panels.panels",
    "panels.pie_menu_key",
    "live.live_keys",
    "overlays.tet_overlay",
    "overlays.heat_source_overlay",
    "overlays.attachment_load_overlay",
    "overlays.bone_attachment_overlay",
    "overlays.contact_overlay",
    "overlays.fibre_overlay",
    "overlays.muscle_end_overlay",
    "overlays.grab_overlay",
    "overlays.brush_overlay",
    "overlays.statistics_overlay",
    "overlays.unconverged_marks",
    "handlers",
    "baking.solver_warm_up_timer",
    "baking.orphaned_caches_search",
    "command_line.commands",
)


def register() -> None:
    """Adds everything to Blender."""
    done = []
    try:
        for name in PARTS:
            part = importlib.import_module(f".{name}", __name__)
            part.register()
            done.append(part)
    except Exception:
        # Blender leaves a half-registered add-on behind otherwise, and then cannot register it again
        for part in reversed(done):
            part.unregister()
        raise
    import bpy

    if getattr(bpy.app, "module", False):
        # the bpy module does not disable add-ons when Python ends, and 4.5 then hangs or crashes
        atexit.register(unregister)


def unregister() -> None:
    """Takes everything out of Blender again."""
    atexit.unregister(unregister)
    for name in reversed(PARTS):
        importlib.import_module(f".{name}", __name__).unregister()
