# SPDX-License-Identifier: GPL-3.0-or-later
"""Moves a built simulation on by one frame: inputs sampled, steps taken, render positions drawn."""

from __future__ import annotations

import time as clock
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from ..contact.contact_loads import loaded_collider_keys
from ..contact.sleeping_contacts import SleepingContacts
from ..integrators.step_report import MAX_LINEARISATION_RESIDUAL, StepReport
from ..mechanics.state import State
from ..mechanics.state_fields import HALVINGS_FIELD
from ..mesh.embedding import interpolate
from ..runtime.arrays import Floats
from ..runtime.errors import SolveFailed
from .assembled_scene import AssembledScene
from .crack_advances import move_while_cracks_advance
from .current_model import current_model
from .features.feature import BodyNumbers, FeatureStep
from .flesh_equilibrium_interpolation import PoseInterpolation, begin_interpolation, finish_interpolation
from .simulated_scene import SimulatedScene
from .step_boundary_conditions import begin_forces
from .step_halving import take_step
from .step_interval import StepPart
from .tet_face_separation import separate_faces

if TYPE_CHECKING:
    from .pose_step import PoseReport
    from .solve_progress import OnProgress

MIN_SPEED = 1.0e-6  # below which time stands still: velocities of what is held would be without bounds

OnSample = Callable[[dict[str, Floats]], None]


@dataclass(frozen=True)
class FrameReport:
    """How the steps of one frame went.

    Attributes:
        iterations: Iterations of the linear solver, over all steps and poses.
        residual: The worst of the steps.
        converged: Whether every step and pose reached its tolerance.
        not_converged: Steps and poses that did not.
        unsettled: Steps whose contacts still wanted to change after the last solve allowed.
        solves: Linear solves, over all steps.
        contacts: Contacts in the last step.
        inverted_tets: Most tets turned inside out after a step.
        milliseconds: Time for the frame.
        bodies: Further numbers of bodies, by key and by name: "largest_stress" [Pa] …, largest over the steps.
        newton_iterations: Newton iterations of flesh, over all steps and poses.
        pose_residual: The worst of the poses; 0 where no flesh follows one.
        poses_not_converged: How many of `not_converged` are poses.
        colliders: Force [N] and torque about its origin [N m] on every collider, six numbers by key: averages over the
            frame.
        deepest_contact: How deep a point of flesh that follows a pose is left in something [m].
        deep_contacts: Such flesh that sank into something, by key of the body, with the keys of what it is in and the
            largest depths [m].
        let_in: Most points and edges that Exact contact did not keep out of some surface, since colliders had no other
            way.
    """

    iterations: int
    residual: float
    converged: bool
    not_converged: int
    unsettled: int
    solves: int
    contacts: int
    inverted_tets: int
    milliseconds: float
    bodies: dict[str, dict[str, float]] = field(default_factory=dict)
    newton_iterations: int = 0
    pose_residual: float = 0.0
    poses_not_converged: int = 0
    colliders: dict[str, tuple[float, ...]] = field(default_factory=dict)
    deepest_contact: float = 0.0
    deep_contacts: dict[str, dict[str, float]] = field(default_factory=dict)
    let_in: int = 0


def advance_frame(
    simulation: SimulatedScene,
    frame: int,
    on_sample: OnSample | None,
    before_step: Callable[[], None] = lambda: None,
    on_progress: OnProgress = lambda progress: None,
) -> FrameReport:
    """Moves a simulation from frame − 1 to `frame`.

    Args:
        simulation: Moved on.
        frame: The frame to reach.
        on_sample: Called `samples_per_frame` times with render positions [m] by key of the body, the last
            time with those at the frame; None: nothing is drawn.
        before_step: Called before every step; it may raise, and the simulation is then between two frames.
        on_progress: The same, before every Newton iteration of flesh, and every stress solve of a hit.

    Raises:
        SolveFailed: A step gave no numbers, or one or a pose did not converge and the settings are strict.
    """
    started = clock.perf_counter()
    settings = simulation.scene.settings
    per_sample, takes_steps = settings.substeps // settings.samples_per_frame, _takes_steps(simulation)
    reports: list[StepReport] = []
    poses: list[PoseReport] = []
    loads: list[Floats] = []
    pose_path = None
    simulation.solver_context.drop_multigrid_levels()  # a bake that is resumed here has none either
    simulation.state.fields.pop(HALVINGS_FIELD, None)  # the first step of a frame asks again how long parts may be
    for number in range(1, settings.substeps + 1):
        # from whole numbers, so that a resumed bake gets the same times
        begin, end = (settings.time(frame - 1 + n / settings.substeps) for n in (number - 1, number))
        before_step()
        if takes_steps:
            if number % per_sample == 1 % per_sample:
                after = settings.time(frame - 1 + (number - 1 + per_sample) / settings.substeps)
                start = simulation.state.x.copy()
                poses += _equilibrate_flesh(simulation, frame, begin, after, on_progress)
                pose_path = begin_interpolation(simulation, start, begin, after)
            reports.append(advance_step(simulation, begin, end, on_progress, pose_path))
            if reports[-1].loads is not None:
                loads.append(reports[-1].loads)
            if settings.strict and not reports[-1].converged:
                if reports[-1].residual > MAX_LINEARISATION_RESIDUAL:
                    raise SolveFailed("step-astray", frame=frame, residual=reports[-1].residual)
                raise SolveFailed("step-not-converged", frame=frame, residual=reports[-1].residual)
        simulation.state.time = end
        if number % per_sample == 0:
            if takes_steps:
                finish_interpolation(simulation, pose_path)
            else:
                sample_before = settings.time(frame - 1 + (number - per_sample) / settings.substeps)
                poses += _equilibrate_flesh(simulation, frame, sample_before, end, on_progress)
            if on_sample is not None:
                on_sample(render_positions(simulation.built, simulation.state))
    return replace(
        _frame_report(simulation, reports, poses, started), colliders=_mean_collider_loads(simulation, loads)
    )


