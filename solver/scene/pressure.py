# SPDX-License-Identifier: GPL-3.0-or-later
"""The pressure in a closed body or in the hollows of a shell."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from .settings.pressure_settings import AMBIENT_PRESSURE, PRESSURE, TARGET_VOLUME, USE_SEALED_GAS


@dataclass(frozen=True)
class Pressure:
    """A pressure (`constraints/pressure.py`).

    Tracks: "body.KEY.pressure" () and "body.KEY.target_volume" (), instead of the values here.

    Attributes:
        pressure: p inside above that outside [Pa], at the target volume where it is sealed.
        is_sealed: Whether (p + ambient_pressure) V stays constant.
        target_volume: Volume at which it has `pressure`, over that of the mesh at rest, > 0.
        ambient_pressure: Absolute pressure outside [Pa], ≥ 0.
    """

    pressure: Annotated[float, PRESSURE.limits] = PRESSURE.default
    is_sealed: bool = USE_SEALED_GAS.default
    target_volume: Annotated[float, TARGET_VOLUME.limits] = TARGET_VOLUME.default
    ambient_pressure: Annotated[float, AMBIENT_PRESSURE.limits] = AMBIENT_PRESSURE.default
