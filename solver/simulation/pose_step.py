# SPDX-License-Identifier: GPL-3.0-or-later
"""Brings quasistatic flesh to rest at one sample: what holds it is looked up, and its nodes are written."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from ..constraints.force import Force, ForceStep
from ..constraints.point_forces import PointForces
from ..mechanics.model import Model
from ..mechanics.muscle.muscle_term import MuscleTerm
from ..quasistatic.contact.deep_contacts import DepthsByPair, deep_contacts, may_have_sunk
from ..quasistatic.fixed_nodes import FixedNodes
from ..runtime.arrays import Bools, Floats, Indices, floats
from ..runtime.errors import BadInput, SolveFailed
from ..scene.gravity import gravity_at
from ..scene.scene import Settings
from .current_model import current_model, present_flesh
from .flesh import FleshPart
from .flesh.linked_start import moved_links
from .flesh.pose_contact import PoseContact
from .flesh.pose_equilibrium import PoseConditions, PoseEquilibrium, solve_pose
from .flesh.unchanged_pose import (
    FAILED_BODIES_FIELD,
    next_penalty_factor,
    reuse_equilibrium,
    store_equilibrium,
)
from .simulated_scene import SimulatedScene
from .solve_progress import OnProgress
from .step_boundary_conditions import apply_forces, forces_on, potentials_of, surface_potentials_of


@dataclass(frozen=True)
class PoseReport:
    """How flesh came to rest in one sample.

    Attributes:
        newton_iterations, iterations: Newton's, and those of the linear solver, of all tries.
        residual: Of the body that is farthest from rest.
        converged: Whether that is within the tolerance.
        contacts: Points that are pushed.
        inverted_tets: Tets inside out.
        max_depth: How deep one of them is left in something [m].
        residuals: By key of the body.
        deep: Bodies that are deep in something, by key, with the keys of what they are in and the largest depths [m].
        settled: Whether contacts were content at the end.
    """

    newton_iterations: int
    iterations: int
    residual: float
    converged: bool
    contacts: int
    inverted_tets: int
    max_depth: float
    residuals: dict[str, float]
    deep: DepthsByPair = field(default_factory=dict)
    settled: bool = True


def equilibrate_flesh(
    simulation: SimulatedScene, before: float, time: float, on_progress: OnProgress = lambda progress: None
) -> PoseReport | None:
    """Brings quasistatic flesh to rest as it is held at a time; None where there is none.

    Args:
        simulation: Its state gets positions of these nodes, and velocities: what they moved since the sample before.
        before: Time of that sample [s]; the same as `time`: there was none.
        time: [s].
        on_progress: Called before every Newton iteration; what it raises goes through, and nothing is changed then.

    Raises:
        BadInput, SolveFailed: "flesh-loose": a piece is held by nothing, at the beginning or later;
            "muscle-on-no-bone": at the beginning nothing holds any of a muscle.
    """
    built, state = simulation.built, simulation.state
    if built.flesh is None or built.flesh.quasistatic is None:
        return None
    for feature in built.features:
        feature.before_pose(simulation.feature_step(before, time))
    flesh, whole = _flesh_now(simulation)
    nodes, model = flesh.part.nodes, flesh.model if whole is built.model else flesh.model_in_rest_shapes(whole)
    x = floats(state.x[nodes])
    simulated = simulation.mean_speed(before, time) * (time - before)
    contact = None
    if flesh.contact is not None:
        contact = PoseContact(flesh.contact, built.colliders, built.deforming, simulation.tracks, before, time)
    forces = _forces_on_flesh(simulation, flesh)
    step = ForceStep(whole, state, simulation.tracks, time, time, is_static=True)
    for force in forces:
        force.begin_step(ForceStep(whole, state, simulation.tracks, before, time))
    pose = _pose_conditions(simulation, flesh, forces, model, contact, step)
    pose = replace(pose, moved_links=tuple(moved_links(pose.surface_potentials, simulation.tracks, before)))
    inputs = _input_arrays(simulation, flesh, forces, model, pose, step) + (contact.asked if contact else [])
    # a pre-roll is there to come to rest
    first = simulation.scene.settings.time(simulation.scene.settings.frame_start)
    is_preroll = time <= first
    equilibrium = reuse_equilibrium(state, inputs, x, may_go_on=is_preroll)
    if equilibrium is None:
        motion = state.v[nodes] * simulated
        prediction = x + motion if motion.any() else None
        settings = simulation.scene.settings
        if time < first and settings.preroll_tolerance is not None:
            settings = replace(settings, pose_tolerance=settings.preroll_tolerance)
        equilibrium = _solve_pose(simulation, flesh, model, pose, x, prediction, settings, on_progress)
    state.x[nodes] = equilibrium.x
    state.v[nodes] = (equilibrium.x - x) / simulated if simulated > 0.0 else 0.0
    store_equilibrium(state, inputs, equilibrium)
    ended = ForceStep(built.model, state, simulation.tracks, before, time)
    for force in forces:
        force.end_step(ended)
    if contact is None or not may_have_sunk(contact.contact, equilibrium.max_depth):
        return _report(equilibrium, model)
    at_rest = contact.at_rest(simulation.tracks, simulation.scene.settings.start_time)
    is_free = pose.fixed.is_free(len(x))
    deep = deep_contacts(contact.at(x), at_rest, equilibrium.x, is_free)
    return replace(_report(equilibrium, model), deep=deep)


def _flesh_now(simulation: SimulatedScene) -> tuple[FleshPart, Model]:
    """Returns quasistatic flesh as it is made now, and the model of all bodies that says so."""
    built, state = simulation.built, simulation.state
    flesh = present_flesh(built, state)
    assert flesh is not None and flesh.quasistatic is not None
    bodies = flesh.quasistatic.part.bodies
    is_changing = any(number in bodies for feature in built.features for number in feature.changing_bodies)
    return flesh.quasistatic, current_model(built, state) if is_changing else built.model


def _solve_pose(
    simulation: SimulatedScene,
    flesh: FleshPart,
    model: Model,
    pose: PoseConditions,
    x: Floats,
    prediction: Floats | None,
    settings: Settings,
    on_progress: OnProgress,
) -> PoseEquilibrium:
    was_failed = simulation.state.fields.get(FAILED_BODIES_FIELD)
    if was_failed is None or len(was_failed) != len(
        model.bodies
    ):  # a bake may go on with more flesh than it began with
        was_failed = np.zeros(len(model.bodies), bool)
    return solve_pose(flesh, model, pose, x, was_failed, settings, prediction, on_progress)


def _forces_on_flesh(simulation: SimulatedScene, flesh: FleshPart) -> list[Force]:
    """Returns the forces that decide where flesh is at rest."""
    return forces_on([force for force in simulation.built.forces if force.affects_quasistatic], flesh.part.bodies)


def _input_arrays(
    simulation: SimulatedScene,
    flesh: FleshPart,
    forces: list[Force],
    model: Model,
    pose: PoseConditions,
    step: ForceStep,
) -> list[np.ndarray]:
    """Returns everything that determines where flesh comes to rest at the time of `step`, except where it begins."""
    solver, springs = simulation.scene.settings, pose.springs
    laws = " ".join(f"{body.key} {settings.law}" for body, settings in zip(model.bodies, flesh.settings, strict=True))
    return [
        np.frombuffer(laws.encode(), np.uint8),
        np.array([solver.pose_tolerance, solver.pose_iterations]),
        *(model.tets, model.X, model.Dm_inverse, model.volume, model.mu, model.lam),
        *_muscle_inputs(flesh),
        *(pose.fixed.nodes, pose.fixed.positions, pose.load),
        *(springs.tet, springs.weights, springs.stiffness),  # their force depends on where flesh is
        *(values for force in forces for values in force.static_inputs(step)),
    ]


def _muscle_inputs(flesh: FleshPart) -> tuple[np.ndarray, ...]:
    term = flesh.law.anisotropic_term
    return (term.tets, term.activation, *term.arrays) if isinstance(term, MuscleTerm) else ()


def _pose_conditions(
    simulation: SimulatedScene,
    flesh: FleshPart,
    forces: list[Force],
    model: Model,
    contact: PoseContact | None,
    step: ForceStep,
) -> PoseConditions:
    """Returns how flesh is held, pulled and touched at the time of `step`."""
    scene, tracks, built, time = simulation.scene, simulation.tracks, simulation.built, step.end
    is_fixed, target = np.zeros(built.model.node_count, bool), np.zeros((built.model.node_count, 3))
    springs = _springs_in_part(flesh, apply_forces(forces, step, is_fixed, target))
    fixed = _fixed_nodes(flesh, is_fixed, target)
    links = tuple(each.of_tets(flesh.part.tets, model) for each in surface_potentials_of(forces, step) if each.active)
    holding = PointForces.concatenate(springs, *(each.spring_points() for each in links))
    loose = flesh.pieces.unconstrained_nodes(model, fixed, holding)
    if len(loose):
        raise loose_problem(simulation, flesh.part.nodes[loose], time)
    load = (model.mass * model.gravity_scale)[:, None] * gravity_at(scene, tracks, time)
    limits = tuple(each.of_tets(flesh.part.tets, model) for each in potentials_of(forces, step))
    at = contact.at if contact else None
    return PoseConditions(fixed, springs, floats(load, -1, 3), limits, links, at, next_penalty_factor(simulation.state))


def _fixed_nodes(flesh: FleshPart, is_fixed: Bools, target: Floats) -> FixedNodes:
    nodes = flesh.part.nodes
    own = np.flatnonzero(is_fixed[nodes]).astype(np.int32)
    return FixedNodes(own, target[nodes[own]])


def _springs_in_part(flesh: FleshPart, springs: PointForces) -> PointForces:
    """Returns springs on tets of the whole as on tets of the part; all of them are its own."""
    if len(springs):
        springs.tet = np.searchsorted(flesh.part.tets, springs.tet).astype(np.int32)
    return springs


def loose_problem(simulation: SimulatedScene, nodes: Indices, time: float) -> BadInput | SolveFailed:
    """Returns the error about nodes of all bodies, (k,), which are a piece of flesh that nothing holds."""
    scene, bodies = simulation.scene, simulation.built.bodies
    number = next(n for n, b in enumerate(bodies) if b.range.nodes.start <= nodes[0] < b.range.nodes.stop)
    name, held = bodies[number].name, bodies[number].range.nodes
    is_start = time <= scene.settings.start_time
    if is_start and scene.bodies[number].muscle is not None and len(nodes) == held.stop - held.start:
        return BadInput("muscle-on-no-bone", name=name)
    problem = BadInput if is_start else SolveFailed  # what was baked before it is let go stays
    return problem("flesh-loose", name=name, count=len(nodes), time=round(time, 3))


def _report(equilibrium: PoseEquilibrium, model: Model) -> PoseReport:
    return PoseReport(
        newton_iterations=equilibrium.newton_iterations,
        iterations=equilibrium.cg_iterations,
        residual=equilibrium.residual,
        converged=equilibrium.converged,
        contacts=equilibrium.contacts,
        max_depth=equilibrium.max_depth,
        inverted_tets=equilibrium.inverted_tets,
        residuals={body.key: residual for body, residual in zip(model.bodies, equilibrium.residuals, strict=True)},
    )


def check_flesh(simulation: SimulatedScene) -> None:
    """Raises BadInput where flesh has no place when the simulation begins."""
    part = simulation.built.flesh.quasistatic if simulation.built.flesh else None
    if part is not None:
        forces, start = _forces_on_flesh(simulation, part), simulation.scene.settings.start_time
        step = ForceStep(simulation.built.model, simulation.state, simulation.tracks, start, start, is_static=True)
        _pose_conditions(simulation, part, forces, part.model, None, step)
