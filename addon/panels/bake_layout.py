# SPDX-License-Identifier: GPL-3.0-or-later
"""The panels about the bake: the Simulate button, the solver and the cache."""

from __future__ import annotations

import math
from collections.abc import Mapping

import bpy

from ...solver.scene.settings.flesh_settings import POSE
from ...solver.scene.settings.simulation_settings import (
    DETAIL,
    POSE_ITERATIONS,
    POSE_TOLERANCE,
    SOLVER_SETTINGS,
    STEP_SETTINGS,
)
from ..baking import bake_status, bake_summary, error_messages, last_failure
from ..baking.addon_session import Note, session
from ..baking.bake_status import CUT_LABEL, Status
from ..baking.solver_warm_up import solver_in_waiting
from ..cache import cache_paths, takes
from ..evaluation import sample_times
from ..evaluation.sample_times import rest_frame
from ..objects import roles, take_ghosts
from ..properties.role_definitions import BODY
from ..runtime.name_text import few_names
from ..runtime.quantity_text import duration_text, size_text
from . import orphaned_caches_layout, passes_layout
from .note_rows import draw_note
from .preferences_panel import COMPILING_LABEL
from .property_rows import draw_settings, locked_column
from .text_rows import count_text, draw_wrapped

POSE_SETTINGS = (POSE_TOLERANCE, POSE_ITERATIONS)
# Share of steps with unsettled contacts above which a note is shown
UNSETTLED_SHARE_NOTED = 0.05
# why settings are grey beside a finished bake
LOCKED_NOTE = "Unlock the bake to change settings"
# before the names of bodies that were baked after the others, which did not feel them
SELECTED_LABEL = "Simulated Alone"
LIVE_PREVIEW_LABEL = "Live runs with Preview Tets"


def draw_simulate(layout: bpy.types.UILayout, context: bpy.types.Context) -> None:
    """Draws the one big button, whose label is the state, and what goes with the state."""
    scene = context.scene
    status = bake_status.status(scene)
    column = layout.column(align=True)
    _draw_button(column, scene, status)
    if status.is_running:
        _draw_progress(column, scene, status)
    else:
        _draw_detail(column, context)
    if not status.is_running and (status.frame is not None or status.problem is not None):
        _draw_baked(column, scene, status)


def draw_messages(layout: bpy.types.UILayout, context: bpy.types.Context, offered: Mapping[str, str]) -> None:
    """Draws what there is to say of the bake. It comes and goes: what is below it moves away under the mouse.

    Args:
        layout: Where.
        context: Blender's.
        offered: Kinds of failures that a box already says, with the name of the object.
    """
    scene = context.scene
    status = bake_status.status(scene)
    if not status.is_running and status.is_locked and (status.frame is not None or status.problem is not None):
        draw_wrapped(layout, LOCKED_NOTE, "INFO", context)
    if solver_in_waiting.is_compiling:
        layout.label(text=COMPILING_LABEL, icon="TIME")
    unreadable = error_messages.error_text(status.problem) if status.problem else ""
    for problem in (last_failure.failure_to_show(scene, offered), unreadable):
        if problem:
            draw_wrapped(layout, problem, "ERROR", context)
    for note in bake_summary.unconverged_notes(status.convergence):
        draw_note(layout, note, "ERROR", context)
    if not status.is_running:
        orphaned_caches_layout.draw_notice(layout)
    _draw_notes(layout, [*session.messages(scene).all_notes, *_unsettled_notes(scene, status)], context)


def _draw_button(layout: bpy.types.UILayout, scene: bpy.types.Scene, status: Status) -> None:
    row = layout.row()
    row.scale_y = 1.8
    if status.is_running:
        row.enabled = status.phase != "cancelling"
    else:
        is_kept = scene.sinew.protect and status.frame is not None
        is_live = session.live is not None and session.live.scene_uid == scene.session_uid
        row.enabled = not status.busy_elsewhere and not is_kept and not is_live
        row.alert = status.outdated
    draw_simulate_operator(row, status)


def _draw_detail(layout: bpy.types.UILayout, context: bpy.types.Context) -> None:
    """Draws the choice between final tets and those of the preview, where a body has such."""
    scene = context.scene
    if not bake_status.has_preview_tets(scene):
        return
    if session.live is not None and session.live.scene_uid == scene.session_uid:
        layout.label(text=LIVE_PREVIEW_LABEL, icon="INFO")  # in place of the choice, which Live does not follow
    else:
        locked_column(layout, context).row(align=True).prop(scene.sinew, DETAIL.name, expand=True)


