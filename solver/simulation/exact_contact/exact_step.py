# SPDX-License-Identifier: GPL-3.0-or-later
"""A step of a scene with Exact contact."""

from __future__ import annotations

import time as clock
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from ...contact.exact.excluded_features import ExcludedFeatures
from ...contact.exact.friction import RememberedShear
from ...contact.exact.tangled_features import intersecting_owners, tangled_features
from ...integrators.exact_contact.bound_surfaces import BoundSurfaces, PrescribedMotion
from ...integrators.exact_contact.energy_bodies import without_rigid_bodies
from ...integrators.exact_contact.exact_contact_options import ExactContactReport
from ...integrators.exact_contact.exact_contact_step import exact_contact_step
from ...integrators.exact_contact.free_motion import free_motion
from ...integrators.exact_contact.incremental_potential import AppliedForces, IncrementalPotential, OtherBodies
from ...integrators.exact_contact.joint_potential import JointPotential
from ...integrators.step_report import StepReport
from ...mechanics.elements.inverted_tet_count import count_inverted
from ...mechanics.model import Model
from ...mechanics.state import State
from ...runtime.arrays import Bools
from ...runtime.errors import SolveFailed
from ...scene.gravity import gravity_at
from ..current_model import current_model
from ..features.surface_dents import SurfaceDents
from ..simulated_scene import ExactContactResult, SimulatedScene
from ..step_boundary_conditions import BoundaryConditions, boundary_conditions, end_forces, posed_conditions
from ..step_interval import StepPart
from .exact_cores import end_held_cores, with_held_cores
from .exact_dents import YieldingDents, with_dents
from .exact_flesh import check_held, flesh_groups, held_but_for_poses, posed_nodes
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
    built, state, tracks = simulation.built, simulation.state, simulation.tracks
    for feature in built.features:
        model = feature.model_in_step(model, simulation.scene, tracks, part)
    bounds = boundary_conditions(simulation, model, part, None)
    check_held(simulation, model, bounds, part.end)
    begun, before = _begin(simulation, model, surfaces, bounds, part), state.view()
    report = _solve(simulation, begun)
    end_held_cores(model, bounds.is_fixed, state)
    motion = begun.motion
    bound = with_dents(begun.bound, surfaces, built.feature(SurfaceDents), model, state)
    y = bound.positions(state.x, motion.end)
    let_in = report.excluded.without(surfaces.first_excluded)
    loads = exact_contact_loads(report.forces, y, bound.mesh, surfaces.keys)
    simulation.exact_contact = ExactContactResult(loads, excluded_places(let_in, y, bound.mesh))
    if built.pieces is not None:
        from ..brittle.exact_part_contacts import ExactPartContacts

        gravity = gravity_at(simulation.scene, tracks, part.end)
        pushed = ExactPartContacts(report.forces, bound, motion, before, state.view(), surfaces.keys, part.dt, gravity)
        simulation.part_contacts.append(pushed)
    origins = surfaces.collider_origins(tracks, part.end)
    if bounds.joints is not None:
        bounds.joints.remember(state)
    end_forces(simulation, model, part)
    for feature in built.features:
        feature.after_part(model, state, None)
    return replace(
        _step_report(report, state, model, started),
        loads=exact_collider_loads(loads, surfaces.first_collider, origins),
        let_in=len(let_in),
    ), bounds.is_fixed


def pose_flesh(simulation: SimulatedScene, surfaces: ExactSurfaces, begin: float, end: float) -> StepReport:
    """Brings flesh that follows a pose to rest as it is held at a time, while all other bodies stay where they are.

    So a simulation begins, and so its flesh follows while no time passes.

    Args:
        simulation: Its state gets positions of this flesh, without velocities.
        surfaces: What must not intersect.
        begin, end: Colliders move from where they are at the one to where they are at the other [s].

    Raises:
        BadInput, SolveFailed: "flesh-loose": nothing holds a piece of it. "solve-not-finite": it has no place.
    """
    started, state = clock.perf_counter(), simulation.state
    for feature in simulation.built.features:
        feature.before_step(simulation.feature_step(begin, end))
    model = current_model(simulation.built, state)
    is_posed = posed_nodes(simulation, model)
    assert is_posed is not None
    bounds = posed_conditions(simulation, model, end)
    check_held(simulation, model, bounds, end)
    part, v = StepPart(begin, begin + surfaces.dt), np.where(is_posed[:, None], 0.0, state.v)
    begun = _begin(simulation, model, surfaces, held_but_for_poses(bounds, is_posed, state.x), part)
    bound, motion = surfaces.motion(simulation.tracks, begin, end, (begun.motion.is_fixed, begun.motion.target))
    bound = with_dents(bound, surfaces, simulation.built.feature(SurfaceDents), model, state)
    smooth = replace(bound, friction=np.zeros_like(bound.friction))  # what slides on the way there does not rub
    report = _solve(simulation, begun._replace(bound=smooth, motion=motion))
    state.v, state.time = v, end
    return _step_report(report, state, model, started)


