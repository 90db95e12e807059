# SPDX-License-Identifier: GPL-3.0-or-later
"""Properties of a body's tets, size, start and pins, of its formulation, and of its rigid core."""

from __future__ import annotations

from typing import Any

import bpy

from ...solver.scene.settings.formulation_settings import FORMULATION_SETTINGS
from ...solver.scene.settings.pin_settings import PIN_SETTINGS
from ...solver.scene.settings.rest_scale_settings import REST_SCALE_SETTINGS
from ...solver.scene.settings.rigid_core_settings import CORE_HINGE, CORE_PULL, CORE_SETTINGS
from ...solver.scene.settings.size_and_start_settings import START_SETTINGS
from ...solver.scene.settings.tet_settings import DISPLAY_SETTINGS, TET_SETTINGS
from .property_factory import make_property, settings_group
from .sheet_preset_filling import FIRST_PRESET


def _divisions_edited(settings: bpy.types.PropertyGroup, _context: bpy.types.Context) -> None:
    """Lets divisions count where a script sets them on a body that has a number of tets."""
    if settings.sizing == "COUNT":
        settings.sizing = "DIVISIONS"


def _fill_chosen(settings: bpy.types.PropertyGroup, _context: bpy.types.Context) -> None:
    """Gives a body that becomes a sheet what sheets are made of, where nobody has chosen it: jelly makes no cloth.

    Cloth that falls meets itself. A body that becomes rigid has the Rigid Body settings that Blender has for it.
    """
    if settings.method == "RIGID" and not settings.is_property_set("use_rigid_body"):
        settings.use_rigid_body = settings.id_data.rigid_body is not None
    if settings.method == "SHEET" and not settings.is_property_set("sheet_preset"):
        settings.sheet_preset = FIRST_PRESET
        settings.self_collision = True


BodyProperties: Any = settings_group(
    "BodyProperties",
    "Tets, size, start, pins and Rest Scale.",
    (*TET_SETTINGS, *START_SETTINGS, *PIN_SETTINGS, *DISPLAY_SETTINGS, *REST_SCALE_SETTINGS),
    {"divisions": _divisions_edited, "method": _fill_chosen},
)
FormulationProperties: Any = settings_group(
    "FormulationProperties",
    "The formulation, and its switches under the names of `FormulationSettings` after a prefix.",
    FORMULATION_SETTINGS,
)


def _is_other(settings: bpy.types.PropertyGroup, obj: bpy.types.Object) -> bool:
    return bool(obj != settings.id_data)


CoreProperties: Any = settings_group(
    "CoreProperties",
    "The core, its hinge, and the spring that pulls it.",
    CORE_SETTINGS,
    more={each.name: make_property(each, poll=_is_other) for each in (CORE_HINGE, CORE_PULL)},
)