def begin_frame(simulation: SimulatedScene, on_progress: OnProgress = lambda progress: None) -> FrameReport:
    """Brings flesh to rest in the pose that a simulation starts with; nothing else changes.

    Raises:
        SolveFailed: It did not converge, and the settings are strict.
    """
    started, settings = clock.perf_counter(), simulation.scene.settings
    frame, begin = settings.frame_start - settings.preroll, settings.start_time
    if simulation.built.posed_bodies:
        return _frame_report(simulation, [_pose_flesh_in_steps(simulation, begin, begin)], [], started)
    return _frame_report(simulation, [], _equilibrate_flesh(simulation, frame, begin, begin, on_progress), started)


def _takes_steps(simulation: SimulatedScene) -> bool:
    """Whether any body takes steps, that is, does not only come to rest in poses."""
    return len(simulation.built.resting_bodies) < len(simulation.built.bodies)


def _equilibrate_flesh(
    simulation: SimulatedScene, frame: int, before: float, end: float, on_progress: OnProgress
) -> list[PoseReport]:
    """Poses flesh where there is some, and returns how that went."""
    if simulation.built.flesh is None:
        return []
    from .pose_step import equilibrate_flesh

    report = equilibrate_flesh(simulation, before, end, on_progress)
    if report is None:
        return []
    if simulation.scene.settings.strict and not report.converged:
        raise SolveFailed("pose-not-converged", frame=frame, residual=report.residual)
    return [report]


def _pose_flesh_in_steps(simulation: SimulatedScene, begin: float, end: float) -> StepReport:
    """Brings flesh to rest that follows a pose and takes steps, while everything else stays where it is."""
    from .exact_contact.exact_step import pose_flesh

    assert simulation.built.exact_contact is not None
    return pose_flesh(simulation, simulation.built.exact_contact, begin, end)


def _frame_report(
    simulation: SimulatedScene, steps: list[StepReport], poses: list[PoseReport], started: float
) -> FrameReport:
    reports: list[StepReport | PoseReport] = [*steps, *poses]
    return FrameReport(
        iterations=sum(report.iterations for report in reports),
        residual=max((step.residual for step in steps), default=0.0),
        converged=all(report.converged for report in reports),
        not_converged=sum(not report.converged for report in reports),
        unsettled=sum(not report.settled for report in reports),
        solves=sum(report.solves for report in steps),
        contacts=_count_contacts(simulation, steps, poses),
        inverted_tets=max((report.inverted_tets for report in reports), default=0),
        milliseconds=1e3 * (clock.perf_counter() - started),
        bodies=_body_reports(simulation, steps, poses),
        newton_iterations=sum(report.newton_iterations for report in reports),
        pose_residual=max((pose.residual for pose in poses), default=0.0),
        poses_not_converged=sum(not pose.converged for pose in poses),
        deepest_contact=max((pose.max_depth for pose in poses), default=0.0),
        deep_contacts=_largest_depths(poses),
        let_in=max((step.let_in for step in steps), default=0),
    )


