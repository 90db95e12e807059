# SPDX-License-Identifier: GPL-3.0-or-later
"""Properties that show another one in the unit in which people think: kPa, MPa or GPa for Pa, and per cent.

They store nothing: files, scripts, keyframes and bakes have the property itself, in SI units. Where a setting has
several twins, the panel draws the one that suits the present value.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import bpy
from bpy.props import FloatProperty

from ...solver.scene.settings.material_settings import POISSON_RATIO
from ...solver.scene.settings.setting import Setting

MAX_POISSON_RATIO = 0.5  # of a material that keeps all of its volume
VOLUME_TOOLTIP = (
    "How much of its volume the material keeps: 0 % squashes like cork, 90 % bulges like rubber. "
    "Above 90 % for flesh only: Soft Bodies get too stiff. Poisson's ratio ν in per cent of ½"
)


@dataclass(frozen=True)
class DisplayTwin:
    """A property that shows another one.

    Attributes:
        name: Of the twin.
        unit: That it shows, for the label.
        factor: Value of the other property / value of the twin.
        smallest: Of the other property, from which on this twin is drawn.
        precision: Decimal places.
        subtype: Of Blender's property.
    """

    name: str
    unit: str
    factor: float
    smallest: float = 0.0
    precision: int = 3
    subtype: str = "NONE"


def twins_of(setting: Setting) -> tuple[DisplayTwin, ...]:
    """Returns the twins of a setting, from the least unit to the largest; none for most settings."""
    if setting.name == POISSON_RATIO.name:
        per_cent = MAX_POISSON_RATIO / 100.0
        return (DisplayTwin(f"{setting.name}_percent", "", per_cent, precision=1, subtype="PERCENTAGE"),)
    if setting.unit != "Pa":
        return ()
    return (
        DisplayTwin(f"{setting.name}_kpa", "kPa", 1.0e3),
        DisplayTwin(f"{setting.name}_mpa", "MPa", 1.0e6, 1.0e6),
        DisplayTwin(f"{setting.name}_gpa", "GPa", 1.0e9, 1.0e9),
    )


def shown_twin(settings: bpy.types.PropertyGroup, setting: Setting) -> DisplayTwin | None:
    """Returns the twin that suits the present value of a setting, or None where it has none."""
    value = getattr(settings, setting.name) if twins_of(setting) else 0.0
    return next((twin for twin in reversed(twins_of(setting)) if value >= twin.smallest), None)


def twin_properties(settings: Iterable[Setting]) -> dict[str, Any]:
    """Returns the declarations of all twins of some settings, by their names."""
    return {twin.name: _make_property(setting, twin) for setting in settings for twin in twins_of(setting)}


def _make_property(setting: Setting, twin: DisplayTwin) -> Any:
    def get(self: bpy.types.PropertyGroup) -> float:
        return float(getattr(self, setting.name) / twin.factor)

    def put(self: bpy.types.PropertyGroup, value: float) -> None:
        setattr(self, setting.name, value * twin.factor)

    limits = zip(("min", "max"), setting.range, strict=True)
    ends = {name: end / twin.factor for name, end in limits if end is not None}
    soft = {f"soft_{name}": end for name, end in ends.items()}
    if twin.subtype == "NONE":  # a slider of one unit goes to the next one
        soft = {"soft_min": 0.001, "soft_max": 1.0e3}
    is_share = twin.subtype == "PERCENTAGE"
    return FloatProperty(
        name=setting.label,
        description=VOLUME_TOOLTIP if is_share else setting.description.replace("[Pa]", f"[{twin.unit}]"),
        get=get,
        set=put,
        precision=twin.precision,
        step=100 if is_share else 1000,
        subtype=twin.subtype,
        options=set(),
        override={"LIBRARY_OVERRIDABLE"},
        **ends,
        **soft,
    )
