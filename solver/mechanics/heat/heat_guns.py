# SPDX-License-Identifier: GPL-3.0-or-later
"""Heat guns: balls in which a hand heats or cools material while a simulation runs live.

A gun of a temperature exchanges heat as a source that is a point does (`heat_sources.py`). One of a power P shares it
among the material in its ball, of all bodies that have a temperature: the volume V at the distance d gets a part as
(1 − (d/r)²)² V.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...runtime.arrays import Floats, floats
from ...scene.settings.heat_settings import SOURCE_EXCHANGE
from .heat_exchange import write_falloff


@dataclass(frozen=True, eq=False)
class HeatGun:
    """A ball in which material is heated or cooled.

    Attributes:
        place: Its middle [m], (3,).
        radius: r [m].
        temperature: Of what it blows [°C]; None: it has a power.
        watts: The power P [W], below zero where it cools.
        exchange: With what it blows on, as `HeatSource.exchange` [W/(m² K)].
    """

    place: Floats
    radius: float
    temperature: float | None = None
    watts: float = 0.0
    exchange: float = SOURCE_EXCHANGE.default

    def share(self, positions: Floats) -> Floats:
        """Returns the fall-off (1 − (d/r)²)² at positions [m], (n, 3), zero from the radius on, as (n,)."""
        found = np.empty(len(positions))
        write_falloff(self.place, self.radius, floats(positions), found)
        return found


class HeatGuns:
    """All guns that a hand holds.

    Attributes:
        held: The guns, by the number that the hand gave each. Whoever runs the simulation changes them between steps.
    """

    def __init__(self) -> None:
        self.held: dict[int, HeatGun] = {}

    def in_order(self) -> list[HeatGun]:
        """Returns the guns in the order of their numbers."""
        return [self.held[number] for number in sorted(self.held)]
