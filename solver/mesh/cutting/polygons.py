# SPDX-License-Identifier: GPL-3.0-or-later
"""Polygons whose corners are registered points and whose sides are named, so that each finds its neighbour."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

# What a side lies on; two polygons meet where two sides have the same name.
SURFACE_EDGE_SIDE = 0  # (edge of the surface, lower point of the part)
INNER_FACE_SIDE = 1  # (crossing of a triangle with a face that holds, 0)
BROKEN_FACE_SIDE = 2  # (crossing of a triangle with a parted face, which side)
TET_EDGE_SIDE = 3  # (part of an edge of tets in the material, sector of tets around the edge)
DIAGONAL_SIDE = 4  # (number of a cut between two triangles of a broken face, 0)


class NotWatertight(Exception):
    """Sides do not find each other, which signs of volumes that are right never let happen."""


def side_names(kind: npt.ArrayLike, a: npt.ArrayLike, b: npt.ArrayLike) -> npt.NDArray:
    """Returns one number for each name (kind, a, b), with a < 2²⁹ and b < 2³¹."""
    wide = [np.asarray(each, np.int64) for each in (kind, a, b)]
    return (wide[0] << 60) | (wide[1] << 31) | wide[2]


def unpack_side_names(names: npt.NDArray) -> tuple[npt.NDArray, npt.NDArray, npt.NDArray]:
    """Returns kind, a and b of names."""
    return names >> 60, (names >> 31) & (2**29 - 1), names & (2**31 - 1)


@dataclass(frozen=True)
class Polygons:
    """Polygons in any number; corner i is followed by corner i + 1 of the same polygon, the last by the first.

    Attributes:
        size: Number of corners of each polygon, (f,).
        point: Registered point of each corner, (c,).
        side: Name of the side from each corner to the next, (c,).
        corner_tet: The tet that moves each corner; −1 where a neighbour says it, (c,).
        corner_triangle: The triangle on which each corner lies, −1 on broken faces, (c,).
        tet: The tet of each polygon, (f,).
        source_face: The face of the render mesh, −1 for broken faces, (f,).
        partner: Number of the polygon in this table that fitted to it, or −1, (f,).
    """

    size: npt.NDArray
    point: npt.NDArray
    side: npt.NDArray
    corner_tet: npt.NDArray
    corner_triangle: npt.NDArray
    tet: npt.NDArray
    source_face: npt.NDArray
    partner: npt.NDArray

    @property
    def start(self) -> npt.NDArray:
        """First corner of each polygon, and the number of corners at the end, (f + 1,)."""
        return np.concatenate([[0], np.cumsum(self.size, dtype=np.int64)])

    @property
    def next_corner(self) -> npt.NDArray:
        """The corner that follows each one, (c,)."""
        start = self.start
        after = np.arange(1, start[-1] + 1, dtype=np.int64)
        after[start[1:] - 1] = start[:-1]
        return after


def concatenate_polygons(tables: list[Polygons]) -> Polygons:
    """Returns all polygons of several tables, in this order."""
    before = np.concatenate([[0], np.cumsum([len(table.size) for table in tables], dtype=np.int64)])
    columns = {
        name: np.concatenate([getattr(table, name) for table in tables]).astype(np.int64)
        for name in ("size", "point", "side", "corner_tet", "corner_triangle", "tet", "source_face")
    }
    partner = [
        np.where(table.partner >= 0, table.partner + shift, -1)
        for table, shift in zip(tables, before[:-1], strict=True)
    ]
    return Polygons(**columns, partner=np.concatenate(partner).astype(np.int64))
