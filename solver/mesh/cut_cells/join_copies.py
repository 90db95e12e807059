# SPDX-License-Identifier: GPL-3.0-or-later
"""Copies of tets, one for each part of their material, and how they hang together across faces.

Source: Sifakis (2007), Simulation and Control of Human Anatomy, sections 2.6 and 7.3.4.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ...runtime.arrays import Bools, Floats, Indices, indices
from ...runtime.union_find import union_pairs
from ..cut_tets import CutTets
from ..cutting.tet_complex import FACE_CORNERS, TetComplex
from .cell_complex import FACES, OPEN, CellComplex
from .cutter_planes import CutterPlanes
from .material_parts import MaterialParts

LEAST_FRACTION = 1.0e-15  # volumes of parts are rounded, and no part is empty
NO_COPY = -1


@dataclass(frozen=True, eq=False)
class DividedTets:
    """The tets that a cutter touches, divided into cells.

    Attributes:
        touched: Their numbers in the mesh, rising, (k,).
        whole: Their faces and edges before; nodes are those of the mesh.
        planes: Of the triangles that divide them.
        cells: Their cells; tets are numbered in `touched`.
        parts: What of them hangs together.
    """

    touched: Indices
    whole: TetComplex
    planes: CutterPlanes
    cells: CellComplex
    parts: MaterialParts


class TetCopies(NamedTuple):
    """A copy of the tet for each part of a divided tet, and one for each other tet.

    Attributes:
        parent: The tet of each copy, rising, (c,).
        first: The first copy of each tet, (m,).
        of_part: The copy of each part, (p,).
        fraction: Volume of its part over that of its tet, (c,).
    """

    parent: Indices
    first: Indices
    of_part: Indices
    fraction: Floats


class FaceContacts(NamedTuple):
    """Faces, or parts of faces, with a copy on either side.

    Attributes:
        inside, outside: The copy that sees the corners of the face counterclockwise from within, and the other, (f,).
        source: The triangle of the cutters that covers it, or `OPEN`, (f,).
        nodes: The nodes of the face of tets that it is a part of; −1 within a tet, (f, 3).
        face: Its number in the cells; −1 for a face between tets that are not divided, (f,).
    """

    inside: Indices
    outside: Indices
    source: Indices
    nodes: Indices
    face: Indices


def tet_copies(tet_count: int, divided: DividedTets) -> TetCopies:
    """Returns the copies of so many tets."""
    parts, touched = divided.parts, divided.touched
    count = np.ones(tet_count, np.int64)
    count[touched] = np.bincount(parts.tet, minlength=len(touched))
    first = np.cumsum(count, dtype=np.int64) - count
    before = np.searchsorted(parts.tet, np.arange(len(touched), dtype=np.int64))
    of_part = first[touched[parts.tet]] + np.arange(len(parts.tet), dtype=np.int64) - before[parts.tet]
    parent = np.repeat(np.arange(tet_count, dtype=np.int64), count)
    fraction = np.ones(len(parent))
    fraction[of_part] = np.maximum(parts.fraction, LEAST_FRACTION)
    return TetCopies(indices(parent), indices(first), indices(of_part), fraction)


def face_contacts(tets: Indices, which: Bools, divided: DividedTets, copies: TetCopies) -> FaceContacts:
    """Returns all faces with a copy on either side, of cells and between some of the tets, (m,), divided ones too."""
    near = np.flatnonzero(which)
    faces = np.sort(tets[near][:, FACE_CORNERS].reshape(-1, 3), axis=1)
    order = np.lexsort(faces.T[::-1])
    same = (faces[order[1:]] == faces[order[:-1]]).all(axis=1)
    one, other = order[:-1][same], order[1:][same]
    tet_one, tet_other = near[one // 4], near[other // 4]
    is_touched = np.zeros(len(tets), np.bool_)
    is_touched[divided.touched] = True
    plain = ~is_touched[tet_one] & ~is_touched[tet_other]
    mixed = is_touched[tet_one] != is_touched[tet_other]
    divided_side = np.where(is_touched[tet_one], one, other)[mixed]
    beyond = np.full(len(divided.whole.face_nodes), NO_COPY, np.int32)
    number = divided.whole.tet_faces[np.searchsorted(divided.touched, near[divided_side // 4]), divided_side % 4]
    beyond[number] = copies.first[np.where(is_touched[tet_one], tet_other, tet_one)[mixed]]
    return _concatenate(
        FaceContacts(
            copies.first[tet_one[plain]],
            copies.first[tet_other[plain]],
            np.full(int(plain.sum()), OPEN, np.int32),
            faces[one[plain]],
            np.full(int(plain.sum()), -1, np.int32),
        ),
        _contacts_of_cells(divided, copies, beyond),
    )


def _concatenate(one: FaceContacts, other: FaceContacts) -> FaceContacts:
    return FaceContacts(*(indices(np.concatenate(pair)) for pair in zip(one, other, strict=True)))


def _contacts_of_cells(divided: DividedTets, copies: TetCopies, beyond: Indices) -> FaceContacts:
    """Returns the undivided faces of cells with a copy on either side.

    Args:
        divided, copies: See there.
        beyond: The copy beyond each face of the tets where no tet there is divided, or `NO_COPY`.
    """
    cells, count = divided.cells, int(divided.cells.used[FACES])
    root = _face_roots(divided)
    leaves = np.flatnonzero(cells.face_children[:count, 0] < 0)
    of_cell = divided.parts.face_cells[leaves]
    sides = np.where(of_cell >= 0, copies.of_part[divided.parts.part[of_cell]], NO_COPY)
    sides = np.where(sides >= 0, sides, np.where(root[leaves] >= 0, beyond[root[leaves]], NO_COPY)[:, None])
    both = (sides >= 0).all(axis=1)
    leaves, sides = leaves[both], sides[both]
    nodes = np.where((root[leaves] >= 0)[:, None], divided.whole.face_nodes[root[leaves]], -1)
    return FaceContacts(
        indices(sides[:, 0]), indices(sides[:, 1]), cells.face_source[leaves], indices(nodes), indices(leaves)
    )


def _face_roots(divided: DividedTets) -> np.ndarray:
    """Returns the face of the tets that each face of the cells is a part of, or −1."""
    cells, count = divided.cells, int(divided.cells.used[FACES])
    whole_count = len(divided.whole.face_nodes)
    root = np.full(count, -1, np.int64)
    root[:whole_count] = np.arange(whole_count, dtype=np.int64)
    is_divided = cells.face_children[:count, 0] >= 0
    level = np.flatnonzero(is_divided & (root >= 0))
    while len(level):
        children = cells.face_children[level]
        root[children] = root[level][:, None]
        level = children.ravel()[is_divided[children.ravel()]]
    return root


def join_copies(tets: Indices, is_near: Bools, copies: TetCopies, contacts: FaceContacts, kept: Bools) -> CutTets:
    """Returns the copies that are kept, with nodes joined across open faces.

    Args:
        tets: (m, 4).
        is_near: The nodes at which tets may come apart, (n,).
        copies: Of the tets.
        contacts: Between all copies at these nodes.
        kept: (c,).
    """
    joins = (contacts.source == OPEN) & (contacts.nodes[:, 0] >= 0)
    joins &= kept[contacts.inside] & kept[contacts.outside]
    pairs = np.concatenate([contacts.inside[:, None], contacts.outside[:, None], contacts.nodes], axis=1)[joins]
    pairs = np.unique(pairs, axis=0)
    corners = tets[copies.parent]
    label = np.arange(4 * len(corners), dtype=np.int32)
    union_pairs(_corners_of(corners, pairs[:, 0], pairs[:, 2:]), _corners_of(corners, pairs[:, 1], pairs[:, 2:]), label)
    parent = copies.parent[kept]
    share = copies.fraction[kept] / np.bincount(parent, copies.fraction[kept])[parent]
    joined, origin = _number_nodes(corners, label, is_near, kept)
    return CutTets(joined, parent, origin, share)


def _corners_of(tets: Indices, copy: np.ndarray, nodes: np.ndarray) -> Indices:
    """Returns the corner 4 · copy + i of nodes, (p, 3), in copies, (p,); (3p,)."""
    corner = np.argmax(tets[copy][:, None, :] == nodes[:, :, None], axis=2)
    return indices((4 * copy[:, None] + corner).ravel())


def _number_nodes(corners: Indices, label: Indices, is_near: Bools, kept: Bools) -> tuple[Indices, Indices]:
    """Returns the nodes of the copies that are kept, and their origins: the first copy of each keeps its number.

    Args:
        corners: Nodes of all copies before, (c, 4).
        label: The first corner at the node of each corner, (4c,).
        is_near: See `join_copies`.
        kept: (c,).
    """
    node = corners.ravel()
    roots = np.unique(label[is_near[node] & np.repeat(kept, 4)])
    roots = roots[np.lexsort((roots, node[roots]))]
    is_first = np.append(True, node[roots][1:] != node[roots][:-1])[: len(roots)]
    number = np.empty(len(node), np.int64)
    number[roots[is_first]] = node[roots[is_first]]
    extra = roots[~is_first]
    number[extra] = len(is_near) + np.arange(len(extra), dtype=np.int64)
    near = is_near[corners[kept]]
    tets = np.where(near, number[np.where(near, label.reshape(-1, 4)[kept], 0)], corners[kept])
    origin = np.concatenate([np.arange(len(is_near), dtype=np.int64), node[extra]])
    return indices(tets), indices(origin)
