# SPDX-License-Identifier: GPL-3.0-or-later
"""What temperature makes of the material: softer by its curve, and without a yield strain once it melts."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..arrays import Bools, Floats
from ..model import Model
from ..scene import Body, Heat, Plasticity
from ..state import State
from .bodies import TEMPERATURE, HeatBodies

# A body that can melt but has no plasticity of its own springs back until it melts, and then flows.
NEVER_YIELDS = 1.0e9
MELT = Plasticity("multiplicative", yield_strain=NEVER_YIELDS, flow=20.0, maximum_strain=NEVER_YIELDS)


@dataclass(frozen=True)
class Factors:
    """What the temperature of the tets makes of their material.

    Attributes:
        stiffness: Factor on Young's modulus, (m,); see `softened` for what becomes of Lamé's moduli.
        yield_strain: Factor on the yield strain, (m,), zero where it is molten.
        flow: Factor on the flow rate, (m,).
        melted: Whether the melting point is reached, (m,).
        is_heated: Whether its body has a temperature, (m,).
        least_bulk: Bulk modulus that a melt has at least [Pa], (m,).
    """

    stiffness: Floats
    yield_strain: Floats
    flow: Floats
    melted: Bools
    is_heated: Bools
    least_bulk: Floats

    @property
    def is_soft(self) -> Bools:
        """Whether it is softer than the material as it is made, or molten, (m,)."""
        return self.melted | (self.stiffness < 1.0)


def factors(heat: HeatBodies | None, model: Model, state: State) -> Factors | None:
    """Returns what the temperatures in a state make of the tets; None where no body has a temperature."""
    if heat is None:
        return None
    count, temperature = model.tet_count, state.fields[TEMPERATURE]
    found = Factors(
        np.ones(count), np.ones(count), np.ones(count), np.zeros(count, bool), heat.is_heated, heat.least_bulk
    )
    for body in heat.bodies:
        own = model.bodies[body.number].tets
        of_tets = temperature[model.tets[own]].mean(axis=1)
        found.melted[own] = of_tets >= body.heat.melting_point
        found.stiffness[own], found.yield_strain[own], found.flow[own] = on_curve(body.heat, of_tets)
        found.yield_strain[own][found.melted[own]] = 0.0
    return found


def on_curve(heat: Heat, temperature: Floats) -> tuple[Floats, Floats, Floats]:
    """Returns the factors on Young's modulus, yield strain and flow rate at temperatures [°C], (k,) each."""
    if not len(heat.softening):
        one = np.ones(len(temperature))
        return one, one.copy(), one.copy()
    rows = heat.softening.T
    stiffness, yield_strain, flow = (np.interp(temperature, rows[0], row) for row in rows[1:])
    return stiffness, yield_strain, flow


def plasticity_of(body: Body) -> Plasticity | None:
    """Returns how a body flows: as it is asked for, or, where it can only melt, as a melt."""
    return body.plasticity if body.plasticity is not None or body.heat is None else MELT
