# SPDX-License-Identifier: GPL-3.0-or-later
"""Broken faces: polygons that close both sides of a crack, one copy for each of the two tets."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ...runtime.arrays import Floats
from .parted_face_loops import FaceLoops
from .polygon_holes import triangulate_with_holes
from .polygons import DIAGONAL_SIDE, Polygons, side_names
from .tet_complex import TetComplex


class _LoopSides:
    """Sides of loops, and of the cuts that holes need, with the polygons made of them."""

    def __init__(self, loops: FaceLoops) -> None:
        self.begin = loops.point.tolist()
        self.end = loops.point[loops.next_side].tolist()
        self.name = [list(names) for names in loops.name.tolist()]
        self.inner_count = 0
        self.polygons: list[list[int]] = []
        self.faces: list[int] = []

    def add(self, face: int, polygon: list[int]) -> None:
        self.polygons.append(polygon)
        self.faces.append(face)

    def add_inner(self, a: int, b: int) -> tuple[int, int]:
        """Adds a cut between two points; returns its sides from a to b and from b to a."""
        names = [int(side_names(DIAGONAL_SIDE, self.inner_count, column)) for column in (0, 1)]
        self.inner_count += 1
        self.begin += [a, b]
        self.end += [b, a]
        self.name += [names, names]
        return len(self.begin) - 2, len(self.begin) - 1


def make_broken_faces(
    nodes: Floats, whole: TetComplex, loops: FaceLoops, places: Floats
) -> tuple[Polygons, npt.NDArray]:
    """Returns the broken faces, and pairs of side names that are one, since the face between them is empty.

    Args:
        nodes: Rest positions [m], (n, 3).
        whole: The tets.
        loops: The loops of parted faces.
        places: Position of each point [m], (p, 3).

    Returns:
        The polygons, those of the first column first, then their partners.
        Names, (a, 2): of the sides of triangles that lie on each other, back to back.
    """
    sides = _LoopSides(loops)
    same: list[list[int]] = []
    by_face: dict[int, list[list[int]]] = {}
    face_of = loops.face.tolist()
    for loop in _cycles(loops.next_side.tolist()):
        if len(loop) == 2:
            same += [list(pair) for pair in zip(*(sides.name[side] for side in loop), strict=True)]
        else:
            by_face.setdefault(face_of[loop[0]], []).append(loop)
    for face, found in by_face.items():
        _fill_face(sides, face, found, places, nodes[whole.face_nodes[face]])
    return _two_sided_polygons(sides, whole), np.array(same, np.int64).reshape(-1, 2)


def _cycles(follows: list[int]) -> list[list[int]]:
    """Returns the cycles of a permutation."""
    seen = [False] * len(follows)
    cycles = []
    for start in range(len(follows)):
        if seen[start]:
            continue
        cycle, at = [], start
        while not seen[at]:
            seen[at] = True
            cycle.append(at)
            at = follows[at]
        cycles.append(cycle)
    return cycles


def _fill_face(sides: _LoopSides, face: int, loops: list[list[int]], places: Floats, corners: Floats) -> None:
    """Adds the polygons of one face: its loops, those with holes in them cut into triangles."""
    if len(loops) == 1:
        sides.add(face, loops[0])
        return
    plane = _plane_axes(corners)
    flat = [plane @ places[[sides.begin[side] for side in loop]].T for loop in loops]
    areas = [_signed_area(each) for each in flat]
    if min(areas) >= 0.0 or max(areas) <= 0.0:
        for loop in loops:
            sides.add(face, loop)
        return
    for polygon in triangulate_with_holes(loops, flat, areas, sides.begin, sides.add_inner):
        sides.add(face, polygon)


def _two_sided_polygons(sides: _LoopSides, whole: TetComplex) -> Polygons:
    """Returns all polygons twice: as they are for the tets of the first column, turned round for the others."""
    begin, end, name = np.array(sides.begin, np.int64), np.array(sides.end, np.int64), np.array(sides.name, np.int64)
    name = name.reshape(-1, 2)
    size = np.array([len(polygon) for polygon in sides.polygons], np.int64)
    used = np.array([side for polygon in sides.polygons for side in polygon], np.int64)
    turned = np.array([side for polygon in sides.polygons for side in reversed(polygon)], np.int64)
    tets = whole.face_tets[np.array(sides.faces, np.int64)]
    tet = np.concatenate([tets[:, 0], tets[:, 1]]).astype(np.int64)
    count = len(size)
    both = np.concatenate([size, size])
    return Polygons(
        both,
        np.concatenate([begin[used], end[turned]]),
        np.concatenate([name[used, 0], name[turned, 1]]),
        np.repeat(tet, both),
        np.full(2 * len(used), -1, np.int64),
        tet,
        np.full(2 * count, -1, np.int64),
        np.concatenate([np.arange(count, dtype=np.int64) + count, np.arange(count, dtype=np.int64)]),
    )


def _plane_axes(corners: Floats) -> Floats:
    """Returns two axes of the plane of a face seen from where it is counterclockwise, (2, 3)."""
    a, b, c = corners
    u = (b - a) / np.linalg.norm(b - a)
    normal = np.cross(u, c - a)
    return np.stack([u, np.cross(normal / np.linalg.norm(normal), u)])


def _signed_area(loop: Floats) -> float:
    """Returns the signed area of a loop in the plane, (2, n)."""
    x, y = loop
    return 0.5 * float((x * np.roll(y, -1) - np.roll(x, -1) * y).sum())
