# SPDX-License-Identifier: GPL-3.0-or-later
"""How often a surface winds around each copy of a tet: what is material, where the surface passes through tets.

Winding numbers do not change across open faces and cutters, and change by one across the surface, so one number for
each connected body is computed, and exact signs give the others.
"""

from __future__ import annotations

import numpy as np

from ...runtime.arrays import Floats, Indices, indices
from ...runtime.jit import kernel
from ..geometry.connected_components import connected_components
from ..geometry.triangle_bvh import build_bvh
from ..geometry.winding_number import winding_numbers
from .cell_complex import CELLS, TET_FACE_COUNT
from .cutter_planes import CutterPlanes
from .join_copies import DividedTets, FaceContacts, TetCopies


def copy_windings(
    tets: Indices,
    positions: Floats,
    surface: tuple[Floats, Indices],
    divided: DividedTets,
    copies: TetCopies,
    contacts: FaceContacts,
) -> Indices:
    """Returns how often a closed surface winds around each copy, (c,): 1 in material, 0 outside.

    Args:
        tets: (m, 4).
        positions: Of the nodes [m], (n, 3).
        surface: Vertices [m], (v, 3), and triangles, (t, 3), the first of the triangles that divide the tets.
        divided, copies, contacts: See there; all contacts of all tets.
    """
    jump = _winding_jumps(tets, positions, surface, divided, contacts)
    body = connected_components(contacts.inside, contacts.outside, len(copies.parent))
    order = np.lexsort((-copies.fraction, body))
    seeds = order[np.append(True, body[order][1:] != body[order][:-1])]
    at_seeds = np.round(winding_numbers(build_bvh(*surface), _points_within(tets, positions, divided, copies, seeds)))
    ends = np.concatenate([contacts.inside, contacts.outside])
    by_end = np.argsort(ends, kind="stable")
    start = np.searchsorted(ends[by_end], np.arange(len(copies.parent) + 1, dtype=np.int64))
    winding, known = np.zeros(len(copies.parent), np.int32), np.zeros(len(copies.parent), np.bool_)
    winding[seeds] = at_seeds
    spread_windings(
        seeds,
        start,
        np.concatenate([contacts.outside, contacts.inside])[by_end],
        np.concatenate([-jump, jump])[by_end],
        winding,
        known,
    )
    return winding


def _winding_jumps(
    tets: Indices, positions: Floats, surface: tuple[Floats, Indices], divided: DividedTets, contacts: FaceContacts
) -> Indices:
    """Returns by how much the number of the inside copy is larger than that of the outside copy, (f,)."""
    vertices, triangles = surface
    cells, planes = divided.cells, divided.planes
    is_surface = (contacts.source >= 0) & (contacts.source < len(triangles))
    face = contacts.face[is_surface]
    outward = _face_directions(tets, positions, divided, planes, face)
    # the way from the inside of a face to its outside: for a plane of the cutters from above to below
    corner = vertices[triangles[cells.face_source[face]]]
    normal = np.cross(corner[:, 1] - corner[:, 0], corner[:, 2] - corner[:, 0])
    jump = np.zeros(len(contacts.source), np.int32)
    jump[is_surface] = np.where(np.einsum("fi,fi->f", normal, outward) > 0.0, 1, -1)
    return jump


def _face_directions(
    tets: Indices, positions: Floats, divided: DividedTets, planes: CutterPlanes, face: Indices
) -> Floats:
    """Returns a normal of each face that points from its inside to its outside, (f, 3)."""
    cells = divided.cells
    code = cells.face_plane[face]
    of_cutter = planes.points[np.maximum(code - TET_FACE_COUNT, 0)]
    down = np.cross(of_cutter[:, 2] - of_cutter[:, 0], of_cutter[:, 1] - of_cutter[:, 0])
    tet = cells.face_tet[face]
    corner = positions[tets[divided.touched[tet]]]
    weight_of = np.linalg.inv(np.concatenate([corner, np.ones((len(face), 4, 1))], axis=2))  # columns: ∇λᵢ, and 1
    gradient = weight_of[np.arange(len(face), dtype=np.int64), :3, np.minimum(code, TET_FACE_COUNT - 1)]
    cell = divided.parts.face_cells[face, 0]
    is_own = (cell >= 0) & (cells.cell_tet[cell] == tet)
    return np.where((code < TET_FACE_COUNT)[:, None], np.where(is_own[:, None], -gradient, gradient), down)


def _points_within(tets: Indices, positions: Floats, divided: DividedTets, copies: TetCopies, which: Indices) -> Floats:
    """Returns a point in the material of each of some copies, (s, 3): the middle of the box of its largest cell."""
    points = positions[tets[copies.parent[which]]].mean(axis=1)
    cells, count = divided.cells, int(divided.cells.used[CELLS])
    copy_of_cell = copies.of_part[divided.parts.part]
    order = np.lexsort((-divided.parts.volume, copy_of_cell))
    is_first = np.ones(count, np.bool_)
    is_first[1:] = copy_of_cell[order][1:] != copy_of_cell[order][:-1]
    first = order[is_first]
    at = np.searchsorted(copy_of_cell[first], which)
    for k in np.flatnonzero(at < len(first)):
        cell = first[at[k]]
        if copy_of_cell[cell] == which[k]:
            points[k] = cells.vertex_place[cell_vertices(divided, int(cell)), :3].mean(axis=0)
    return points


def cell_vertices(divided: DividedTets, cell: int) -> Indices:
    """Returns the vertices of a cell, rising."""
    cells = divided.cells
    first, count = cells.cell_walls[cell]
    found: set[int] = set()
    for wall in cells.walls[first : first + count]:
        start, length = cells.face_sides[wall >> 1]
        sides = cells.sides[start : start + length]
        found.update(cells.edge_vertices[sides >> 1, sides & 1].tolist())
    return indices(sorted(found))


@kernel()
def spread_windings(seeds, start, neighbour, change, winding, known):
    """Fills the winding numbers of all copies from those of some.

    Args:
        seeds: Copies whose numbers are known, one in each connected body, (s,).
        start: First neighbour of each copy, and their number at the end, (c + 1,).
        neighbour: (k,).
        change: By how much the neighbour's number is larger, (k,).
        winding: In and out, (c,).
        known: False everywhere; True at the end where a seed was reached, (c,).
    """
    stack, count = np.empty(len(winding), np.int64), 0
    for k in range(len(seeds)):
        known[seeds[k]] = True
        stack[count] = seeds[k]
        count += 1
    while count > 0:
        count -= 1
        copy = stack[count]
        for k in range(start[copy], start[copy + 1]):
            other = neighbour[k]
            if not known[other]:
                known[other] = True
                winding[other] = winding[copy] + change[k]
                stack[count] = other
                count += 1
