# SPDX-License-Identifier: GPL-3.0-or-later
"""Adds rows to the list of attachments, each in a colour of its own; bones bring the settings that they have."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import bpy
import numpy as np

from ...solver.scene.settings.surface_attachment_settings import (
    ATTACHMENT_GROUP,
    ATTACHMENT_KIND,
    ATTACHMENT_REACH,
    ATTACHMENT_STIFFNESS,
    ATTACHMENT_STRENGTH,
    FIXED,
    SPRING,
    TO_ARMATURE,
    TO_BONE,
)
from ..blender_data.rna_serialisation import animated_paths
from ..properties.role_definitions import BONE
from ..properties.table_editing import add_row
from ..runtime.distinct_colors import distinct_colour
from . import roles
from .attachment_rows import (
    counting_rows,
    has_edges,
    is_about,
    may_be_exact,
    row_about_armature,
    row_about_bone,
    row_surfaces,
)
from .flesh_supports import bones_of

# how a row holds
HOLD_SETTINGS = (ATTACHMENT_KIND, ATTACHMENT_REACH, ATTACHMENT_STIFFNESS, ATTACHMENT_STRENGTH, ATTACHMENT_GROUP)


def add_attachment(obj: bpy.types.Object, target: bpy.types.Object | None) -> bpy.types.PropertyGroup:
    """Adds a row, chooses it, and returns it: flesh is held by a bone mesh as the bone itself would, others slide.

    Of an armature, the row is about its active bone.
    """
    table = obj.sinew.attachments
    row = add_row(table)
    row.color = _free_colour(table)
    obj.sinew.attachments_index = len(table) - 1
    if target is not None and target.type == "ARMATURE":
        active = target.data.bones.active
        row.target_type, row.armature, row.bone = TO_BONE, target, "" if active is None else active.name
        row.kind = FIXED
        return row
    row.target = target
    if target is not None and target.type == "EMPTY":
        row.kind = SPRING
    if target is not None and roles.is_flesh(obj) and roles.has_role(target, BONE):
        own = target.sinew
        row.kind = SPRING if own.use_bone_spring else FIXED
        row.reach, row.stiffness = own.bone_distance, own.bone_stiffness
        row.target_group = own.bone_mask_group
        # springs would have it as it is, and not where it is above ½ alone: they keep to the Attachment Group itself
        row.group = obj.sinew.attachment_group if row.kind == FIXED else ""
    return row


def attach(
    objects: Sequence[bpy.types.Object], target: bpy.types.Object, kind: str | None, reach: float | None
) -> list[bpy.types.PropertyGroup]:
    """Returns a new row about a target for each of some bodies that has none, exact where it fixes two bodies.

    Args:
        objects: The bodies.
        target: A body, a collider, a bone mesh, a Wrap, or an empty.
        kind: Of the rows; None: what bones say of flesh, a spring at an empty, or else Fixed.
        reach: Of the rows [Blender units]; None: what bones say of flesh, or the default.
    """
    rows = []
    for body in objects:
        if any(is_about(row, target) and not has_edges(row) for row in body.sinew.attachments):
            continue
        row = add_attachment(body, target)
        says = target.type == "EMPTY" or (roles.is_flesh(body) and roles.has_role(target, BONE))
        if kind is not None or not says:
            row.kind = kind or FIXED
        if reach is not None:
            row.reach = reach
        row.is_exact = row.kind == FIXED and may_be_exact(row)
        rows.append(row)
    return rows


def add_bones(scene: bpy.types.Scene, obj: bpy.types.Object) -> int:
    """Adds a row for each bone mesh that may hold flesh, and for those of its armature; returns how many were missing.

    Nothing moves otherwise by it: a bone that the row All Bones is about brings the settings of that row, and has none
    of its own where these have keys.
    """
    rows = (row for _, row in counting_rows(obj, obj.sinew) if not has_edges(row))
    named = {bone for row in rows for bone in row_surfaces(row)}
    keyed = list(_keyed_rows(obj))
    present = {bone: row_about_bone(obj, bone) for bone in bones_of(scene, obj) if bone not in named}
    wanted = {bone: _values(row) for bone, row in present.items() if row not in keyed}  # adding rows moves the others
    for bone, values in wanted.items():
        row = add_attachment(obj, bone)
        for name, value in values.items():
            setattr(row, name, value)
    if obj.sinew.bones_are_rows or not obj.sinew.use_armature_bones or row_about_armature(obj) is not None:
        return len(wanted)
    own, row = obj.sinew, add_attachment(obj, None)
    row.target_type, row.kind = TO_ARMATURE, SPRING if own.use_armature_bone_spring else FIXED
    row.reach, row.stiffness = own.armature_bone_radius, own.armature_bone_stiffness
    row.group = own.attachment_group if row.kind == FIXED else ""
    return len(wanted) + 1


def _free_colour(table: Sequence[bpy.types.PropertyGroup]) -> tuple[float, float, float]:
    """Returns the first colour that no row of a table has."""
    taken = [tuple(row.color) for row in table]
    colours = map(distinct_colour, range(len(taken) + 1))
    return next(each for each in colours if not any(np.allclose(each, other, atol=1.0e-4) for other in taken))


def _keyed_rows(obj: bpy.types.Object) -> Iterator[bpy.types.PropertyGroup]:
    animated = animated_paths(obj)
    for path, row in counting_rows(obj, obj.sinew):
        if any(each.startswith(f"{path}.") for each in animated):
            yield row


def _values(row: bpy.types.PropertyGroup | None) -> dict[str, Any]:
    """Returns how a row holds, {} for none."""
    return {} if row is None else {setting.name: getattr(row, setting.name) for setting in HOLD_SETTINGS}
