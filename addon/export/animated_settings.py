# SPDX-License-Identifier: GPL-3.0-or-later
"""Reads the animated settings of a body at a sample time."""

from __future__ import annotations

from collections.abc import Iterator

import bpy

from ...solver.scene.scene import Body
from ...solver.scene.settings.activation_settings import HEAD_ACTIVATION, NO_SOURCE
from ...solver.scene.settings.muscle_settings import ACTIVATION
from ...solver.scene.settings.setting import SWITCH
from ...solver.scene.settings.size_and_start_settings import ANIMATED
from ...solver.scene.settings.tables import BODY, settings_of_role
from ..blender_data.rna_serialisation import animated_paths, stepped_paths
from ..objects.rigid_body_settings import counting_rigid_body, follows_animation
from .activation_inputs import is_muscle, source_of
from .rigid_body import has_animated_rigid_body
from .setting_range_check import check_setting_ranges, value_reader

# each has the track "body.KEY.NAME" where it is animated; pins have theirs beside their targets
ANIMATABLE_SETTINGS = tuple(s for s in settings_of_role(BODY) if s.is_animated and s.field)

FORMER_TRACKS = {"yield_strain", "flow", "maximum_strain", "breaking_stress"}  # that 0.2.0 had


def may_be_animated(obj: bpy.types.Object, body: Body) -> bool:
    """Whether a body follows its animation at some time."""
    if counting_rigid_body(obj) is not None:
        return body.animated or has_animated_rigid_body(obj)
    has_keys = f"sinew.{ANIMATED.name}" in animated_paths(obj)
    return body.animated or (has_keys and ANIMATED.counts(value_reader(obj.sinew)))


def animated_values(obj: bpy.types.Object, evaluated: bpy.types.Object) -> Iterator[tuple[str, float, str]]:
    """Yields the settings of a body that are animated or driven, with their value now and the kind of their track.

    Raises:
        BadInput: A value is out of its range.
    """
    settings, rigid_body = evaluated.sinew, counting_rigid_body(evaluated)
    check_setting_ranges(obj.name, settings, ANIMATABLE_SETTINGS)
    if has_animated_rigid_body(obj):
        yield ANIMATED.name, float(follows_animation(rigid_body)), "step"
    animated, stepped = animated_paths(obj), stepped_paths(obj)
    for setting in ANIMATABLE_SETTINGS:
        path = f"sinew.{setting.name}"
        if setting == ANIMATED and rigid_body is not None:
            continue  # Blender's own counts
        if setting == ACTIVATION and source_of(obj) != NO_SOURCE:
            continue  # the track also has what the source makes: `activation_sampler.py` writes it
        if setting.counts(value_reader(settings)) and path in animated:
            # tracks of 0.2.0 are linear, whatever their keys are: bakes can only go on with the same tracks
            is_stepped = setting.kind == SWITCH or (path in stepped and setting.name not in FORMER_TRACKS)
            yield setting.name, getattr(settings, setting.name), "step" if is_stepped else "linear"
    for number, head in enumerate(settings.muscle_heads if is_muscle(obj) else ()):
        path = f"sinew.muscle_heads[{number}].{HEAD_ACTIVATION.name}"
        if path in animated:
            yield f"head.{number}.{HEAD_ACTIVATION.name}", head.activation, "step" if path in stepped else "linear"
