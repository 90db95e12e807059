# SPDX-License-Identifier: GPL-3.0-or-later
"""Separate: moves bodies that start in each other, or in colliders, apart."""

from __future__ import annotations

from collections.abc import Collection

import bpy
import numpy as np
from mathutils import Matrix

from ...solver.runtime.errors import BadInput
from ..blender_data.animation_curves import NOT_KEYED, keyframe_icon
from . import role_checks

Move = tuple[int, tuple[float, float, float]]


def separate(context: bpy.types.Context, obj: bpy.types.Object, moves: Collection[Move]) -> str:
    """Moves objects and returns how far, as a sentence.

    Args:
        context: Of the scene.
        obj: What the finding is about.
        moves: Of objects, each with its session id [m].

    Raises:
        BadInput: Nothing separates them, or an object cannot be moved; nothing was changed.
    """
    scene = context.scene
    by_id = {each.session_uid: each for each in scene.objects}
    found = [(by_id[uid], move) for uid, move in moves if uid in by_id]
    if not found:
        raise BadInput("not-fixed", name=obj.name, problem="no way to move bodies apart was found")
    for each, _ in found:
        role_checks.check_changeable(each)
        if keyframe_icon(each, "location", scene.frame_current) != NOT_KEYED:
            raise BadInput("not-fixed", name=each.name, problem="its location is animated")
    said = []
    for each, move in found:
        unit = scene.unit_settings.scale_length
        each.matrix_world = Matrix.Translation([part / unit for part in move]) @ each.matrix_world
        said.append(f'"{each.name}" by {1e3 * float(np.linalg.norm(move)):.3g} mm')
    return "Moved " + ", ".join(said)
