# SPDX-License-Identifier: GPL-3.0-or-later
"""Coulomb's friction of pairs of materials by name, with the sources of the numbers.

Tables have one coefficient at rest and one while sliding. Sinew has one for both, so that is a round number between
the two, unless the source of a preset says otherwise. Friction depends on dirt, wetness and speed: tables differ by a
factor of two.
"""

from __future__ import annotations

from dataclasses import dataclass

OPENSTAX_SOURCE = "OpenStax, University Physics 1, Table 6.1"


@dataclass(frozen=True)
class FrictionPreset:
    """Two materials on each other.

    Attributes:
        key: Name in files and in Blender's enum.
        label: Name for people.
        coefficient: Coulomb's μ.
        source: Where it comes from.
    """

    key: str
    label: str
    coefficient: float
    source: str


_TABLE = (
    FrictionPreset(
        "RUBBER_ON_WOOD",
        "Rubber on Wood",
        0.8,
        f"Shoes on wood: 0.9 at rest, 0.7 sliding ({OPENSTAX_SOURCE}); soles are rubber",
    ),
    FrictionPreset(
        "RUBBER_ON_CONCRETE", "Rubber on Concrete", 0.85, f"Dry: 1.0 at rest, 0.7 sliding ({OPENSTAX_SOURCE})"
    ),
    FrictionPreset(
        "RUBBER_ON_WET_CONCRETE", "Rubber on Wet Concrete", 0.6, f"Wet: 0.7 at rest, 0.5 sliding ({OPENSTAX_SOURCE})"
    ),
    FrictionPreset(
        "RUBBER_ON_GLASS",
        "Rubber on Glass",
        1.5,
        "Clean and dry: from below 1 where it creeps to above 2 (Grosch, Proc. R. Soc. A 274, 1963); "
        "a round number in between",
    ),
    FrictionPreset("WOOD_ON_WOOD", "Wood on Wood", 0.4, f"0.5 at rest, 0.3 sliding ({OPENSTAX_SOURCE})"),
    FrictionPreset("METAL_ON_WOOD", "Metal on Wood", 0.4, f"0.5 at rest, 0.3 sliding ({OPENSTAX_SOURCE})"),
    FrictionPreset("STEEL_ON_STEEL", "Steel on Steel", 0.45, f"Dry: 0.6 at rest, 0.3 sliding ({OPENSTAX_SOURCE})"),
    FrictionPreset(
        "OILED_STEEL", "Oiled Steel on Steel", 0.04, f"Oiled: 0.05 at rest, 0.03 sliding ({OPENSTAX_SOURCE})"
    ),
    FrictionPreset(
        "GLASS_ON_GLASS",
        "Glass on Glass",
        0.65,
        "0.94 at rest, 0.4 sliding (Serway and Jewett, Physics for Scientists and Engineers, Table 5.1)",
    ),
    FrictionPreset(
        "STONE_ON_STONE",
        "Stone on Stone",
        0.6,
        "Flat ground granite holds up to 29°, sandstone up to 34°: 0.56 and 0.68 "
        "(Jang et al., Rock Mech. Rock Eng. 51, 2018)",
    ),
    FrictionPreset(
        "DRY_SKIN",
        "Dry Skin on Anything",
        0.5,
        "Typically around 0.5, above 1 where it is moist (Derler and Gerhardt, Tribology Letters 45, 2012)",
    ),
    FrictionPreset(
        "JELLY_ON_PLATE",
        "Jelly on Plate",
        0.05,
        "Wet: below 0.02 where agar slides fast (Shinomiya et al., Langmuir 34, 2018), more where it creeps; "
        "a round number",
    ),
    FrictionPreset(
        "STEEL_ON_ICE", "Steel on Ice", 0.02, f"Sliding, as a skate does ({OPENSTAX_SOURCE}); at rest it freezes on"
    ),
    FrictionPreset("ICE_ON_ICE", "Ice on Ice", 0.05, f"0.1 at rest, 0.03 sliding ({OPENSTAX_SOURCE})"),
    FrictionPreset("TEFLON_ON_STEEL", "Teflon on Steel", 0.04, f"The same at rest and sliding ({OPENSTAX_SOURCE})"),
)

FRICTION_PRESETS: dict[str, FrictionPreset] = {preset.key: preset for preset in _TABLE}
