# SPDX-License-Identifier: GPL-3.0-or-later
"""All bodies that have a temperature, and what is constant about them while nodes split.

Everything is kept per tet or per point of the surface, which is tied to a tet, and is brought to nodes for the
topology of the moment (`conduction.py`): copies of a node share its heat by the tets that they take.

A body of Simulated Size s · its real size behaves as one that is s times as large, in heat as in motion: what
its mass takes up comes 1 / s times as fast through the surface and from sources, 1 / s² times by conduction.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ...runtime.arrays import Bools, Floats, Indices
from ...runtime.frozen_memo import derived_from
from ...scene.scene import Heat, Scene
from ...scene.tracks import TrackReader
from ..model import Model
from ..state import State
from ..state_fields import TEMPERATURE
from .conduction import Conduction, conduction
from .heat_guns import HeatGuns
from .heat_sources import BuiltSource, build_source

MIN_BULK_OVER_WEIGHT = 20.0  # more keeps more of the volume, but holds coarse tets up

ExchangePoints = tuple[Indices, Floats, Floats]


@dataclass(frozen=True)
class HeatedBody:
    """One body with a temperature.

    Attributes:
        key, name: As in the scene.
        number: Which of the model's bodies it is.
        heat: What is asked for.
        density: ρ [kg/m³].
        scale: Simulated size / real size.
    """

    key: str
    name: str
    number: int
    heat: Heat
    density: float
    scale: float


@dataclass(frozen=True, eq=False)
class HeatBodies:
    """All bodies with a temperature, and what heats them.

    Attributes:
        bodies: One by one.
        conductivity: k / s² of the model's tets [W/(m K)], (m,), zero where a body has no temperature.
        point_tet, point_weights: Points of the surface in the tets of the model, (k,) and (k, 4), weights from 0 to 1.
        point_exchange: Their area times exchange with the air / s [W/K], (k,).
        sources: What heats them.
        is_heated: Whether the body of each of the model's tets has a temperature, (m,).
        min_bulk: Bulk modulus of the model's tets, molten [Pa], (m,), zero where a body has no temperature: liquids
            are hardly pressed together, so it is `MIN_BULK_OVER_WEIGHT` times what the weight of the body's height is.
        guns: What a hand heats while the simulation runs live; None: nobody handles it.
    """

    bodies: tuple[HeatedBody, ...]
    conductivity: Floats
    point_tet: Indices
    point_weights: Floats
    point_exchange: Floats
    sources: tuple[BuiltSource, ...]
    is_heated: Bools
    min_bulk: Floats
    guns: HeatGuns | None = None

    def conduction(self, model: Model) -> Conduction:
        """Returns how heat flows in the present topology, derived once from each."""
        return derived_from(
            model.pattern,
            "conduction",
            lambda: conduction(model, self.conductivity, self.point_tet, self.point_weights, self.point_exchange),
            inputs=(self,),
        )

    def start(self, model: Model, state: State, air: float) -> None:
        """Writes the temperatures of the first frame into a state."""
        temperature = np.full(model.node_count, air, np.float64)
        for body in self.bodies:
            temperature[model.bodies[body.number].nodes] = body.heat.temperature
        state.fields[TEMPERATURE] = temperature


def make_heat(
    scene: Scene, model: Model, surfaces: Sequence[ExchangePoints], tracks: TrackReader, gravity: Floats
) -> HeatBodies | None:
    """Returns the bodies of a scene that have a temperature; None where there are none.

    Args:
        scene: What is asked for.
        model: All bodies, whole.
        surfaces: Of every body: points on its surface as tets of the model, (k,), weights, (k, 4), and the share of
            the surface that is theirs [m²], (k,).
        tracks: Where the sources are.
        gravity: At the first frame [m/s²], (3,).

    Raises:
        BadInput: A source has no extent, or a scale of zero.
    """
    bodies = []
    is_heated = np.zeros(model.tet_count, bool)
    conductivity, least_bulk = np.zeros(model.tet_count), np.zeros(model.tet_count)
    tet, weights, exchange = [np.zeros(0, np.int32)], [np.zeros((0, 4))], [np.zeros(0)]
    for number, (body, points) in enumerate(zip(scene.bodies, surfaces, strict=True)):
        if body.heat is None:
            continue
        scale = body.simulated_scale
        bodies.append(HeatedBody(body.key, body.name, number, body.heat, body.material.density, scale))
        own = model.bodies[number]
        is_heated[own.tets] = True
        conductivity[own.tets] = body.heat.conductivity / scale**2
        # |g| · height, since gravity need not be along an axis
        drop = np.ptp(model.X[own.nodes] @ gravity) / scale
        least_bulk[own.tets] = MIN_BULK_OVER_WEIGHT * body.material.density * drop
        tet.append(points[0])
        weights.append(_clipped_weights(points[1]))
        exchange.append(points[2] * body.heat.exchange / scale)
    if not bodies:
        return None
    sources = tuple(build_source(source, tracks) for source in scene.heat_sources)
    return HeatBodies(
        bodies=tuple(bodies),
        conductivity=conductivity,
        point_tet=np.concatenate(tet),
        point_weights=np.concatenate(weights),
        point_exchange=np.concatenate(exchange),
        sources=sources,
        is_heated=is_heated,
        min_bulk=least_bulk,
    )


def _clipped_weights(weights: Floats) -> Floats:
    """Returns weights, (k, 4), of the points moved into their tets: a negative exchange would make heat of nothing."""
    positive = np.maximum(weights, 0.0)
    return positive / positive.sum(axis=1, keepdims=True)
