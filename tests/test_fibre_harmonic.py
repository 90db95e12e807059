# SPDX-License-Identifier: GPL-3.0-or-later
"""Fibres from origin to insertion: exact in a bar, extrapolated into a dead end; tendon by its length; errors."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from fixtures.tet_meshes import bar, kuhn_bar
from sinew.solver.linalg.mesh_laplacian import shape_gradients
from sinew.solver.mechanics.muscle.fibres.build_fibres import TendonSource, build_fibres
from sinew.solver.mechanics.muscle.fibres.fibre_lengths import fibre_lengths, fractions_below
from sinew.solver.mechanics.muscle.fibres.harmonic_coordinate import harmonic_coordinate
from sinew.solver.mechanics.muscle.fibres.muscle_region import MuscleRegion, muscle_region
from sinew.solver.runtime.errors import BadInput

SIZE = (0.4, 0.1, 0.1)


def bar_region(cells: tuple[int, int, int] = (8, 2, 2)) -> MuscleRegion:
    """Returns a bar along x, from its origin at x = 0 to its insertion at x = 0.4 m."""
    nodes, tets = kuhn_bar(cells, SIZE)
    return muscle_region("Biceps", nodes, tets, nodes[:, 0] < 1e-9, nodes[:, 0] > SIZE[0] - 1e-9)


def test_fibres_of_a_bar_are_straight():
    region = bar_region()
    t = harmonic_coordinate(region)
    assert np.abs(t - region.nodes[:, 0] / SIZE[0]).max() < 1e-8
    lengths = fibre_lengths(region, t)
    assert np.abs(lengths.from_origin - region.nodes[:, 0]).max() < 1e-7
    assert np.abs(lengths.from_insertion - (SIZE[0] - region.nodes[:, 0])).max() < 1e-7
    fibres = build_fibres(region)
    assert np.abs(fibres.direction - [1.0, 0.0, 0.0]).max() < 1e-6 and not fibres.is_extrapolated.any()
    assert np.abs(fibres.t - region.centroids[:, 0] / SIZE[0]).max() < 1e-8 and not fibres.tendon.any()


@pytest.mark.parametrize(("scale", "shift"), [(1e-3, 0.0), (1e3, 0.0), (1.0, 1e3)])
def test_fibres_do_not_depend_on_size_and_place(scale: float, shift: float):
    region = bar_region((4, 1, 1))
    other = replace(region, nodes=scale * region.nodes + shift)
    one, two = build_fibres(region, tendon=TendonSource(0.13)), build_fibres(other, tendon=TendonSource(scale * 0.13))
    assert np.abs(one.direction - two.direction).max() < 1e-6 and np.abs(one.tendon - two.tendon).max() < 1e-6


def test_tendon_has_the_volume_of_its_length():
    """Also where it ends inside tets."""
    region = bar_region()
    volume = shape_gradients(region.nodes, region.tets)[1]
    fibres = build_fibres(region, tendon=TendonSource(0.13, 0.04))
    assert abs((volume @ fibres.tendon) / (0.17 * SIZE[1] * SIZE[2]) - 1.0) < 1e-6
    x = region.centroids[:, 0]
    assert (fibres.tendon[x < 0.1] > 1.0 - 1e-6).all() and (fibres.tendon[(x > 0.2) & (x < 0.3)] < 1e-6).all()


def test_the_part_of_a_tet_below_a_level():
    """Beside the divided difference of max(level − v, 0)³, which holds where no two corners are equal."""
    values, level = np.random.default_rng(0).uniform(0.0, 1.0, (400, 4)), 0.47
    apart = values[:, :, None] - values[:, None, :] + np.eye(4)
    slow = (np.maximum(level - values, 0.0) ** 3 / np.prod(-apart + 2.0 * np.eye(4), axis=2)).sum(axis=1)
    assert np.abs(fractions_below(values, level) - slow).max() < 1e-9
    equal = np.array([[0.0, 0.0, 1.0, 1.0], [0.0, 0.0, 0.0, 0.0], [0.5, 0.5, 0.5, 0.5], [0.0, 0.0, 0.0, 1.0]])
    assert np.allclose(fractions_below(equal, 0.5), [0.5, 1.0, 0.0, 0.875])


@pytest.mark.parametrize("seed", [8, 12, 20, 27, 29])
def test_descents_in_circles_still_reach_the_end(seed: int):
    """A coordinate so rough that nodes descend to one another; obtuse tets of a thin tendon do that, too."""
    region = bar_region((6, 2, 2))
    along = region.nodes[:, 0] / SIZE[0]
    rough = np.clip(along + np.random.default_rng(seed).uniform(-0.4, 0.4, len(along)), 0.01, 0.99)
    t = np.where(region.is_origin, 0.0, np.where(region.is_insertion, 1.0, rough))
    lengths = fibre_lengths(region, t)
    for values in (lengths.from_origin, lengths.from_insertion):
        assert (values >= 0.0).all() and values.max() < 2.0 * SIZE[0]


def test_a_dead_end_has_the_fibres_of_its_surroundings():
    """A long arm at right angles to a bar, into which nothing of the flux goes."""
    nodes, tets = bar((8, 12, 1), (0.8, 1.2, 0.1))
    middle = nodes[tets].mean(axis=1)
    region = muscle_region(
        "Deltoid",
        nodes,
        tets[(middle[:, 1] < 0.2) | ((middle[:, 0] > 0.3) & (middle[:, 0] < 0.5))],
        (nodes[:, 0] < 1e-9) & (nodes[:, 1] < 0.21),
        (nodes[:, 0] > 0.79) & (nodes[:, 1] < 0.21),
    )
    fibres = build_fibres(region)
    deep = region.centroids[:, 1] > 1.0
    assert fibres.is_extrapolated[deep].all() and not fibres.is_extrapolated[region.centroids[:, 1] < 0.4].any()
    assert np.abs(np.linalg.norm(fibres.direction, axis=1) - 1.0).max() < 1e-12
    known = fibres.direction[~fibres.is_extrapolated & (region.centroids[:, 1] > 0.5)]
    nearest = known[-1] if len(known) else np.array([1.0, 0.0, 0.0])
    assert np.abs(fibres.direction[deep] @ nearest).min() > 0.5


def test_missing_attachments_are_errors():
    whole = bar_region()
    none, all_nodes = np.zeros_like(whole.is_origin), np.ones_like(whole.is_origin)

    def kind(origin: np.ndarray, insertion: np.ndarray, tets: np.ndarray = whole.tets) -> str:
        with pytest.raises(BadInput) as caught:
            build_fibres(muscle_region("Biceps", whole.nodes, tets, origin, insertion))
        assert '"Biceps"' in caught.value.sentence
        return caught.value.kind

    assert kind(none, whole.is_insertion) == kind(whole.is_origin, none) == kind(none, none) == "muscle-end-missing"
    assert kind(whole.is_origin, whole.is_origin) == kind(all_nodes, whole.is_insertion) == "muscle-ends-overlap"
    x = whole.centroids[:, 0]
    assert kind(whole.is_origin, whole.is_insertion, whole.tets[(x < 0.1) | (x > 0.3)]) == "muscle-piece-unattached"
    with pytest.raises(BadInput, match="at most 0.4 m long"):
        build_fibres(whole, tendon=TendonSource(0.3, 0.2))


def test_gradients_of_shape_functions_are_those_of_the_inverse_matrix_also_of_tets_that_are_inside_out():
    rng = np.random.default_rng(4)
    X, tets = rng.normal(size=(40, 3)), np.array([rng.choice(40, 4, replace=False) for _ in range(60)])
    g, volume = shape_gradients(X, tets)
    for own, (at, size) in zip(X[tets], zip(g, volume, strict=True), strict=True):
        matrix = np.column_stack([np.ones(4), own])  # φ_a(x) = its rows' inverse
        np.testing.assert_allclose(at, np.linalg.inv(matrix)[1:].T, rtol=1e-8, atol=1e-8 * np.abs(at).max())
        assert abs(size - abs(np.linalg.det(matrix)) / 6.0) < 1e-12
