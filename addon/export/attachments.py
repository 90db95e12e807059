# SPDX-License-Identifier: GPL-3.0-or-later
"""The attachments of a body: what the scene has of their list, and the tracks of those that are animated."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import bpy
import numpy as np

from ...solver.runtime.errors import BadInput
from ...solver.scene.attachment import ALL_BONES, ARMATURE_BONES, Attachment
from ...solver.scene.settings.surface_attachment_settings import (
    ATTACHMENT_GROUP,
    ATTACHMENT_IS_ON,
    ATTACHMENT_KIND,
    ATTACHMENT_STRENGTH,
    ATTACHMENT_TARGET,
    SPRING,
    TO_ARMATURE,
    TO_BONES,
)
from ..blender_data.rna_serialisation import Parts, animated_paths, rna_parts, stepped_paths
from ..evaluation.vertex_weights import weights
from ..objects import roles
from ..objects.attachment_rows import counting_rows, holds_material, is_to_bone, row_target
from .participants import Participants
from .weight_reader import WeightReader

EVERY_BONE = {TO_BONES: ALL_BONES, TO_ARMATURE: ARMATURE_BONES}


def read_attachments(inputs: Participants, reader: WeightReader) -> tuple[Attachment, ...]:
    """Returns the attachments of a body that are on, now or by their keys.

    Raises:
        BadInput: One has no target or a target that takes no part, or its group is not there or empty.
    """
    if not inputs.reads_attachments:
        return ()
    return tuple(_read_row(inputs, reader, row) for _, row in counting_rows(reader.owner, reader.evaluated.sinew))


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


def attachment_parts(obj: bpy.types.Object, keys: Mapping[bpy.types.Object, str]) -> Parts:
    """Returns what the digest has of the attachments of a body: of bodies the keys, which stay if they are renamed."""
    parts: Parts = []
    for number, (path, row) in enumerate(counting_rows(obj, obj.sinew)):
        keyed = [each.removeprefix(f"{path}.") for each in animated_paths(obj) if each.startswith(f"{path}.")]
        parts += rna_parts(row, {ATTACHMENT_TARGET.name, *keyed}, (), f"attachments.{number}.")
        target = row_target(row)
        parts.append(keys.get(target, target.name_full) if target is not None else "")
    return parts


def _read_row(inputs: Participants, reader: WeightReader, row: bpy.types.PropertyGroup) -> Attachment:
    owner, paint = reader.owner, np.zeros(0)
    key = _target_key(inputs, owner, row)
    if row.group:
        paint = weights(reader.evaluated, reader.mesh, row.group, owner.name, ATTACHMENT_GROUP.label)
        if not paint.any():
            raise BadInput("group-empty", name=owner.name, group=row.group, field=ATTACHMENT_GROUP.label)
    kind = ATTACHMENT_KIND.solver_value(row.kind)
    has_stiffness = roles.is_flesh(owner) and is_to_bone(row) and row.kind == SPRING and row.stiffness > 0.0
    stiffness = row.stiffness if has_stiffness else None
    return Attachment(key, kind, row.reach * inputs.unit, row.strength, paint, stiffness)


def _target_key(inputs: Participants, owner: bpy.types.Object, row: bpy.types.PropertyGroup) -> str:
    """Returns the key of what a row is about; raises BadInput where that takes no part."""
    if row.target_type == TO_ARMATURE and not roles.is_flesh(owner):
        raise BadInput("bones-hold-flesh-only", name=owner.name)
    if row.target_type in EVERY_BONE:
        return EVERY_BONE[row.target_type]
    if row.target is None:
        raise BadInput("attachment-without-target", name=owner.name)
    target = row.target.original
    targets = [inputs.bodies, inputs.grounds, inputs.colliders, inputs.bones]
    if roles.is_flesh(owner) and holds_material(row):
        targets.insert(0, inputs.bones)  # what is a bone and a collider, too, holds it as a bone
    keys = [own[target] for own in targets if target in own]
    if not keys:
        raise BadInput("attachment-target-missing", name=owner.name, target=target.name)
    return keys[0]
