# SPDX-License-Identifier: GPL-3.0-or-later
"""Exchange of heat between the nodes of a body and the air, and between them and heat sources, over one step."""

from __future__ import annotations

from ...runtime.jit import kernel


@kernel()
def write_air_exchange(surface, air, mass, heat_capacity, dt, T, capacity, gain, given):
    """Writes heat capacities and the exchange with the air, which `conduct_heat` reads, of a body's nodes, (n,) each.

    Args:
        surface: Exchange of the nodes with the air [W/K].
        air: Its temperature [°C].
        mass: [kg].
        heat_capacity: [J/(kg K)].
        dt: Δt [s].
        T: Temperatures [°C].
        capacity, gain, given: Out: [J/K], Δt γ [J/K] and Δt γ (T∞ − T) [J].
    """
    for i in range(len(T)):
        capacity[i], gain[i] = heat_capacity * mass[i], dt * surface[i]
        given[i] = gain[i] * (air - T[i])


@kernel()
def add_source_exchange(share, per_mass, temperature, mass, dt, T, gain, given):
    """Adds a source: its fall-off at the nodes, (n,), exchange with what is next to it [W/(kg K)], and temperature."""
    for i in range(len(T)):
        exchange = dt * per_mass * share[i] * mass[i]
        gain[i] += exchange
        given[i] += exchange * (temperature - T[i])


@kernel()
def write_falloff(place, radius, positions, share):
    """Writes (1 − (d/r)²)² for the distances d of positions [m], (n, 3), from a point, zero from the radius r on."""
    for i in range(len(share)):
        x, y, z = positions[i, 0] - place[0], positions[i, 1] - place[1], positions[i, 2] - place[2]
        left = max(1.0 - (x * x + y * y + z * z) / (radius * radius), 0.0)
        share[i] = left * left
