# SPDX-License-Identifier: GPL-3.0-or-later
"""The heat transfer coefficient with which a heat source warms what is beside it within a second."""

from __future__ import annotations

import bpy

# share of its way to the temperature of the source that material beside it goes [1/s]: wax melts within a second
HEATING_RATE = 1.0


def heat_transfer_coefficient(body: bpy.types.Object, radius: float) -> float:
    """Returns the heat transfer coefficient h = `HEATING_RATE` ρ c r / s of a source [W/(m² K)].

    Args:
        body: Has the density ρ, the heat capacity c and the Heat Speed s.
        radius: Reach r of the source [m].
    """
    own = body.sinew
    return float(HEATING_RATE * own.density * own.heat_capacity * radius / max(own.heat_speed, 1.0e-9))
