# SPDX-License-Identifier: GPL-3.0-or-later
"""Planes of edges in contact against NumPy's, and ids among others."""

from __future__ import annotations

import numpy as np

from sinew.solver.contact.detection.contact_set import ids_among
from sinew.solver.contact.surfaces.edge_edge_narrow_phase import edge_planes
from sinew.solver.contact.surfaces.edge_edge_search import TrackedEdgeArrays


def test_planes_of_edges_are_those_of_numpy() -> None:
    random, k = np.random.default_rng(4), 50
    start, end = random.normal(size=(2, 40, 3))
    ends = np.array([random.choice(40, 4, replace=False) for _ in range(30)], np.int32)
    a, b = random.integers(0, 30, (2, k)).astype(np.int32)
    place, sign, distance = random.uniform(size=(k, 2)), random.choice([-1.0, 1.0], k), random.uniform(size=k)
    a[:3], b[:3] = 0, 0  # parallel
    normal, gap, end_gap = np.empty((k, 3)), np.empty(k), np.empty(k)
    arrays = TrackedEdgeArrays(a, b, np.zeros(k, np.int32), place, sign, np.zeros(k))
    edge_planes(arrays, distance, start, end, ends, normal, gap, end_gap)
    e, f = (end[ends[edge, 1]] - end[ends[edge, 0]] for edge in (a, b))
    across = sign[:, None] * np.cross(e, f)
    length = np.linalg.norm(across, axis=1)
    np.testing.assert_allclose(normal, across / np.maximum(length, 1e-300)[:, None], atol=1e-15)
    for at, found in ((start, gap), (end, end_gap)):
        p, q = (
            (1.0 - place[:, i, None]) * at[ends[edge, 0]] + place[:, i, None] * at[ends[edge, 1]]
            for i, edge in enumerate((a, b))
        )
        wanted = (normal * (p - q)).sum(axis=1) - distance
        is_parallel = (length == 0.0) & (found is end_gap)
        np.testing.assert_allclose(found[~is_parallel], wanted[~is_parallel], atol=1e-14)
        assert np.isinf(found[is_parallel]).all()
    assert (length == 0.0).sum() >= 3


def test_ids_are_among_others_as_numpy_says() -> None:
    ids, known = np.array([7, 1, 9, 4, 12], np.int64), np.array([1, 3, 9, 10], np.int64)
    np.testing.assert_array_equal(ids_among(ids, known), np.isin(ids, known))
    assert not ids_among(ids, known[:0]).any() and not len(ids_among(ids[:0], known))
