# SPDX-License-Identifier: GPL-3.0-or-later
"""Properties of the attachments of a body, and of the rows of their list."""

from __future__ import annotations

from typing import Any

import bpy
from bpy.props import BoolProperty, CollectionProperty, IntProperty

from ...solver.scene.settings.surface_attachment_settings import (
    ATTACHMENT_ARMATURE,
    ATTACHMENT_EDGES,
    ATTACHMENT_ROW_SETTINGS,
    ATTACHMENT_TARGET,
    ATTACHMENTS,
    SLIDING,
    SPRING,
    TO_OBJECT,
)
from .property_factory import OVERRIDABLE, make_property, settings_group
from .table_editing import add_row, remove_row


def _may_be_target(row: bpy.types.PropertyGroup, obj: bpy.types.Object) -> bool:
    return obj.type in {"MESH", "EMPTY"} and obj != row.id_data and obj.sinew.result_of is None


def _may_be_edges(row: bpy.types.PropertyGroup, obj: bpy.types.Object) -> bool:
    return obj.type == "MESH" and obj not in (row.id_data, row.target) and obj.sinew.result_of is None


def _choose_springs(row: bpy.types.PropertyGroup, _context: bpy.types.Context) -> None:
    """Makes a new row springs, since edges do not slide."""
    if row.edges is not None and row.kind == SLIDING:
        row.kind = SPRING


def _is_armature(_row: bpy.types.PropertyGroup, obj: bpy.types.Object) -> bool:
    return bool(obj.type == "ARMATURE")


_RowProperties: Any = settings_group(
    "AttachmentRowProperties",
    "A bone or another surface, and how the body is attached to it.",
    ATTACHMENT_ROW_SETTINGS,
    more={
        ATTACHMENT_TARGET.name: make_property(ATTACHMENT_TARGET, poll=_may_be_target),
        ATTACHMENT_ARMATURE.name: make_property(ATTACHMENT_ARMATURE, poll=_is_armature),
        ATTACHMENT_EDGES.name: make_property(ATTACHMENT_EDGES, update=_choose_springs, poll=_may_be_edges),
    },
)


class SinewAttachment(_RowProperties, bpy.types.PropertyGroup):
    """One row of the list of attachments."""


AttachmentProperties: Any = settings_group(
    "AttachmentProperties",
    "What holds a body, along what it slides, and to what it is tied.",
    (ATTACHMENTS,),
    more={
        ATTACHMENTS.name: CollectionProperty(
            type=SinewAttachment,
            name=ATTACHMENTS.label,
            description=ATTACHMENTS.description,
            options=set(),
            override={*OVERRIDABLE, "USE_INSERTION"},
        ),
        "attachments_index": IntProperty(name="Row", options={"HIDDEN"}, override=OVERRIDABLE),
        # flesh of earlier versions is held by the settings that its bones and it had of their own
        "bones_are_rows": BoolProperty(name="Bones Are Rows", options={"HIDDEN"}, override=OVERRIDABLE),
    },
)


def copy_attachments(source: bpy.types.PropertyGroup, target: bpy.types.PropertyGroup) -> None:
    """Gives the settings of one object the attachments of another, but none to itself."""
    target.bones_are_rows = source.bones_are_rows
    rows = [row for row in source.attachments if row.target_type != TO_OBJECT or row.target != target.id_data]
    while len(target.attachments) > len(rows) and remove_row(target.attachments, len(target.attachments) - 1):
        pass
    while len(target.attachments) < len(rows):
        add_row(target.attachments)
    for row, wanted in zip(target.attachments, rows, strict=False):
        for setting in ATTACHMENT_ROW_SETTINGS:
            value = getattr(wanted, setting.name)
            setattr(row, setting.name, None if value == target.id_data else value)
