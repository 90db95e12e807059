# SPDX-License-Identifier: GPL-3.0-or-later
"""A step of a scene with Exact contact."""

from __future__ import annotations

import time as clock

import numpy as np

from ...contact.exact.excluded_features import ExcludedFeatures
from ...contact.exact.friction import RememberedShear
from ...contact.exact.tangled_features import intersecting_owners, tangled_features
from ...integrators.exact_contact.energy_bodies import without_cores
from ...integrators.exact_contact.exact_contact_step import exact_contact_step
from ...integrators.exact_contact.free_motion import free_motion
from ...integrators.exact_contact.incremental_potential import AppliedForces, IncrementalPotential, OtherBodies
from ...integrators.exact_contact.joint_potential import JointPotential
from ...integrators.step_report import StepReport
from ...mechanics.elements.inverted_tet_count import count_inverted
from ...mechanics.model import Model
from ...runtime.arrays import Bools
from ...runtime.errors import SolveFailed
from ...scene.gravity import gravity_at
from ..simulated_scene import ExactContactResult, SimulatedScene
from ..step_boundary_conditions import boundary_conditions, end_forces
from ..step_interval import StepPart
from .exact_loads import exact_collider_loads, exact_contact_loads, excluded_places
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
        SolveFailed: The step gave no numbers.
    """
    started = clock.perf_counter()
    built, state, tracks, scene = simulation.built, simulation.state, simulation.tracks, simulation.scene
    for feature in built.features:
        model = feature.model_in_step(model, scene, tracks, part)
    bounds = boundary_conditions(simulation, model, part, None)
    bound, motion = surfaces.motion(tracks, part.begin, part.end, (bounds.is_fixed, bounds.fixed_target))
    excluded = ExcludedFeatures.from_state(state)
    if surfaces.appears(tracks, part.begin, part.end):
        y = bound.positions(state.x, motion.start)
        excluded = excluded.united(tangled_features(bound.mesh, y, intersecting_owners(bound.mesh, y)))
    gravity, workspace = gravity_at(scene, tracks, part.end), simulation.solver_context.workspace(model)
    potential = IncrementalPotential(
        without_cores(model),
        state,
        part.dt,
        workspace,
        AppliedForces(
            gravity,
            bounds.point_forces,
            bounds.potentials,
            tuple(each for each in bounds.surface_potentials if each.active),
            JointPotential(bounds.joints) if bounds.joints is not None else None,
        ),
        OtherBodies(surfaces.energy_bodies, free_motion(model, state, bounds.is_fixed, part.dt)),
    )
    remembered, before = RememberedShear.from_state(state), state.view()
    report = exact_contact_step(state, potential, bound, motion, surfaces.options, scene.settings, remembered, excluded)
    if not np.isfinite(state.v).all():
        raise SolveFailed("solve-not-finite", time=part.end)
    report.shear.to_state(state)
    report.excluded.to_state(state)
    y = bound.positions(state.x, motion.end)
    let_in = report.excluded.without(surfaces.first_excluded)
    loads = exact_contact_loads(report.forces, y, bound.mesh, surfaces.keys)
    simulation.exact_contact = ExactContactResult(loads, excluded_places(let_in, y, bound.mesh))
    if built.pieces is not None:
        from ..brittle.exact_part_contacts import ExactPartContacts

        pushed = ExactPartContacts(report.forces, bound, motion, before, state.view(), surfaces.keys, part.dt, gravity)
        simulation.part_contacts.append(pushed)
    origins = surfaces.collider_origins(tracks, part.end)
    if bounds.joints is not None:
        bounds.joints.remember(state)
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
        loads=exact_collider_loads(loads, surfaces.first_collider, origins),
        let_in=len(let_in),
        inverted_tets=int(count_inverted(state.x, model.solid_tets)),
        milliseconds={"solve": 1e3 * (clock.perf_counter() - started)},
    ), bounds.is_fixed
