# SPDX-License-Identifier: GPL-3.0-or-later
"""Pushes the undo step at the end of a bake, which adds broken meshes and nodes to the file.

Undo keeps what two steps have alike as it is in memory. Where a timer or a handler has let such a data-block point to
one that the step does not have, Blender crashes at the next undo. So they only set values and take data-blocks away;
what makes data-blocks is an operator, a load, or a step that is pushed here, in one go with what it is of.
"""

from __future__ import annotations

import bpy

from ..blender_data.scene_by_session_uid import find_scene
from . import attach_bake
from .addon_session import session

# modes in which Blender undoes the whole file, and not a mesh or a stroke
GLOBAL_UNDO_MODES = {"OBJECT", "POSE"}
UNDO_MESSAGE = "Simulate"


def schedule(scene: bpy.types.Scene) -> None:
    """Notes that the bake of a scene has ended."""
    session.scenes_due.add(scene.session_uid)


def is_due() -> bool:
    """Whether a bake has ended whose step was not pushed yet."""
    return bool(session.scenes_due)


def attach_due() -> None:
    """Lets the file have all that is due; whoever calls this is an operator, or pushes a step."""
    while session.scenes_due:
        scene = find_scene(session.scenes_due.pop())
        if scene is not None:
            attach_bake.attach(scene, detach_missing=False)


def push_when_possible() -> None:
    """Makes what is due and pushes the step; later where another mode or operator has the undo for itself."""
    if session.scenes_due and can_push():
        attach_due()
        bpy.ops.ed.undo_push(message=UNDO_MESSAGE)


def can_push() -> bool:
    """Whether the step of the whole file that is pushed now would be what the artist sees, and can be undone."""
    windows = bpy.context.window_manager.windows
    acting = [operator.bl_idname for window in windows for operator in window.modal_operators]
    # those of add-ons may listen for hours, Simulate among them; Blender's own end with what the artist does
    is_acting = any(bpy.types.Operator.bl_rna_get_subclass_py(name) is None for name in acting)
    return bpy.context.mode in GLOBAL_UNDO_MODES and not is_acting
