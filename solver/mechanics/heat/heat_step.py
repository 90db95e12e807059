# SPDX-License-Identifier: GPL-3.0-or-later
"""Temperatures over a step: conduction inside, the air around, sources nearby."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...runtime.arrays import Floats, floats
from ...runtime.errors import SolveFailed
from ...scene.scene import Scene
from ...scene.tracks import TrackReader
from ..model import Model
from ..state import State
from .conduction import Conduction
from .heat_exchange import add_source_exchange, write_air_exchange
from .heat_guns import HeatGun
from .heated_bodies import TEMPERATURE, HeatBodies, HeatedBody
from .implicit_conduction import ConductionRows, NodeHeat, conduct_heat

LINEAR_TOLERANCE = 1.0e-10
MAX_ITERATIONS = 2000


def advance_heat(
    heat: HeatBodies | None, model: Model, state: State, tracks: TrackReader, scene: Scene, begin: float, end: float
) -> None:
    """Moves the temperatures in a state from one time to another [s]; inputs are those of the end.

    Heat flows as in the rest shape; what sources reach is found where the material is at the start of the step.

    Raises:
        SolveFailed: The animation of a source gives no numbers, or temperatures are none any more.
    """
    if heat is None:
        return
    step = _HeatStep(heat, model, heat.conduction(model), tracks, air_temperature_at(scene, tracks, end), begin, end)
    temperature = state.fields[TEMPERATURE].copy()
    for body in heat.bodies:
        nodes = model.bodies[body.number].nodes
        temperature[nodes] += step.temperature_change(body, state)
    state.fields[TEMPERATURE] = temperature


def temperature_extremes(heat: HeatBodies | None, model: Model, state: State) -> dict[str, dict[str, float]]:
    """Returns the lowest and highest temperature of every body that has one [°C]: key → "coldest", "hottest"."""
    found = {}
    for body in heat.bodies if heat is not None else ():
        values = state.fields[TEMPERATURE][model.bodies[body.number].nodes]
        found[body.key] = {"coldest": float(values.min()), "hottest": float(values.max())}
    return found


def air_temperature_at(scene: Scene, tracks: TrackReader, time: float) -> float:
    """Returns the temperature of the air at a time [°C].

    Raises:
        SolveFailed: The animation gives no number.
    """
    if not tracks.has("air_temperature"):
        return scene.settings.air_temperature
    value = float(tracks.sample("air_temperature", time))
    if not np.isfinite(value):
        raise SolveFailed("air-not-finite", time=round(time, 3))
    return value


@dataclass(frozen=True)
class _HeatStep:
    """What all bodies have in a step.

    Attributes:
        heat, model, flows, tracks: The bodies, how heat flows in them, and the animation of the sources.
        air: Temperature of the air [°C].
        begin, end: Of the step [s].
    """

    heat: HeatBodies
    model: Model
    flows: Conduction
    tracks: TrackReader
    air: float
    begin: float
    end: float

    def temperature_change(self, body: HeatedBody, state: State) -> Floats:
        """Returns the change of temperature of the nodes of a body [K], (n,).

        All heat that flows in a step is in proportion to its length, so a factor on the length is one on all of it.
        """
        model, pattern, end = self.model, self.model.pattern, self.end
        dt = body.heat.speed * (end - self.begin)
        nodes = model.bodies[body.number].nodes
        T, mass, positions = state.fields[TEMPERATURE][nodes], model.mass[nodes], state.x[nodes]
        scratch = np.empty((8, len(T)))
        capacity, gain, given, change = scratch[:4]
        surface, heat_capacity = self.flows.surface[nodes], body.heat.heat_capacity
        write_air_exchange(surface, self.air, mass, heat_capacity, dt, T, capacity, gain, given)
        for source in self.heat.sources:
            share = source.share(self.tracks, end, positions)
            per_volume = source.exchange(self.tracks, end) / source.source.radius
            per_mass = per_volume / (body.density * body.scale)
            T_source = source.temperature(self.tracks, end)
            add_source_exchange(share, per_mass, T_source, self._even_mass(body), dt, T, gain, given)
        for gun in self.heat.guns.in_order() if self.heat.guns else ():
            if gun.temperature is None:
                joules = dt * gun.watts / body.scale / self._heated_volume(gun, state)
                given += joules * gun.share(positions) * self._even_mass(body) / body.density
            else:
                per_mass = gun.exchange / gun.radius / (body.density * body.scale)
                share = gun.share(positions)
                add_source_exchange(share, per_mass, gun.temperature, self._even_mass(body), dt, T, gain, given)
        row_start = pattern.row_start[nodes.start : nodes.stop + 1]
        rows = ConductionRows(nodes.start, row_start, pattern.column, self.flows.conductance)
        node_heat = NodeHeat(capacity, gain, given, T)
        if conduct_heat(rows, node_heat, dt, LINEAR_TOLERANCE, MAX_ITERATIONS, scratch[4:], change) < 0:
            raise SolveFailed("heat-not-finite", name=body.name, time=round(end, 3))
        return change

    def _heated_volume(self, gun: HeatGun, state: State) -> float:
        """Returns the volume in the ball of a gun, weighted by its fall-off, of all bodies with a temperature [m³]."""
        total = 0.0
        for body in self.heat.bodies:
            share = gun.share(state.x[self.model.bodies[body.number].nodes])
            total += float(share @ self._even_mass(body)) / body.density
        return max(total, float(np.finfo(float).tiny))

    def _even_mass(self, body: HeatedBody) -> Floats:
        """Returns the masses of a body's nodes if its density were the same everywhere and always [kg], (n,).

        Sources heat by volume, also where the density is painted or has keyframes.
        """
        model, own = self.model, self.model.bodies[body.number]
        if (model.density[own.tets] == body.density).all():
            return model.mass[own.nodes]
        share = np.repeat(0.25 * body.density * model.volume[own.tets], 4)
        corners = model.tets[own.tets].ravel() - own.nodes.start
        return floats(np.bincount(corners, share, minlength=own.nodes.stop - own.nodes.start))