class BegunStep(NamedTuple):
    """A step before it is solved.

    Attributes:
        potential: Of the step.
        bound, motion: What must not intersect, and what of it and of nodes is told to move.
        excluded: What is not kept apart.
    """

    potential: IncrementalPotential
    bound: BoundSurfaces
    motion: PrescribedMotion
    excluded: ExcludedFeatures


def _begin(
    simulation: SimulatedScene, model: Model, surfaces: ExactSurfaces, bounds: BoundaryConditions, part: StepPart
) -> BegunStep:
    """Returns a step of bodies as they are in it, with what holds and pulls."""
    state, tracks = simulation.state, simulation.tracks
    model, bounds = with_held_cores(simulation.built, model, bounds)
    bound, motion = surfaces.motion(tracks, part.begin, part.end, (bounds.is_fixed, bounds.fixed_target))
    bound = with_dents(bound, surfaces, simulation.built.feature(SurfaceDents), model, state)
    excluded = ExcludedFeatures.from_state(state)
    if surfaces.appears(tracks, part.begin, part.end):
        y = bound.positions(state.x, motion.start)
        excluded = excluded.united(tangled_features(bound.mesh, y, intersecting_owners(bound.mesh, y)))
    potential = IncrementalPotential(
        without_rigid_bodies(model, simulation.built.posed_bodies),
        state,
        part.dt,
        simulation.solver_context.workspace(model),
        AppliedForces(
            gravity_at(simulation.scene, tracks, part.end),
            bounds.point_forces,
            bounds.potentials,
            tuple(each for each in bounds.surface_potentials if each.active),
            JointPotential(bounds.joints) if bounds.joints is not None else None,
        ),
        OtherBodies(
            (*surfaces.energy_bodies, *flesh_groups(simulation)),
            free_motion(model, state, bounds.is_fixed, part.dt),
            posed_nodes(simulation, model),
        ),
    )
    return BegunStep(potential, bound, motion, excluded)


def _solve(simulation: SimulatedScene, begun: BegunStep) -> ExactContactReport:
    """Moves the state of a simulation on to the end of a step, and lets it remember the contacts there."""
    state, surfaces = simulation.state, simulation.built.exact_contact
    assert surfaces is not None
    remembered = RememberedShear.from_state(state)
    potential, bound, motion, excluded = begun
    dents, options = simulation.built.feature(SurfaceDents), surfaces.options
    yielding = YieldingDents(simulation, surfaces, dents, potential.model) if dents is not None else None
    options = replace(options, yielding=yielding)
    report = exact_contact_step(
        state, potential, bound, motion, options, simulation.scene.settings, remembered, excluded
    )
    if yielding is not None:
        yielding.store(state)
    if not np.isfinite(state.v).all():
        raise SolveFailed("solve-not-finite", time=state.time)
    report.shear.to_state(state)
    report.excluded.to_state(state)
    return report


def _step_report(report: ExactContactReport, state: State, model: Model, started: float) -> StepReport:
    """Returns what is told of a step that began at a reading of the clock [s]."""
    return StepReport(
        iterations=report.linear_iterations,
        residual=report.residual,
        converged=True,
        settled=report.converged,
        solves=report.iterations,
        contacts=report.pairs,
        inverted_tets=int(count_inverted(state.x, model.solid_tets)),
        milliseconds={"solve": 1e3 * (clock.perf_counter() - started)},
    )
