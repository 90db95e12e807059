# SPDX-License-Identifier: GPL-3.0-or-later
"""Bodies come back from random scatters that are kept as they are, each seed by a way of its own."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from fixtures import quasistatic_scenes as scenes
from harness import creature_mesh
from sinew.solver.mechanics.hyperelastic.hyperelastic_bodies import forces, hyperelastic, tet_arrays
from sinew.solver.mechanics.hyperelastic.law_numbers import NO_EXTENSION, WEIGHTED_COROTATED
from sinew.solver.mesh.geometry.connected_components import mesh_components
from sinew.solver.quasistatic import initial_guesses
from sinew.solver.quasistatic.equilibrium import Equilibrium, solve
from sinew.solver.quasistatic.equilibrium_problem import EquilibriumProblem
from sinew.solver.runtime.threads.thread_count import set_thread_count, thread_count

SIDES = 10.0
TWISTED = (4, 6)  # seeds that ended twisted where every rotation counted in full


def from_scatter(model, held, seed: int, law: str = "neo-hookean") -> Equilibrium:
    """Returns where a body comes to rest from a scatter that is kept."""
    x = initial_guesses.scattered(model.X, held, SIDES, seed)
    return solve(EquilibriumProblem(model, scenes.law_of(model, law), held), x, keeps_start=True)


@pytest.fixture(scope="module")
def thin_bar():
    """A bar ten times as long as it is thick, held at both ends."""
    model = scenes.bar_model((30, 3, 3), (10.0, 1.0, 1.0))
    return model, scenes.ends(model.X, 0.05)


def test_a_thin_bar_comes_back_untwisted(thin_bar):
    found = [from_scatter(*thin_bar, seed) for seed in TWISTED]
    assert all(scenes.is_back(thin_bar[0], each) and not each.start_replaced for each in found)
    assert max(each.newton_iterations for each in found) <= 80
    assert not np.array_equal(found[0].x, found[1].x)


@pytest.mark.parametrize("law", scenes.LAWS)
def test_under_every_law(law: str):
    model = scenes.bar_model()
    assert scenes.is_back(model, from_scatter(model, scenes.ends(model.X), 0, law))


def test_only_what_is_in_disorder_is_told_as_replaced():
    model = scenes.bar_model()
    held, law = scenes.ends(model.X), scenes.law_of(model, "neo-hookean")
    assert solve(
        EquilibriumProblem(model, law, held), initial_guesses.scattered(model.X, held, SIDES, 0)
    ).start_replaced
    assert not solve(EquilibriumProblem(model, law, held), model.X).start_replaced


def test_a_mirror_image_that_is_kept_is_never_silently_wrong():
    model = scenes.bar_model()
    held, law = scenes.ends(model.X), scenes.law_of(model, "neo-hookean")
    found = solve(EquilibriumProblem(model, law, held), initial_guesses.mirrored(model.X, held), keeps_start=True)
    assert scenes.is_back(model, found) and not found.start_replaced


def test_rotations_count_by_their_weight():
    """P = 2 μ (F − w R) of tets that are drawn out, pressed flat and inside out."""
    nodes = np.vstack([np.zeros(3), np.eye(3)])
    model = scenes.model_of(nodes, np.array([[0, 1, 2, 3]]))
    law = hyperelastic(model, "corotated", None)
    law = replace(law, law=np.full_like(law.law, WEIGHTED_COROTATED), extension=NO_EXTENSION)
    random = np.random.default_rng(0)
    for stretches in ((1.0, 1.0, 1.0), (30.0, 10.0, -20.0), (1.0, 1.0e-3, 1.0e-4), (0.5, 0.4, -0.9), (2.0, 1.0, 0.5)):
        U, V = (rotation(random) for _ in range(2))
        σ = np.array(sorted(stretches, key=abs, reverse=True))
        F = U @ np.diag(σ) @ V.T
        if σ.prod() < 0.0:  # the axis of the least is turned back
            σ = np.abs(σ) * [1.0, 1.0, -1.0]
            flip = np.sign(np.diag(U.T @ F @ V)) * [1.0, 1.0, -1.0]
            U = U * flip
        force = np.empty((4, 3))
        forces(model, law, nodes @ F.T, force, tet_arrays(model.pattern))
        w = min(max(σ.sum() / 3.0, 0.05), 1.0) * min(1.0, np.sqrt(3.0) / np.linalg.norm(σ))
        P = 2.0 * model.mu[0] * (F - w * U @ V.T)
        assert np.allclose(force[1:], -model.volume[0] * P.T, rtol=1e-6, atol=1e-6 * model.mu[0])


def rotation(random: np.random.Generator) -> np.ndarray:
    """Returns any rotation, (3, 3)."""
    Q, _ = np.linalg.qr(random.standard_normal((3, 3)))
    return Q * np.sign(np.linalg.det(Q))


def test_threads_change_no_bit(thin_bar):
    before = thread_count()
    try:
        found = []
        for threads in (1, min(2, before)):
            set_thread_count(threads)
            found.append(from_scatter(*thin_bar, 1).x)
    finally:
        set_thread_count(before)
    assert np.array_equal(*found)


def test_the_creature_is_one_piece_with_hands_and_feet_held():
    filled = creature_mesh.creature_tets(24)
    held = creature_mesh.hands_and_feet(filled.nodes)
    assert len(np.unique(mesh_components(filled.tets, len(filled.nodes)))) == 1
    for side, end in ((-1, 0), (1, 0), (-1, 1), (1, 1)):
        place = held.positions[(np.sign(held.positions[:, 0]) == side) & ((held.positions[:, 2] > 0.5) == end)]
        assert len(place) >= 5
    model = scenes.model_of(filled.nodes, filled.tets)
    assert scenes.is_back(model, from_scatter(model, held, 0))


@pytest.mark.slow
def test_the_bunny_comes_back(shared: Path):
    model = scenes.model_of_file(shared / "testdata" / "tet" / "polyfem_bunny.msh")
    found = from_scatter(model, scenes.three_regions(model.X), 0)
    assert scenes.is_back(model, found) and found.newton_iterations <= 80 and not found.start_replaced
