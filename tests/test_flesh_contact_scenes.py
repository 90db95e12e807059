# SPDX-License-Identifier: GPL-3.0-or-later
"""Flesh at rest that touches itself, other flesh, and rigid things: small versions of `validate_flesh_contact.py`."""

from __future__ import annotations

import functools

import numpy as np
import pytest

from fixtures.flesh_contact_scenes import (
    RADIUS,
    arm,
    asymmetry,
    bent,
    bones,
    fists,
    passed_through,
    pressed_together,
    squeezed,
    squeezed_limb,
)
from sinew.solver.quasistatic.contact import contact_penalty_at_poses, penalty_solve, solve_in_contact
from sinew.solver.quasistatic.equilibrium import solve
from sinew.solver.quasistatic.equilibrium_problem import EquilibriumProblem
from sinew.solver.quasistatic.fixed_nodes import FixedNodes
from sinew.solver.quasistatic.initial_guesses import scattered
from sinew.solver.runtime.threads.thread_count import limiting_threads

DIAMETER = 2.0 * RADIUS


@functools.cache
def limb():
    """A coarse arm."""
    return arm(tet_size=0.5 * RADIUS, columns=20)


def depth_of(scene, found):
    """Returns the deepest penetration as the solver tells it and as found without it, as shares of the diameter."""
    seen = passed_through(scene, found.equilibrium.x, 0.002 * DIAMETER, 0.2 * DIAMETER)
    return found.max_depth / DIAMETER, seen / DIAMETER


def test_an_elbow_folds_in_one_go_and_does_not_pass_through_itself():
    scene = limb()
    found = bent(scene, 140.0, scene.X)
    assert found.equilibrium.converged and found.equilibrium.residual <= 1e-3
    assert max(depth_of(scene, found)) < 0.02
    plain = solve(EquilibriumProblem(scene.model, scene.law, bones(scene.X, np.radians(140.0))), scene.X, 1e-3)
    assert passed_through(scene, plain.x, 0.002 * DIAMETER, 0.2 * DIAMETER) > 0.1 * DIAMETER


def test_the_frame_after_a_bad_frame_recovers():
    scene = limb()
    good = bent(scene, 110.0, scene.X).equilibrium
    held = bones(scene.X, np.radians(300.0))
    wild = FixedNodes(held.nodes, held.positions * [2.5, 0.3, 1.0])
    bad = solve_in_contact(
        EquilibriumProblem(scene.model, scene.law, wild), good.x, contact_penalty_at_poses(scene.contact, []), 1e-3, 10
    )
    found = bent(scene, 110.0, bad.equilibrium.x)
    assert found.equilibrium.converged and max(depth_of(scene, found)) < 0.02
    assert found.equilibrium.energy == pytest.approx(good.energy, rel=0.02)


def test_a_scattered_start_ends_without_passing_through():
    scene = limb()
    found = bent(scene, 110.0, scattered(scene.X, bones(scene.X, np.radians(110.0)), 2.0, 1))
    assert found.equilibrium.converged and max(depth_of(scene, found)) < 0.02


def test_fists_stay_each_others_image_and_apart():
    scene = fists(0.5 * RADIUS)
    found = pressed_together(scene, 0.3, scene.X)
    assert found.equilibrium.converged and max(depth_of(scene, found)) < 0.02
    assert asymmetry(scene, found.equilibrium.x) < 0.1
    tips = scene.contact.surface.vertices_at(scene.model, found.equilibrium.x)
    half = len(tips) // 2
    assert tips[:half, 0].max() < 0.05 * RADIUS * 4 and tips[half:, 0].min() > -0.05 * RADIUS * 4


def test_cylinders_squeeze_a_limb():
    scene = squeezed_limb(0.5 * RADIUS)
    found = squeezed(scene, 0.5, scene.X)
    assert found.equilibrium.converged and found.equilibrium.inverted_tets == 0
    assert found.max_depth < 0.02 * DIAMETER
    waist = scene.contact.surface.vertices_at(scene.model, found.equilibrium.x)
    waist = waist[np.abs(waist[:, 0]) < 0.1 * RADIUS]
    assert 0.5 * RADIUS < np.abs(waist[:, 1]).max() < 0.54 * RADIUS
    x = scene.X
    for by in (0.1, 0.2, 0.3, 0.4, 0.5):
        over_frames = squeezed(scene, by, x)
        x = over_frames.equilibrium.x
    assert found.equilibrium.energy == pytest.approx(over_frames.equilibrium.energy, rel=1e-5)


