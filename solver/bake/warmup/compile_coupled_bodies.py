# SPDX-License-Identifier: GPL-3.0-or-later
"""Compiles the kernels of steps in which two bodies push each other or are bound to each other, on a few tets."""

from __future__ import annotations

import numpy as np

from ...constraints.bindings.hard_bindings import BindingTarget, HardBinding, bind_nodes, flatten_bindings
from ...constraints.external_forces import ExternalForces
from ...constraints.pair_forces import PairForces
from ...contact.active_set.active_set import ActiveSet
from ...contact.active_set.active_set_update import CONVERGED, STOPPED
from ...integrators.integrator_choice import step
from ...integrators.step_input import ContactCallbacks, StepOptions
from ...linalg.direct_small_islands import MAX_SMALL_ISLAND_NODES
from ...mechanics.model import Model, Part, make_model
from ...mechanics.state import State
from ...scene.scene import Material, Settings

# a strip of tets: so many nodes that the system is not solved at once, as that of a crumb is
STRIP_NODES = np.arange(MAX_SMALL_ISLAND_NODES + 1.0, dtype=np.float64)[:, None] ** [1.0, 2.0, 3.0]
STRIP_TETS = (np.arange(len(STRIP_NODES) - 3, dtype=np.int64)[:, None] + np.arange(4, dtype=np.int64)).astype(np.int32)


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
    settling.diverged_islands(np.ones(2), state.v, 1.0)


def compile_bound_bodies() -> None:
    """Takes a step in which a node of one body is bound to a tet of another."""
    model = _tet_strips(2)
    target = BindingTarget(model.tets[0], np.full(4, 0.25))
    bound = flatten_bindings([HardBinding(len(STRIP_NODES) + 4, target)], str)
    model = bind_nodes(model, bound, str)
    state = State(model.X.copy(), np.zeros_like(model.X))
    step(model, state, ExternalForces(np.array([0.0, 0.0, -9.81])), 0.01, Settings())


def _tet_strips(count: int = 1) -> Model:
    """Returns so many strips, each a body."""
    return make_model(
        [Part(f"warm-{body}", STRIP_NODES, STRIP_TETS, np.ones(len(STRIP_TETS)), Material()) for body in range(count)]
    )
