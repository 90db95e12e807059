# SPDX-License-Identifier: GPL-3.0-or-later
"""Cuts a flat outline with holes in it into triangles; every corner is kept.

Each hole is joined to the outline by a bridge that is walked twice; then ears are cut off. Whatever the positions
are, the triangles have the sides of the loops and cuts between two triangles: they always close.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ...runtime.arrays import Floats
from .ear_clipping import cut_ears

AddCut = Callable[[int, int], tuple[int, int]]


def triangulate_with_holes(
    loops: list[list[int]], flat: list[Floats], areas: list[float], begin: list[int], add_inner: AddCut
) -> list[list[int]]:
    """Returns polygons, as sides, that fill counterclockwise loops but for the clockwise ones in them.

    Args:
        loops: Loops of sides.
        flat: Their corners in the plane [m], each (2, n).
        areas: Their signed areas [m²].
        begin: The point at which each side begins.
        add_inner: Adds a cut between two points, and returns its two sides.
    """
    holes: dict[int, list[int]] = {}
    filled = []
    for hole in (i for i, area in enumerate(areas) if area < 0.0):
        around = [
            outer
            for outer, area in enumerate(areas)
            if area > -areas[hole] and _contains_point(flat[outer], flat[hole][:, 0])
        ]
        if around:
            holes.setdefault(min(around, key=lambda outer: areas[outer]), []).append(hole)
        else:  # inside out: it stands for itself
            filled.append(loops[hole])
    for outer, area in enumerate(areas):
        if area < 0.0:
            continue
        if outer not in holes:
            filled.append(loops[outer])
            continue
        inner = holes[outer]
        triangles = _triangulate(
            loops[outer], flat[outer], [loops[h] for h in inner], [flat[h] for h in inner], begin, add_inner
        )
        filled += triangles if triangles is not None else [loops[each] for each in (outer, *inner)]
    return filled


def _contains_point(loop: Floats, point: Floats) -> bool:
    """Returns whether a loop goes round a point."""
    (x, y), (u, v) = loop, np.roll(loop, -1, axis=1)
    crosses = (y > point[1]) != (v > point[1])
    at = x[crosses] + (point[1] - y[crosses]) / (v[crosses] - y[crosses]) * (u[crosses] - x[crosses])
    return bool((at > point[0]).sum() % 2)


def _triangulate(
    outer: list[int],
    outer_flat: Floats,
    holes: list[list[int]],
    holes_flat: list[Floats],
    begin: list[int],
    add_inner: AddCut,
) -> list[list[int]] | None:
    """Returns triangles as sides; None where a corner would stand twice in one."""
    sides, flat = list(outer), outer_flat
    for h in sorted(range(len(holes)), key=lambda h: -float(holes_flat[h][0].max())):
        start = int(np.argmax(holes_flat[h][0]))
        place = _visible_corner(flat, holes_flat[h][:, start])
        hole = holes[h][start:] + holes[h][:start]
        there, back = add_inner(begin[sides[place]], begin[hole[0]])
        around = np.roll(holes_flat[h], -start, axis=1)
        # round the outline to the corner, over to the hole and round it, back, and on from the same corner
        sides = [*sides[:place], there, *hole, back, *sides[place:]]
        flat = np.concatenate([flat[:, : place + 1], around, around[:, :1], flat[:, place:]], axis=1)
    points = np.array([begin[side] for side in sides], np.int64)
    ears = cut_ears(flat, points)
    if ((points[ears] == points[np.roll(ears, 1, axis=1)]).any(axis=1)).any():
        return None
    return _with_sides(ears.tolist(), sides, points.tolist(), add_inner)


def _with_sides(ears: list[list[int]], sides: list[int], points: list[int], add_inner: AddCut) -> list[list[int]]:
    """Returns triangles as sides: those of the outline, and a cut between each two triangles."""
    inner: dict[tuple[int, int], int] = {}
    triangles = []
    for ear in ears:
        triangle = []
        for a, b in zip(ear, ear[1:] + ear[:1], strict=True):
            if b == (a + 1) % len(sides):
                triangle.append(sides[a])
                continue
            if (a, b) not in inner:
                inner[a, b], inner[b, a] = add_inner(points[a], points[b])
            triangle.append(inner[a, b])
        triangles.append(triangle)
    return triangles


def _visible_corner(outline: Floats, point: Floats) -> int:
    """Returns a corner of an outline that is seen from the rightmost point of a hole in it.

    Source: Eberly (2002), Triangulation by Ear Clipping, section 3.
    """
    (x, y), (u, v) = outline, np.roll(outline, -1, axis=1)
    px, py = point
    # an outline that is counterclockwise runs up where it is to the right
    crosses = np.flatnonzero((y <= py) & (v > py))
    at = x[crosses] + (py - y[crosses]) / (v[crosses] - y[crosses]) * (u[crosses] - x[crosses])
    right = at >= px
    if not right.any():
        return int(np.argmin((x - px) ** 2 + (y - py) ** 2))
    nearest = int(np.argmin(at[right]))
    side, hit = int(crosses[right][nearest]), float(at[right][nearest])
    end = side if x[side] > u[side] else (side + 1) % len(x)
    corner = outline[:, end]
    before, after = np.roll(outline, 1, axis=1), np.roll(outline, -1, axis=1)
    is_reflex = _twice_signed_area(before, outline, after) <= 0.0
    low, high = (np.array([hit, py]), corner) if corner[1] > py else (corner, np.array([hit, py]))
    tip = point[:, None]
    hidden = (
        (_twice_signed_area(tip, low[:, None], outline) >= 0.0)
        & (_twice_signed_area(low[:, None], high[:, None], outline) >= 0.0)
        & (_twice_signed_area(high[:, None], tip, outline) >= 0.0)
    )
    behind = np.flatnonzero(hidden & is_reflex & (x > px))
    if len(behind):
        slope = np.abs(y[behind] - py) / (x[behind] - px)
        best = behind[np.lexsort((x[behind], slope))[0]]
        corner = outline[:, best]
    return _copy_that_sees(outline, corner, point)


def _copy_that_sees(outline: Floats, corner: Floats, point: Floats) -> int:
    """Returns which of the copies of a corner (bridges make them) has the point between its sides."""
    copies = np.flatnonzero((outline == corner[:, None]).all(axis=0))
    for copy in copies:
        before, here = outline[:, copy - 1], outline[:, copy]
        after = outline[:, (copy + 1) % outline.shape[1]]
        left, right = _twice_signed_area(before, here, point) > 0.0, _twice_signed_area(here, after, point) > 0.0
        if (left and right) if _twice_signed_area(before, here, after) > 0.0 else (left or right):
            return int(copy)
    return int(copies[0])


def _twice_signed_area(a: Floats, b: Floats, c: Floats) -> Floats:
    """Returns > 0 where a, b, c turn left, (2,) or (2, n) each."""
    return np.asarray((b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]))
