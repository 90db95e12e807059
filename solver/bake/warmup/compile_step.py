# SPDX-License-Identifier: GPL-3.0-or-later
"""Compiles the kernels of a step, on a few tets: half of all compiling, which another process does meanwhile."""

from __future__ import annotations

import numpy as np

from ...constraints.external_forces import ExternalForces, PairForces, PointForces
from ...contact.active_set.active_set import ActiveSet
from ...contact.active_set.active_set_kernels import CONVERGED, STOPPED
from ...contact.detection.contact_set import ContactSet, ContactState
from ...integrators.implicit_euler import solve_step
from ...integrators.solver_context import StepWorkspace
from ...integrators.step import step
from ...integrators.step_input import ContactCallbacks, StepInput, StepOptions
from ...integrators.system.step_matrix import AssembledSystem, assemble_system
from ...linalg.block_system import BlockSystem, StoppingCriteria
from ...linalg.direct_small_islands import MAX_SMALL_ISLAND_NODES
from ...linalg.pcg import solve
from ...linalg.rigid_modes import rigid_modes
from ...mechanics.elements.inverted_tets import count_inverted
from ...mechanics.model import Model, Part, make_model
from ...mechanics.state import State
from ...scene.scene import Material, Settings

# a strip of tets: so many nodes that the system is not solved at once, as that of a crumb is
STRIP_NODES = np.arange(MAX_SMALL_ISLAND_NODES + 1.0, dtype=np.float64)[:, None] ** [1.0, 2.0, 3.0]
STRIP_TETS = (np.arange(len(STRIP_NODES) - 3, dtype=np.int64)[:, None] + np.arange(4, dtype=np.int64)).astype(np.int32)


def compile_step(is_held: bool = True) -> None:
    """Takes a step of a few tets, and one with a held node and a spring, so that all kernels of a step are compiled.

    Without `is_held` only the first one, which is enough for what falls.
    """
    model = _tet_strips()
    spring = PointForces(
        np.zeros(1, np.int32), np.full((1, 4), 0.25), np.ones((1, 3)), np.eye(3)[None] * 10.0, np.zeros((1, 3, 3))
    )
    held = np.arange(len(STRIP_NODES), dtype=np.int64) == 0
    outside = ExternalForces(np.array([0.0, 0.0, -9.81]), held, STRIP_NODES.copy(), points=spring)
    state = State(STRIP_NODES.copy(), np.zeros_like(STRIP_NODES))
    for acting in (ExternalForces(), outside)[: 1 + is_held]:
        step(model, state, acting, 0.01, Settings())


def compile_solve(has_modes: bool = False) -> None:
    """Solves the system of a step, a third of its compiling, or of a step of what moves as a whole."""
    pattern = _tet_strips().pattern
    values, b, is_free = (
        np.zeros((pattern.block_count, 9)),
        np.zeros(STRIP_NODES.shape),
        np.ones(len(STRIP_NODES), bool),
    )
    modes = rigid_modes(pattern, values, STRIP_NODES, is_free) if has_modes else None
    solve(BlockSystem(pattern, values, b, is_free), b.copy(), StoppingCriteria(1.0, 1), modes=modes)


def compile_inelastic_step() -> None:
    """Takes a step of tets that do not resist, and so all of it but records of tets; it solves as well.

    What a step needs last is compiled first, so that who compiles it from its beginning is met half way.
    """
    compile_solve(has_modes=True)
    model = _tet_strips()
    workspace, state = StepWorkspace(model.pattern), State(STRIP_NODES.copy(), np.zeros_like(STRIP_NODES))
    force, values = np.zeros_like(STRIP_NODES), np.zeros((model.pattern.block_count, 9))
    values[model.pattern.diagonal] = np.eye(3).ravel()
    records = workspace.element_records(model)
    start = StepInput(model, state, ExternalForces(), 0.01, Settings(), workspace)
    solve_step(start, AssembledSystem(model.pattern, values, force, records), start.external_forces)
    count_inverted(state.x, model.tets)
    records[:] = 0.0
    assemble_system(model, records, 0.01, workspace)


def compile_active_set() -> None:
    """Lets a contact settle: half of what answers contacts, which the process that builds has no time for."""
    number, vector = np.zeros(1), np.zeros((1, 3))
    touching = ContactSet(np.zeros(1, np.int64), vector, number, vector, np.zeros(1, np.int8))
    pushing = ContactState.allocate(1)
    pushing.is_active[:] = False
    ActiveSet(_tet_strips()).update(touching, 1, pushing, number, vector)


def compile_coupled_bodies() -> None:
    """Takes two steps in which a tet of one body pushes one of another, so that what couples bodies is compiled."""
    model, first, last = _tet_strips(2), np.zeros(1, np.int32), np.array([2 * len(STRIP_TETS) - 1], np.int32)
    weights = np.full((1, 4), 0.25)
    touching = ExternalForces(pairs=PairForces(first, weights, last, weights, np.ones((1, 3)), np.eye(3)[None] * 10.0))
    state = State(model.X.copy(), np.zeros_like(model.X))
    # where contacts change, a second solve begins with what the first one found
    answers = iter((touching, None))
    contacts = ContactCallbacks(lambda *_: next(answers))
    step(model, state, touching, 0.01, Settings(), contacts, StepOptions(max_solves=2))
    # what decides when one body is done before the other, or whether a step has gone astray, most steps do not ask
    settling = ActiveSet(model)
    settling.solves, settling.is_converged = 1, False
    settling.group[:], settling.group_status[:] = (0, 1), (CONVERGED, STOPPED)
    settling.frozen_nodes()
    settling.has_diverged(state.v, state.v, 1.0)


def _tet_strips(count: int = 1) -> Model:
    """Returns so many strips, each a body."""
    return make_model(
        [Part(f"warm-{body}", STRIP_NODES, STRIP_TETS, np.ones(len(STRIP_TETS)), Material()) for body in range(count)]
    )
