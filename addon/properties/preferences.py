# SPDX-License-Identifier: GPL-3.0-or-later
"""Preferences of the add-on, which belong to a person and a machine instead of a file.

addon/panels/preferences_panel.py draws and registers them.
"""

from __future__ import annotations

from typing import Any

import bpy
from bpy.props import BoolProperty, IntProperty

# "sinew" from a clone, "bl_ext.user_default.sinew" as an extension
PACKAGE = __package__.rsplit(".", 2)[0]


class PreferencesProperties:
    """Properties of the preferences."""

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

    research_formulations: BoolProperty(
        name="Research Formulations",
        description="Offer the finite-element formulations of research papers, in the panel Advanced. "
        "Bodies that already have one show it anyway",
        default=False,
    )


def get_preferences() -> Any:
    """Returns what is set, or None where Sinew runs without being installed."""
    return getattr(bpy.context.preferences.addons.get(PACKAGE), "preferences", None)


def offers_research() -> bool:
    """Whether the formulations of research papers are offered; they are where Sinew runs without being installed."""
    return bool(getattr(get_preferences(), "research_formulations", True))


def threads() -> int | None:
    """Returns the number of threads that a bake is to use, None for all."""
    return getattr(get_preferences(), "threads", 0) or None
