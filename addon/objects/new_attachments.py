# SPDX-License-Identifier: GPL-3.0-or-later
"""Adds rows to the list of attachments, each in a colour of its own; bones bring the settings that they have."""

from __future__ import annotations

import bpy

from ...solver.scene.settings.surface_attachment_settings import FIXED, SPRING, TO_ARMATURE
from ..properties.role_definitions import BONE
from ..properties.table_editing import add_row
from ..runtime.distinct_colors import distinct_colour
from . import roles
from .attachment_rows import counting_rows, row_about_armature, row_target
from .flesh_supports import bones_of


def add_attachment(obj: bpy.types.Object, target: bpy.types.Object | None) -> bpy.types.PropertyGroup:
    """Adds a row, chooses it, and returns it: flesh is held by a bone mesh as the bone itself would, others slide."""
    table = obj.sinew.attachments
    row = add_row(table)
    row.color, row.target = distinct_colour(len(table) - 1), target
    obj.sinew.attachments_index = len(table) - 1
    if target is not None and roles.is_flesh(obj) and roles.has_role(target, BONE):
        own = target.sinew
        row.kind = SPRING if own.use_bone_spring else FIXED
        row.reach, row.stiffness = own.bone_distance, own.bone_stiffness
    return row


def add_bones(scene: bpy.types.Scene, obj: bpy.types.Object) -> int:
    """Adds a row for each bone mesh that may hold flesh, and for those of its armature; returns how many were missing.

    Nothing moves otherwise by it.
    """
    named = {row_target(row) for _, row in counting_rows(obj, obj.sinew)}
    wanted = [bone for bone in bones_of(scene, obj) if bone not in named]
    for bone in wanted:
        add_attachment(obj, bone)
    if not obj.sinew.use_armature_bones or row_about_armature(obj) is not None:
        return len(wanted)
    own, row = obj.sinew, add_attachment(obj, None)
    row.target_type, row.kind = TO_ARMATURE, SPRING if own.use_armature_bone_spring else FIXED
    row.reach, row.stiffness = own.armature_bone_radius, own.armature_bone_stiffness
    return len(wanted) + 1
