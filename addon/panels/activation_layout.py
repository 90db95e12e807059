# SPDX-License-Identifier: GPL-3.0-or-later
"""The panel about what activates a muscle: its strength and heads, and its source beside keys."""

from __future__ import annotations

import bpy

from ...solver.scene.settings.activation_settings import (
    ACTIVATION_COLUMN,
    ACTIVATION_FILE,
    ACTIVATION_POSES,
    ACTIVATION_SOURCE,
    BY_LENGTH,
    BY_POSE,
    DATA_OFFSET,
    DATA_SCALE,
    FALL_TIME,
    FLEXED_SHAPE,
    FROM_DATA,
    LENGTH_RESPONSE,
    MUSCLE_HEADS,
    MUSCLE_STRENGTH,
    NO_SOURCE,
    POSE_RIG,
    RESPONSE_POINTS,
    RISE_TIME,
    SHORTENING_FULL,
    SHORTENING_START,
    STRETCH_REFLEX,
    VIA_POINTS,
)
from ...solver.scene.settings.setting import Setting
from ..blender_data.object_keys import body_key
from ..cache.bake_passes import body_folder
from ..cache.baked_activation import source_activation
from ..evaluation.sample_times import frame_range, frames_per_second
from .property_rows import draw_menu, draw_search, draw_settings, locked_column
from .text_rows import draw_wrapped

LENGTH_SETTINGS = (SHORTENING_START, SHORTENING_FULL, LENGTH_RESPONSE, STRETCH_REFLEX)
DATA_SETTINGS = (ACTIVATION_FILE, ACTIVATION_COLUMN, DATA_OFFSET, DATA_SCALE)
NOT_BAKED_NOTE = "Simulate to see here what the source makes"


def draw_activation(layout: bpy.types.UILayout, context: bpy.types.Context) -> None:
    """Draws strength and heads of a muscle, then its source, and what that and the keys come to."""
    obj = context.object
    settings = obj.sinew
    column = locked_column(layout, context)
    column.active = settings.use_muscle
    draw_settings(column, obj, (MUSCLE_STRENGTH,))
    _draw_table(column, settings, MUSCLE_HEADS)
    _draw_flexed_shape(column, obj)
    draw_settings(column, obj, (ACTIVATION_SOURCE,))
    source = settings.activation_source
    if source == BY_LENGTH:
        draw_settings(column, obj, LENGTH_SETTINGS)
        column.operator("sinew.fit_length_range", icon="FULLSCREEN_ENTER")
        _draw_table(column, settings, RESPONSE_POINTS)
        _draw_table(column, settings, VIA_POINTS)
    elif source == BY_POSE:
        draw_settings(column, obj, (POSE_RIG,))
        _draw_poses(column, settings)
    elif source == FROM_DATA:
        draw_settings(column, obj, DATA_SETTINGS)
    if source != NO_SOURCE:
        draw_settings(column, obj, (RISE_TIME, FALL_TIME))
        _draw_present(column, context)
        column.operator("sinew.bake_activation", icon="KEYINGSET")
    column.operator("sinew.add_flex_controls", icon="DRIVER")


def _draw_flexed_shape(layout: bpy.types.UILayout, obj: bpy.types.Object) -> None:
    """Draws the shape key at full activation; without shape keys, there is nothing to choose."""
    settings, keys = obj.sinew, obj.data.shape_keys
    row = layout.row()
    row.active = keys is not None and FLEXED_SHAPE.counts(lambda name: getattr(settings, name))
    if keys is None:
        row.enabled = False
        draw_menu(row, settings, FLEXED_SHAPE.name)
    else:
        draw_search(row, settings, FLEXED_SHAPE.name, keys, "key_blocks")


def _draw_present(layout: bpy.types.UILayout, context: bpy.types.Context) -> None:
    """Draws what the source makes at the playhead, and what it and the keyed value come to."""
    scene, obj = context.scene, context.object
    time = (scene.frame_current_final - frame_range(scene)[0]) / frames_per_second(scene)
    source = source_activation(body_folder(scene, obj), body_key(obj), time)
    if source is None:
        draw_wrapped(layout, NOT_BAKED_NOTE, "INFO", context)
        return
    keyed = obj.sinew.activation
    total = min(source + keyed, 1.0)
    column = layout.column(align=True)
    column.progress(factor=source, text=f"Source {source:.2f}")
    column.progress(factor=total, text=f"With Activation {keyed:.2f}: {total:.2f}")


def _draw_poses(layout: bpy.types.UILayout, settings: bpy.types.PropertyGroup) -> None:
    """Draws the stored poses, with the buttons that store, update and remove one."""
    column = layout.column(align=True)
    column.use_property_split = False
    row = column.row(align=True)
    row.operator("sinew.store_activation_pose", icon="ADD")
    part = row.row(align=True)
    part.enabled = bool(len(settings.activation_poses))
    part.operator("sinew.update_activation_pose", icon="FILE_REFRESH")
    part.operator("sinew.remove_table_row", text="", icon="REMOVE").table = ACTIVATION_POSES.name
    _draw_rows(column, settings, ACTIVATION_POSES)


def _draw_table(layout: bpy.types.UILayout, settings: bpy.types.PropertyGroup, table: Setting) -> None:
    """Draws a table under its name, with the buttons that add and remove rows."""
    column = layout.column(align=True)
    column.use_property_split = False
    header = column.row()
    header.label(text=table.label)
    buttons = header.row(align=True)
    buttons.operator("sinew.add_table_row", text="", icon="ADD").table = table.name
    part = buttons.row(align=True)
    count = len(getattr(settings, table.name))
    part.enabled = bool(count)
    part.operator("sinew.remove_table_row", text="", icon="REMOVE").table = table.name
    if table == VIA_POINTS and count > 1:
        part.operator("sinew.move_via_point", text="", icon="TRIA_UP").direction = "UP"
        part.operator("sinew.move_via_point", text="", icon="TRIA_DOWN").direction = "DOWN"
    _draw_rows(column, settings, table)


def _draw_rows(layout: bpy.types.UILayout, settings: bpy.types.PropertyGroup, table: Setting) -> None:
    rows = 3 if len(getattr(settings, table.name)) else 2
    layout.template_list(f"SINEW_UL_{table.name}", "", settings, table.name, settings, f"{table.name}_index", rows=rows)
