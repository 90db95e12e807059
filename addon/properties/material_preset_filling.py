# SPDX-License-Identifier: GPL-3.0-or-later
"""Fills in the values of a material preset, and notices when a value differs from it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import bpy

from ...solver.scene.material_presets import (
    BRITTLE_FEATURE,
    INDENTATION_PRESSURE_RATIO,
    MATERIAL_PRESETS,
    SIZED_PRESETS,
    MaterialPreset,
)
from ...solver.scene.settings.flesh_settings import BRITTLE, ELASTIC
from ...solver.scene.settings.heat_settings import HEAT_EXCHANGE, HEAT_SETTINGS, HEAT_SPEED, TEMPERATURE
from ...solver.scene.settings.material_settings import MATERIAL_SETTINGS
from ...solver.scene.settings.plasticity_settings import PLASTICITY_SETTINGS
from ...solver.scene.settings.preset_settings import CUSTOM_PRESET
from ...solver.scene.settings.setting import NUMBER, Setting
from .preset_filling_guard import PresetFilling
from .softening_table_editing import same_rows, table_rows, write_rows

# of the scene, not of the material: no preset fills them in
SURROUNDINGS_SETTINGS = (TEMPERATURE, HEAT_EXCHANGE, HEAT_SPEED)


def _preset_fields(part: str, table: Iterable[Setting]) -> dict[str, str]:
    """Returns the numbers of a table that a preset has in one of its parts: names of properties, and of fields."""
    numbers = (each for each in table if each.kind == NUMBER and each not in SURROUNDINGS_SETTINGS)
    fields = ((each.name, each.field.partition(".")) for each in numbers)
    return {name: field for name, (owner, _, field) in fields if owner == part}


MATERIAL_FIELDS = _preset_fields("Material", MATERIAL_SETTINGS)
PLASTICITY_FIELDS = _preset_fields("Plasticity", PLASTICITY_SETTINGS)
HEAT_FIELDS = _preset_fields("Heat", HEAT_SETTINGS)
filling = PresetFilling()


def preset_values(preset: MaterialPreset) -> dict[str, Any]:
    """Returns the settings that a preset fills in, but for the softening table."""
    values: dict[str, Any] = {name: getattr(preset.material, field) for name, field in MATERIAL_FIELDS.items()}
    if preset.plasticity is not None:
        values |= {name: getattr(preset.plasticity, field) for name, field in PLASTICITY_FIELDS.items()}
        values["plastic_law"] = preset.plasticity.law.upper()
    if preset.heat is not None:
        values |= {name: getattr(preset.heat, field) for name, field in HEAT_FIELDS.items()}
    if preset.fracture is not None:
        values["breaking_stress"] = preset.fracture.breaking_stress
        values["use_toughness"] = preset.fracture.toughness is not None
        if preset.fracture.toughness is not None:
            values["toughness"] = preset.fracture.toughness
    return values


def find_values(settings: Any) -> tuple[MaterialPreset, dict[str, Any]]:
    """Returns the preset of the settings, and what it fills in: a preset by size has a Stiffness for the object."""
    if settings.preset not in SIZED_PRESETS:
        preset = MATERIAL_PRESETS[settings.preset]
        return preset, preset_values(preset)
    from ..objects import self_weight_collapse

    sized = SIZED_PRESETS[settings.preset]
    values = preset_values(sized.preset)
    scene = bpy.context.scene
    stiffness = self_weight_collapse.stiffness_for_size(
        settings.id_data, scene, values["density"], sized.self_weight_strain
    )
    return sized.preset, values if stiffness is None else values | {"youngs_modulus": stiffness}


def apply_preset(settings: Any) -> None:
    """Writes the values of `settings.preset` into the settings, and switches on what the material is chosen for.

    Flesh neither flows, takes heat nor breaks: it stays flesh, and gets the rest.
    """
    if filling.is_active or settings.preset == CUSTOM_PRESET:
        return
    preset, values = find_values(settings)
    with filling:
        for name, value in values.items():
            setattr(settings, name, value)
        if preset.plasticity is not None:  # no part of the material: of an earlier file it has its default
            settings.detail_yield = INDENTATION_PRESSURE_RATIO * preset.plasticity.yield_strain
        if settings.motion in (ELASTIC, BRITTLE):
            is_solid = settings.method not in ("RIGID", "SHEET")  # those are what they are
            settings.motion = BRITTLE if BRITTLE_FEATURE in preset.features and is_solid else ELASTIC
        for part in ("plasticity", "heat"):
            setattr(settings, f"use_{part}", part in preset.features and settings.motion == ELASTIC)
        may_break = settings.motion in (ELASTIC, BRITTLE) and settings.method != "RIGID"
        settings.use_fracture = "fracture" in preset.features and may_break
        if preset.heat is not None:
            write_rows(settings.softening, preset.heat.softening)
            if settings.temperature >= preset.heat.melting_point:  # nobody chooses ice for a puddle
                settings.temperature = preset.heat.temperature


def mark_custom(settings: Any) -> None:
    """Turns the menu to Custom when a value no longer is the preset's; not while a preset fills the values in."""
    if not filling.is_active and settings.preset != CUSTOM_PRESET and not matches_preset(settings):
        settings.preset = CUSTOM_PRESET


def matches_preset(settings: Any) -> bool:
    """Whether the settings still have the values of their preset, to the precision that Blender stores."""
    preset, values = find_values(settings)
    if not all(_almost_equal(getattr(settings, name), value) for name, value in values.items()):
        return False
    return preset.heat is None or same_rows(table_rows(settings.softening), preset.heat.softening)


def _almost_equal(a: Any, b: Any) -> bool:
    return a == b if isinstance(b, (str, bool)) else abs(a - b) <= 1e-6 * abs(b)
