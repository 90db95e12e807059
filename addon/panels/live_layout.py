# SPDX-License-Identifier: GPL-3.0-or-later
"""The Live button, and how a run goes."""

from __future__ import annotations

import bpy

from ..baking import bake_status
from ..baking.addon_session import session
from ..baking.live_state import LiveRun
from ..live import final_bake, keep_run, kept_shape, real_time_tets, unsettled_steps
from ..objects import roles
from ..properties.scene_properties import LAST_SECONDS
from .bake_layout import LIVE_PREVIEW_LABEL
from .text_rows import draw_wrapped

REAL_TIME_SHARE = 0.95  # of the rate that is asked for, from which a run keeps up
KEEP_LABEL = "Keep the Live Run"
FROM_REST = "Live begins from the modeled shapes, at rest, also where a bake plays"
ENDED_BY_UNDO = "Undo has ended the live run. Press Live to run again"
PHASES = {
    "exporting": "Reading the scene",
    "starting": "Starting",
    "compiling": "Compiling the solver, once per machine",
    "building": "Filling bodies with tets",
    "cancelling": "Stopping",
}


def draw_live(layout: bpy.types.UILayout, context: bpy.types.Context) -> None:
    """Draws what starts and stops a run, and how it goes; `draw_live_messages` has what else there is to say.

    While it goes on there are always as many rows: a slider below would move away under the mouse that turns it.
    """
    scene, run = context.scene, session.live
    if not roles.bodies(scene):
        return
    row = layout.row(align=True)
    if run is None or run.scene_uid != scene.session_uid:
        row.enabled = not bake_status.status(scene).is_running
        row.operator("sinew.live", icon="PHYSICS")
        if keep_run.can_keep(scene):
            _draw_keep(layout, scene)
        _draw_keep_shape(layout, scene)
        if final_bake.can_bake(scene):
            layout.operator("sinew.bake_at_final", icon="RENDER_ANIMATION")
        return
    row.operator("sinew.stop_live", text="Stop Live (Esc)", icon="CANCEL")
    row.prop(scene.sinew, "live_rate", text="Speed")
    clock = layout.row(align=True)
    clock.operator(
        "sinew.pause_live", text="Resume" if run.is_paused else "Pause", icon="PLAY" if run.is_paused else "PAUSE"
    )
    clock.operator("sinew.step_live", icon="FRAME_NEXT")
    _draw_keep(layout, scene)
    _draw_shape_buttons(layout)
    layout.label(text=progress_text(run, scene.sinew.live_rate), icon="TIME")
    _draw_real_time_tets(layout, run, scene.sinew.live_rate)


def draw_live_messages(layout: bpy.types.UILayout, context: bpy.types.Context) -> None:
    """Draws what there is to say of a run, or before one: below all buttons, which it would move under the mouse."""
    scene, run = context.scene, session.live
    if not roles.bodies(scene):
        return
    if run is not None and run.scene_uid == scene.session_uid:
        for line in filter(None, (run.note, run.later, unsettled_steps.note(run))):
            draw_wrapped(layout, line, "INFO", context)
        return
    if bake_status.has_preview_tets(scene):
        layout.label(text=LIVE_PREVIEW_LABEL, icon="INFO")
    status = bake_status.status(scene)
    if status.frame is not None and scene.frame_current > status.frame_start:  # before, the bake is in that shape too
        draw_wrapped(layout, FROM_REST, "INFO", context)
    last = session.last_live
    if last is not None and last.is_ended_by_undo and last.scene_uid == scene.session_uid:
        draw_wrapped(layout, ENDED_BY_UNDO, "INFO", context)


def _draw_keep(layout: bpy.types.UILayout, scene: bpy.types.Scene) -> None:
    """Draws Keep, and beside it what is kept, in one row."""
    row = layout.row(align=True)
    row.operator("sinew.keep_live", icon="FILE_TICK")
    row.prop(scene.sinew, "live_kept", text="")
    if scene.sinew.live_kept == LAST_SECONDS:
        row.prop(scene.sinew, "live_kept_seconds", text="")


def _draw_real_time_tets(layout: bpy.types.UILayout, run: LiveRun, rate: float) -> None:
    """Draws how many tets this machine runs in real time, or offers that many to a run that is slower: one row."""
    count = run.real_time_tets
    if count is None:
        layout.label(text="Tets in real time: not yet known", icon="INFO")
    elif _is_late(run, rate) and real_time_tets.is_slow(run):
        layout.operator("sinew.use_real_time_tets", text=offer_text(run), icon="FILE_REFRESH")
    else:
        layout.label(text=f"Up to about {count:,} tets in real time", icon="INFO")


def offer_text(run: LiveRun) -> str:
    """Returns what fewer tets bring: real time, or as much of it as bodies can have that all need some tets."""
    ratio = real_time_tets.offered_ratio(run)
    if ratio >= 1.0:
        return f"Real Time with {run.offered_tets:,} Tets"
    return f"{run.offered_tets:,} Tets at Least: {ratio:.{1 if ratio >= 0.1 else 2}f} × Real Time"


def draw_live_entries(layout: bpy.types.UILayout, context: bpy.types.Context) -> None:
    """Draws the same buttons as entries of a menu, where Blender's search finds them."""
    if roles.bodies(context.scene):
        is_on = session.live is not None
        layout.operator("sinew.stop_live" if is_on else "sinew.live", icon="CANCEL" if is_on else "PHYSICS")
    if keep_run.can_keep(context.scene):
        layout.operator("sinew.keep_live", text=KEEP_LABEL, icon="FILE_TICK")
    _draw_keep_shape(layout, context.scene)
    if final_bake.can_bake(context.scene):
        layout.operator("sinew.bake_at_final", icon="RENDER_ANIMATION")


def _draw_keep_shape(layout: bpy.types.UILayout, scene: bpy.types.Scene) -> None:
    if kept_shape.can_keep(scene):
        _draw_shape_buttons(layout)


def _draw_shape_buttons(layout: bpy.types.UILayout) -> None:
    layout.operator("sinew.keep_shape", icon="SHAPEKEY_DATA")
    layout.operator("sinew.keep_start", icon="REW")


def _is_late(run: LiveRun, rate: float) -> bool:
    """Whether time passes more slowly in a run than it is asked to."""
    return float(run.status.get("ratio", rate)) < REAL_TIME_SHARE * rate


def progress_text(run: LiveRun, rate: float) -> str:
    """Returns how a run goes: what it waits for, or how its time passes."""
    if not run.is_moving or run.driver.job.phase == "cancelling":
        return PHASES.get(run.driver.job.phase, "Starting")
    if run.is_paused:
        return f"Paused at {run.seconds:.2f} s"
    ratio, tets = float(run.status.get("ratio", rate)), run.tets
    speed = "Real time" if rate == 1.0 else f"{rate:.2g} × real time"
    if _is_late(run, rate):
        speed = f"{max(ratio, 0.01):.{1 if ratio >= 0.1 else 2}f} × real time"
        speed = f"Under {speed}" if ratio < 0.005 else speed
    return f"{speed}, {tets:,} tets" if tets else speed  # no longer: it has to fit into Blender's sidebar
