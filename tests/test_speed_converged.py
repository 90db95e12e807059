# SPDX-License-Identifier: GPL-3.0-or-later
"""The benchmarks of converged solves, reduced: what they compare agrees. Times are not asserted."""

from __future__ import annotations

import pytest

from speed import multigrid, quasistatic, scatter

pytestmark = pytest.mark.slow


def verdicts(result, line):
    """Returns which rows of a line were reached, without those of times."""
    of_line = [row for row in result.rows if row.line == line]
    return {row.quantity: row.reached for row in of_line if "faster" not in row.quantity and "[s]" not in row.quantity}


def test_multigrid_needs_as_many_iterations_on_finer_meshes():
    found = multigrid.run(quick=True)
    growth = verdicts(found, 3)
    assert len(growth) == len(multigrid.POISSON_RATIOS) and all(growth.values())
    assert found.values["10K: faster"] > 0.0


def test_felupe_finds_the_same_equilibrium():
    for name in quasistatic.PEER_PACKAGES:
        pytest.importorskip(name)
    found = quasistatic.run(quick=True)
    same = verdicts(found, 4)
    assert len(same) == 1 and all(same.values())


def test_a_scatter_comes_back():
    if not scatter.TESTDATA.is_dir():
        pytest.skip("there is no shared/testdata")
    found = scatter.run(quick=True)
    back = verdicts(found, 5)
    assert len(back) == 2 and all(back.values())  # iterations, and how many came back


def test_without_its_peers_the_bar_is_not_judged(monkeypatch):
    monkeypatch.setattr(quasistatic.importlib.util, "find_spec", lambda name: None)
    rows = quasistatic.run(quick=True).rows
    assert [row.reached for row in rows] == [None] and "not installed" in rows[0].ours
