# SPDX-License-Identifier: GPL-3.0-or-later
"""The contacts of one step, from what is known at its start to what further looks add."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from ..arrays import Floats, Indices, floats
from .nearest import EDGE, SAME_WAY, find_nearest, frame_of
from .skin import SLOTS, Known, Signs, Skins, Whole

GOES_ON = 0.02  # distance from an edge up to which a contact goes on as it was, in sizes of tets
GOES_ON_WITHIN = 0.0  # if the cosine of its turn there is larger


@dataclass(frozen=True, eq=False)
class Held:
    """Places where points meet skins, k of them, by point, skin and slot.

    Attributes:
        point, skin, slot: (k,) each.
        triangle, place: The triangle of the skin, and the weights of the place in it, (k,) and (k, 3).
        local: n in the frame of the triangle, which goes along with it (`nearest.frame_of`), (k, 3).
        side: 1 in front, −1 behind, (k,) int8.
        shift: Gap at which it begins to push [m], (k,).
        thickness: Distance that is kept [m], (k,).
    """

    point: Indices
    skin: Indices
    slot: Indices
    triangle: Indices
    place: Floats
    local: Floats
    side: Signs
    shift: Floats
    thickness: Floats

    def __len__(self) -> int:
        return len(self.point)

    def key(self, skins: int) -> Whole:
        """Returns point · s + skin, rising, (k,)."""
        return self.point.astype(np.int64) * skins + self.skin

    def id(self, skins: int, vertices: int) -> Whole:
        """Returns the ids that `Met` has, (k,)."""
        return (self.slot.astype(np.int64) * skins + self.skin) * vertices + self.point

    def only(self, which: npt.NDArray) -> Held:
        """Returns some of them, by mask or index."""
        return Held(*(getattr(self, name)[which] for name in NAMES))

    def and_also(self, others: Held, skins: int) -> Held:
        """Returns these and others, which get the first slots that are free; those that find none are left out."""
        if not len(others):
            return self
        both = Held(*(np.concatenate([getattr(self, name), getattr(others, name)]) for name in NAMES))
        key, is_new = both.key(skins), np.arange(len(both)) >= len(self)
        taken = np.zeros((len(both), SLOTS), bool)
        at = np.searchsorted(key[: len(self)], others.key(skins))
        for step in range(SLOTS):
            row = np.minimum(at + step, max(len(self) - 1, 0))
            if len(self):
                same = (key[row] == others.key(skins)) & (at + step < len(self))
                taken[np.arange(len(self), len(both))[same], self.slot[row[same]]] = True
        slot = both.slot.copy()
        slot[is_new] = taken[is_new].argmin(axis=1)
        fits = ~is_new | ~taken.all(axis=1)
        order = np.lexsort((slot, key))
        return replace(both, slot=slot).only(order[fits[order]])


NAMES = ("point", "skin", "slot", "triangle", "place", "local", "side", "shift", "thickness")


def no_held() -> Held:
    """Returns no contacts."""
    whole, rows, numbers = np.zeros(0, np.int32), np.zeros((0, 3)), np.zeros(0)
    return Held(whole, whole, whole, whole, rows, rows, np.zeros(0, np.int8), numbers, numbers)


def held_of(skins: Skins, known: Known, start: Floats, is_active: npt.NDArray) -> Held:
    """Returns the contacts that a step begins with, each at the place of its skin that is nearest to its point.

    Args:
        skins: All of them.
        known: As remembered.
        start: Vertices at the start [m], (v, 3).
        is_active: Which skins meet which in this step, (s, s).
    """
    if not len(known):
        return no_held()
    vertices, count = skins.vertex_count, len(skins)
    rest, point = np.divmod(known.id, vertices)
    slot, skin = np.divmod(rest, count)
    point, skin = point.astype(np.int32), skin.astype(np.int32)
    triangle, is_own = known.triangle.astype(np.int32), skins.skin_of[point] == skin
    place, local, distance = np.empty((len(known), 3)), np.empty((len(known), 3)), np.empty(len(known))
    trees = skins.trees
    find_nearest(
        point, triangle, known.side, start, skins.size, skins.triangles, trees.at_start, trees.at,
        skins.triangle_start, skin, skins.nodes, skins.pieces, is_own, True, place, local, distance,
    )  # fmt: skip
    if known.normal is not None:
        is_kept = (place.min(axis=1) <= EDGE) & (np.abs(distance) < GOES_ON * skins.size[point])
        _go_on(skins, known.normal, np.flatnonzero(is_kept), triangle, start, local)
    held = Held(
        point, skin, slot.astype(np.int32), triangle, place, local, known.side, known.shift,
        np.zeros(len(known)),
    )  # fmt: skip
    fits = np.isfinite(distance) & is_active[skins.skin_of[point], skin] & (slot < SLOTS)
    held = held.only(np.lexsort((held.slot, held.key(count)))[: len(held)])
    fits = fits[np.lexsort((slot, point.astype(np.int64) * count + skin))]
    held = held.only(fits)
    return with_thickness(skins, _apart(skins, held, start))


def _go_on(
    skins: Skins, normal: Floats, which: npt.NDArray[np.int64], triangle: Indices, start: Floats, local: Floats
) -> None:
    """Gives points right beside an edge the direction in which they were kept: that to the edge is chance there."""
    frame = np.empty((3, 3))
    for c in which:
        frame_of(start, skins.triangles, int(triangle[c]), frame)
        before = frame @ normal[c]
        if before @ local[c] > GOES_ON_WITHIN:
            local[c] = before


def with_thickness(skins: Skins, held: Held) -> Held:
    """Returns contacts with the distance that they keep: of both skins, within one no more than at rest."""
    keeps = skins.thickness[held.skin] + skins.thickness[skins.skin_of[held.point]]
    is_own = (skins.skin_of[held.point] == held.skin) & (keeps > 0.0)
    if is_own.any():
        corners = skins.rest[skins.triangles[held.triangle[is_own]]]
        there = np.einsum("kc,kci->ki", held.place[is_own], corners)
        keeps = keeps.copy()
        apart = np.linalg.norm(skins.rest[held.point[is_own]] - there, axis=1)
        keeps[is_own] = np.minimum(keeps[is_own], apart)
    return replace(held, thickness=floats(keeps))


def _apart(skins: Skins, held: Held, start: Floats) -> Held:
    """Returns contacts without those of one point that have come to the same place, but for what bears most."""
    key, kept = held.key(len(skins)), np.ones(len(held), bool)
    for step in range(1, SLOTS):
        for later in np.flatnonzero(key[step:] == key[:-step]) + step:
            first = later - step
            if kept[first] and kept[later] and _is_same(skins, held, first, int(later), start):
                kept[later if held.shift[first] >= held.shift[later] else first] = False
    return held if kept.all() else held.only(kept)


def _is_same(skins: Skins, held: Held, one: int, other: int, start: Floats) -> bool:
    a, b = skins.triangles[held.triangle[one]], skins.triangles[held.triangle[other]]
    if not np.isin(a, b).any():
        return False
    frame = np.empty((2, 3, 3))
    for row, of in enumerate((one, other)):
        frame_of(start, skins.triangles, int(held.triangle[of]), frame[row])
    return float((held.local[one] @ frame[0]) @ (held.local[other] @ frame[1])) > SAME_WAY
