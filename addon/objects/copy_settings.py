# SPDX-License-Identifier: GPL-3.0-or-later
"""Copies the settings of an object to others that have the same role."""

from __future__ import annotations

from collections.abc import Iterator

import bpy

from ...solver.scene.settings.heat_settings import SOFTENING
from ...solver.scene.settings.preset_settings import CUSTOM_PRESET, MATERIAL_PRESET
from ...solver.scene.settings.setting import TABLE, Setting
from ...solver.scene.settings.surface_attachment_settings import ATTACHMENTS
from ...solver.scene.settings.tables import SUBJECTS
from ..blender_data.rna_serialisation import animated_paths
from ..properties.attachment_properties import copy_attachments
from ..properties.material_preset_filling import find_values
from ..properties.role_definitions import BODY
from ..properties.softening_table_editing import table_rows, write_rows
from ..properties.table_editing import copy_rows
from .roles import roles_of


def copy_settings(source: bpy.types.Object, target: bpy.types.Object) -> bool:
    """Copies the settings of the roles that both objects have, and returns whether they have any.

    What the preset of the source fills in comes from the preset, so that one by size suits the target.
    """
    common = set(roles_of(source)) & set(roles_of(target))
    filled: set[str] = set()
    if BODY in common:
        target.sinew.motion = source.sinew.motion
        target.sinew.preset = source.sinew.preset
        if source.sinew.preset != CUSTOM_PRESET:
            filled = set(find_values(source.sinew)[1])
    for setting in _settings_of(common):
        if setting == ATTACHMENTS:
            copy_attachments(source.sinew, target.sinew)
        elif setting.kind == TABLE and setting != SOFTENING:
            copy_rows(getattr(source.sinew, setting.name), getattr(target.sinew, setting.name))
        elif setting == SOFTENING:
            write_rows(getattr(target.sinew, setting.name), table_rows(getattr(source.sinew, setting.name)))
        elif setting.name not in filled and setting != MATERIAL_PRESET:
            value = getattr(source.sinew, setting.name)
            if value == target:
                continue  # it cannot be its own tendon or rig
            if getattr(target.sinew, setting.name) != value:
                setattr(target.sinew, setting.name, value)
    return bool(common)


def animated_settings(source: bpy.types.Object, target: bpy.types.Object) -> list[Setting]:
    """Returns the settings that `copy_settings` would copy and that keyframes or drivers of the target set again."""
    paths = animated_paths(target)
    found = _settings_of(set(roles_of(source)) & set(roles_of(target)))
    return [setting for setting in dict.fromkeys(found) if f"sinew.{setting.name}" in paths]


def _settings_of(keys: set[str]) -> Iterator[Setting]:
    for subject in SUBJECTS:
        if keys & set(subject.roles):
            yield from subject.settings
