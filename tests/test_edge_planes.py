# SPDX-License-Identifier: GPL-3.0-or-later
"""Planes of edges in contact, and the distances that they keep, against NumPy's; and ids among others."""

from __future__ import annotations

import numpy as np

from sinew.solver.contact.detection.contact_set import ids_among
from sinew.solver.contact.surfaces.edge_edge_narrow_phase import (
    MAX_RISE_PER_STEP,
    EdgeDistances,
    edge_planes,
    fill_kept_distances,
)
from sinew.solver.contact.surfaces.edge_edge_search import TrackedEdgeArrays


def test_planes_of_edges_are_those_of_numpy() -> None:
    random, k = np.random.default_rng(4), 50
    start, end = random.normal(size=(2, 40, 3))
    ends = np.array([random.choice(40, 4, replace=False) for _ in range(30)], np.int32)
    a, b = random.integers(0, 30, (2, k)).astype(np.int32)
    place, sign = random.uniform(size=(k, 2)), random.choice([-1.0, 1.0], k)
    a[:3], b[:3] = 0, 0  # parallel
    thickness, surface = random.uniform(size=30), np.arange(30, dtype=np.int32)
    distance = np.where(a == b, 0.0, thickness[a] + thickness[b])
    distances = EdgeDistances(thickness, surface, np.zeros(30, bool), start)
    normal, gap, end_gap = np.empty((k, 3)), np.empty(k), np.empty(k)
    arrays = TrackedEdgeArrays(a, b, np.zeros(k, np.int32), place, sign, np.zeros(k))
    edge_planes(arrays, distances, start, end, ends, normal, gap, end_gap)
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


def test_edges_keep_no_more_than_they_had() -> None:
    random, k = np.random.default_rng(5), 200
    at_rest, start = random.normal(size=(2, 40, 3))
    ends = np.array([random.choice(40, 4, replace=False) for _ in range(30)], np.int32)
    a, b = random.integers(0, 30, (2, k)).astype(np.int32)
    surface, is_of_sheet = np.repeat(np.arange(3, dtype=np.int32), 10), np.repeat([True, False, True], 10)
    thickness = np.array([0.6, 0.0, 0.0])
    kept = np.empty(k)
    fill_kept_distances(a, b, EdgeDistances(thickness, surface, is_of_sheet, at_rest), start, ends, kept)
    at_most = thickness[surface[a]] + thickness[surface[b]]
    of_one, of_sheet = surface[a] == surface[b], is_of_sheet[a] | is_of_sheet[b]
    for c in range(k):
        wanted = at_most[c]
        if wanted > 0.0 and of_one[c]:
            wanted = min(wanted, _distance(at_rest[ends[a[c], :2]], at_rest[ends[b[c], :2]]))
        if wanted > 0.0 and of_sheet[c]:
            wanted = min(wanted, _distance(start[ends[a[c], :2]], start[ends[b[c], :2]]) + MAX_RISE_PER_STEP * wanted)
        assert abs(kept[c] - wanted) < 1e-9
    assert (kept == 0.0).any() and (kept < at_most).any() and ((kept == at_most) & (kept > 0.0)).any()


def _distance(one: np.ndarray, other: np.ndarray) -> float:
    """Returns how far two edges are from each other [m]: each end from the other edge, or both lines, if they cross."""
    e, f, r = one[1] - one[0], other[1] - other[0], other[0] - one[0]
    places = np.linalg.lstsq(np.stack([e, -f], axis=1), r, rcond=None)[0]
    apart = [_from_edge(p, other) for p in one] + [_from_edge(q, one) for q in other]
    if ((places >= 0.0) & (places <= 1.0)).all():
        apart.append(float(np.linalg.norm(places[0] * e - places[1] * f - r)))
    return min(apart)


def _from_edge(p: np.ndarray, edge: np.ndarray) -> float:
    along = edge[1] - edge[0]
    return float(np.linalg.norm(p - edge[0] - np.clip((p - edge[0]) @ along / (along @ along), 0.0, 1.0) * along))


def test_ids_are_among_others_as_numpy_says() -> None:
    ids, known = np.array([7, 1, 9, 4, 12], np.int64), np.array([1, 3, 9, 10], np.int64)
    np.testing.assert_array_equal(ids_among(ids, known), np.isin(ids, known))
    assert not ids_among(ids, known[:0]).any() and not len(ids_among(ids[:0], known))
