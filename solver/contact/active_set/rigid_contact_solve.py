# SPDX-License-Identifier: GPL-3.0-or-later
"""Solves a step of rigid bodies alone, together with which of their contacts push and how they slide.

Solved as what has tets, a step tells once in every solve which contacts push, and searches for contacts each time;
heaps take ten and more of these. Rigid bodies have six unknowns each, so Newton's method with the planes as they are
takes less than one such solve does. A search after it finds new contacts, with which the step is solved again.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...constraints.point_forces import PointForces
from ...constraints.rigid_core import batch_numbers, rigid_body_batch
from ...linalg.body_block_cholesky import SIZE
from ...linalg.body_blocks import BodyBlocks
from ...mechanics.island_kinds import rigid_islands
from ...mechanics.model import Model
from ...mechanics.state import State
from ...runtime.arrays import Bools, Floats, Indices, floats
from ..contact_step import ContactStep
from .rigid_contact_newton import solve_rigid_contacts
from .rigid_contact_rows import ContactForces, ContactRows, RigidBodyMotion, add_point_terms, write_contact_rows

# of contacts that sank: with four, boxes that fall in a pile of 200 are 36 mm deep for a moment, with five 22 mm
MAX_LIFTS = 5


class RigidSolution(NamedTuple):
    """How n rigid bodies move.

    Attributes:
        v: Of their nodes [m/s], (4 n, 3).
        is_touched: Which bodies have contacts that push, (n,).
        iterations: Of the linear solves.
        residual: ‖b − A u‖ / ‖b‖ of the last one.
    """

    v: Floats
    is_touched: Bools
    iterations: int
    residual: float


class RigidContactSolve:
    """The rigid bodies of a step without other bodies, n of them."""

    def __init__(
        self,
        model: Model,
        start: State,
        gravity: Floats,
        dt: float,
        points: PointForces,
        fixed: tuple[Bools, Floats] | None,
    ) -> None:
        """Takes what moves the bodies apart from contacts; see `can_solve`.

        Args:
            model: The bodies.
            start: Where the step begins.
            gravity: g [m/s²], (3,).
            dt: Δt [s].
            points: Other forces on points of bodies.
            fixed: Which nodes are held, (n,), and where they are at the end [m], (n, 3); None: none are.
        """
        self.model, self.dt, self.x = model, dt, floats(start.x)
        self.bodies = rigid_body_batch(model, np.arange(len(model.cores), dtype=np.int32), self.x)
        nodes, mass, count = self.bodies.nodes, self.bodies.mass.sum(axis=1), len(model.cores)
        body_of_node = np.full(model.node_count, -1, np.int32)
        body_of_node[nodes] = np.arange(count, dtype=np.int32)[:, None]
        self.body_of_tet: Indices = body_of_node[model.tets[:, 0]]
        inertia = np.zeros((count, SIZE, SIZE))
        inertia[:, :3, :3], inertia[:, 3:, 3:] = mass[:, None, None] * np.eye(3), self.bodies.inertia
        self.u = floats(np.concatenate(self.bodies.motion(start.v[nodes]), axis=1))
        pull = np.einsum("ka,ka->k", self.bodies.mass, model.gravity_scale[nodes])
        self.b = np.einsum("kij,kj->ki", inertia, self.u)
        self.b[:, :3] += dt * pull[:, None] * gravity
        self.diagonal = floats(inertia * (1.0 + dt * model.mass_damping[nodes[:, 0]])[:, None, None])
        if len(points):
            own = points.tet, points.weights, points.force, points.stiffness, points.damping
            add_point_terms(*own, self.body_of_tet, self.x, model.tets, self.bodies.centre, dt, self.diagonal, self.b)
        self.is_free = np.ones(count, bool)
        if fixed is not None:
            self.is_free = ~fixed[0][nodes[:, 0]]
            given = np.concatenate(self.bodies.motion((fixed[1][nodes] - self.x[nodes]) / dt), axis=1)
            self.u[~self.is_free] = given[~self.is_free]

    def solve(self, contacts: ContactStep) -> RigidSolution:
        """Moves the bodies so that their contacts agree with the motion, and tells these so.

        Bodies whose contacts have settled before go on as they do.
        """
        contact_set, state = contacts.contact_set, contacts.contact_state
        k, frozen = len(contact_set), contacts.frozen_nodes()
        is_free = self.is_free if frozen is None else self.is_free & ~frozen[self.bodies.nodes[:, 0]]
        rows = ContactRows.allocate(k, contacts.may_push)
        if k:
            write_contact_rows(
                contact_set.carried,
                self.x,
                self.model.tets,
                state.attachment,
                self.body_of_tet,
                self.bodies.centre,
                rows,
            )
        first, second = self._pairs(rows)
        blocks = BodyBlocks(self.diagonal, first, second, np.zeros((len(first), SIZE, SIZE)))
        iterations = 0
        while True:
            forces = ContactForces.allocate(k)
            more, residual = solve_rigid_contacts(
                RigidBodyMotion(self.u, self.b, is_free),
                blocks,
                rows,
                contact_set.arrays,
                state.arrays,
                MAX_LIFTS,
                self.dt,
                forces,
            )
            iterations += int(more)
            # what a body that moves has begun to push moves, too
            woken = pushed_bodies(rows.body[forces.pushes], is_free) & self.is_free & ~is_free
            if not woken.any():
                break
            is_free = is_free | woken
        moves = is_free[rows.body[:, 0]] | ((rows.body[:, 1] >= 0) & is_free[rows.body[:, 1]])
        contacts.expect(moves, forces.pushes, forces.kappa)
        touching = rows.body[contacts.was_active]
        is_touched = np.zeros(len(self.u), bool)
        is_touched[touching[touching >= 0]] = True
        v = np.empty_like(self.x)
        v[self.bodies.nodes] = self.bodies.velocities(self.u[:, :3], self.u[:, 3:])
        return RigidSolution(v, is_touched, iterations, float(residual))

    def _pairs(self, rows: ContactRows) -> tuple[Indices, Indices]:
        """Returns the pairs of bodies that contacts are between, (p,) each, and writes which one each contact has."""
        is_pair = rows.body[:, 1] >= 0
        ends, count = np.sort(rows.body[is_pair].astype(np.int64), axis=1), len(self.u)
        known, rows.pair[is_pair] = np.unique(ends[:, 0] * count + ends[:, 1], return_inverse=True)
        return (known // count).astype(np.int32), (known % count).astype(np.int32)


def pushed_bodies(ends: Indices, is_moving: Bools) -> Bools:
    """Returns which bodies have contacts with bodies that move, (n,).

    Args:
        ends: Both bodies of contacts, −1 for colliders, (k, 2).
        is_moving: Of bodies, (n,).
    """
    found = np.zeros(len(is_moving), bool)
    pairs = ends[(ends >= 0).all(axis=1)]
    for own, other in ((0, 1), (1, 0)):
        found[pairs[is_moving[pairs[:, other]], own]] = True
    return found


def can_solve(model: Model, is_fixed: Bools | None) -> bool:
    """Whether all bodies are rigid ones with six unknowns, or held by all of their nodes."""
    if model.bound is not None or model.methods or not model.cores or not rigid_islands(model).all():
        return False
    return len(batch_numbers(model, is_fixed)) == len(model.cores)
