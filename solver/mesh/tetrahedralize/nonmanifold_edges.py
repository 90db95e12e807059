# SPDX-License-Identifier: GPL-3.0-or-later
"""Closes hinges: places where two lumps of tets share an edge and no face, about which they would fold like a door.

They come where a surface is about as thin as a tet. At such an edge each lump has two faces on the outside, and each
of the gaps beside it lies between a face of the one and a face of the other: a tet in the gap holds them together.
"""

from __future__ import annotations

import itertools
from collections import Counter, defaultdict

import numpy as np

from ...runtime.arrays import Bools, Floats, Indices
from ..geometry.connected_components import connected_components
from ..local_tet_numbering import FACES_OPPOSITE_NODES
from ..tet_mesh import FilledTets
from ..tet_quality import dihedral_angles, signed_volumes

# Angles between faces [degrees] that a tet in a gap may have: within what stuffing promises.
MIN_DIHEDRAL, MAX_DIHEDRAL = 12.0, 160.0


def face_connected_parts(tets: Indices) -> Indices:
    """Returns which lump each tet belongs to, numbered from zero, (m,): tets of a lump hang together by faces."""
    first, second, _ = _face_pairs(tets)
    return connected_components(first.astype(np.int32), second.astype(np.int32), len(tets))


def close_nonmanifold_edges(filling: FilledTets) -> FilledTets:
    """Returns the tets with those added that fit into the gaps at hinges; nodes stay."""
    nodes, tets = filling.nodes, filling.tets
    first, second, is_outside = _face_pairs(tets)
    lump = connected_components(first.astype(np.int32), second.astype(np.int32), len(tets))
    if not lump.max(initial=0):
        return filling
    added = _select_well_shaped(nodes, tets, *_gap_tets(nodes, tets, lump, is_outside))
    if not len(added):
        return filling
    return FilledTets(nodes, np.concatenate([tets, added]), np.concatenate([filling.fill, np.ones(len(added))]))


def _face_pairs(tets: Indices) -> tuple[Indices, Indices, Bools]:
    """Returns the two tets at each inner face, (k,) twice, and whether each face of each tet is outside, (m, 4)."""
    corners = np.sort(tets[:, FACES_OPPOSITE_NODES].reshape(-1, 3), axis=1).astype(np.int64)
    count = int(tets.max(initial=0)) + 1
    key = (corners[:, 0] * count + corners[:, 1]) * count + corners[:, 2]
    order = np.argsort(key, kind="stable")
    same = np.flatnonzero(key[order][1:] == key[order][:-1])
    is_outside = np.ones(len(corners), bool)
    is_outside[order[same]] = is_outside[order[same + 1]] = False
    return order[same] // 4, order[same + 1] // 4, is_outside.reshape(-1, 4)


def _gap_tets(nodes: Floats, tets: Indices, lump: Indices, is_outside: Bools) -> tuple[Indices, list[tuple]]:
    """Returns tets (u, v, a, b) in the gaps at edges u v between faces u v a and u v b of two lumps; these faces."""
    tet, face = np.nonzero(is_outside)
    corners = tets[tet[:, None], np.array(FACES_OPPOSITE_NODES, np.int64)[face]]
    at_edge = defaultdict(list)
    edges = np.sort(corners[:, ((0, 1), (1, 2), (2, 0))], axis=2)
    of_edge, times = np.unique(edges.reshape(-1, 2), axis=0, return_inverse=True, return_counts=True)[1:]
    for side in np.flatnonzero(times[of_edge.ravel()] > 2):
        at_edge[of_edge.ravel()[side]].append(side)
    found, sides = [], []
    for members in at_edge.values():
        for one, other in itertools.combinations(members, 2):
            if lump[tet[one // 3]] == lump[tet[other // 3]]:
                continue
            u, v = (corners[one // 3, (one + k) % 3] for k in (0, 1))
            a, b = corners[one // 3, (one + 2) % 3], corners[other // 3, (other + 2) % 3]
            if a != b and _is_outside(nodes, corners[one // 3], b) and _is_outside(nodes, corners[other // 3], a):
                found.append((u, v, a, b))
                sides.append((one // 3, other // 3))
    return np.array(found, np.int32).reshape(-1, 4), sides


def _is_outside(nodes: Floats, face: Indices, point: int) -> bool:
    p, q, r = nodes[face]
    return bool(np.cross(q - p, r - p) @ (nodes[point] - p) > 0.0)


def _select_well_shaped(nodes: Floats, tets: Indices, candidates: Indices, sides: list[tuple]) -> Indices:
    """Returns those of the candidates that are well shaped, best first, with every face outside used once, (k, 4)."""
    turned = signed_volumes(nodes, candidates) < 0.0
    candidates[turned] = candidates[turned][:, [1, 0, 2, 3]]
    with np.errstate(divide="ignore", invalid="ignore"):
        angles = dihedral_angles(nodes, candidates)
    least = np.nan_to_num(angles.min(axis=1, initial=180.0))
    good = (least >= MIN_DIHEDRAL) & (angles.max(axis=1, initial=0.0) <= MAX_DIHEDRAL)
    times = Counter(
        frozenset(f) for t in _adjacent_tets(tets, candidates).tolist() for f in itertools.combinations(t, 3)
    )
    taken: set[int] = set()
    chosen = []
    for number in np.argsort(-least, kind="stable"):
        own = [frozenset(f) for f in itertools.combinations(candidates[number].tolist(), 3)]
        if good[number] and not taken.intersection(sides[number]) and max(times[f] for f in own) < 2:
            taken.update(sides[number])
            times.update(own)
            chosen.append(number)
    return candidates[chosen]


def _adjacent_tets(tets: Indices, candidates: Indices) -> Indices:
    """Returns the tets that share a face's worth of nodes with any of the candidates, (k, 4)."""
    return tets[np.isin(tets, candidates).sum(axis=1) >= 3]