def draw_simulate_operator(layout: bpy.types.UILayout, status: Status) -> None:
    """Draws what starts, resumes or cancels the bake; its label is the state."""
    if status.is_running:
        layout.operator("sinew.cancel", text=status.label, icon="CANCEL")
        return
    act = layout.operator("sinew.simulate", text=status.label, icon="ERROR" if status.outdated else "PLAY")
    act.resume = status.can_resume and not status.outdated


def _draw_progress(layout: bpy.types.UILayout, scene: bpy.types.Scene, status: Status) -> None:
    row = layout.row()
    factor = status.fraction if status.prerolled is None else status.prerolled
    row.progress(factor=factor, type="BAR", text=_progress_text(status))
    if status.tets is not None:
        touching = f", {count_text(status.contacts, 'contact')}" if status.contacts else ""
        layout.label(text=f"{count_text(status.tets, 'tet')}{touching}")
    if any(map(roles.is_brittle, roles.bodies(scene))):
        # the line stays between two hits, so that nothing jumps
        layout.label(text=cracking_text(*status.cracking) if status.cracking else " ")
    if any(map(roles.is_flesh, roles.bodies(scene))):
        # the line stays between two frames, so that nothing jumps
        goal = scene.sinew.pose_tolerance
        layout.label(text=iteration_text(*status.iteration, goal) if status.iteration else " ")


def cracking_text(body: str, pieces: int) -> str:
    """Returns which body breaks, and into how many pieces so far."""
    return f'"{body}" cracks' if pieces < 2 else f'"{body}" cracks, {pieces:,} pieces'


def iteration_text(number: int, residual: float, goal: float) -> str:
    """Returns where the search for rest is: the residual goes down to the goal, the Pose Tolerance, or not."""
    line = f"Iteration {number}"
    return f"{line}, residual {residual:.2g} → {goal:.2g}" if math.isfinite(residual) else line


def _progress_text(status: Status) -> str:
    if status.phase == "compiling":
        return "Compiling the solver, once per machine"
    if status.phase == "exporting":
        return "Reading the scene"
    if status.phase == "finishing":
        return "Cutting the meshes of broken bodies"
    if status.phase != "baking":
        return status.stage
    if status.prerolled is not None:
        return f"Pre-roll {int(100.0 * status.prerolled)} %"
    left = "" if status.seconds_left is None else f", {duration_text(status.seconds_left)} left"
    frame = status.frame_start if status.frame is None else status.frame
    return f"Frame {frame} of {status.frame_end}{left}"


def _draw_baked(layout: bpy.types.UILayout, scene: bpy.types.Scene, status: Status) -> None:
    if status.is_unfinished and (status.outdated or status.phase == "partial" or not status.can_resume):
        layout.operator("sinew.simulate", text=CUT_LABEL, icon="MOD_BOOLEAN").only_cuts = True
    if status.outdated and status.can_resume and status.phase == "partial":
        act = layout.operator("sinew.simulate", text=f"Resume from Frame {status.next_frame}", icon="FORWARD")
        act.resume = True
    if status.baked_label:
        layout.label(text=status.baked_label, icon="CHECKMARK")
    if status.selected_names:
        layout.label(text=f"{SELECTED_LABEL}: {few_names(status.selected_names)}", icon="RESTRICT_SELECT_OFF")
    if not status.is_whole:
        layout.operator("sinew.show_bake", icon="HIDE_OFF")
    row = layout.row(align=True)
    part = row.row(align=True)
    part.enabled = not scene.sinew.protect
    part.operator("sinew.delete_bake", icon="TRASH")
    part.operator("sinew.new_take", icon="ADD")
    row.prop(scene.sinew, "protect", text="", icon="LOCKED" if scene.sinew.protect else "UNLOCKED")


def _unsettled_notes(scene: bpy.types.Scene, status: Status) -> list[Note]:
    """Returns what is to be said where contacts were unsettled in so many steps that it may be seen."""
    if status.frame is None or status.is_running:
        return []
    steps = (status.frame - status.frame_start) * scene.sinew.substeps
    is_seen = status.convergence.unsettled > UNSETTLED_SHARE_NOTED * max(steps, 1)
    return [bake_summary.unsettled_note(status.convergence)] if is_seen else []


def _draw_notes(layout: bpy.types.UILayout, notes: list[Note], context: bpy.types.Context) -> None:
    """Draws what there is to know about the bake, and what nobody has to act on folded away."""
    _draw_folding_notes(layout, "Notes", [note for note in notes if not note.is_minor], context, is_open=True)
    _draw_folding_notes(layout, "More Notes", [note for note in notes if note.is_minor], context, is_open=False)


