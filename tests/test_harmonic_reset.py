# SPDX-License-Identifier: GPL-3.0-or-later
"""Starts that say nothing of a shape are forgotten, and only those."""

from __future__ import annotations

import numpy as np
import pytest

from fixtures import quasistatic_scenes as scenes
from fixtures import tet_meshes as meshes
from sinew.solver.constraints.point_forces import PointForces
from sinew.solver.mechanics.model import Part, make_model
from sinew.solver.quasistatic import initial_guesses
from sinew.solver.quasistatic.equilibrium import solve
from sinew.solver.quasistatic.equilibrium_problem import EquilibriumProblem
from sinew.solver.quasistatic.fixed_nodes import FixedNodes
from sinew.solver.quasistatic.harmonic_reset import harmonic_reset
from sinew.solver.quasistatic.law_stages import LawStages
from sinew.solver.quasistatic.newton_iterate import NewtonIterate
from sinew.solver.quasistatic.point_springs import SpringForces
from sinew.solver.scene.scene import Material


def fresh(model, held, x, acting=()):
    """Returns where to begin instead of at x, or None."""
    law = scenes.law_of(model, "neo-hookean")
    search = NewtonIterate(EquilibriumProblem(model, law, held, forces=acting))
    search.evaluate_forces(LawStages(law).law, x)
    return harmonic_reset(search, x)


def springs_on(model, tets, targets, stiffness: float):
    """Returns springs that draw the middles of some tets to targets [m], (k, 3)."""
    weights = np.full((len(tets), 4), 0.25)
    points = PointForces(
        np.asarray(tets, np.int32), weights, np.zeros((len(tets), 3)), np.zeros((len(tets), 3, 3)), None
    )
    force = stiffness * (targets - points.positions(model.X, model.tets))
    blocks = np.broadcast_to(stiffness * np.eye(3), (len(tets), 3, 3)).copy()
    return SpringForces(model, PointForces(points.tet, weights, force, blocks, np.zeros_like(blocks)), model.X)


def drawn(model, held, tets=(), targets=None, stiffness: float = 0.0):
    """Returns the least Σ μ V |∇x|² + ½ k Σ |p − target|² by a dense solve."""
    A, b = np.zeros((model.node_count,) * 2), np.zeros((model.node_count, 3))
    for tet, V, mu in zip(model.tets, model.volume, model.mu, strict=True):
        edges = np.linalg.inv((model.X[tet[1:]] - model.X[tet[0]]).T)
        g = np.vstack([-edges.sum(axis=0), edges])
        A[np.ix_(tet, tet)] += 2.0 * mu * V * g @ g.T
    for number, target in zip(tets, targets if len(tets) else (), strict=True):
        tet = model.tets[number]
        A[np.ix_(tet, tet)] += stiffness / 16.0
        b[tet] += 0.25 * stiffness * target
    x, free = np.zeros_like(model.X), held.is_free(model.node_count)
    x[held.nodes] = held.positions
    x[free] = np.linalg.solve(A[np.ix_(free, free)], b[free] - A[np.ix_(free, ~free)] @ x[~free])
    return x


@pytest.mark.parametrize("start", ["scatter", "mirror", "plane"])
def test_free_nodes_go_where_held_ones_draw_them(start: str):
    model = scenes.bar_model()
    held = scenes.ends(model.X, stretch=0.2, turn=1.0)
    x = {
        "scatter": initial_guesses.scattered(model.X, held, 10.0, 0),
        "mirror": initial_guesses.mirrored(model.X, held),
        "plane": initial_guesses.flattened(model.X, held),
    }[start]
    assert np.abs(fresh(model, held, x) - drawn(model, held)).max() < 1e-7


def test_fuller_tets_draw_more():
    nodes, tets = meshes.bar((8, 3, 3), (2.0, 0.75, 0.75))
    model = make_model([Part("a", nodes, tets, np.linspace(0.1, 1.0, len(tets)), Material(1.0e5, 0.3))])
    held = scenes.ends(model.X)
    found = fresh(model, held, initial_guesses.mirrored(model.X, held))
    assert np.abs(found - drawn(model, held)).max() < 1e-7
    assert np.abs(found - drawn(scenes.bar_model(), held)).max() > 1e-3