def advance_step(
    simulation: SimulatedScene,
    begin: float,
    end: float,
    on_progress: OnProgress = lambda progress: None,
    pose_path: PoseInterpolation | None = None,
) -> StepReport:
    """Moves a simulation from one time to another [s] in one step; inputs are those of its end.

    Flesh that follows a pose goes along `pose_path`, and stays where it is without one. At Speed 0 all that takes steps
    stands still, whatever holds it.
    """
    step = simulation.feature_step(begin, end)
    if step.speed < MIN_SPEED:
        if simulation.built.posed_bodies:
            return _pose_flesh_in_steps(simulation, begin, end)
        simulation.state.time = end
        return StepReport(iterations=0, residual=0.0, converged=True, solves=0)
    for feature in simulation.built.features:
        feature.before_step(step)
    step.model = current_model(simulation.built, simulation.state)
    start = simulation.state.view()
    report, step = move_while_cracks_advance(
        simulation, step, lambda step: _move_bodies(simulation, step, on_progress, pose_path)
    )
    if step.is_parted is not None:
        separate_faces(simulation, step.is_parted)
    if simulation.built.pieces is not None:
        from .brittle.break_pieces import break_hit_pieces

        break_hit_pieces(simulation, start, step.dt, on_progress)
    if simulation.built.levels:
        from .dynamic_refinement.split_criteria import adapt_levels

        adapt_levels(simulation, step)
    return replace(report, splits_left=step.splits_left) if step.splits_left else report


def _move_bodies(
    simulation: SimulatedScene, step: FeatureStep, on_progress: OnProgress, pose_path: PoseInterpolation | None
) -> StepReport:
    """Moves bodies on over a step, lets features act at its end, and returns how it went."""
    built = simulation.built
    part = StepPart(step.begin, step.end, step.speed, is_in_hand=any(force.may_squeeze for force in built.forces))
    begin_forces(simulation, step.model, part)
    if built.exact_contact is not None:
        from .exact_contact.exact_step import take_exact_step

        report, step.is_fixed = take_exact_step(simulation, step.model, part, built.exact_contact)
    else:
        report, step.is_fixed = take_step(simulation, step.model, part, on_progress, pose_path)
    simulation.held_nodes = step.is_fixed
    simulation.state.time = step.end
    for feature in built.features:
        feature.after_step(step)
    return report


def _body_reports(simulation: SimulatedScene, steps: list[StepReport], poses: list[PoseReport]) -> BodyNumbers:
    """Returns what a frame's report says of bodies: key → name → number."""
    built, state = simulation.built, simulation.state
    reports = [feature.report(built.model, (built.unbroken or built).model, state) for feature in built.features]
    reports.append(built.pieces.report() if built.pieces is not None else {})
    reports.append(_largest_by_body("splits_left", [report.splits_left for report in steps]))
    reports.append(_largest_by_body("pose_residual", [report.residuals for report in poses]))
    merged: BodyNumbers = {}
    for report in reports:
        for key, numbers in report.items():
            merged.setdefault(key, {}).update(numbers)
    return merged


def _count_contacts(simulation: SimulatedScene, steps: list[StepReport], poses: list[PoseReport]) -> int:
    """Returns how many contacts pushed in the last step, and how many of flesh that follows a pose."""
    if simulation.built.exact_contact is not None:
        return steps[-1].contacts if steps else 0
    in_step = 0
    if steps and simulation.contacts:
        asleep = SleepingContacts.from_state(simulation.state).pushing_count
        in_step = int(simulation.contacts.was_active.sum()) + asleep
    return in_step + (poses[-1].contacts if poses else 0)


def _mean_collider_loads(simulation: SimulatedScene, loads: list[Floats]) -> dict[str, tuple[float, ...]]:
    """Returns the mean force and torque on colliders over steps, by key."""
    if not loads:
        return {}
    if simulation.built.exact_contact is not None:
        keys = [collider.key for collider in simulation.built.exact_contact.all_colliders]
    elif simulation.contacts:
        keys = loaded_collider_keys(simulation.contacts)
    else:
        return {}
    numbers = np.mean(loads, axis=0).tolist()
    return {key: tuple(row) for key, row in zip(keys, numbers, strict=True)}


def _largest_depths(poses: list[PoseReport]) -> dict[str, dict[str, float]]:
    """Returns the largest depth of each body in each thing over all poses [m], by their keys."""
    found: dict[str, dict[str, float]] = {}
    for pose in poses:
        for key, others in pose.deep.items():
            own = found.setdefault(key, {})
            own.update({other: max(depth, own.get(other, 0.0)) for other, depth in others.items()})
    return found


def _largest_by_body(name: str, steps: list[dict[str, float]]) -> dict[str, dict[str, float]]:
    """Returns the largest of the numbers of each body over all steps or poses, by key of the body, under a name."""
    return {key: {name: max(each[key] for each in steps)} for key in (steps[-1] if steps else ())}


def render_positions(built: AssembledScene, state: State) -> dict[str, Floats]:
    """Returns the render vertices of every body [m], (n, 3), by its key."""
    positions, binding, end = {}, built.joint_binding, 0
    every = np.empty((len(binding.tet), 3))
    interpolate(state.x, built.model.tets, binding, every)
    for number, body in enumerate(built.bodies):
        begin, end = end, end + len(body.binding.tet)
        out = every[begin:end]
        for pins in built.pins:
            if pins.body == number:
                pins.apply_correction(state, out)
        for feature in built.features:
            feature.move_render_positions(built.model, state, number, out)
        positions[body.key] = out
    return positions
