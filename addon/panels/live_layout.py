# SPDX-License-Identifier: GPL-3.0-or-later
"""The Live button, and how a run goes."""

from __future__ import annotations

import bpy

from ..baking import bake_status
from ..baking.addon_session import session
from ..baking.live_state import LiveRun
from ..live import keep_run
from ..objects import roles
from .text_rows import draw_wrapped

REAL_TIME_SHARE = 0.95  # of the rate that is asked for, from which a run keeps up
KEEP_LABEL = "Keep the Live Run"
PHASES = {
    "exporting": "Reading the scene",
    "starting": "Starting",
    "compiling": "Compiling the solver, once per machine",
    "building": "Filling bodies with tets",
    "cancelling": "Stopping",
}


def draw_live(layout: bpy.types.UILayout, context: bpy.types.Context) -> None:
    """Draws what starts and stops a run, its speed, and what it says."""
    scene, run = context.scene, session.live
    if not roles.bodies(scene):
        return
    row = layout.row(align=True)
    if run is None or run.scene_uid != scene.session_uid:
        row.enabled = not bake_status.status(scene).is_running
        row.operator("sinew.live", icon="PHYSICS")
        if keep_run.can_keep(scene):
            layout.operator("sinew.keep_live", text=KEEP_LABEL, icon="FILE_TICK")
        return
    row.operator("sinew.stop_live", text="Stop Live (Esc)", icon="CANCEL")
    row.prop(scene.sinew, "live_rate", text="Speed")
    if keep_run.can_keep(scene):
        layout.operator("sinew.keep_live", icon="FILE_TICK")
    layout.label(text=progress_text(run, scene.sinew.live_rate), icon="TIME")
    for line in filter(None, (run.note, run.later)):
        draw_wrapped(layout, line, "INFO", context)


def draw_live_entries(layout: bpy.types.UILayout, context: bpy.types.Context) -> None:
    """Draws the same buttons as entries of a menu, where Blender's search finds them."""
    if roles.bodies(context.scene):
        is_on = session.live is not None
        layout.operator("sinew.stop_live" if is_on else "sinew.live", icon="CANCEL" if is_on else "PHYSICS")
    if keep_run.can_keep(context.scene):
        layout.operator("sinew.keep_live", text=KEEP_LABEL, icon="FILE_TICK")


def progress_text(run: LiveRun, rate: float) -> str:
    """Returns how a run goes: what it waits for, or how its time passes."""
    if not run.is_moving or run.driver.job.phase == "cancelling":
        return PHASES.get(run.driver.job.phase, "Starting")
    ratio, tets = float(run.status.get("ratio", rate)), run.tets
    speed = "Real time" if rate == 1.0 else f"{rate:.2g} × real time"
    if ratio < REAL_TIME_SHARE * rate:
        speed = f"Only {ratio:.1f} × real time"
    return f"{speed}, {tets:,} tets" if tets else speed
