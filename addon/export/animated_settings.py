# SPDX-License-Identifier: GPL-3.0-or-later
"""Settings of a body that are read on every frame: their ranges, and which of them are animated."""

from __future__ import annotations

from collections.abc import Iterator

import bpy

from ...solver.runtime.errors import BadInput
from ..blender_data.rna_snapshot import animated_paths

# settings with a track, the part of the body that they belong to, and what they have to be
ANIMATED_SETTINGS = (
    ("yield_strain", "plasticity", "0 or more", lambda value: value >= 0.0),
    ("flow", "plasticity", "0 1/s or more", lambda value: value >= 0.0),
    ("maximum_strain", "plasticity", "0 or more", lambda value: value >= 0.0),
    ("breaking_stress", "fracture", "above 0 Pa", lambda value: value > 0.0),
)


def check_animated(name: str, own: bpy.types.PropertyGroup) -> None:
    """Makes sure that what may be animated is within its range now.

    Raises:
        BadInput: It is not.
    """
    for setting, part, wanted, fits in ANIMATED_SETTINGS:
        value = getattr(own, setting)
        if getattr(own, f"use_{part}") and not fits(value):
            label = own.bl_rna.properties[setting].name
            # Blender keeps 32 bits: −0.1 would be told as −0.10000000149
            raise BadInput("setting-out-of-range", setting=label, name=name, value=f"{value:.6g}", range=wanted)


def animated_values(obj: bpy.types.Object, own: bpy.types.PropertyGroup) -> Iterator[tuple[str, float]]:
    """Yields the settings of a body that are animated or driven, with their value now; `own` is evaluated.

    Raises:
        BadInput: A value is out of its range.
    """
    check_animated(obj.name, own)
    animated = animated_paths(obj)
    for setting, part, _, _ in ANIMATED_SETTINGS:
        if getattr(own, f"use_{part}") and f"sinew.{setting}" in animated:
            yield setting, getattr(own, setting)
