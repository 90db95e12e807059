# SPDX-License-Identifier: GPL-3.0-or-later
"""Adds edges that cross to the pairs of edges in contact, the earliest crossing first."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ...runtime.arrays import Bools, Floats, Indices
from ...runtime.jit import kernel
from .collision_surfaces import MAX_CONTACTS_PER_SURFACE


class EdgeChains(NamedTuple):
    """What a merge needs to know of e edges; see `SharpEdges`.

    Attributes:
        ends: Vertices, the first two of each row, (e, ≥ 2).
        chain: Chains, (e,).
        surface: Surfaces, (e,).
        is_of_sheet: Whether they belong to sheets, (e,).
    """

    ends: Indices
    chain: Indices
    surface: npt.NDArray
    is_of_sheet: Bools


class CrossingEdges(NamedTuple):
    """Pairs of edges, k of them; see `EdgeEdgeContacts`."""

    a: Indices
    b: Indices
    slot: Indices
    place: Floats
    sign: Floats


@kernel()
def merge_crossings(found, count, tracked, is_active, chains, start, end):
    """Adds new pairs, and moves tracked ones that do not push to the place found.

    Of adjacent pairs of edges on the same two chains, one is a contact. A pair is left out that would not have crossed,
    had an earlier contact closer than its motion acted; not so at sheets, where one contact does not keep others off.

    Args:
        found: `CrossingEdges`, by rising time, f of them.
        count: How many are tracked.
        tracked: The same, with room for f more, changed.
        is_active: Which of these push, changed likewise.
        chains: `EdgeChains`.
        start, end: Vertices at the start and at the end of the search [m], (v, 3).

    Returns:
        How many are tracked now, and whether any changed.
    """
    changed = False
    here, there = np.empty((2, 3)), np.empty((2, 3))
    for f in range(len(found.a)):
        a, b = found.a[f], found.b[f]
        same, is_taken = -1, np.zeros(MAX_CONTACTS_PER_SURFACE, np.bool_)
        for t in range(count):
            if chains.chain[tracked.a[t]] != chains.chain[a] or chains.chain[tracked.b[t]] != chains.chain[b]:
                continue
            is_taken[tracked.slot[t]] = True
            if same < 0 and _are_near(chains.ends, tracked.a[t], a) and _are_near(chains.ends, tracked.b[t], b):
                same = t
        if same >= 0:
            if not is_active[same]:
                _put(found, f, same, tracked)
                is_active[same] = changed = True
            continue
        slot = 0
        while slot < MAX_CONTACTS_PER_SURFACE and is_taken[slot]:
            slot += 1
        if slot == MAX_CONTACTS_PER_SURFACE:
            continue
        is_loose = chains.is_of_sheet[a] or chains.is_of_sheet[b]
        if not is_loose and _is_kept_away(found, f, tracked, count, is_active, chains, (start, end), (here, there)):
            continue
        _put(found, f, count, tracked)
        tracked.slot[count] = slot
        is_active[count] = changed = True
        count += 1
    return count, changed


@kernel(device_only=True)
def _are_near(ends, one, other):
    """Whether two edges share an end."""
    return (
        ends[one, 0] == ends[other, 0]
        or ends[one, 0] == ends[other, 1]
        or ends[one, 1] == ends[other, 0]
        or ends[one, 1] == ends[other, 1]
    )


@kernel(device_only=True)
def _put(found, f, t, tracked):
    """Copies pair f to row t, but for its slot."""
    tracked.a[t], tracked.b[t], tracked.sign[t] = found.a[f], found.b[f], found.sign[f]
    tracked.place[t, 0], tracked.place[t, 1] = found.place[f, 0], found.place[f, 1]


@kernel(device_only=True)
def _is_kept_away(found, f, tracked, count, is_active, chains, paths, places):
    """Whether pair f would not have crossed, had an earlier contact closer than its motion acted."""
    (start, end), (here, there) = paths, places
    a, b, motion = found.a[f], found.b[f], 0.0
    _write_places(found, f, chains.ends, end, there)
    _write_places(found, f, chains.ends, start, here)
    for i in range(3):
        motion += ((there[0, i] - here[0, i]) - (there[1, i] - here[1, i])) ** 2
    motion = math.sqrt(motion)
    for t in range(count):
        one, other = tracked.a[t], tracked.b[t]
        if not is_active[t] or chains.surface[one] != chains.surface[a] or chains.surface[other] != chains.surface[b]:
            continue
        _write_places(tracked, t, chains.ends, start, there)
        for side in range(2):
            apart = 0.0
            for i in range(3):
                apart += (there[side, i] - here[side, i]) ** 2
            if math.sqrt(apart) < motion:
                return True
    return False


@kernel(device_only=True)
def _write_places(pairs, p, ends, at, out):
    """Writes where both places of pair p are, for vertices at `at` [m], (2, 3)."""
    for side in range(2):
        edge = pairs.a[p] if side == 0 else pairs.b[p]
        for i in range(3):
            first = at[ends[edge, 0], i]
            out[side, i] = first + pairs.place[p, side] * (at[ends[edge, 1], i] - first)
