# SPDX-License-Identifier: GPL-3.0-or-later
"""The buttons that simulate less than the whole: the present frame without a bake, or the selected bodies."""

from __future__ import annotations

import bpy

from ..baking import bake_status, frame_solve
from ..baking.addon_session import session
from ..objects import roles
from ..playback import solved_frame
from .bake_layout import iteration_text

SOLVING_LABEL = "Solving … (Esc)"


def draw_simulate_chosen(layout: bpy.types.UILayout, context: bpy.types.Context) -> None:
    """Draws Simulate Selected where several bodies are baked."""
    status = bake_status.status(context.scene)
    if status.frame is not None and not status.is_running and len(roles.bodies(context.scene)) > 1:
        layout.operator("sinew.simulate_chosen", icon="RESTRICT_SELECT_OFF")


def draw_solve_frame(layout: bpy.types.UILayout, context: bpy.types.Context) -> None:
    """Draws the button where there is flesh, and another one that hides what it shows."""
    scene = context.scene
    bodies = roles.bodies(scene)
    if not any(map(roles.is_flesh, bodies)):
        return
    row = layout.row(align=True)
    if frame_solve.is_solving(scene):
        row.operator("sinew.cancel_solve", text=SOLVING_LABEL, icon="CANCEL")
        solve = session.frame_solve
        progress = bake_status.newton_iteration(solve.driver.job.newton_event) if solve is not None else None
        layout.label(text=iteration_text(*progress, scene.sinew.pose_tolerance) if progress else " ")
        return
    row.enabled = not bake_status.status(scene).is_running
    row.operator("sinew.solve_frame", icon="FRAME_NEXT")
    if solved_frame.is_shown(bodies):
        row.operator("sinew.hide_solved_frame", text="", icon="X")
