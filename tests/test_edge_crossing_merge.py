# SPDX-License-Identifier: GPL-3.0-or-later
"""Crossing edges are added to those in contact as by a slow twin, which takes them one by one."""

from __future__ import annotations

import numpy as np
import pytest

from sinew.solver.contact.detection.contact_binding import triangle_rotations
from sinew.solver.contact.surfaces.collision_surfaces import MAX_CONTACTS_PER_SURFACE
from sinew.solver.contact.surfaces.edge_crossing_merge import CrossingEdges, EdgeChains, merge_crossings
from sinew.solver.mesh.geometry.triangle_frames import triangle_frames
from sinew.solver.runtime.arrays import Floats

EDGES, VERTICES, TRACKED, FOUND = 24, 20, 14, 40


def places(pair: tuple, ends: np.ndarray, at: Floats) -> Floats:
    """Returns where both places of a pair are [m], (2, 3)."""
    a, b, along, _ = pair
    return np.array([at[ends[e, 0]] + s * (at[ends[e, 1]] - at[ends[e, 0]]) for e, s in ((a, along[0]), (b, along[1]))])


def merged_one_by_one(
    found: list[tuple], tracked: list[tuple], slots: list[int], active: list[bool], chains: EdgeChains, x: tuple
) -> None:
    """Changes the lists as `merge_crossings` does."""
    ends, chain, surface, is_of_sheet = chains
    for one in found:
        a, b = one[0], one[1]
        on_chains = [t for t, own in enumerate(tracked) if (chain[own[0]], chain[own[1]]) == (chain[a], chain[b])]
        near = [
            t
            for t in on_chains
            if set(ends[tracked[t][0], :2]) & set(ends[a, :2]) and set(ends[tracked[t][1], :2]) & set(ends[b, :2])
        ]
        if near:
            if not active[near[0]]:
                tracked[near[0]], active[near[0]] = one, True
            continue
        free = sorted(set(range(MAX_CONTACTS_PER_SURFACE)) - {slots[t] for t in on_chains})
        if not free:
            continue
        start, end = (places(one, ends, at) for at in x)
        motion = np.linalg.norm((end - start)[0] - (end - start)[1])
        apart = [
            np.linalg.norm(places(own, ends, x[0]) - start, axis=1).min()
            for t, own in enumerate(tracked)
            if active[t] and (surface[own[0]], surface[own[1]]) == (surface[a], surface[b])
        ]
        if is_of_sheet[a] or is_of_sheet[b] or not any(distance < motion for distance in apart):
            tracked.append(one)
            slots.append(free[0])
            active.append(True)


@pytest.mark.parametrize("seed", range(12))
def test_crossings_are_merged_as_one_by_one(seed: int) -> None:
    random = np.random.default_rng(seed)
    ends = np.array([random.choice(VERTICES, 2, replace=False) for _ in range(EDGES)], np.int32)
    chain = np.sort(random.integers(0, 5, EDGES)).astype(np.int32)
    surface = (chain // 2).astype(np.int32)
    chains = EdgeChains(ends, chain, surface, surface == 2)
    start = random.uniform(0.0, 1.0, (VERTICES, 3))
    end = start + random.uniform(-0.2, 0.2, (VERTICES, 3))

    def pairs(count: int) -> CrossingEdges:
        a, b = random.integers(0, EDGES, (2, count)).astype(np.int32)
        slot = np.zeros(count, np.int32)
        return CrossingEdges(a, b, slot, random.uniform(0.0, 1.0, (count, 2)), random.choice([-1.0, 1.0], count))

    found, tracked = pairs(FOUND), pairs(TRACKED + FOUND)
    tracked.slot[:TRACKED] = random.integers(0, MAX_CONTACTS_PER_SURFACE, TRACKED)
    is_active = random.uniform(size=TRACKED + FOUND) < 0.5
    rows = [list(zip(p.a, p.b, map(tuple, p.place), p.sign, strict=True)) for p in (found, tracked)]
    slots, active = tracked.slot[:TRACKED].tolist(), is_active[:TRACKED].tolist()
    wanted, before = rows[1][:TRACKED], rows[1][:TRACKED].copy()
    merged_one_by_one(rows[0], wanted, slots, active, chains, (start, end))
    count, changed = merge_crossings(found, TRACKED, tracked, is_active, chains, start, end)
    own = list(zip(tracked.a, tracked.b, map(tuple, tracked.place), tracked.sign, strict=True))[:count]
    assert own == wanted
    assert tracked.slot[:count].tolist() == slots
    assert is_active[:count].tolist() == active
    assert changed == (wanted != before)


def test_rotations_of_triangles_are_those_of_their_frames() -> None:
    random = np.random.default_rng(2)
    rest, now = random.normal(size=(2, 12, 3))
    triangles = np.array([random.choice(12, 3, replace=False) for _ in range(9)], np.int32)
    which = random.integers(0, 9, 30).astype(np.int32)
    which[[4, 11]] = -1, -3
    rotations, known = np.empty((30, 3, 3)), which >= 0
    triangle_rotations(which, triangles, rest, now, rotations)
    frames = (triangle_frames(at[triangles[which[known]]]) for at in (now, rest))
    np.testing.assert_allclose(rotations[known], np.einsum("kai,kaj->kij", *frames), atol=1e-14)
    assert (rotations[~known] == np.eye(3)).all()
