# SPDX-License-Identifier: GPL-3.0-or-later
"""The operator that turns a source of activation into keys."""

from __future__ import annotations

import bpy
import numpy as np

from ...solver.runtime.errors import BadInput
from ...solver.scene.settings.activation_settings import NO_SOURCE
from ..blender_data.animation_curves import driven_paths, own_copy_of_action, write_curve
from ..blender_data.rna_serialisation import strip_paths
from ..evaluation.sample_times import frame_range, frames_per_second
from ..export.activation_evaluation import evaluate_activations
from ..export.activation_inputs import source_of
from ..objects.flex_controls import ACTIVATION_PATH
from ..objects.role_checks import check_changeable
from .error_reporting import reporting_errors
from .selected_objects import selected_and_active

WHOLE_BLENDING = ("REPLACE", "COMBINE")  # where no strip sets a property, its value is that of the action


class SINEW_OT_bake_activation(bpy.types.Operator):
    """Write source plus keys of the selected muscles as keyframes into a new action of each. The source is then None"""

    bl_idname = "sinew.bake_activation"
    bl_label = "Bake to Keys"
    bl_options = {"REGISTER", "UNDO"}

    @reporting_errors
    def execute(self, context: bpy.types.Context) -> set[str]:
        """Writes a key on every frame; the actions that were there stay in the file as they are."""
        scene = context.scene
        muscles = [obj for obj in selected_and_active(context) if source_of(obj) != NO_SOURCE]
        if not muscles:
            raise BadInput("no-activation-source")
        for obj in muscles:
            check_changeable(obj)
            _check_keys_count(obj)
        first, last = frame_range(scene)
        frames = np.arange(first, last + 1, dtype=np.float64)
        for obj, trace in evaluate_activations(scene, muscles).items():
            values = np.interp((frames - first) / frames_per_second(scene), trace.times, trace.total)
            own_copy_of_action(obj, f"{obj.name} Activation")
            write_curve(obj, ACTIVATION_PATH, frames, values)
            obj.sinew.activation_source = NO_SOURCE
        self.report({"INFO"}, f"Keyed {len(muscles)} muscles on {len(frames)} frames")
        return {"FINISHED"}


def _check_keys_count(obj: bpy.types.Object) -> None:
    """Raises BadInput if keys of the activation would not be its value: a driver or NLA strips set or change it."""
    if ACTIVATION_PATH in driven_paths(obj):
        raise BadInput("activation-driven", name=obj.name)
    if ACTIVATION_PATH in strip_paths(obj):
        raise BadInput("activation-in-nla", name=obj.name)
    data = obj.animation_data
    if data is None or not data.use_nla or not len(data.nla_tracks):
        return  # how an action blends counts beside tracks only
    is_whole = data.action_blend_type in WHOLE_BLENDING and data.action_influence == 1.0
    if not is_whole or any(track.is_solo for track in data.nla_tracks):
        raise BadInput("action-blended", name=obj.name)


CLASSES = (SINEW_OT_bake_activation,)
