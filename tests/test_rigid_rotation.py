# SPDX-License-Identifier: GPL-3.0-or-later
"""Pieces that spin turn: their shape stays, and so do momentum and angular momentum."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from sinew.solver.mechanics.finite_rotation_correction import (
    rigid_motion,
    rigid_velocities,
    rotated_motion,
    turn_angles,
    with_spin,
)

DT = 0.01
ALL = np.ones(3, bool)


def pieces(seed: int = 1, counts=(4, 7, 4)) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Returns the starts, masses, positions and velocities of pieces that drift and spin by radians in a step."""
    chance = np.random.default_rng(seed)
    start = np.concatenate([[0], np.cumsum(counts)])
    mass, x = chance.uniform(0.1, 2.0, start[-1]), chance.normal(size=(start[-1], 3))
    v = np.zeros_like(x)
    for a, b in zip(start[:-1], start[1:], strict=True):
        centre = np.average(x[a:b], axis=0, weights=mass[a:b])
        v[a:b] = chance.normal(size=3) + np.cross(chance.normal(size=3) * 150.0, x[a:b] - centre)
    return start, mass, x, v


def momenta(start, mass, x, v) -> np.ndarray:
    """Returns momentum and angular momentum about the origin of each piece, (k, 6)."""
    p = mass[:, None] * v
    both = np.hstack([p, np.cross(x, p)])
    return np.add.reduceat(both, start[:-1])


def distances(x: np.ndarray) -> np.ndarray:
    return np.linalg.norm(x[:, None] - x[None], axis=2)


def test_a_spinning_piece_keeps_its_shape_and_its_momenta() -> None:
    start, mass, x, v = pieces()
    begin = momenta(start, mass, x, v)
    shape = [distances(x[a:b]) for a, b in zip(start[:-1], start[1:], strict=True)]
    for step in range(50):
        after, v = rotated_motion(start, mass, x, x + DT * v, v, ALL, DT)
        if step == 0:
            straight = x + DT * v
            grown = distances(straight[:4]) / (distances(x[:4]) + np.eye(4))
            assert grown.max() > 1.2, "a straight line would have made it grow"
        x = after
        scale = np.abs(begin).max()
        assert np.allclose(momenta(start, mass, x, v), begin, atol=1e-10 * scale)
        for (a, b), wanted in zip(zip(start[:-1], start[1:], strict=True), shape, strict=True):
            assert np.allclose(distances(x[a:b]), wanted, atol=1e-9)


def test_against_a_slow_twin_that_takes_pieces_one_by_one() -> None:
    start, mass, x, v = pieces(2)
    dt = 0.3 * DT  # in which they turn by half a radian
    v += 0.3 * np.random.default_rng(3).normal(size=v.shape)  # and they are strained meanwhile
    found_x, found_v = rotated_motion(start, mass, x, x + dt * v, v, ALL, dt)
    for a, b in zip(start[:-1], start[1:], strict=True):
        m, r, u = mass[a:b], x[a:b], v[a:b]
        centre, speed = np.average(r, axis=0, weights=m), np.average(u, axis=0, weights=m)
        arm = r - centre
        angular = sum(m[i] * np.cross(arm[i], u[i] - speed) for i in range(b - a))
        omega = np.linalg.solve(inertia(m, arm), angular)
        strain = u - speed - np.cross(omega, arm)
        middle = omega
        for _ in range(3):
            half = Rotation.from_rotvec(0.5 * dt * middle)
            middle = np.linalg.solve(inertia(m, half.apply(arm)), angular)
        turn = Rotation.from_rotvec(dt * middle)
        arm = turn.apply(arm + dt * strain)
        strain = turn.apply(strain)
        left = angular - sum(m[i] * np.cross(arm[i], strain[i]) for i in range(b - a))
        spin = np.linalg.solve(inertia(m, arm), left)
        assert np.allclose(found_x[a:b], centre + dt * speed + arm, atol=1e-8)
        assert np.allclose(found_v[a:b], speed + np.cross(spin, arm) + strain, atol=1e-6)


@pytest.mark.slow
def test_what_tumbles_keeps_its_energy() -> None:
    """A brick of three different inertias that spins about no axis of its own, for 2000 steps of 0.1 rad."""
    x = np.array([[i, j, k] for i in (-0.2, 0.2) for j in (-0.3, 0.3) for k in (-0.7, 0.7)])
    start, mass = np.array([0, 8]), np.ones(8)
    v = np.cross([8.0, 5.0, 3.0], x)
    begin = np.square(v).sum()
    energies = []
    for _ in range(2000):
        x, v = rotated_motion(start, mass, x, x + DT * v, v, ALL[:1], DT)
        energies.append(np.square(v).sum() / begin)
    assert min(energies) > 0.97 and max(energies) < 1.03


def inertia(m, arm):
    return sum(m[i] * (arm[i] @ arm[i] * np.eye(3) - np.outer(arm[i], arm[i])) for i in range(len(m)))


@pytest.mark.parametrize("factor", [1.0, 0.5, 0.25])
def test_what_it_changes_is_of_second_order(factor: float) -> None:
    start, mass, x, v = pieces(4)
    dt = 1.0e-4 * factor
    after, _ = rotated_motion(start, mass, x, x + dt * v, v, ALL, dt)
    assert np.abs(after - (x + dt * v)).max() < 0.6 * np.abs(x).max() * (400.0 * dt) ** 2


