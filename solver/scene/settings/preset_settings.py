# SPDX-License-Identifier: GPL-3.0-or-later
"""The menus of presets, which fill in other settings: materials, muscles, frictions of two surfaces on each other."""

from __future__ import annotations

from ..friction_presets import FRICTION_PRESETS
from ..material_presets import DEFAULT_PRESET_KEY, MATERIAL_PRESETS, SIZED_PRESETS
from ..muscle_presets import MUSCLE_PRESETS
from ..sheet_presets import SHEET_PRESETS
from .muscle_settings import MUSCLE
from .setting import Choice, menu
from .sheet_settings import IS_SHEET

CUSTOM_PRESET = "CUSTOM"
# what .blend files store: never changed, and a new preset gets a new number
MATERIAL_NUMBERS = {
    "JELLY": 0,
    "FAT": 1,
    "FLESH": 2,
    "FOAM": 3,
    "RUBBER": 4,
    "TEARING_RUBBER": 5,
    "CLAY": 6,
    "WAX": 7,
    "CHOCOLATE": 8,
    "WOOD": 9,
    "STONE": 10,
    "PLASTER": 11,
    "GLASS": 12,
    CUSTOM_PRESET: 13,
    "SKIN": 14,
    "MUSCLE": 15,
    "JELLY_BY_SIZE": 16,
    "CLAY_BY_SIZE": 17,
    "FLESH_BY_SIZE": 18,
    "ICE": 19,
}
FRICTION_NUMBERS = {
    CUSTOM_PRESET: 0,
    "RUBBER_ON_WOOD": 1,
    "RUBBER_ON_CONCRETE": 2,
    "RUBBER_ON_WET_CONCRETE": 3,
    "RUBBER_ON_GLASS": 4,
    "WOOD_ON_WOOD": 5,
    "METAL_ON_WOOD": 6,
    "STEEL_ON_STEEL": 7,
    "OILED_STEEL": 8,
    "GLASS_ON_GLASS": 9,
    "STONE_ON_STONE": 10,
    "DRY_SKIN": 11,
    "JELLY_ON_PLATE": 12,
    "STEEL_ON_ICE": 13,
    "ICE_ON_ICE": 14,
    "TEFLON_ON_STEEL": 15,
}
SHEET_NUMBERS = {
    CUSTOM_PRESET: 0,
    "COTTON": 1,
    "SILK": 2,
    "LEATHER": 3,
    "RUBBER": 4,
    "SKIN": 5,
    "PAPER": 6,
    "FOIL": 7,
}
MUSCLE_NUMBERS = {CUSTOM_PRESET: 0, "MUSCLE": 1, "TENDON": 2, "APONEUROSIS": 3, "MUSCLE_SIFAKIS": 4}

MATERIAL_PRESET = menu(
    "preset",
    "Material",
    "Preset of stiffness, density and damping, and of plasticity, heat and fracture. "
    "Those by Size choose a Stiffness with which an object as high as this one stands",
    (
        *(
            Choice(key, sized.preset.label, sized.preset.description, MATERIAL_NUMBERS[key], source=sized.preset.source)
            for key, sized in SIZED_PRESETS.items()
        ),
        *(
            Choice(key, preset.label, preset.description, MATERIAL_NUMBERS[key], source=preset.source)
            for key, preset in MATERIAL_PRESETS.items()
        ),
        Choice(CUSTOM_PRESET, "Custom", "Values of your own", MATERIAL_NUMBERS[CUSTOM_PRESET]),
    ),
    DEFAULT_PRESET_KEY,
    changes_bake=False,
)
FRICTION_PRESET = menu(
    "friction_preset",
    "Friction Preset",
    "Preset of the Friction of two materials on each other",
    (
        Choice(CUSTOM_PRESET, "Custom", "A friction of your own", FRICTION_NUMBERS[CUSTOM_PRESET]),
        *(
            Choice(
                key, preset.label, f"Friction μ = {preset.coefficient:g}", FRICTION_NUMBERS[key], source=preset.source
            )
            for key, preset in FRICTION_PRESETS.items()
        ),
    ),
    CUSTOM_PRESET,
    changes_bake=False,
)
SHEET_PRESET = menu(
    "sheet_preset",
    "Sheet Preset",
    "Preset of what a sheet is made of: its thickness, and its Stiffness, Density and Damping under Material",
    (
        Choice(CUSTOM_PRESET, "Custom", "Values of your own", SHEET_NUMBERS[CUSTOM_PRESET]),
        *(
            Choice(key, preset.label, preset.description, SHEET_NUMBERS[key], source=preset.source)
            for key, preset in SHEET_PRESETS.items()
        ),
    ),
    CUSTOM_PRESET,
    when=(IS_SHEET,),
    changes_bake=False,
    since="0.3",
)
MUSCLE_PRESET = menu(
    "muscle_preset",
    "Muscle Preset",
    "Preset of the muscle's stresses, model and law, and of the Stiffness and Volume Preservation of its material",
    (
        Choice(CUSTOM_PRESET, "Custom", "Values of your own", MUSCLE_NUMBERS[CUSTOM_PRESET]),
        *(
            Choice(key, preset.label, f"{preset.description} ({preset.source})", MUSCLE_NUMBERS[key])
            for key, preset in MUSCLE_PRESETS.items()
        ),
    ),
    CUSTOM_PRESET,
    when=MUSCLE,
    changes_bake=False,
    since="0.3",
)
