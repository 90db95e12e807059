# SPDX-License-Identifier: GPL-3.0-or-later
"""Compiles the kernels of a step, on a few tets: half of all compiling, which another process does meanwhile."""

from __future__ import annotations

import numpy as np

from .contact.pushing import Pushing
from .contact.settle import CONTENT, STOPS
from .contact.settling import Settling
from .contact.touching import Touching
from .elements.inversion import count_inverted
from .integrators.implicit_euler import solve_step, step
from .integrators.linearised import join
from .integrators.outside import Outside, Pairs, Points
from .integrators.workspace import records_of, workspace
from .linear.pcg import solve
from .linear.rigid_modes import rigid_modes
from .linear.small_islands import MOST_NODES
from .model import Model, Part, make_model
from .scene import Material, Settings
from .state import State

# a strip of tets: so many nodes that the system is not solved at once, as that of a crumb is
NODES = np.arange(MOST_NODES + 1.0, dtype=np.float64)[:, None] ** [1.0, 2.0, 3.0]
TETS = (np.arange(len(NODES) - 3, dtype=np.int64)[:, None] + np.arange(4, dtype=np.int64)).astype(np.int32)


def compile_step(is_held: bool = True) -> None:
    """Takes a step of a few tets, and one with a held node and a spring, so that all kernels of a step are compiled.

    Without `is_held` only the first one, which is enough for what falls.
    """
    model = _strip()
    spring = Points(
        np.zeros(1, np.int32), np.full((1, 4), 0.25), np.ones((1, 3)), np.eye(3)[None] * 10.0, np.zeros((1, 3, 3))
    )
    held = np.arange(len(NODES), dtype=np.int64) == 0
    outside = Outside(np.array([0.0, 0.0, -9.81]), held, NODES.copy(), points=spring)
    state = State(NODES.copy(), np.zeros_like(NODES))
    for acting in (Outside(), outside)[: 1 + is_held]:
        step(model, state, acting, 0.01, Settings())


def compile_solve(has_modes: bool = False) -> None:
    """Solves the system of a step, a third of its compiling, or of a step of what moves as a whole."""
    pattern = _strip().pattern
    values, b, is_free = np.zeros((pattern.block_count, 9)), np.zeros(NODES.shape), np.ones(len(NODES), bool)
    modes = rigid_modes(pattern, values, NODES, is_free) if has_modes else None
    solve(pattern, values, b, is_free, b.copy(), 1.0, 1, modes=modes)


def compile_between() -> None:
    """Takes a step of tets that do not resist, and so all of it but records of tets; it solves as well.

    What a step needs last is compiled first, so that who compiles it from its beginning is met half way.
    """
    compile_solve(has_modes=True)
    model = _strip()
    work, state = workspace(model.pattern), State(NODES.copy(), np.zeros_like(NODES))
    work.force[:], work.values[:] = 0.0, 0.0
    work.values[model.pattern.diagonal] = np.eye(3).ravel()
    solve_step(model, state, Outside(), 0.01, Settings(), None)
    count_inverted(state.x, model.tets)
    records_of(model)[:] = 0.0
    join(model, 0.01)


def compile_settling() -> None:
    """Lets a contact settle: half of what answers contacts, which the process that builds has no time for."""
    number, vector = np.zeros(1), np.zeros((1, 3))
    touching = Touching(np.zeros(1, np.int64), vector, number, vector, np.zeros(1, np.int8))
    pushing = Pushing.room(1)
    for values in vars(pushing).values():
        values[:] = 0
    Settling(_strip()).settle(touching, 1, pushing, number, vector)


def compile_pairs() -> None:
    """Takes two steps in which a tet of one body pushes one of another, so that what couples bodies is compiled."""
    model, first, last = _strip(2), np.zeros(1, np.int32), np.array([2 * len(TETS) - 1], np.int32)
    weights = np.full((1, 4), 0.25)
    touching = Outside(pairs=Pairs(first, weights, last, weights, np.ones((1, 3)), np.eye(3)[None] * 10.0))
    state = State(model.X.copy(), np.zeros_like(model.X))
    # where contacts change, a second solve begins with what the first one found
    answers = iter((touching, None))
    step(model, state, touching, 0.01, Settings(), respond=lambda *_: next(answers), max_solves=2)
    # what decides when one body is done before the other, or whether a step has gone astray, most steps do not ask
    settling = Settling(model)
    settling.solves, settling.is_settled = 1, False
    settling.group[:], settling.fate[:] = (0, 1), (CONTENT, STOPS)
    settling.done()
    settling.is_astray(state.v, state.v, 1.0)


def _strip(count: int = 1) -> Model:
    """Returns so many strips, each a body."""
    return make_model([Part(f"warm-{body}", NODES, TETS, np.ones(len(TETS)), Material()) for body in range(count)])