def test_pieces_that_are_held_or_do_not_turn_are_left_alone() -> None:
    start, mass, x, v = pieces(5)
    v[4:11] = [1.0, 2.0, 3.0]
    after, spun = rotated_motion(start, mass, x, x + DT * v, v, np.array([False, True, True]), DT)
    assert np.array_equal(after[:11], (x + DT * v)[:11]) and np.array_equal(spun[:11], v[:11])
    assert not np.allclose(after[11:], (x + DT * v)[11:])
    still = np.zeros_like(v)
    after, spun = rotated_motion(start, mass, x, x, still, ALL, DT)
    assert after is x and spun is still


def test_flat_pieces_and_single_points_are_no_trouble() -> None:
    x = np.array([[0.0, 0, 0], [1, 0, 0], [2, 0, 0], [3.0, 0, 0], [5, 5, 5]])
    v = np.array([[0.0, 0, -40], [0, 0, -10], [0, 0, 20], [0, 0, 30], [1, 2, 3]])
    after, spun = rotated_motion(np.array([0, 4, 5]), np.ones(5), x, x + DT * v, v, ALL[:2], DT)
    assert np.isfinite(after).all() and np.isfinite(spun).all()
    assert np.array_equal(after[4], x[4] + DT * v[4])


def test_no_more_spin_is_given_back_than_a_step_takes() -> None:
    start, mass, x, v = pieces(3)
    centre = np.add.reduceat(mass[:, None] * x, start[:-1]) / np.add.reduceat(mass, start[:-1])[:, None]
    about = momenta(start, mass, x - np.repeat(centre, np.diff(start), axis=0), v)[:, 3:]
    dt = 1e-3  # in which they turn by some 0.2 rad
    little = 1e-3 * about
    given = momenta(start, mass, x, with_spin(start, mass, x, v, little, dt)) - momenta(start, mass, x, v)
    assert np.allclose(given[:, :3], 0.0, atol=1e-9 * np.abs(about).max())
    at_centre = given[:, 3:] - np.cross(centre, given[:, :3])
    assert np.allclose(at_centre, little, atol=1e-9 * np.abs(about).max())
    much = with_spin(start, mass, x, v, 1e6 * about, dt)
    assert np.abs(much - v).max() < 0.3 * np.abs(v - np.add.reduceat(v, start[:-1])[0]).max()
    still = np.zeros_like(v)
    assert np.abs(with_spin(start, mass, x, still, about, dt)).max() < 1e-9
    with np.errstate(over="raise"):
        assert np.array_equal(with_spin(start, mass, x, v, 0.0 * about, dt), v), "nothing was taken"


def test_rigid_part_is_that_of_numpy():
    """Centres, inertia, angular momenta and angular velocities of three pieces, one of them flat, by their formulas."""
    rng = np.random.default_rng(11)
    start, mass = np.array([0, 5, 9, 20]), rng.uniform(0.1, 2.0, 20)
    x, v = rng.normal(size=(20, 3)), rng.normal(size=(20, 3))
    x[5:9, 2] = 0.25
    found = rigid_motion(start, mass, x, v)
    for piece, (begin, end) in enumerate(zip(start[:-1], start[1:], strict=True)):
        m, own = mass[begin:end, None], slice(begin, end)
        centre, mean = (m * x[own]).sum(axis=0) / m.sum(), (m * v[own]).sum(axis=0) / m.sum()
        r, u = x[own] - centre, v[own] - mean
        inertia = sum(w * (a @ a * np.eye(3) - np.outer(a, a)) for w, a in zip(mass[own], r, strict=True))
        angular = (m * np.cross(r, u)).sum(axis=0)
        np.testing.assert_allclose(found.centre[piece], centre)
        np.testing.assert_allclose(found.velocity[piece], mean, atol=1e-12)
        np.testing.assert_allclose(found.inertia[piece], inertia, rtol=1e-7, atol=1e-7)
        np.testing.assert_allclose(found.angular_momentum[piece], angular, atol=1e-12)
        np.testing.assert_allclose(found.angular_velocities()[piece], np.linalg.solve(inertia, angular), rtol=1e-6)


def test_turn_angles_are_those_of_the_rigid_part():
    """Displacements that are small turns of three pieces, with a translation and noise, by a solve of NumPy."""
    rng = np.random.default_rng(12)
    start, mass, x = np.array([0, 5, 9, 20]), rng.uniform(0.1, 2.0, 20), rng.normal(size=(20, 3))
    moved = x + np.cross([0.01, -0.03, 0.02], x) + [1.0, 2.0, -3.0] + 1e-3 * rng.normal(size=(20, 3))
    motion = rigid_motion(start, mass, x, moved - x)
    turns = [np.linalg.solve(A, b) for A, b in zip(motion.inertia, motion.angular_momentum, strict=True)]
    angles = turn_angles(start, mass, x, moved)
    np.testing.assert_allclose(angles, np.linalg.norm(turns, axis=1), rtol=1e-9)
    assert 0.03 < angles.min() and angles.max() < 0.045


def test_what_is_not_rigid_in_a_motion_has_no_momentum_and_no_angular_momentum():
    random = np.random.default_rng(4)
    start, mass = np.array([0, 8, 20]), random.uniform(0.1, 1.0, 20)
    x, v = random.normal(size=(2, 20, 3))
    rest = v - rigid_velocities(start, mass, x, v)
    for begin, end in zip(start[:-1], start[1:], strict=True):
        own = slice(begin, end)
        assert np.abs(mass[own] @ rest[own]).max() < 1e-14
        assert np.abs(mass[own] @ np.cross(x[own], rest[own])).max() < 1e-14
