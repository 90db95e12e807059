# SPDX-License-Identifier: GPL-3.0-or-later
"""Momenta and motions of a batch of rigid bodies, against sums that NumPy takes; cross products of rows."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from fixtures.rigid_bodies import rigid_box
from fixtures.rigid_core_scenes import run_of
from fixtures.scenes import rotation
from sinew.solver.constraints.rigid_core.rigid_body_batch import batch_numbers, cores_outside, rigid_body_batch
from sinew.solver.runtime.row_cross_products import row_cross_products


def test_motions_and_forces_are_those_of_sums_over_nodes(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    bodies = [
        rigid_box((0.1, 0.2, 0.3), (2.0 * k, 0.0, 1.0), rotation(rng.normal(size=3), 2.0), f"box{k}") for k in range(3)
    ]
    model = run_of(tmp_path, *bodies).built.model
    x, v = model.X + 0.1, rng.normal(size=model.X.shape)
    batch = rigid_body_batch(model, batch_numbers(model, None), x)
    V, omega = batch.motion(v[batch.nodes])
    moving, felt = batch.velocities(V, omega), batch.effective_forces(v[batch.nodes])
    for number, core in enumerate(model.cores):
        m, own, speed = model.mass[core.nodes], x[core.nodes], v[core.nodes]
        centre = m @ own / m.sum()
        r = own - centre
        inertia = sum(mass * (arm @ arm * np.eye(3) - np.outer(arm, arm)) for mass, arm in zip(m, r, strict=True))
        assert np.allclose(batch.centre[number], centre) and np.allclose(batch.inertia[number], inertia)
        assert np.allclose(V[number], m @ speed / m.sum())
        wanted = np.linalg.solve(inertia, m @ np.cross(r, speed - V[number]))
        assert np.allclose(omega[number], wanted)
        assert np.allclose(moving[number], V[number] + np.cross(wanted, r))
        assert np.allclose(felt[number].sum(axis=0), speed.sum(axis=0))
        assert np.allclose(np.cross(r, felt[number]).sum(axis=0), np.cross(r, speed).sum(axis=0))


def test_cores_outside_of_a_batch() -> None:
    assert cores_outside(np.array([0, 2, 3], np.int32), 6) == [1, 4, 5]
    assert cores_outside(np.zeros(0, np.int32), 2) == [0, 1]


def test_cross_products_are_those_of_numpy_to_the_bit() -> None:
    rng = np.random.default_rng(1)
    for shapes in (((5, 3), (5, 3)), ((4, 1, 3), (4, 6, 3)), ((3,), (7, 3))):
        a, b = (rng.normal(size=shape) for shape in shapes)
        assert np.array_equal(row_cross_products(a, b), np.cross(a, b))
