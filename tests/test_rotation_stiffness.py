# SPDX-License-Identifier: GPL-3.0-or-later
"""The whole tangent of corotated tets, beside differences of their forces."""

from __future__ import annotations

import numpy as np
import pytest

from fixtures.exact_contact_scenes import ExactRun
from fixtures.scenes import rotation
from fixtures.tet_meshes import bar
from sinew.solver.integrators.system.step_matrix import compute_element_records
from sinew.solver.mechanics.elements.edge_assembly import assemble
from sinew.solver.mechanics.elements.rotation_stiffness import add_rotation_stiffness
from test_exact_contact_step import dense


def tangents(run, x):
    """Returns the stiffness with rotations held, the whole one, and a function for the forces."""
    model, pattern = run.model, run.model.pattern
    values, force, nothing = np.empty((pattern.block_count, 9)), np.empty(x.shape), np.zeros(len(x))

    def forces(at):
        records = compute_element_records(model, at)
        assemble(1.0, 0.0, nothing, pattern, records, values, force)
        return force.copy(), records

    _, records = forces(x)
    held = dense(pattern, values)
    whole = values.copy()
    add_rotation_stiffness(1.0, x, model.tets, records, pattern.corner_block, whole)
    return held, dense(pattern, whole), forces


def differences(forces, x, step=1e-6):
    columns = []
    for row in range(x.size):
        d = np.zeros(x.size)
        d[row] = step
        d = d.reshape(x.shape)
        columns.append((forces(x - d)[0] - forces(x + d)[0]).ravel() / (2.0 * step))
    return np.array(columns).T


@pytest.mark.parametrize("stretch", [1.3, 1.02, 0.8])
def test_forces_turn_with_stretched_tets_and_the_matrix_stays_semidefinite(stretch) -> None:
    rng, run = np.random.default_rng(1), ExactRun([bar((1, 1, 2), (0.1, 0.1, 0.2))], [])
    x = stretch * run.model.X @ rotation((1.0, 2.0, 0.0), 0.7).T + 1e-4 * rng.normal(size=run.model.X.shape)
    held, whole, forces = tangents(run, x)
    wanted, scale = differences(forces, x), np.abs(held).max()
    assert np.linalg.eigvalsh(whole).min() > -1e-9 * scale
    assert np.linalg.eigvalsh(whole - held).min() > -1e-9 * scale
    if stretch > 1.1:
        assert np.abs(whole - wanted).max() < 1e-6 * scale < np.abs(held - wanted).max()
    if stretch < 1.0:  # all of it is negative, and left out
        assert np.abs(whole - held).max() < 1e-12 * scale
        assert np.linalg.eigvalsh(held - wanted).min() > -1e-6 * scale


def test_flat_and_inverted_tets_get_nothing() -> None:
    run = ExactRun([bar((1, 1, 1), (0.1, 0.1, 0.1))], [])
    for third in (0.0, -1.0):
        held, whole, _ = tangents(run, run.model.X * [1.0, 1.0, third])
        assert np.isfinite(whole).all() and np.linalg.eigvalsh(whole - held).min() > -1e-9 * np.abs(held).max()
