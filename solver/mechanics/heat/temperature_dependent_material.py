# SPDX-License-Identifier: GPL-3.0-or-later
"""What temperature makes of the material: softer by its curve, and without a yield strain once it melts."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...runtime.arrays import Bools, Floats, floats
from ...runtime.jit import kernel
from ...scene.scene import Body, Plasticity
from ..model import Model
from ..state import State
from .heated_bodies import TEMPERATURE, HeatBodies

# A body that can melt but has no plasticity of its own springs back until it melts, and then flows.
UNLIMITED_STRAIN = 1.0e9
MELT_PLASTICITY = Plasticity(
    "multiplicative", yield_strain=UNLIMITED_STRAIN, flow=20.0, maximum_strain=UNLIMITED_STRAIN
)


@dataclass(frozen=True)
class ThermalFactors:
    """What the temperature of the tets makes of their material.

    Attributes:
        stiffness: Factor on Young's modulus, (m,); see `softened_moduli` for what becomes of Lamé's moduli.
        yield_strain: Factor on the yield strain, (m,), zero where it is molten.
        flow: Factor on the flow rate, (m,).
        melted: Whether the melting point is reached, (m,).
        is_heated: Whether its body has a temperature, (m,).
        min_bulk: Bulk modulus that a melt has at least [Pa], (m,).
    """

    stiffness: Floats
    yield_strain: Floats
    flow: Floats
    melted: Bools
    is_heated: Bools
    min_bulk: Floats


def thermal_factors(heat: HeatBodies | None, model: Model, state: State) -> ThermalFactors | None:
    """Returns what the temperatures in a state make of the tets; None where no body has a temperature."""
    if heat is None:
        return None
    count, T = model.tet_count, state.fields[TEMPERATURE]
    stiffness, yield_strain, flow = ones = np.empty((3, count))
    ones.fill(1.0)
    found = ThermalFactors(stiffness, yield_strain, flow, np.zeros(count, bool), heat.is_heated, heat.min_bulk)
    for body in heat.bodies:
        own, curve = model.bodies[body.number].tets, floats(body.heat.softening)
        write_thermal_factors(
            own.start,
            own.stop,
            T,
            model.tets,
            body.heat.melting_point,
            curve,
            found.stiffness,
            found.yield_strain,
            found.flow,
            found.melted,
        )
    return found


@kernel()
def write_thermal_factors(first, last, T, tets, melting_point, curve, stiffness, yield_strain, flow, melted):
    """Writes the factors of the tets from number `first` to before `last`; a tet has the mean temperature of its nodes.

    Args:
        first, last: The tets of a body.
        T: Temperatures of the nodes [°C], (n,).
        tets: Of the model, (m, 4).
        melting_point: [°C].
        curve: Rows of temperature and factors, (k, 4), see `Heat.softening`.
        stiffness, yield_strain, flow, melted: Out, see `ThermalFactors`, (m,) each.
    """
    rows = len(curve)
    for tet in range(first, last):
        a, b, c, d = tets[tet]
        t = 0.25 * (T[a] + T[b] + T[c] + T[d])
        if rows > 0:
            above = 0
            while above < rows and curve[above, 0] < t:
                above += 1
            low, high = max(above - 1, 0), min(above, rows - 1)
            s = (t - curve[low, 0]) / (curve[high, 0] - curve[low, 0]) if high > low else 0.0
            stiffness[tet] = curve[low, 1] + s * (curve[high, 1] - curve[low, 1])
            yield_strain[tet] = curve[low, 2] + s * (curve[high, 2] - curve[low, 2])
            flow[tet] = curve[low, 3] + s * (curve[high, 3] - curve[low, 3])
        if t >= melting_point:
            melted[tet] = True
            yield_strain[tet] = 0.0


def plasticity_of(body: Body) -> Plasticity | None:
    """Returns how a body flows: as it is asked for, or, where it can only melt, as a melt."""
    return body.plasticity if body.plasticity is not None or body.heat is None else MELT_PLASTICITY
