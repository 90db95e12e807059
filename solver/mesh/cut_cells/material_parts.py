# SPDX-License-Identifier: GPL-3.0-or-later
"""Which cells of a tet hang together, how large these parts are, and across which faces of tets they go on (kernels).

Source: Sifakis (2007), Simulation and Control of Human Anatomy, sections 7.3.3 and 7.3.4.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...runtime.arrays import Floats, Indices, floats
from ...runtime.jit import kernel
from ...runtime.union_find import flatten_labels, union_sets
from .cell_complex import CELLS, FACES, OPEN, TET_FACE_COUNT, CellComplex
from .cell_lists import refresh_walls, side_start
from .known_signs import weight_in_tet
from .vertex_signs import PositionedTets


class MaterialParts(NamedTuple):
    """Connected parts of tets.

    Attributes:
        part: The part of each cell, numbered by tet, in each by first cell, (c,).
        tet: The tet of each part, (p,).
        volume: Volume of each cell over that of its tet, (c,).
        fraction: Its volume over that of its tet, (p,).
        face_cells: The cell inside of each undivided face, and the one outside; −1: none; (f, 2).
    """

    part: Indices
    tet: Indices
    volume: Floats
    fraction: Floats
    face_cells: Indices


def material_parts(cells: CellComplex, tets: PositionedTets) -> MaterialParts:
    """Returns the parts of tets that open faces hold together within the tet."""
    count = int(cells.used[CELLS])
    face_cells = np.full((int(cells.used[FACES]), 2), -1, np.int32)
    label, volume = np.arange(count, dtype=np.int32), np.empty(count)
    if not label_cells(cells, tets, face_cells, label, volume):
        raise AssertionError("walls were not refreshed")
    roots = np.unique(label)
    order = roots[np.lexsort((roots, cells.cell_tet[roots]))]
    number = np.empty(count, np.int32)
    number[order] = np.arange(len(order), dtype=np.int32)
    part = number[label]
    fraction = floats(np.bincount(part, volume, minlength=len(order)))
    return MaterialParts(part, cells.cell_tet[order].copy(), volume, fraction, face_cells)


@kernel()
def label_cells(cells, tets, face_cells, label, volume):
    """Fills `face_cells`, the lowest cell of each part, and the volumes of cells over those of their tets.

    Args:
        cells, tets: See there.
        face_cells: See `MaterialParts`; −1 everywhere.
        label: The numbers of the cells.
        volume: Out.

    Returns:
        Whether there was room to refresh all walls.
    """
    for cell in range(len(label)):
        if not refresh_walls(cells, cell):
            return False
        first = cells.cell_walls[cell, 0]
        for k in range(first, first + cells.cell_walls[cell, 1]):
            face_cells[cells.walls[k] >> 1, cells.walls[k] & 1] = cell
        volume[cell] = _volume(cells, tets, cell)
    for face in range(len(face_cells)):
        one, other = face_cells[face, 0], face_cells[face, 1]
        if one >= 0 and other >= 0 and cells.face_source[face] == OPEN and cells.face_plane[face] >= TET_FACE_COUNT:
            union_sets(label, one, other)
    flatten_labels(label)
    return True


@kernel(device_only=True)
def _volume(cells, tets, cell):
    """Returns the volume of a cell over that of its tet: cones from the tet's middle over fans of triangles.

    Both cells at a face have the same fans, so volumes add up to that of the tet but for rounding.
    """
    tet, total = cells.cell_tet[cell], 0.0
    first = cells.cell_walls[cell, 0]
    for k in range(first, first + cells.cell_walls[cell, 1]):
        face = cells.walls[k] >> 1
        start, count = cells.face_sides[face, 0], cells.face_sides[face, 1]
        a = side_start(cells, cells.sides[start])
        cone = 0.0
        for s in range(start + 1, start + count - 1):
            b, c = side_start(cells, cells.sides[s]), side_start(cells, cells.sides[s + 1])
            cone += _cone(cells, tets, tet, a, b, c)
        total += cone if cells.walls[k] & 1 == 0 else -cone
    return total


@kernel(device_only=True)
def _cone(cells, tets, tet, a, b, c):
    """Returns the volume from a tet's middle to a triangle over that of the tet, by weights of nodes 1 to 3."""
    ax, ay, az = _from_middle(cells, tets, tet, a)
    bx, by, bz = _from_middle(cells, tets, tet, b)
    cx, cy, cz = _from_middle(cells, tets, tet, c)
    return ax * (by * cz - bz * cy) + ay * (bz * cx - bx * cz) + az * (bx * cy - by * cx)


@kernel(device_only=True)
def _from_middle(cells, tets, tet, vertex):
    x = weight_in_tet(cells, tets, vertex, tet, 1) - 0.25
    y = weight_in_tet(cells, tets, vertex, tet, 2) - 0.25
    z = weight_in_tet(cells, tets, vertex, tet, 3) - 0.25
    return x, y, z
