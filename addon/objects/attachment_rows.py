# SPDX-License-Identifier: GPL-3.0-or-later
"""Rows of the list of attachments: which of them count, and which say how a bone mesh holds flesh.

A bone mesh that no row is about holds flesh by its own settings.
"""

from __future__ import annotations

from collections.abc import Iterator

import bpy

from ...solver.scene.settings.surface_attachment_settings import (
    ATTACHMENT_IS_ON,
    FIXED,
    SPRING,
    TO_ARMATURE,
    TO_BONES,
    TO_OBJECT,
)
from ..blender_data.rna_serialisation import animated_paths
from ..properties.role_definitions import BONE
from . import roles


def counting_rows(
    obj: bpy.types.Object, settings: bpy.types.PropertyGroup
) -> Iterator[tuple[str, bpy.types.PropertyGroup]]:
    """Yields the rows that a bake reads, with their data paths: rows that are off for ever do not count."""
    animated = animated_paths(obj)
    for index, row in enumerate(settings.attachments):
        path = f"sinew.attachments[{index}]"
        if row.is_on or f"{path}.{ATTACHMENT_IS_ON.name}" in animated:
            yield path, row


def row_target(row: bpy.types.PropertyGroup) -> bpy.types.Object | None:
    """Returns the object that a row is about; None: it has none, or is about all bones or those of an armature."""
    return row.target if row.target_type == TO_OBJECT else None


def attachment_owners(obj: bpy.types.Object) -> Iterator[tuple[bpy.types.Object, int]]:
    """Yields the objects with attachments of a body, itself and its Wrap, and the number of the first of each."""
    yield obj, 0
    if obj.sinew.wrap is not None:
        yield obj.sinew.wrap, sum(1 for _ in counting_rows(obj, obj.sinew))


def attachment_targets(obj: bpy.types.Object) -> Iterator[bpy.types.Object]:
    """Yields what a body and its Wrap are attached to in a bake."""
    for owner, _ in attachment_owners(obj):
        rows = (row for _, row in counting_rows(owner, owner.sinew))
        yield from (target for row in rows if (target := row_target(row)) is not None)


def is_attached_to_all_bones(obj: bpy.types.Object) -> bool:
    """Whether a row of a body or its Wrap is about all bone meshes."""
    owners = (owner for owner, _ in attachment_owners(obj))
    return any(row.target_type == TO_BONES for owner in owners for _, row in counting_rows(owner, owner.sinew))


def is_to_bone(row: bpy.types.PropertyGroup) -> bool:
    """Whether a row is about a bone mesh, all of them, or bones of an armature."""
    return row.target_type != TO_OBJECT or (row.target is not None and roles.has_role(row.target, BONE))


def is_without_target(row: bpy.types.PropertyGroup) -> bool:
    """Whether a row that needs a target has none, or one that was deleted, which Blender keeps in no scene."""
    return row.target_type == TO_OBJECT and (row.target is None or not row.target.users_scene)


def holds_material(row: bpy.types.PropertyGroup) -> bool:
    """Whether a bone that a row is about holds all flesh in reach, and not just its surface.

    Springs of a Wrap tie its surface: their stiffness is not asked for.
    """
    return row.kind == FIXED or (row.kind == SPRING and row.stiffness > 0.0 and roles.is_flesh(row.id_data))


def row_about_armature(body: bpy.types.Object) -> bpy.types.PropertyGroup | None:
    """Returns the row of a body that says how bones of its armature hold it, or None: its panel Bones does."""
    return next((row for row in _rows_about_material(body) if row.target_type == TO_ARMATURE), None)


def row_about_bone(body: bpy.types.Object, bone: bpy.types.Object) -> bpy.types.PropertyGroup | None:
    """Returns the row of a body that says how a bone mesh holds it, or None: the bone's own settings do.

    One about this bone comes before one about all bones, and one that holds flesh before others, as
    `attachment_to_bone` of the solver has it.
    """
    rows = list(_rows_about_material(body))
    own = [row for row in rows if row_target(row) == bone]
    if not own and bone.sinew.bone_body in (None, body):
        own = [row for row in rows if row.target_type == TO_BONES]
    return min(own, key=lambda row: not holds_material(row), default=None)


def _rows_about_material(body: bpy.types.Object) -> Iterator[bpy.types.PropertyGroup]:
    """Yields the rows that may say how bones hold a body: its own, and those of its Wrap that hold material."""
    for owner, _ in attachment_owners(body):
        if not len(owner.sinew.attachments):
            continue  # asked of every bone whenever a panel is drawn
        yield from (row for _, row in counting_rows(owner, owner.sinew) if owner == body or holds_material(row))
