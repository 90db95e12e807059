# SPDX-License-Identifier: GPL-3.0-or-later
"""Plastic flow of all bodies after a step."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...runtime.arrays import floats
from ...runtime.jit import kernel
from ...runtime.threads.thread_pool import run_ranges
from ...scene.tracks import TrackReader
from ..elements.formulation_strain import formulation_strain
from ..heat import ThermalFactors
from ..model import Model
from ..state import State
from .additive_flow import flow_additive
from .multiplicative_flow import MAX_PLASTIC_STRAIN, FlowRule, flow_multiplicative
from .plastic_bodies import PlasticBody
from .plastic_rest_shape import FLOWED, FP_INVERSE, PLASTIC_STRAIN

TETS_PER_CHUNK = 512  # tets that a thread takes at a time


def flow(
    bodies: Sequence[PlasticBody],
    model: Model,
    present: Model,
    state: State,
    tracks: TrackReader,
    dt: float,
    by_heat: ThermalFactors | None = None,
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
        hardening = np.full(len(rate), body.settings.hardening, np.float64)
        if by_heat is not None:
            apply_thermal_factors(
                by_heat.yield_strain[body.tets],
                by_heat.flow[body.tets],
                by_heat.melted[body.tets],
                yield_strain,
                rate,
                maximum,
                hardening,
            )
        if body.is_additive:
            if PLASTIC_STRAIN not in state.fields:
                state.fields[PLASTIC_STRAIN] = np.zeros((model.tet_count, 6))
            flow_additive(
                body.tets.start,
                state.x,
                model.tets,
                model.Dm_inverse,
                model.initial_strain,
                formulation_strain(model, body.tets, state.x),
                dt,
                yield_strain,
                rate,
                maximum,
                state.fields[PLASTIC_STRAIN],
            )
        else:
            if FP_INVERSE not in state.fields:
                state.fields[FP_INVERSE] = floats(np.tile(np.eye(3), (model.tet_count, 1, 1)))
                state.fields[FLOWED] = np.zeros(model.tet_count)
            _flow_multiplicative(body, model, present, state, dt, FlowRule(yield_strain, rate, maximum, hardening))


def _flow_multiplicative(
    body: PlasticBody, model: Model, present: Model, state: State, dt: float, rule: FlowRule
) -> None:
    """Lets the tets of a body flow that keeps its volume, within its yield strain, rate, maximum and hardening."""

    def work(begin: int, end: int) -> None:
        flow_multiplicative(
            begin,
            end,
            body.tets.start,
            state.x,
            model.tets,
            model.Dm_inverse,
            present.mu,
            present.lam_by_strain,
            dt,
            rule,
            state.fields[FP_INVERSE],
            state.fields[FLOWED],
        )

    run_ranges(0, len(rule.rate), TETS_PER_CHUNK, work)


@kernel()
def apply_thermal_factors(by_yield, by_flow, melted, yield_strain, rate, maximum, hardening):
    """Changes yield strains, flow rates, maxima and hardening, (k,) each, by the factors of `ThermalFactors`, (k,)
    each.
    """
    for k in range(len(rate)):
        yield_strain[k] *= by_yield[k]
        hardening[k] *= by_yield[k]
        rate[k] *= by_flow[k]
        if melted[k]:
            maximum[k] = MAX_PLASTIC_STRAIN