def test_springs_draw_as_held_nodes_do():
    model, nothing = scenes.bar_model(), FixedNodes(np.zeros(0, np.int32), np.zeros((0, 3)))
    tets = np.arange(0, model.tet_count, 40)
    targets = model.X[model.tets[tets]].mean(axis=1) + [0.0, 0.5, 0.0]
    springs = springs_on(model, tets, targets, 2.0e4)
    x = initial_guesses.scattered(model.X, nothing, 10.0, 1)
    expected = drawn(model, nothing, tets, targets, 2.0e4)
    assert np.abs(fresh(model, nothing, x, [springs]) - expected).max() < 1e-6
    found = solve(EquilibriumProblem(model, scenes.law_of(model, "neo-hookean"), nothing, forces=[springs]), x)
    usual = solve(EquilibriumProblem(model, scenes.law_of(model, "neo-hookean"), nothing, forces=[springs]), model.X)
    assert found.converged and usual.converged and np.abs(found.x - usual.x).max() < 1e-3


def test_what_nothing_says_better_keeps_its_start():
    model = scenes.bar_model()
    mirror = initial_guesses.mirrored(model.X, scenes.ends(model.X))
    nothing = FixedNodes(np.zeros(0, np.int32), np.zeros((0, 3)))
    one = FixedNodes(np.zeros(1, np.int32), mirror[:1])
    edge = np.flatnonzero((model.X[:, 1:] < 1e-9).all(axis=1)).astype(np.int32)
    in_a_line = FixedNodes(edge, model.X[edge])
    for held in (nothing, one, in_a_line):
        x = mirror.copy()
        x[held.nodes] = held.positions
        assert fresh(model, held, x) is None


def test_a_start_that_says_something_is_kept():
    model = scenes.bar_model((16, 3, 3), (4.0, 0.75, 0.75))
    held = scenes.ends(model.X)
    x, strewn = model.X.copy(), initial_guesses.scattered(model.X, held, 10.0, 0)
    lost = np.abs(model.X[:, 0] - 2.0) < 0.4
    x[lost] = strewn[lost]
    assert fresh(model, held, model.X) is None and fresh(model, held, x) is None
    found = solve(EquilibriumProblem(model, scenes.law_of(model, "neo-hookean"), held), x)
    assert found.converged and np.abs(found.x - model.X).max() < 1e-4 * 4.0


def test_every_piece_has_a_start_of_its_own():
    nodes, tets = meshes.bar((6, 2, 2), (2.0, 0.5, 0.5))
    material = Material(1.0e5, 0.3)
    parts = [
        Part(key, nodes + [0.0, y, 0.0], tets, np.ones(len(tets)), material) for key, y in (("a", 0.0), ("b", 2.0))
    ]
    model, n = make_model(parts), len(nodes)
    held = scenes.ends(model.X)
    bent = model.X + 0.05 * np.sin(np.pi * model.X[:, :1] / 2.0) * [0.0, 0.0, 1.0]
    x = np.where((np.arange(2 * n) < n)[:, None], bent, initial_guesses.scattered(model.X, held, 10.0, 2))
    x[held.nodes] = held.positions
    found = fresh(model, held, x)
    assert np.array_equal(found[:n], x[:n]) and np.abs(found[n:] - drawn(model, held)[n:]).max() < 1e-7


def test_where_a_start_is_forgotten_nothing_of_it_is_left():
    model = scenes.bar_model()
    held = scenes.ends(model.X, stretch=0.1)
    law = scenes.law_of(model, "neo-hookean")
    found = [
        solve(EquilibriumProblem(model, law, held), initial_guesses.scattered(model.X, held, 10.0, seed))
        for seed in range(3)
    ]
    assert all(np.array_equal(each.x, found[0].x) for each in found)
