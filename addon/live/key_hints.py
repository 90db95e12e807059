# SPDX-License-Identifier: GPL-3.0-or-later
"""What the status bar says while a scene runs live: the keys of the active tool, and those of the run."""

from __future__ import annotations

import bpy

from ..baking.live_state import LiveRun
from . import live_keys

GRAB_HINTS = "LMB Pull   Shift Leave a Pin   Ctrl Push   "
RADIUS_HINTS = "F Radius   Shift F Strength   "
NO_TOOL_HINTS = "Grab Live, Heat Gun, Soften Live: in the Toolbar (T)   "
TOOL_HINTS = {
    "sinew.grab_tool": GRAB_HINTS + RADIUS_HINTS,
    "sinew.grab_tool_pose": GRAB_HINTS + RADIUS_HINTS,
    "sinew.heat_gun_tool": "LMB Heat   Ctrl Cool   F Radius   Shift F Temperature   ",
    "sinew.soften_tool": "LMB Soften   Ctrl Harden   " + RADIUS_HINTS,
}


def hints(tool: str, run: LiveRun, config: bpy.types.KeyConfig | None) -> str:
    """Returns the text for a tool of the 3D view, by its name; for one that does nothing live, where those are."""
    keys = (
        (live_keys.key_text(config, live_keys.PAUSE), "Go On" if run.is_paused else "Pause"),
        (live_keys.key_text(config, live_keys.STEP), "Step"),
        ("Esc", "Stop Live"),
    )
    return TOOL_HINTS.get(tool, NO_TOOL_HINTS) + "   ".join(f"{key} {does}" for key, does in keys if key)


def show(context: bpy.types.Context, run: LiveRun) -> None:
    """Writes the text of the active tool into the status bar of a window's workspace, where it is another."""
    workspace = context.workspace
    if workspace is None:
        return
    tool = workspace.tools.from_space_view3d_mode(context.mode, create=False)
    text = hints("" if tool is None else tool.idname, run, context.window_manager.keyconfigs.user)
    if run.hints.get(workspace.name) != text:
        run.hints[workspace.name] = text
        workspace.status_text_set(text)


def clear(run: LiveRun) -> None:
    """Gives the status bar back."""
    for name in run.hints:
        workspace = bpy.data.workspaces.get(name)
        if workspace is not None:
            workspace.status_text_set(None)
    run.hints.clear()
