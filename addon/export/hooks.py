# SPDX-License-Identifier: GPL-3.0-or-later
"""Empties on which bodies hang, rows of the list of attachments: what the scene has of them, and their tracks."""

from __future__ import annotations

from collections.abc import Mapping

import bpy
import numpy as np

from ...solver.runtime.arrays import Floats
from ...solver.runtime.errors import BadInput
from ...solver.scene.hook import Hook
from ...solver.scene.settings.surface_attachment_settings import (
    ATTACHMENT_GROUP,
    ATTACHMENT_IS_ON,
    ATTACHMENT_STRENGTH,
    ATTACHMENT_TARGET,
    LATER_ROW_SETTINGS,
    SPRING,
)
from ..blender_data.names_at_first_bake import name_at_first_bake
from ..blender_data.rna_serialisation import Parts, animated_paths, rna_parts, stepped_paths
from ..evaluation.evaluated_mesh import positions
from ..evaluation.matrix_units import scale_to_metres, transform_points
from ..evaluation.scene_copy import SceneCopy
from ..objects.attachment_rows import hook_rows
from .participants import Participants
from .sampling_context import Sampling
from .weight_reader import WeightReader

UNREAD = {ATTACHMENT_TARGET.name, *(setting.name for setting in LATER_ROW_SETTINGS)}


def read_hooks(scene_copy: SceneCopy, inputs: Participants, reader: WeightReader) -> tuple[Hook, ...]:
    """Returns the empties on which a body hangs, now or by its keys.

    Args:
        scene_copy: Evaluated in the rest pose.
        inputs: What takes part.
        reader: Of the body.

    Raises:
        BadInput: A group is not there or empty, no vertex is within Reach, or a row is to be no spring.
    """
    if not inputs.reads_attachments:
        return ()
    return tuple(_read_row(scene_copy, inputs, reader, path) for path, _ in hook_rows(reader.owner))


def _read_row(scene_copy: SceneCopy, inputs: Participants, reader: WeightReader, path: str) -> Hook:
    owner = reader.owner
    target, row = owner.path_resolve(path).target, reader.evaluated.path_resolve(path)
    if row.kind != SPRING:
        raise BadInput("hook-is-no-spring", name=owner.name, target=target.name)
    if target not in inputs.followed_objects or target.name not in inputs.scene.objects:
        raise BadInput("attachment-target-missing", name=owner.name, target=target.name)
    if row.group:
        paint = reader.weights_named(row.group, ATTACHMENT_GROUP.label)
    else:
        paint = _in_reach(scene_copy, inputs, reader, target, row.reach)
    if not paint.any():
        raise BadInput("hook-without-points", name=owner.name)
    return Hook(paint, row.strength if row.is_on else 0.0)


def _in_reach(
    scene_copy: SceneCopy, inputs: Participants, reader: WeightReader, target: bpy.types.Object, reach: float
) -> Floats:
    """Returns 1 at the vertices of a body within a distance [Blender units] of an empty in the rest pose, (n,)."""
    points = transform_points(scale_to_metres(scene_copy.matrix(reader.owner), inputs.unit), positions(reader.mesh))
    place = np.array(scene_copy.matrix(target).translation, np.float64) * inputs.unit
    return np.asarray(np.linalg.norm(points - place, axis=1) < reach * inputs.unit, np.float64)


def sample_hooks(sampling: Sampling, obj: bpy.types.Object, key: str) -> None:
    """Adds to the tracks where the empties of a body are, and how strongly they pull where that is animated."""
    animated, stepped = animated_paths(obj), stepped_paths(obj)
    for number, (path, named) in enumerate(hook_rows(obj)):
        sampling.add(f"body.{key}.hook.{number}.matrix", sampling.world_from_metres(named.target), "rigid")
        on, strength = f"{path}.{ATTACHMENT_IS_ON.name}", f"{path}.{ATTACHMENT_STRENGTH.name}"
        if on in animated or strength in animated:
            row = sampling.evaluated(obj).path_resolve(path)
            kind = "step" if strength in stepped or strength not in animated else "linear"
            sampling.add(f"body.{key}.hook.{number}.strength", row.strength if row.is_on else 0.0, kind)


def hook_parts(obj: bpy.types.Object, keys: Mapping[bpy.types.Object, str], waiting: list[bpy.types.ID]) -> Parts:
    """Returns what the digest has of the empties of a body, which go into `waiting`."""
    parts: Parts = []
    animated = animated_paths(obj)
    for number, (path, row) in enumerate(hook_rows(obj)):
        keyed = [each.removeprefix(f"{path}.") for each in animated if each.startswith(f"{path}.")]
        parts += rna_parts(row, {*UNREAD, *keyed}, (), f"hooks.{number}.")
        parts.append(keys.get(row.target) or name_at_first_bake(row.target, row.target.name_full))
        waiting.append(row.target)
    return parts