def test_a_solve_that_begins_with_the_penalty_of_the_last_one_is_short():
    scene = squeezed_limb(0.5 * RADIUS)
    first = squeezed(scene, 0.5, scene.X)
    assert first.next_penalty_factor > 1.0
    start = first.equilibrium.x
    again, anew = squeezed(scene, 0.5, start, first.next_penalty_factor), squeezed(scene, 0.5, start)
    assert again.equilibrium.converged and again.max_depth == pytest.approx(first.max_depth, rel=0.01)
    assert 4 * again.equilibrium.newton_iterations <= anew.equilibrium.newton_iterations
    assert again.next_penalty_factor == first.next_penalty_factor


def test_a_penalty_harder_than_needed_gets_softer_by_and_by():
    scene = squeezed_limb(0.5 * RADIUS)
    factors = [4.0]
    while factors[-1] > 1.0:
        factors.append(squeezed(scene, 0.02, scene.X, factors[-1]).next_penalty_factor)
        assert factors[-1] < factors[-2] and factors[-2] < 1.25 * factors[-1]


def test_what_is_pressed_slowly_never_springs_out():
    """Under the softest penalty more than the accepted depth is left; where it is raised, most of that goes at once."""
    scene = squeezed_limb(0.5 * RADIUS)
    x, factor, depths = scene.X, 1.0, []
    for by in np.linspace(0.3, 0.5, 11):
        found = squeezed(scene, by, x, factor)
        x, factor = found.equilibrium.x, found.next_penalty_factor
        depths.append(found.depth_in_tets / penalty_solve.MAX_DEPTH)
    print(depths, factor)
    assert factor > 1.2 and max(depths) < 1.0
    assert np.abs(np.diff(depths)).max() < 0.2


def test_a_hard_penalty_that_does_not_converge_is_given_up(monkeypatch):
    scene = squeezed_limb(0.5 * RADIUS)
    monkeypatch.setattr(penalty_solve, "MAX_ITERATIONS_PER_RAISE", 1)
    alone = squeezed(scene, 0.3, scene.X)
    hard = squeezed(scene, 0.3, scene.X, 16.0)
    assert hard.equilibrium.converged and hard.equilibrium.x.tobytes() == alone.equilibrium.x.tobytes()
    assert hard.equilibrium.newton_iterations == alone.equilibrium.newton_iterations + 1


def test_a_hard_penalty_that_is_given_up_takes_no_iterations_from_the_soft_one(monkeypatch):
    scene = squeezed_limb(0.5 * RADIUS)
    monkeypatch.setattr(penalty_solve, "MAX_DEPTH", 1.0)  # the softest penalty does
    alone = squeezed(scene, 0.3, scene.X)
    needed = alone.equilibrium.newton_iterations
    monkeypatch.setattr(penalty_solve, "MAX_ITERATIONS_PER_RAISE", 2)
    hard = squeezed(scene, 0.3, scene.X, 16.0, needed + 1)
    assert hard.equilibrium.converged and hard.equilibrium.x.tobytes() == alone.equilibrium.x.tobytes()
    assert hard.equilibrium.newton_iterations == needed + 2


def test_the_same_bytes_with_one_thread_and_again():
    scene = limb()
    first = bent(scene, 100.0, scene.X).equilibrium
    with limiting_threads(1):
        second = bent(scene, 100.0, scene.X).equilibrium
    assert first.x.tobytes() == second.x.tobytes()


def test_iterations_are_kept_to_and_what_has_not_arrived_says_so():
    scene = limb()
    told = []
    held = bones(scene.X, np.radians(140.0))
    found = solve_in_contact(
        EquilibriumProblem(scene.model, scene.law, held),
        scene.X,
        contact_penalty_at_poses(scene.contact, []),
        1e-9,
        12,
        on_iteration=told.append,
    )
    assert not found.equilibrium.converged and found.equilibrium.newton_iterations <= 12
    assert [progress.newton_iterations for progress in told] == sorted(progress.newton_iterations for progress in told)
