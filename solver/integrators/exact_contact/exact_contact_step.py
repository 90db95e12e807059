# SPDX-License-Identifier: GPL-3.0-or-later
"""One step of implicit Euler by Newton's method in which surfaces that do not intersect never do.

The unknowns are nodes x; vertices of surfaces follow them, y = W x. The step's end is the minimum of the incremental
potential with the contact potential of y in it. An iteration

1. solves the semidefinite Newton system for a direction; colliders and held nodes go what is left of their way,
2. finds all pairs that may come close along it, and how far all may go before one is too close,
3. halves that until the potential falls.

What of surfaces yields gives way once the step has converged, which then goes on (`YieldingSurfaces`).

Friction is a potential with the forces of an earlier iterate (`friction.py`). Once the step has converged, nearly at
first, these are taken anew, until they change nothing, or some times.

So no pair ever meets. Colliders, held nodes and axes of cores wait where surfaces are very close, until bodies
have given way. Where these cannot, they are let in: what keeps them from going on is excluded (`excluded_features.py`)
until it has parted.

Source: Li et al. (2020), algorithm 1.
"""

from __future__ import annotations

from ...contact.exact.excluded_features import ExcludedFeatures
from ...contact.exact.friction import RememberedShear
from ...mechanics.state import State
from ...scene.scene import Settings
from .bound_surfaces import BoundSurfaces, PrescribedMotion
from .exact_contact_iterates import ExactContactStep
from .exact_contact_options import ExactContactOptions, ExactContactReport
from .incremental_potential import IncrementalPotential

COARSE_SHARE, COARSE_LAGS = 20.0, 3  # of the tolerance: within it friction is taken anew the first times
MAX_WAITING = 12  # iterations for which colliders wait before they are let in


def exact_contact_step(
    state: State,
    potential: IncrementalPotential,
    surfaces: BoundSurfaces,
    motion: PrescribedMotion,
    options: ExactContactOptions,
    settings: Settings,
    remembered: RememberedShear,
    excluded: ExcludedFeatures | None = None,
) -> ExactContactReport:
    """Moves a state on by a step.

    Args:
        state: Where the step begins; changed.
        potential: Of the step, which begins there.
        surfaces: What must not intersect, and does not at the start.
        motion: Of colliders and held nodes.
        options: How.
        settings: Its `max_iterations` and `linear_solver` are those of linear solves.
        remembered: Shear of the step before.
        excluded: What is not kept apart; None: nothing.
    """
    kept_out = excluded or ExcludedFeatures()
    step = ExactContactStep(potential, surfaces, motion, options, settings, remembered, kept_out)
    iterations, under_way, lags, since_lag, waited, converged = 0, 0, 0, 0, 0, False
    yields, before_yield = 0, 0
    while iterations - before_yield - min(under_way, options.max_under_way) < options.max_iterations and not converged:
        moved = step.iterate()
        iterations, since_lag, under_way = iterations + 1, since_lag + 1, under_way + step.is_under_way
        waited = waited + 1 if step.waits else 0
        if step.waits and (moved <= options.tolerance or waited == MAX_WAITING):
            step.let_colliders_in()
            waited = 0
            continue
        if step.arrival < 1.0 or moved > options.tolerance * (COARSE_SHARE if lags < COARSE_LAGS else 1.0):
            continue
        is_last_friction = lags == options.max_lags or not surfaces.friction.any()
        converged = moved <= options.tolerance and (since_lag == 1 or is_last_friction)
        if moved <= options.tolerance and not potential.settle_joints(step.x):
            converged = False
            continue
        if not converged and not is_last_friction:
            step.lag_friction()
            lags, since_lag = lags + 1, 0
        if converged and options.yielding is not None and step.lets_surfaces_yield():
            converged, yields, before_yield = False, yields + 1, iterations
            if yields > options.max_yields:
                break  # what still gives way goes on in the next step, and this one is told as unsettled
    if step.arrival < 1.0:
        step.force_arrival()
    state.x, state.v = step.x, potential.velocities(step.x)
    state.time += potential.dt
    pairs = step.pair_count()
    shear = step.shear()
    return ExactContactReport(
        iterations,
        step.linear_iterations,
        step.residual,
        converged,
        pairs,
        lags,
        shear,
        step.excluded_at_end(),
        step.let_in,
        step.pair_forces(),
    )
