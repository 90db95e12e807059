# SPDX-License-Identifier: GPL-3.0-or-later
"""Fills in the values of a material preset, and notices when a value differs from it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import bpy
import numpy as np

from ...solver.runtime.arrays import Floats
from ...solver.scene.material_presets import MATERIAL_PRESETS, SIZED_PRESETS, MaterialPreset
from ...solver.scene.settings.flesh_settings import ELASTIC
from ...solver.scene.settings.heat_settings import HEAT_EXCHANGE, HEAT_SETTINGS, TEMPERATURE
from ...solver.scene.settings.material_settings import MATERIAL_SETTINGS
from ...solver.scene.settings.plasticity_settings import PLASTICITY_SETTINGS
from ...solver.scene.settings.preset_settings import CUSTOM_PRESET
from ...solver.scene.settings.setting import NUMBER, Setting
from .preset_filling import PresetFilling

# what flesh does not do
NON_FLESH_SWITCHES = ("use_plasticity", "use_heat", "use_fracture", "use_core")
# of the scene, not of the material: no preset fills them in
SURROUNDINGS_SETTINGS = (TEMPERATURE, HEAT_EXCHANGE)


def _preset_fields(part: str, table: Iterable[Setting]) -> dict[str, str]:
    """Returns the numbers of a table that a preset has in one of its parts: names of properties, and of fields."""
    numbers = (each for each in table if each.kind == NUMBER and each not in SURROUNDINGS_SETTINGS)
    fields = ((each.name, each.field.partition(".")) for each in numbers)
    return {name: field for name, (owner, _, field) in fields if owner == part}


MATERIAL_FIELDS = _preset_fields("Material", MATERIAL_SETTINGS)
PLASTICITY_FIELDS = _preset_fields("Plasticity", PLASTICITY_SETTINGS)
HEAT_FIELDS = _preset_fields("Heat", HEAT_SETTINGS)
ROW_PROPERTIES = ("temperature", "stiffness", "yield_strain", "flow")
_filling = PresetFilling()


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
    from ..objects import self_weight

    sized = SIZED_PRESETS[settings.preset]
    values = preset_values(sized.preset)
    scene = bpy.context.scene
    stiffness = self_weight.stiffness_for_size(settings.id_data, scene, values["density"], sized.self_weight_strain)
    return sized.preset, values if stiffness is None else values | {"youngs_modulus": stiffness}


def apply_preset(settings: Any) -> None:
    """Writes the values of `settings.preset` into the settings, and switches on what the material is chosen for.

    Flesh neither flows, takes heat nor breaks: it stays flesh, and gets the rest.
    """
    if settings.preset == CUSTOM_PRESET:
        return
    preset, values = find_values(settings)
    with _filling:
        for name, value in values.items():
            setattr(settings, name, value)
        for part in ("plasticity", "heat", "fracture"):
            setattr(settings, f"use_{part}", part in preset.features and settings.motion == ELASTIC)
        if preset.heat is not None:
            write_rows(settings.softening, preset.heat.softening)


def mark_custom(settings: Any) -> None:
    """Turns the menu to Custom when a value no longer is the preset's; not while a preset fills the values in."""
    if not _filling.is_active and settings.preset != CUSTOM_PRESET and not matches_preset(settings):
        settings.preset = CUSTOM_PRESET


def matches_preset(settings: Any) -> bool:
    """Whether the settings still have the values of their preset, to the precision that Blender stores."""
    preset, values = find_values(settings)
    if not all(_almost_equal(getattr(settings, name), value) for name, value in values.items()):
        return False
    return preset.heat is None or same_rows(table_rows(settings.softening), preset.heat.softening)


def table_rows(table: Any) -> Floats:
    """Returns the rows of a softening table: temperature [°C] and factors on stiffness, yield and flow, (k, 4)."""
    return np.array([[getattr(row, name) for name in ROW_PROPERTIES] for row in table], np.float64).reshape(-1, 4)


def default_softening(cold: float, melting_point: float) -> Floats:
    """Returns a curve to begin with, (4, 4): as set at a temperature, liquid at the melting point [°C]."""
    shares = np.array([0.0, 0.6, 0.9, 1.0])
    span = melting_point - cold if melting_point > cold else 1.0
    factors = np.array([[1.0, 1.0, 1.0], [0.5, 0.5, 2.0], [0.05, 0.1, 10.0], [0.001, 0.01, 50.0]])
    return np.column_stack([melting_point - span * (1.0 - shares), factors])


def write_rows(table: Any, rows: Floats) -> None:
    """Makes a softening table have `rows` (k, 4)."""
    if same_rows(table_rows(table), rows):
        return
    while len(table) > len(rows) and remove_row(table, len(table) - 1):
        pass
    while len(table) < len(rows):
        add_row(table)
    for row, values in zip(table, extend_rows(rows, len(table)), strict=True):
        for name, value in zip(ROW_PROPERTIES, values, strict=True):
            setattr(row, name, value)


def add_row(table: Any) -> Any:
    """Returns a new row at the end of a softening table; library overrides tell rows apart by their names."""
    taken = {row.name for row in table}
    row = table.add()
    row.name = next(name for name in map(str, range(1, len(taken) + 2)) if name not in taken)
    return row


def remove_row(table: Any, index: int) -> bool:
    """Removes a row of a softening table; returns whether that could be done: overrides keep what is linked."""
    try:
        table.remove(index)
    except TypeError:
        return False
    return True


def extend_rows(rows: Floats, count: int) -> Floats:
    """Returns `rows` (k, 4) with the last one repeated at rising temperatures up to `count` rows, (count, 4).

    It changes nothing, and is for rows of a linked object that an override cannot remove.
    """
    last = rows[-1] if len(rows) else np.array([0.0, 1.0, 1.0, 1.0])
    more = [last + [1.0 + i, 0.0, 0.0, 0.0] for i in range(count - len(rows))]
    return np.array([*rows, *more]).reshape(-1, 4)


def same_rows(a: Floats, b: Floats) -> bool:
    """Whether a table `a` says the same as `b`, to the precision that Blender stores."""
    return len(a) >= len(b) and bool(np.allclose(a, extend_rows(b, len(a)), rtol=1e-6, atol=0.0))


def _almost_equal(a: Any, b: Any) -> bool:
    return a == b if isinstance(b, (str, bool)) else abs(a - b) <= 1e-6 * abs(b)
