# SPDX-License-Identifier: GPL-3.0-or-later
"""The list of passes in the panel Cache: what each bakes, its state, time and size, Simulate and Delete."""

from __future__ import annotations

import bpy

from ..baking import bake_status
from ..baking.bake_status import Status
from ..cache import cache_folder_status, cache_paths
from ..cache.bake_passes import BakePass, passes
from ..objects import roles
from ..runtime.name_text import few_names
from ..runtime.quantity_text import duration_text, size_text
from .text_rows import count_text

ICONS = {"Baked": "CHECKMARK", "Out of Date": "ERROR", "Not Baked": "RADIOBUT_OFF"}


def draw_passes(layout: bpy.types.UILayout, context: bpy.types.Context) -> None:
    """Draws a row per pass where the scene has several."""
    scene = context.scene
    found = passes(scene, cache_paths.cache_folder(scene))
    if len(found) < 2:
        return
    running = bake_status.status(scene)
    column = layout.column()
    for bake_pass in found:
        box = column.box().column(align=True)
        status = bake_status.pass_status(scene, bake_pass)
        row = box.row(align=True)
        row.label(text=f"Pass {bake_pass.number}: {bodies_text(scene, bake_pass.number)}")
        buttons = row.row(align=True)
        buttons.enabled = not running.is_running and not scene.sinew.protect
        act = buttons.operator("sinew.simulate", text="", icon="PLAY")
        act.bake_pass = bake_pass.number
        part = buttons.row(align=True)
        part.enabled = status.frame is not None
        part.operator("sinew.delete_bake", text="", icon="TRASH").bake_pass = bake_pass.number
        if running.is_running and running.pass_number == bake_pass.number:
            box.label(text=f"Baking: frame {running.frame}" if running.frame is not None else "Preparing", icon="TIME")
        else:
            state = state_text(status)
            box.label(text=", ".join([state, *_details(bake_pass, status)]), icon=ICONS.get(state, "TIME"))


def bodies_text(scene: bpy.types.Scene, number: int) -> str:
    """Returns the names of the bodies of a pass: "Biceps, Triceps and 10 more"."""
    names = [obj.name for obj in roles.bodies(scene) if obj.sinew.bake_pass == number]
    return few_names(names)


def state_text(status: Status) -> str:
    """Returns the state of a pass in a few words."""
    if status.busy_elsewhere:
        return "Baking in Another Blender"
    if status.frame is None:
        return "Not Baked"
    if status.outdated:
        return "Out of Date"
    return "Baked" if status.phase == "baked" else f"Baked to Frame {status.frame}"


def _details(bake_pass: BakePass, status: Status) -> list[str]:
    """Returns time and size of the bake of a pass, and what did not converge."""
    if status.frame is None:
        return []
    seconds = cache_folder_status.seconds(bake_pass.folder)
    found = [duration_text(seconds)] if seconds > 0.0 else []
    found.append(size_text(cache_folder_status.bytes_of_pass(bake_pass.folder)))
    failed = status.convergence.not_converged
    return [*found, *([count_text(failed, "step") + " not converged"] if failed else [])]
