# SPDX-License-Identifier: GPL-3.0-or-later
"""Measures how long Sinew's own code holds up Blender's window while a run is live: the longest call of each kind."""

from __future__ import annotations

import longest_calls
from bl_ext.user_default.sinew.addon.baking import bake_control, bake_timer, running_bake_playback
from bl_ext.user_default.sinew.addon.baking.bake_driver import BakeDriver
from bl_ext.user_default.sinew.addon.fracture_meshes import torn_mesh_modifier
from bl_ext.user_default.sinew.addon.live import brushes, grabs, keep_run, live_timer, run_control

# where others look them up, in the window's thread
MEASURED = (
    *((run_control, name) for name in ("start", "poll", "stop", "end", "hide_for_save", "show_after_save")),
    (run_control, "hide_for_undo"),
    *((torn_mesh_modifier, name) for name in ("show", "remove_all")),
    *((grabs, name) for name in ("take", "move")),
    (brushes, "hold"),
    *((keep_run, name) for name in ("end_run", "start")),
    (bake_control, "poll"),
    # what these do, to see which of it is long
    *((BakeDriver, name) for name in ("_export_slice", "_read_events")),
    *((running_bake_playback, name) for name in ("show_frames", "show_end")),
    (bake_timer, "redraw"),
    (live_timer, "start"),
)


def measuring() -> longest_calls.AbstractContextManager[longest_calls.Table]:
    """Yields a table of the longest calls, as `longest_calls.measuring`."""
    return longest_calls.measuring(MEASURED)
