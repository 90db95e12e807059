# SPDX-License-Identifier: GPL-3.0-or-later
"""The experiments of NPF05, reduced: they reach the paper's claims."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("matplotlib", reason="make papers draws with it")

from papers import (
    ellipsoid_bodies,
    npf05_block,
    npf05_cost,
    npf05_crushed,
    npf05_products,
    npf05_reversed,
    npf05_torque,
)
from papers.npf05_torque import METHODS

pytestmark = pytest.mark.slow


def test_the_stale_matrix_turns_a_tet_and_the_fresh_one_does_not():
    result = npf05_torque.run(True)
    assert all(row.agrees is not False for row in result.rows) and len(result.rows) == 2 * len(METHODS)
    assert result.values["turn, stale"] > 5.0 > 1e9 * result.values["turn, fresh"]


def test_the_block_has_the_papers_tets_and_nodes():
    nodes, tets = npf05_block.block_mesh()
    assert (len(nodes), len(tets), len(np.unique(tets))) == (512, 3430, 512)
    edges = nodes[tets[:, 1:]] - nodes[tets[:, :1]]
    volumes = np.linalg.det(edges) / 6.0
    # every cube is filled twice
    assert (volumes > 0.0).all() and volumes.sum() == pytest.approx(2.0)
    assert len(np.unique(np.sort(tets, axis=1), axis=0)) == 3430


def test_products_are_timed_with_just_so_many_iterations():
    """A wrong count raises; what is faster is for the long run to say, on a machine that does nothing else."""
    result = npf05_products.run(True)
    counts = npf05_products.ITERATIONS[:4:3]
    assert [row.quantity for row in result.rows[:2]] == [f"assembled, matrix-free, {n} iterations [ms]" for n in counts]
    times = [float(each) for row in result.rows[:2] for each in row.ours.split(", ")]
    assert min(times) > 0.0 and result.values["blocks"] > 512


def test_every_method_is_timed_by_step_and_by_tets():
    values = npf05_cost.run(True).values
    for name in npf05_cost.METHODS:
        assert 0.0 < values[f"elements, {name}"] < values[f"step, {name}"]


def test_a_crushed_rabbit_gets_up_by_qr():
    assert npf05_crushed.run(True).values["recovers, QR, 0"] == 1.0


def test_a_torn_liver_comes_back_by_qr():
    assert npf05_reversed.run(True).values["recovers, QR"] == 1.0


@pytest.mark.parametrize("shape", (ellipsoid_bodies.rabbit, ellipsoid_bodies.liver))
def test_animals_and_organs_are_in_one_piece(shape):
    nodes, tets = shape(8)
    label = np.arange(len(nodes))
    for _ in range(len(nodes)):
        lowest = label[tets].min(axis=1)
        before = label.copy()
        np.minimum.at(label, tets.ravel(), np.repeat(lowest, 4))
        if np.array_equal(label, before):
            break
    assert len(np.unique(label)) == 1
