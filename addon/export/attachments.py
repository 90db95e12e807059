# SPDX-License-Identifier: GPL-3.0-or-later
"""The attachments of a body: what the scene has of their list, and the tracks of those that are animated."""

from __future__ import annotations

from collections.abc import Iterator

import bpy
import numpy as np

from ...solver.runtime.arrays import Floats
from ...solver.runtime.errors import BadInput
from ...solver.scene.attachment import Attachment
from ...solver.scene.settings.surface_attachment_settings import (
    ATTACHMENT_GROUP,
    ATTACHMENT_IS_ON,
    ATTACHMENT_KIND,
    ATTACHMENT_STRENGTH,
    ATTACHMENT_TARGET_GROUP,
    SPRING,
    TO_OBJECT,
)
from ..blender_data.rna_serialisation import animated_paths, stepped_paths
from ..evaluation.evaluated_mesh import evaluated_mesh
from ..evaluation.scene_copy import SceneCopy
from ..evaluation.vertex_weights import weights
from ..objects import roles
from ..objects.attachment_rows import counting_rows, has_edges, is_between_bodies, is_to_bone, may_break
from .attachment_edges import read_edges
from .attachment_targets import target_keys
from .participants import Participants
from .weight_reader import WeightReader


def read_attachments(
    scene_copy: SceneCopy, inputs: Participants, body: bpy.types.Object, reader: WeightReader
) -> tuple[Attachment, ...]:
    """Returns the attachments of a body or of its Wrap that are on, now or by their keys.

    Args:
        scene_copy: Evaluated in the rest pose.
        inputs: What takes part.
        body: The body.
        reader: Of the body or of its Wrap.

    Raises:
        BadInput: One has no target or a target that takes no part, or a group is not there or empty.
    """
    if not inputs.reads_attachments:
        return ()
    rows = counting_rows(reader.owner, reader.evaluated.sinew)
    return tuple(_read_row(scene_copy, inputs, body, reader, path) for path, _ in rows)


def attachment_values(
    obj: bpy.types.Object, settings: bpy.types.PropertyGroup, first: int = 0
) -> Iterator[tuple[str, float, str]]:
    """Yields the names of the tracks of attachments that are animated, their values now, and their kinds.

    Args:
        obj: That has them: a body or its Wrap.
        settings: Of it, evaluated.
        first: The number that its first one has among those of the body.
    """
    animated, stepped = animated_paths(obj), stepped_paths(obj)
    for number, (path, row) in enumerate(counting_rows(obj, settings), first):
        on, strength = f"{path}.{ATTACHMENT_IS_ON.name}", f"{path}.{ATTACHMENT_STRENGTH.name}"
        if on in animated or strength in animated:
            kind = "step" if strength in stepped or strength not in animated else "linear"
            yield f"attachment.{number}.strength", row.strength if row.is_on else 0.0, kind


def _read_row(
    scene_copy: SceneCopy, inputs: Participants, body: bpy.types.Object, reader: WeightReader, path: str
) -> Attachment:
    owner, paint = reader.owner, np.zeros(0)
    named, row = owner.path_resolve(path), reader.evaluated.path_resolve(path)  # what it names, and its values
    keys = target_keys(inputs, body, named)
    if row.group:
        paint = weights(reader.evaluated, reader.mesh, row.group, owner.name, ATTACHMENT_GROUP.label)
        if not paint.any():
            raise BadInput("group-empty", name=owner.name, group=row.group, field=ATTACHMENT_GROUP.label)
    of_edges = has_edges(named)
    may_have_stiffness = roles.is_flesh(owner) and is_to_bone(named) and not of_edges
    has_stiffness = may_have_stiffness and row.kind == SPRING and row.stiffness > 0.0
    is_simulated = is_between_bodies(named) and named.target in inputs.bodies
    return Attachment(
        keys[0],
        ATTACHMENT_KIND.solver_value(row.kind),
        row.reach * inputs.unit,
        row.strength,
        paint,
        row.stiffness if has_stiffness else None,
        more_targets=keys[1:],
        target_paint=_target_paint(scene_copy, named),
        may_miss=row.may_miss and not of_edges,
        surface_only=row.surface_only and not of_edges,
        is_exact=row.is_exact and is_simulated and not of_edges,
        spring_constant=row.spring_constant if row.kind == SPRING and row.spring_constant > 0.0 else None,
        damping=row.damping if (is_simulated or of_edges) and row.kind == SPRING else 0.0,
        breaking_force=row.breaking_force if row.breaking_force > 0.0 and may_break(named) else None,
        collides=row.collides and is_simulated and not of_edges,
        edges=read_edges(scene_copy, inputs, body, named),
    )


def _target_paint(scene_copy: SceneCopy, row: bpy.types.PropertyGroup) -> Floats:
    """Returns what the Target Group of a row has painted on its target, (m,), or (0,); raises as `weights_named`."""
    if row.target_type != TO_OBJECT or not row.target_group:
        return np.zeros(0)
    evaluated = scene_copy.evaluated(row.target)
    with evaluated_mesh(evaluated) as mesh:
        reader = WeightReader(row.target, evaluated, mesh)
        return reader.weights_named(row.target_group, ATTACHMENT_TARGET_GROUP.label)