def _draw_folding_notes(
    layout: bpy.types.UILayout, title: str, notes: list[Note], context: bpy.types.Context, *, is_open: bool
) -> None:
    """Draws notes under a title that folds them; `is_open`: whether they are seen at first."""
    if not notes:
        return
    header, body = layout.panel(f"sinew_{title.lower().replace(' ', '_')}", default_closed=not is_open)
    header.label(text=f"{title} ({len(notes)})")
    if body is not None:
        for note in notes:
            draw_note(body, note, "INFO", context)


def draw_solver(layout: bpy.types.UILayout, context: bpy.types.Context) -> None:
    """Draws range, steps and accuracy."""
    scene = context.scene
    settings = scene.sinew
    status = bake_status.status(scene)
    column = layout.column(align=True)
    column.enabled = not status.is_running  # a finished bake may be made longer
    column.prop(settings, "use_scene_range")
    row = column.column(align=True)
    row.enabled = not settings.use_scene_range
    row.prop(scene if settings.use_scene_range else settings, "frame_start", text="Start")
    row.prop(scene if settings.use_scene_range else settings, "frame_end", text="End")
    layout.prop(settings, "follow_bake")
    layout.prop(settings, "play_simulates")
    column = locked_column(layout, context)
    _draw_rest_pose(column, scene)
    draw_settings(column, scene, STEP_SETTINGS)
    poses = [obj.sinew.motion == POSE for obj in roles.bodies(scene)]
    part = column.column()
    part.active = not poses or not all(poses)
    draw_settings(part, scene, (each for each in SOLVER_SETTINGS if each not in POSE_SETTINGS))
    part = column.column()
    part.active = any(poses)
    draw_settings(part, scene, POSE_SETTINGS)
    if status.frame is not None:
        for line in bake_summary.step_notes(status.convergence):
            draw_wrapped(layout, line, "INFO", context)


def _draw_rest_pose(layout: bpy.types.UILayout, scene: bpy.types.Scene) -> None:
    """Draws in which pose there is no stress, and how bodies get from there to the first frame."""
    settings = scene.sinew
    row = layout.row(heading="Rest Frame")
    row.prop(settings, "use_rest_frame", text="")
    part = row.row()
    part.active = settings.use_rest_frame
    part.prop(settings, "rest_frame", text="")
    before = sample_times.frame_range(scene)[0] - rest_frame(scene)
    if before > 0:
        layout.label(text=f"{count_text(before, 'frame')} of pre-roll", icon="BLANK1")
    else:
        layout.prop(settings, "preroll")


def _draw_takes(layout: bpy.types.UILayout, scene: bpy.types.Scene) -> None:
    """Draws the takes with a bake where there are several, or another one than the present: play, compare, delete."""
    found, present = takes.takes(scene), scene.sinew.take.strip()
    if not any(take.name != present for take in found):
        return
    shown, box = take_ghosts.shown_takes(scene), layout.box()
    for take in found:
        row, is_present = box.row(align=True), take.name == present
        words = f"{take.name or 'First Take'}, to Frame {take.last_frame}"
        play = row.operator("sinew.play_take", text=words, icon="PLAY" if is_present else "BLANK1", emboss=False)
        ghost = row.row(align=True)
        ghost.enabled = not is_present
        compare = ghost.operator(
            "sinew.compare_take", text="", icon="GHOST_ENABLED" if take.name in shown else "GHOST_DISABLED"
        )
        delete = row.operator("sinew.delete_take", text="", icon="TRASH")
        play.take = compare.take = delete.take = take.name


def draw_cache(layout: bpy.types.UILayout, context: bpy.types.Context) -> None:
    """Draws where the cache lies, how large it is, and what can be made of it."""
    scene = context.scene
    status = bake_status.status(scene)
    column = layout.column()
    column.enabled = not status.is_running
    column.prop(scene.sinew, "take")
    _draw_takes(column, scene)
    passes_layout.draw_passes(column, context)
    column.prop(scene.sinew, "cache_path", placeholder=cache_paths.own_folder(scene).name)
    used = bake_status.bytes_on_disk(scene)
    if used:
        column.label(text=f"{size_text(used)} on disk")
    if not bpy.data.filepath:
        column.label(text="Moves to the .blend at its first save", icon="INFO")
    earlier = bake_status.earlier_resume_frame(scene)
    if earlier is not None and not status.is_running:
        act = column.operator("sinew.simulate", text=f"Resume from Frame {earlier + 1}", icon="FORWARD")
        act.resume, act.from_frame = True, earlier
    obj = context.object
    if obj is not None and obj.type == "MESH" and obj.sinew.role == BODY and status.frame is not None:
        needed = bake_status.shape_key_bytes(scene, obj)
        column.operator(
            "sinew.convert_to_shape_keys", text=f"Convert to Shape Keys ({size_text(needed)})", icon="SHAPEKEY_DATA"
        )
