# SPDX-License-Identifier: GPL-3.0-or-later
"""A step of a scene with Exact contact."""

from __future__ import annotations

import time as clock

import numpy as np

from ...contact.exact.friction import RememberedShear
from ...integrators.exact_contact.exact_contact_step import exact_contact_step
from ...integrators.exact_contact.incremental_potential import IncrementalPotential
from ...integrators.step_report import StepReport
from ...mechanics.elements.inverted_tet_count import count_inverted
from ...mechanics.model import Model
from ...mechanics.state_fields import EXACT_PAIR_FIELD
from ...runtime.arrays import Bools
from ...runtime.errors import SolveFailed
from ...scene.gravity import gravity_at
from ..simulated_scene import SimulatedScene
from ..step_boundary_conditions import boundary_conditions, end_forces
from ..step_interval import StepPart
from .exact_surfaces import ExactSurfaces


def take_exact_step(
    simulation: SimulatedScene, model: Model, part: StepPart, surfaces: ExactSurfaces
) -> tuple[StepReport, Bools | None]:
    """Moves bodies on over a step; inputs are those of its end.

    Args:
        simulation: Moved on, but for what features do after the step.
        model: The bodies as they are in the step.
        part: The step.
        surfaces: What must not intersect.

    Returns:
        The report, and which nodes were held, (n,), None: none.

    Raises:
        BadInput: Surfaces intersect where the simulation begins, or where a collider appears.
        SolveFailed: What moves by its animation leaves bodies no room.
    """
    started = clock.perf_counter()
    built, state, tracks, scene = simulation.built, simulation.state, simulation.tracks, simulation.scene
    for feature in built.features:
        model = feature.model_in_step(model, scene, tracks, part)
    bounds = boundary_conditions(simulation, model, part, None)
    bound, motion = surfaces.motion(tracks, part.begin, part.end, (bounds.is_fixed, bounds.fixed_target))
    if EXACT_PAIR_FIELD not in state.fields or surfaces.appears(tracks, part.begin, part.end):
        surfaces.check(bound, state, motion.start, part.begin)
    gravity, workspace = gravity_at(scene, tracks, part.end), simulation.solver_context.workspace(model)
    potential = IncrementalPotential(model, state, gravity, part.dt, workspace, bounds.point_forces, bounds.potentials)
    remembered = RememberedShear.from_state(state)
    report = exact_contact_step(state, potential, bound, motion, surfaces.options, scene.settings, remembered)
    if report.arrival < 1.0:
        raise SolveFailed("exact-contact-pinched", time=part.end)
    if not np.isfinite(state.v).all():
        raise SolveFailed("solve-not-finite", time=part.end)
    report.shear.to_state(state)
    end_forces(simulation, model, part)
    for feature in built.features:
        feature.after_part(model, state, None)
    return StepReport(
        iterations=report.linear_iterations,
        residual=report.residual,
        converged=True,
        settled=report.converged,
        solves=report.iterations,
        contacts=report.pairs,
        inverted_tets=int(count_inverted(state.x, model.solid_tets)),
        milliseconds={"solve": 1e3 * (clock.perf_counter() - started)},
    ), bounds.is_fixed
