# SPDX-License-Identifier: GPL-3.0-or-later
"""Plastic flow of all bodies after a step."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..arrays import floats
from ..heat import Factors
from ..model import Model
from ..state import State
from ..tracks import TrackReader
from .additive import flow_additive
from .bodies import PlasticBody
from .multiplicative import LARGEST, flow_multiplicative
from .shape import FLOWED, FP_INVERSE, PLASTIC_STRAIN


def flow(
    bodies: Sequence[PlasticBody],
    model: Model,
    present: Model,
    state: State,
    tracks: TrackReader,
    dt: float,
    by_heat: Factors | None = None,
) -> None:
    """Lets the elastic strain at the end of a step flow into plastic strain, which is kept in `state`.

    Args:
        bodies: The plastic ones.
        model: All bodies, as they were built.
        present: The model that the step was taken with.
        state: At the end of the step.
        tracks: Animated values.
        dt: Δt [s].
        by_heat: What the temperatures make of yield strain, hardening and flow rate; what is molten has no maximum.
    """
    for body in bodies:
        yield_strain, rate, maximum = body.limits(tracks, state.time)
        hardening = np.full(len(rate), body.asked.hardening)
        if by_heat is not None:
            factor = by_heat.yield_strain[body.tets]
            yield_strain, hardening, rate = factor * yield_strain, factor * hardening, by_heat.flow[body.tets] * rate
            maximum = np.where(by_heat.melted[body.tets], LARGEST, maximum)
        if body.is_additive:
            if PLASTIC_STRAIN not in state.fields:
                state.fields[PLASTIC_STRAIN] = np.zeros((model.tet_count, 6))
            flow_additive(
                body.tets.start, state.x, model.tets, model.Dm_inverse, model.initial_strain, dt, yield_strain, rate,
                maximum, state.fields[PLASTIC_STRAIN],
            )  # fmt: skip
        else:
            if FP_INVERSE not in state.fields:
                state.fields[FP_INVERSE] = floats(np.tile(np.eye(3), (model.tet_count, 1, 1)))
                state.fields[FLOWED] = np.zeros(model.tet_count)
            flow_multiplicative(
                body.tets.start, state.x, model.tets, model.Dm_inverse, present.mu, present.lam_by_strain, dt,
                yield_strain, rate, maximum, hardening, state.fields[FP_INVERSE], state.fields[FLOWED],
            )  # fmt: skip
