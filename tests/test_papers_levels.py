# SPDX-License-Identifier: GPL-3.0-or-later
"""HS04's hierarchical experiments, reduced: the levels come near Green's strain on all tets."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("matplotlib", reason="make papers draws with it")

from papers import hs04_levels, hs04_liver
from papers.hs04_comparison import Run, relative_error

pytestmark = pytest.mark.slow


def test_a_hierarchical_bar_is_nearer_than_its_coarse_tets_alone():
    values = hs04_levels.run(True).values
    own, coarse = values["error 1 hierarchical"], values[f"error 1 {hs04_levels.COARSE_GREEN}"]
    assert 0.0 < own < 0.7 * coarse
    assert values[f"error 1 {hs04_levels.HIERARCHICAL_LU}"] == pytest.approx(own, rel=0.01)


def test_a_hierarchical_liver_is_nearer_than_its_coarse_tets_alone():
    values = hs04_liver.run(True).values
    assert 0.0 < values["error hierarchical"] < 0.7 * values[f"error {hs04_liver.COARSE_GREEN}"]
    assert values["coarse ms"] > 0.0 and values["fine ms"] > 0.0


def test_the_same_places_are_held_and_pushed_on_both_levels():
    nodes, tets = hs04_liver.scaled_liver(5)
    coarse = hs04_liver.pushed_body(nodes, tets, hs04_liver.FormulationSettings("green"))
    fine = hs04_liver.pushed_body(nodes, tets, hs04_liver.hierarchical_settings())
    for of_coarse, of_fine in zip(coarse.built.forces, fine.built.forces, strict=True):
        first = len(coarse.built.model.X)
        np.testing.assert_array_equal(of_fine.nodes[of_fine.nodes < first], of_coarse.nodes)


def test_errors_are_distances_over_the_longest_way():
    def a_run(way):
        return Run(np.array(way), 1.0, 0.0, 0.0, 1.0, 1.0, 1.0, np.zeros((0, 3)), np.zeros((0, 4), np.int32))

    true = a_run([[0.0, 0.0, 0.0], [0.0, 0.0, 2.0]])
    assert relative_error(a_run([[0.0, 0.1, 0.0], [0.3, 0.0, 2.0]]), true) == pytest.approx(0.1)
