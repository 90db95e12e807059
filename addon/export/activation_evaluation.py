# SPDX-License-Identifier: GPL-3.0-or-later
"""Evaluates sources of activation over the frames of a scene without a bake, on the hidden copy that an export uses."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

import bpy
import numpy as np

from ...solver.runtime.arrays import Floats
from ...solver.scene.activation.length_response import path_lengths
from ..evaluation.rigid_body_evaluation import LiveScene
from ..evaluation.sample_times import SampleTime, sample_times
from ..evaluation.scene_copy import SceneCopy, input_modifier_counts
from . import activation_inputs
from .activation_sampler import ActivationSampler, ActivationTrace
from .blender_physics_dependence import first_frame_needed, follows_rigid_bodies
from .muscle_path import find_muscle_path
from .participants import Participants, find_participants


def evaluate_activations(
    scene: bpy.types.Scene, muscles: Iterable[bpy.types.Object]
) -> dict[bpy.types.Object, ActivationTrace]:
    """Returns what activates muscles with a source, over the frames of a bake.

    Raises:
        BadInput: A source cannot be evaluated.
    """
    inputs = _inputs_of(scene, muscles)
    sampler: ActivationSampler | None = None
    for moment, scene_copy in _moments(scene, inputs):
        sampler = sampler or ActivationSampler(scene_copy, inputs)
        sampler.sample(scene_copy, inputs, moment.time)
    objects = {key: obj for obj, key in inputs.bodies.items()}
    return {objects[key]: trace for key, trace in sampler.traces().items()} if sampler is not None else {}


def measure_shortening(scene: bpy.types.Scene, obj: bpy.types.Object) -> Floats:
    """Returns by which share of its length at rest the path of a muscle has shortened, over the frames of a bake, (k,).

    Raises:
        BadInput: An end has no vertices.
    """
    inputs, path, points = _inputs_of(scene, [obj]), None, []
    for _, scene_copy in _moments(scene, inputs):
        path = path or find_muscle_path(scene_copy, obj, inputs)
        points.append(path.points(scene_copy, obj, inputs))
    lengths = path_lengths(np.array(points))
    return 1.0 - lengths / max(float(lengths[0]), 1e-30)


def _inputs_of(scene: bpy.types.Scene, muscles: Iterable[bpy.types.Object]) -> Participants:
    """Returns the objects that sources of some muscles read, with these muscles as the only bodies."""
    wanted = set(muscles)
    for obj in wanted:
        activation_inputs.check_source(obj, scene)
    inputs = find_participants(scene)
    return replace(inputs, bodies={obj: key for obj, key in inputs.bodies.items() if obj in wanted})


def _moments(scene: bpy.types.Scene, inputs: Participants) -> Iterator[tuple[SampleTime, SceneCopy]]:
    """Yields the moments of a bake, the rest pose first, with a copy of the scene that is evaluated there."""
    copy_class = LiveScene if follows_rigid_bodies(scene) else SceneCopy
    cuts = input_modifier_counts(list(inputs.bodies), [*inputs.bones, *inputs.colliders])
    first_needed, before = first_frame_needed(scene, cuts), None
    with copy_class(scene, inputs.modifier_counts) as scene_copy:
        for moment in sample_times(scene):
            if first_needed is not None and (before is None or moment.frame < before):
                scene_copy.evaluate_frames(first_needed, moment.frame)
            scene_copy.set_frame(moment.frame, moment.subframe)
            before = moment.frame
            yield moment, scene_copy
