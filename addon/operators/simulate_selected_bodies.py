# SPDX-License-Identifier: GPL-3.0-or-later
"""Simulate Selected: bakes the selected bodies anew while the others move as in their last bake."""

from __future__ import annotations

import bpy

from ...solver.runtime.errors import SinewError
from ..baking import bake_status, simulate_selected
from ..baking.addon_session import session
from ..baking.bake_request import BakeRequest
from ..baking.error_messages import error_text
from ..cache import cache_paths
from ..objects import roles
from .simulate import BakingOperator


class SINEW_OT_simulate_chosen(BakingOperator, bpy.types.Operator):
    """Bake the selected bodies again. The others move as in their last bake and do not feel them. Esc stops it and \
keeps the bake from before"""

    bl_idname = "sinew.simulate_chosen"
    bl_label = "Simulate Selected"
    bl_options = {"UNDO"}

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        """Where the selected bodies can follow a bake."""
        problem = _problem(context)
        if problem:
            cls.poll_message_set(problem)
        return not problem

    def request(self) -> BakeRequest:
        """Returns what is to be baked."""
        return BakeRequest(chosen=frozenset(obj.session_uid for obj in _selected_bodies(bpy.context)))


def _selected_bodies(context: bpy.types.Context) -> list[bpy.types.Object]:
    """Returns the bodies that are selected, broken ones by what they broke into: they are hidden themselves."""
    selected = {obj.sinew.result_of or obj for obj in context.scene.objects if obj.select_get()}
    return [obj for obj in roles.bodies(context.scene) if obj in selected]


def _problem(context: bpy.types.Context) -> str:
    """Returns why the selected bodies cannot be baked alone now, or ""."""
    scene = context.scene
    if session.bake is not None:
        return "A bake runs"
    if scene.sinew.protect and bake_status.status(scene).frame is not None:
        return "The bake is locked"
    try:
        simulate_selected.check_selected(scene, cache_paths.cache_folder(scene), _selected_bodies(context))
    except SinewError as problem:
        return error_text(problem)
    return ""


CLASSES = (SINEW_OT_simulate_chosen,)
