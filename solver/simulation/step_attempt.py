# SPDX-License-Identifier: GPL-3.0-or-later
"""One attempt at a step or a part of one: what acts in it, and the solves that find where the bodies end."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from ..constraints.attachments.attachment_potential import AttachmentPotential, tied_nodes
from ..constraints.external_forces import ExternalForces
from ..constraints.linear_forces import LinearForces
from ..constraints.linearised_potentials import LinearisedPotentials
from ..constraints.pair_forces import PairForces
from ..constraints.point_forces import PointForces
from ..contact.active_set.active_set import MAX_SOLVES_AT_IMPACT
from ..contact.active_set.rigid_contact_solve import RigidContactSolve, can_solve
from ..integrators.integrator_choice import step
from ..integrators.step_input import ContactCallbacks, StepOptions
from ..integrators.step_report import StepReport
from ..mechanics.chord_ends import ChordEnds
from ..mechanics.finite_rotation_correction import chord_stretch_energy, rotate_free_islands, turn_angles
from ..mechanics.island_kinds import rigid_islands, sheet_islands
from ..mechanics.kinetic_energy import kinetic_energies, kinetic_energy_bound, work_of_gravity
from ..mechanics.model import Model
from ..mechanics.state_fields import PREVIOUS_DT, TETS_FIELD
from ..mechanics.vertex_warp import is_any_warped
from ..quasistatic.progress import Progress
from ..runtime.arrays import Bools, Floats, floats
from ..scene.gravity import gravity_at
from .build_contact_step import make_contact_step
from .current_model import present_flesh
from .flesh_equilibrium_interpolation import PoseInterpolation
from .rigid_body_step import rigid_body_step
from .simulated_scene import SimulatedScene
from .sleeping_bodies import begin_asleep
from .solve_progress import OnProgress
from .step_boundary_conditions import boundary_conditions
from .step_interval import StepPart

# energy of a turn along straight lines over that of motion, from which rotations have to follow
MAX_TURN_ENERGY_RATIO = 1.0e-3
MAX_TURN_ENERGY_RATIO_BREAKABLE = 0.1  # the same for bodies that may break: solved again so, a blow strains them less


class StepAttempt:
    """An attempt at a part of a step.

    Attributes:
        model: The bodies in this part, axes of their cores included.
        part: Which part.
        before: The state at its begin.
        state: The state of the simulation, which the solves move on.
        gravity: At its end [m/s²], (3,).
        bounds, contacts: What holds, pulls and touches; what sleeps is held.
        held_nodes: Those that something else holds, (n,); None: none.
        sleeping: Which bodies sleep; None: none can.
        potentials: Forces that are not linear, linearised.
        dynamics: Flesh that takes steps; None: there is none.
        context: Work arrays of the solver.
        max_turn_energy_ratio: Energy of a turn along straight lines over that of motion from which rotations follow.
        is_piece: Which islands are pieces of broken bodies, (islands,).
        is_in_pieces: Whether a body has fallen into pieces; `contacts` know which ones, and what touches them.
        tolerates_energy_gains: Whether there are pieces or rigid bodies, whose groups may keep a little energy from
            nothing.
        damps_separation: Whether overlaps are resolved calmly: pieces of brittle bodies have to fly.
        may_repeat: Whether the part may be taken again in another way.
        turns_solves: Whether turns of solves are made as rotations.
        may_turn_solves: Whether they are not yet, but may be.
        relinearises: Whether rotations follow within the step.
        may_relinearise: Whether they do not, but may.
    """

    def __init__(
        self, simulation: SimulatedScene, model: Model, part: StepPart, pose_path: PoseInterpolation | None
    ) -> None:
        """Prepares the attempt; flesh that follows a pose goes along `pose_path`."""
        built, state = simulation.built, simulation.state
        self.part, self.state = part, state
        self.before = state.view()
        self.gravity = gravity_at(simulation.scene, simulation.tracks, part.end)
        for feature in built.features:
            model = feature.model_in_step(model, simulation.scene, simulation.tracks, part)
        self.model = model
        self.bounds = boundary_conditions(simulation, model, part, pose_path)
        self.held_nodes = self.bounds.is_fixed
        self.sleeping = begin_asleep(simulation, model, self.bounds, self.gravity, part)
        if self.sleeping is not None:
            self.bounds = self.sleeping.hold(self.before.x)
        self.contacts = make_contact_step(simulation, model, self.bounds.is_fixed, self.gravity, part)
        flesh = present_flesh(built, state)
        self.dynamics, self.context = flesh.dynamics if flesh else None, simulation.solver_context
        if self.dynamics is not None and part.is_by_euler:
            self.dynamics = self.dynamics.by_euler()
        pieces = _find_pieces(model, (built.unbroken or built).model)
        self.is_piece, self.is_in_pieces = pieces.is_piece, bool(pieces.is_piece.any())
        self.damps_separation = built.pieces is None or not self.is_in_pieces
        rigid = rigid_islands(model) | sheet_islands(model)
        # rigid bodies and sheets are like pieces: their contacts take more solves, and a little energy is always left
        self.tolerates_energy_gains = self.is_in_pieces or bool(rigid.any())
        if self.contacts is not None and self.tolerates_energy_gains:
            self.contacts.expect_pieces(pieces.is_piece | rigid)
            self.contacts.brake_by_springs(pieces.is_splinter)
        may_break = built.fracture is not None
        self.max_turn_energy_ratio = MAX_TURN_ENERGY_RATIO_BREAKABLE if may_break else MAX_TURN_ENERGY_RATIO
        self.may_repeat = self.contacts is not None and self.dynamics is None
        self._choose_rotations(part.turns_solves or self._spins_fast())
        self._linearise_potentials()
        self.rigid_contacts = self._rigid_contact_solve()

    def _rigid_contact_solve(self) -> RigidContactSolve | None:
        """Returns what solves the step where all bodies are rigid and meet nothing but contacts; None elsewhere."""
        model, bounds = self.model, self.bounds
        if self.contacts is None or self.dynamics is not None or not can_solve(model, bounds.is_fixed):
            return None
        if bounds.potentials or bounds.surface_potentials or bounds.joints is not None:
            return None
        fixed = None if bounds.is_fixed is None else (bounds.is_fixed, floats(bounds.fixed_target))
        return RigidContactSolve(model, self.before, self.gravity, self.part.dt, bounds.point_forces, fixed)

    def _linearise_potentials(self) -> None:
        """Linearises potentials, but for what acts in Newmark's substeps: these take it anew."""
        potentials, surfaces = self.bounds.potentials, self.bounds.surface_potentials
        self.substep_potentials: tuple[AttachmentPotential, ...] = ()
        if self.newmark is not None:
            part = self.newmark.part
            potentials = tuple(each.without(part.tets) for each in potentials)
            halves = [each.split(part.bodies) for each in surfaces]
            surfaces = tuple(others for _, others in halves)
            self.substep_potentials = tuple(own.of_tets(part.tets, part.model) for own, _ in halves if own.active)
        surfaces = tuple(each for each in surfaces if each.active)
        self.tied_nodes = tied_nodes(surfaces, self.model.node_count)
        self.potentials = LinearisedPotentials(
            potentials, surfaces, self.model, self.before, self.bounds.is_fixed, self.gravity, self.part.dt
        )

    @cached_property
    def motion_energy(self) -> Floats:
        """Kinetic energy of every island, or what it would have after a free fall [J], (k,)."""
        return kinetic_energy_bound(self.model, self.before.v, self.gravity, self.part.dt)

    def diverged_islands(self) -> Bools:
        """Returns the islands whose contacts failed, (islands,); there has to be contact."""
        assert self.contacts is not None
        if self.contacts.is_converged:  # in most steps, where nobody has to know energies
            return np.zeros(self.model.pattern.island_count, bool)
        return self.contacts.diverged_islands(self._available_energy(), floats(self.state.v))

    def _available_energy(self) -> Floats:
        """Returns the kinetic energy that every island had, with the work of gravity where it has sunk [J], (k,)."""
        work = work_of_gravity(self.model, floats(self.state.v), self.gravity, self.part.dt)
        return floats(kinetic_energies(self.model, self.before.v) + np.maximum(work, 0.0))

    def _choose_rotations(self, turns_solves: bool) -> None:
        """Decides whether rotations follow in the solves, and whether turns of solves are rotations if they may be."""
        model, contacts, dynamics = self.model, self.contacts, self.dynamics
        is_whole = TETS_FIELD not in self.before.fields
        self.newmark = dynamics.newmark if dynamics else None
        self.has_surfaces = bool(contacts and contacts.surfaces)
        # surfaces may make bodies of the two schemes touch
        self.is_mixed = bool(
            dynamics and self.newmark and self.has_surfaces and (dynamics.euler or dynamics.corotational_bodies(model))
        )
        # rotations of what touches colliders alone follow where they have to
        # and islands that bindings join do not turn each for itself
        # and rigid bodies turn as what they are anyway
        may_turn = dynamics is None and contacts is not None and not is_any_warped(model) and model.bound is None
        may_turn = may_turn and not rigid_islands(model).all()
        self.turns_solves = may_turn and is_whole and turns_solves
        self.relinearises = may_turn and (self.has_surfaces or turns_solves)
        self.may_turn_solves = may_turn and is_whole and self.has_surfaces and not turns_solves
        self.may_relinearise = may_turn and not self.relinearises and not len(model.cores)
        if contacts and self.relinearises and not self.has_surfaces:
            contacts.keep_earliest()
        self.is_substepped = self.newmark is not None and not self.is_mixed

    def _spins_fast(self) -> bool:
        """Whether an island that touches colliders alone would get much energy by turning on along straight lines."""
        contacts, before = self.contacts, self.before
        if contacts is None or contacts.surfaces or not len(contacts.contact_set):
            return False
        energy = self.straight_line_turn_energy(before.x + self.part.dt * before.v)
        return bool((energy > self.max_turn_energy_ratio * self.motion_energy).any())

    def straight_line_turn_energy(self, end: Floats) -> Floats:
        """Returns the energy that islands get by turning to `end` [m], (n, 3), along straight lines [J], (k,)."""
        start: np.ndarray = np.asarray(self.model.pattern.island_start, np.int64)
        angle = turn_angles(start, self.model.mass, self.before.x, floats(end))
        return chord_stretch_energy(self.model, angle, self.part.dt)

    def solve(self, simulation: SimulatedScene, on_progress: OnProgress) -> StepReport:
        """Moves the state on by Δt.

        Raises:
            SolveFailed: Numbers did not stay finite.
        """
        contacts, state = self.contacts, self.state
        if contacts and self.rigid_contacts:
            return rigid_body_step(self.model, state, self.bounds, contacts, self.rigid_contacts, self.part.dt)
        relinearises = TETS_FIELD in state.fields or self.has_surfaces or self.relinearises
        callbacks = ContactCallbacks(
            update=self.respond,
            line_search=contacts.line_search if contacts and (self.has_surfaces or self.relinearises) else None,
            take_motion=self.bounds.joints.take_motion if self.bounds.joints else None,
            substep_forces=(lambda: self.external_forces(True)) if self.is_mixed else None,
        )
        options = StepOptions(
            max_solves=MAX_SOLVES_AT_IMPACT,
            flesh=self.dynamics,
            relinearises=relinearises and not is_any_warped(self.model) and self.model.bound is None,
            makes_rotations=self.turns_solves,
            may_abandon=self.part.may_halve,
            on_iteration=lambda solves, residual: on_progress(Progress(solves, residual, 0)),
        )
        forces, settings = self.external_forces(self.is_substepped), simulation.scene.settings
        return step(self.model, state, forces, self.part.dt, settings, callbacks, options, self.context)

    def external_forces(self, activates_contacts: bool) -> ExternalForces:
        """Returns what acts from outside; substeps find out themselves when the contacts push that are activated."""
        contacts, bounds = self.contacts, self.bounds
        if contacts and self.newmark and activates_contacts:
            contacts.activate_all(self.newmark.part.tets)
        act, pairs = contacts.spring_forces() if contacts else (PointForces(), PairForces())
        normals, across = contacts.normals() if contacts and activates_contacts else (None, None)
        linear = self.linear_forces()
        if across is not None and len(linear.pairs):
            across = np.concatenate([np.zeros((len(linear.pairs), 3)), across])
        # contacts know which islands they join, and neither which ones attachments do nor which ones joints still move
        may_freeze = not len(linear.pairs) and bounds.joints is None
        is_frozen = contacts.frozen_nodes() if contacts and may_freeze else None
        return ExternalForces(
            self.gravity,
            bounds.is_fixed,
            bounds.fixed_target,
            None,
            PointForces.concatenate(bounds.point_forces, linear.points, act),
            PairForces.concatenate(linear.pairs, pairs),
            contact_count=len(act),
            contact_normals=normals,
            pair_normals=across,
            spring_pair_count=len(linear.pairs),
            tets=linear.tets,
            is_frozen=is_frozen,
            turns=contacts.rotation_only_islands() if contacts else None,
            tied_nodes=self.tied_nodes,
            substep_potentials=self.substep_potentials,
        )

    def linear_forces(self, is_end: bool = False) -> LinearForces:
        """Returns the linear forces of potentials and joints, of the next solve or of the end of the step."""
        joints, forces = self.bounds.joints, self.potentials.forces
        if joints is None:
            return forces
        return LinearForces.concatenate(forces, joints.final_forces() if is_end else joints.forces)

    def respond(
        self, x: Floats, v: Floats, is_wrong: Bools | None = None, chords: ChordEnds | None = None
    ) -> ExternalForces | None:
        """Takes the end of a solve, x [m] and v [m/s], (n, 3) each; returns what acts instead, None when content."""
        wants_more = self.contacts is not None and self.contacts.update(x, is_wrong, chords)
        is_off = self.potentials.update(x, v)
        is_apart = self.bounds.joints is not None and self.bounds.joints.update(v, x)
        if not wants_more and is_off is None and not is_apart:
            return None
        forces = self.external_forces(self.is_substepped)
        if is_apart:
            return replace(forces, relinearises_only=not wants_more)
        if is_off is None:
            return forces
        is_frozen = None
        if not wants_more and not len(forces.pairs) and not is_off.all():
            is_frozen = ~is_off[self.model.pattern.island_of_row]
        return replace(forces, is_frozen=is_frozen, relinearises_only=not wants_more)

    def exceeds_limit_in_substeps(self) -> bool:
        """Whether flesh by Newmark's scheme, whose substeps no stiff limit bears, has tets beyond their limit now."""
        newmark = self.newmark
        if newmark is None or not self.bounds.potentials:
            return False
        beyond = [each.forces_at(self.state.x)[1].tet for each in self.bounds.potentials]
        return any(bool(np.isin(tets, newmark.part.tets).any()) for tets in beyond)

    def end_motion(self) -> None:
        """Turns free islands of flesh as rigid bodies turn, and lets the state remember contacts."""
        if self.dynamics or is_any_warped(self.model):
            rotate_free_islands(self.model, self.state, self.before.x, self._nodes_not_to_rotate(), self.part.dt)
        if self.contacts:
            self.contacts.remember(self.state)
        if self.bounds.joints:
            self.bounds.joints.remember(self.state)

    def _nodes_not_to_rotate(self) -> Bools | None:
        """Returns which nodes are held, or are of bodies whose scheme or core has turned them already, (n,)."""
        model, is_fixed = self.model, self.bounds.is_fixed
        past = self.state.fields.get(PREVIOUS_DT)
        past = None if past is None or not past.any() else past
        if past is None and not model.cores:
            return is_fixed
        which = np.zeros(model.node_count, bool) if is_fixed is None else is_fixed.copy()
        for body, length in zip(model.bodies, past, strict=True) if past is not None else ():
            which[body.nodes] |= length > 0.0
        for core in model.cores:
            which[core.nodes] = True
        return which

    def undo(self) -> None:
        """Takes the state back to where the part began."""
        state, before = self.state, self.before
        state.x, state.v, state.time, state.fields = before.x, before.v, before.time, dict(before.fields)


class Pieces(NamedTuple):
    """Islands of bodies that have more of them than when they were whole.

    Attributes:
        is_piece: Which these are, (islands,).
        is_splinter: Those that hold at most half of their body, (islands,).
    """

    is_piece: Bools
    is_splinter: Bools


def _find_pieces(model: Model, whole: Model) -> Pieces:
    """Returns the pieces of the bodies of a model, given the model before anything broke."""
    row, row_before, count = model.pattern.island_of_row, whole.pattern.island_of_row, model.pattern.island_count
    is_piece, is_splinter = np.zeros((2, count), bool)
    if count == whole.pattern.island_count:
        return Pieces(is_piece, is_splinter)
    mass = np.bincount(row, model.mass, count)
    for body, before in zip(model.bodies, whole.bodies, strict=True):
        own = np.unique(row[body.nodes])
        if len(own) > len(np.unique(row_before[before.nodes])):
            is_piece[own] = True
            is_splinter[own] = mass[own] <= 0.5 * mass[own].sum()
    return Pieces(is_piece, is_splinter)
