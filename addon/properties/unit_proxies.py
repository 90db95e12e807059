# SPDX-License-Identifier: GPL-3.0-or-later
"""Properties that show another one in the unit in which people think: kPa, MPa or GPa for Pa, and per cent.

They store nothing: files, scripts, keyframes and bakes have the property itself, in SI units. Where a setting has
several proxies, the panel draws the one that suits the present value.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import bpy
from bpy.props import FloatProperty

from ...solver.scene.settings.material_settings import POISSON_RATIO
from ...solver.scene.settings.setting import Setting
from ...solver.scene.settings.stretch_limit_settings import STRETCH_LIMIT

MAX_POISSON_RATIO = 0.5  # of a material that keeps all of its volume
VOLUME_TOOLTIP = (
    "How much of its volume the material keeps: 0 % squashes like cork, 90 % bulges like rubber. "
    "Above 90 % for flesh only: Soft Bodies get too stiff. Poisson's ratio ν in per cent of ½"
)


@dataclass(frozen=True)
class UnitProxy:
    """A property that shows another one.

    Attributes:
        name: Of the proxy.
        unit: That it shows, for the label.
        factor: Value of the other property / value of the proxy.
        smallest: Of the other property, from which on this proxy is drawn.
        precision: Decimal places.
        subtype: Of Blender's property.
    """

    name: str
    unit: str
    factor: float
    smallest: float = 0.0
    precision: int = 3
    subtype: str = "NONE"


def proxies_of(setting: Setting) -> tuple[UnitProxy, ...]:
    """Returns the proxies of a setting, from the least unit to the largest; none for most settings."""
    if setting.name == POISSON_RATIO.name:
        per_cent = MAX_POISSON_RATIO / 100.0
        return (UnitProxy(f"{setting.name}_percent", "", per_cent, precision=1, subtype="PERCENTAGE"),)
    if setting.name == STRETCH_LIMIT.name:
        return (UnitProxy(f"{setting.name}_percent", "", 0.01, precision=0, subtype="PERCENTAGE"),)
    if setting.unit != "Pa":
        return ()
    return (
        UnitProxy(f"{setting.name}_kpa", "kPa", 1.0e3),
        UnitProxy(f"{setting.name}_mpa", "MPa", 1.0e6, 1.0e6),
        UnitProxy(f"{setting.name}_gpa", "GPa", 1.0e9, 1.0e9),
    )


def shown_proxy(settings: bpy.types.PropertyGroup, setting: Setting) -> UnitProxy | None:
    """Returns the proxy that suits the present value of a setting, or None where it has none."""
    value = getattr(settings, setting.name) if proxies_of(setting) else 0.0
    return next((proxy for proxy in reversed(proxies_of(setting)) if abs(value) >= proxy.smallest), None)


def proxy_properties(settings: Iterable[Setting]) -> dict[str, Any]:
    """Returns the declarations of all proxies of some settings, by their names."""
    return {proxy.name: _make_property(setting, proxy) for setting in settings for proxy in proxies_of(setting)}


def _make_property(setting: Setting, proxy: UnitProxy) -> Any:
    def get(self: bpy.types.PropertyGroup) -> float:
        return float(getattr(self, setting.name) / proxy.factor)

    def put(self: bpy.types.PropertyGroup, value: float) -> None:
        setattr(self, setting.name, value * proxy.factor)

    limits = zip(("min", "max"), setting.range, strict=True)
    ends = {name: end / proxy.factor for name, end in limits if end is not None}
    soft = {f"soft_{name}": end for name, end in ends.items()}
    if proxy.subtype == "NONE":  # a slider of one unit goes to the next one
        soft = {"soft_min": -1.0e3 if ends.get("min", 0.0) < 0.0 else 0.001, "soft_max": 1.0e3}
    is_share = proxy.subtype == "PERCENTAGE"
    if is_share and setting.soft[1] is not None:
        soft["soft_max"] = setting.soft[1] / proxy.factor
    description = setting.description.replace("[Pa]", f"[{proxy.unit}]")
    if setting.name == POISSON_RATIO.name:
        description = VOLUME_TOOLTIP
    return FloatProperty(
        name=setting.label,
        description=description,
        get=get,
        set=put,
        precision=proxy.precision,
        step=100 if is_share else 1000,
        subtype=proxy.subtype,
        options=set(),
        override={"LIBRARY_OVERRIDABLE"},
        **ends,
        **soft,
    )
