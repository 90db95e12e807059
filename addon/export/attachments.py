# SPDX-License-Identifier: GPL-3.0-or-later
"""The attachments of a body: what the scene has of their list, and the tracks of those that are animated."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import bpy
import numpy as np

from ...solver.runtime.errors import BadInput
from ...solver.scene.attachment import Attachment
from ...solver.scene.settings.surface_attachment_settings import (
    ATTACHMENT_GROUP,
    ATTACHMENT_IS_ON,
    ATTACHMENT_KIND,
    ATTACHMENT_STRENGTH,
    ATTACHMENT_TARGET,
)
from ..blender_data.rna_serialisation import Parts, animated_paths, rna_parts, stepped_paths
from ..evaluation.vertex_weights import weights
from .participants import Participants
from .weight_reader import WeightReader


def read_attachments(inputs: Participants, reader: WeightReader) -> tuple[Attachment, ...]:
    """Returns the attachments of a body that are on, now or by their keys.

    Raises:
        BadInput: One has no target or a target that takes no part, or its group is not there or empty.
    """
    if not inputs.reads_attachments:
        return ()
    return tuple(_read_row(inputs, reader, row) for _, row in _counting_rows(reader.owner, reader.evaluated.sinew))


def attachment_owners(obj: bpy.types.Object) -> Iterator[tuple[bpy.types.Object, int]]:
    """Yields the objects with attachments of a body, itself and its Wrap, and the number of the first of each."""
    yield obj, 0
    if obj.sinew.wrap is not None:
        yield obj.sinew.wrap, sum(1 for _ in _counting_rows(obj, obj.sinew))


def attachment_targets(obj: bpy.types.Object) -> Iterator[bpy.types.Object]:
    """Yields what a body and its Wrap are attached to in a bake."""
    for owner, _ in attachment_owners(obj):
        yield from (row.target for _, row in _counting_rows(owner, owner.sinew) if row.target is not None)


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
    for number, (path, row) in enumerate(_counting_rows(obj, settings), first):
        on, strength = f"{path}.{ATTACHMENT_IS_ON.name}", f"{path}.{ATTACHMENT_STRENGTH.name}"
        if on in animated or strength in animated:
            kind = "step" if strength in stepped or strength not in animated else "linear"
            yield f"attachment.{number}.strength", row.strength if row.is_on else 0.0, kind


def attachment_parts(obj: bpy.types.Object, keys: Mapping[bpy.types.Object, str]) -> Parts:
    """Returns what the digest has of the attachments of a body: of bodies the keys, which stay if they are renamed."""
    parts: Parts = []
    for number, (path, row) in enumerate(_counting_rows(obj, obj.sinew)):
        keyed = [each.removeprefix(f"{path}.") for each in animated_paths(obj) if each.startswith(f"{path}.")]
        parts += rna_parts(row, {ATTACHMENT_TARGET.name, *keyed}, (), f"attachments.{number}.")
        parts.append(keys.get(row.target, row.target.name_full) if row.target is not None else "")
    return parts


def _counting_rows(
    obj: bpy.types.Object, settings: bpy.types.PropertyGroup
) -> Iterator[tuple[str, bpy.types.PropertyGroup]]:
    """Yields the rows that a bake reads, with their data paths: rows that are off for ever do not count."""
    animated = animated_paths(obj)
    for index, row in enumerate(settings.attachments):
        path = f"sinew.attachments[{index}]"
        if row.is_on or f"{path}.{ATTACHMENT_IS_ON.name}" in animated:
            yield path, row


def _read_row(inputs: Participants, reader: WeightReader, row: bpy.types.PropertyGroup) -> Attachment:
    owner = reader.owner
    if row.target is None:
        raise BadInput("attachment-without-target", name=owner.name)
    target = row.target.original
    targets = (inputs.bodies, inputs.grounds, inputs.colliders, inputs.bones)
    keys = [own[target] for own in targets if target in own]
    if not keys:
        raise BadInput("attachment-target-missing", name=owner.name, target=target.name)
    paint = np.zeros(0)
    if row.group:
        paint = weights(reader.evaluated, reader.mesh, row.group, owner.name, ATTACHMENT_GROUP.label)
        if not paint.any():
            raise BadInput("group-empty", name=owner.name, group=row.group, field=ATTACHMENT_GROUP.label)
    kind = ATTACHMENT_KIND.solver_value(row.kind)
    return Attachment(keys[0], kind, row.reach * inputs.unit, row.strength, paint)
