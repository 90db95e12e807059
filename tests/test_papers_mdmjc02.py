# SPDX-License-Identifier: GPL-3.0-or-later
"""The experiments of MDMJC02, reduced: they reach the paper's claims."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("matplotlib", reason="make papers draws with it")

from papers import (
    mdmjc02_divergence,
    mdmjc02_ghost_force,
    mdmjc02_largest_step,
    mdmjc02_springs,
    mdmjc02_tube,
    mdmjc02_volume,
)
from papers.mdmjc02_clamped_bars import LONG_BAR_CELLS, SHORT_BAR_CELLS

pytestmark = pytest.mark.slow


def test_the_linear_bar_alone_grows():
    result = mdmjc02_volume.run(True)
    assert all(row.agrees is not False for row in result.rows)
    changes = {name: result.values[f"change {name} 450 tets"] for name in ("linear", "vertex-warp", "green")}
    assert changes["linear"] > 0.3 > 10.0 * changes["vertex-warp"] and changes["green"] < 0.05
    assert len(result.pictures) == 3


def test_the_long_bar_diverges_in_one_step_and_not_by_newtons_method():
    """By edge frames it does, too, unlike in the paper; by the least-squares field it does not."""
    values = mdmjc02_divergence.run(True).values
    for name in mdmjc02_divergence.METHODS:
        for cells in (SHORT_BAR_CELLS, LONG_BAR_CELLS):
            diverges = cells == LONG_BAR_CELLS and name in (
                "non-linear, one linearised step",
                mdmjc02_divergence.WARPED_EDGES,
            )
            assert (values[f"{name}, {cells}, 1"] > 0.0) == diverges, (name, cells)
    assert values[f"non-linear, full Newton, {LONG_BAR_CELLS}, 1, unconverged"] == 0.0


def test_the_ghost_force_is_there_and_goes():
    result = mdmjc02_ghost_force.run(True)
    assert all(row.agrees is not False for row in result.rows)
    for field in ("edge frames", "least squares"):
        assert result.values[f"speed, {field}"] > 0.05 > 1e10 * result.values[f"speed, {field}, corrected"]


def test_networks_of_springs_bend_as_tets_do():
    result = mdmjc02_springs.run(True)
    assert all(row.agrees is not False for row in result.rows)
    sags = [result.values[f"sag, {name}"] for name in mdmjc02_springs.METHODS]
    assert max(sags) < 1.2 * min(sags)


def test_the_tube_has_a_thousand_tets_and_a_closed_wall():
    nodes, tets = mdmjc02_tube.tube_mesh()
    assert len(tets) == 1000 and np.ptp(nodes, axis=0) == pytest.approx([0.5, 0.13, 0.13], rel=0.06)
    faces = np.sort(np.concatenate([np.delete(tets, k, axis=1) for k in range(4)]), axis=1)
    _, shared = np.unique(faces, axis=0, return_counts=True)
    # two triangles on each of the 10 × 20 cells inside and outside, and on the 10 at both ends
    assert shared.max() == 2 and np.count_nonzero(shared == 1) == 2 * (2 * 200 + 2 * 10)


@pytest.mark.parametrize(
    ("edges", "expected"),
    [([1.0], [(0.5, 1.0)]), ([], [(0.5, 8.0)]), ([0.6, 3.0], [(0.5, 0.6), (3.0, 8.0)]), ([0.1, 2.0], [(2.0, 8.0)])],
)
def test_ranges_of_stable_steps_are_found_by_bisection(edges, expected):
    """Stability changes at the edges; what is found is the stable side of each, within the ratio that is promised."""
    ladder = tuple(0.5 * 2.0 ** (0.5 * k) for k in range(9))
    found = mdmjc02_largest_step.stable_ranges(lambda dt: sum(edge < dt for edge in edges) % 2 == 0, ladder)
    assert np.shape(found) == np.shape(expected)
    for (low, high), (begin, end) in zip(found, expected, strict=True):
        assert begin <= low <= begin * mdmjc02_largest_step.BISECTION_RATIO
        assert end / mdmjc02_largest_step.BISECTION_RATIO <= high <= end * (1.0 + 1e-12)


def test_warped_and_polar_tubes_are_stable_at_the_papers_step():
    values = mdmjc02_largest_step.run(True).values
    assert values["warped, 2e+06"] >= 30.0 and values["polar, 2e+06"] >= 30.0
