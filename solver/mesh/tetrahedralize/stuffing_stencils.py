# SPDX-License-Identifier: GPL-3.0-or-later
"""How each tet of the lattice is cut at the surface, and how what is inside is split into tets.

A tet with nodes inside (P), on the surface (Z) and outside (N), and cuts c on its edges from P to N, gives

    P Z Z N, P Z N N, P N N N   one tet
    P P Z N                     a pyramid: two tets
    P P N N, P P P N            a prism: three tets

A quadrilateral P Q c_Q c_P on a face P Q N is split by the diagonal from P to c_Q or from Q to c_P. Both tets at that
face have to choose the same one, so the choice depends on the face alone: where one of P N and Q N is a long edge,
the diagonal ends at its cut; where P Q is the long edge, it starts at the end that N exceeds in an even number of
coordinates.

Source: Labelle and Shewchuk (2007), Isosurface Stuffing, section 3.3 and figure 3.
"""

from __future__ import annotations

import functools
import itertools

import numpy as np

from ...runtime.arrays import Indices
from ..local_tet_numbering import TET_EDGES

# The node of a tet at the other end of its long edge.
LONG_EDGE_PARTNER = (1, 0, 3, 2)
# The faces with a long edge, and the node of that edge that the parity rule looks at: (its nodes, the third node).
PARITY_FACES = ((0, 1, 2), (0, 1, 3), (2, 3, 0), (2, 3, 1))
CUT_SLOT = {frozenset(edge): 4 + slot for slot, edge in enumerate(TET_EDGES)}

Slots = tuple[int, int, int, int]


def split_tets(tets: Indices, signs: np.ndarray, coordinates: Indices, cut_nodes: Indices) -> Indices:
    """Returns the tets into which what is inside of cut tets is split, (k, 4).

    Args:
        tets: Nodes, long edges 0–1 and 2–3, positively oriented, each with a node inside and one outside, (m, 4).
        signs: 1 inside, 0 on the surface, -1 outside, (n,).
        coordinates: Points in half cells, (n, 3).
        cut_nodes: Node on each cut edge of each tet, in the order of `TET_EDGES`, (m, 6).
    """
    slots, counts = stencil_table()
    case = (signs[tets] + 1) @ np.array([27, 9, 3, 1], np.int64)
    for p, _, n in PARITY_FACES:
        greater = (coordinates[tets[:, n]] > coordinates[tets[:, p]]).sum(axis=1)
        case = 2 * case + (greater % 2 == 0)
    nodes = np.concatenate([tets, cut_nodes], axis=1)
    count = counts[case]
    rows = np.repeat(np.arange(len(tets), dtype=np.int64), count)
    which = np.arange(len(rows), dtype=np.int64) - np.repeat(np.cumsum(count, dtype=np.int64) - count, count)
    return nodes[rows[:, None], slots[case[rows], which]]


@functools.cache
def stencil_table() -> tuple[Indices, np.ndarray]:
    """Returns for each case the slots of up to three tets, (81 · 16, 3, 4), and how many they are, (81 · 16,).

    Slots 0 to 3 are the tet's nodes, 4 to 9 the cuts on its edges. A case is the nodes' signs in base 3, then whether
    the diagonal of each of `PARITY_FACES` starts at its first node in base 2.
    """
    slots = np.zeros((81 * 16, 3, 4), np.int32)
    counts = np.zeros(81 * 16, np.int64)
    for case, (signs, starts) in enumerate(
        itertools.product(itertools.product((-1, 0, 1), repeat=4), itertools.product((False, True), repeat=4))
    ):
        if max(signs) == 1 and min(signs) == -1:
            tets = split_case((signs[0], signs[1], signs[2], signs[3]), dict(zip(PARITY_FACES, starts, strict=True)))
            slots[case, : len(tets)] = tets
            counts[case] = len(tets)
    return slots, counts


def split_case(signs: Slots, starts: dict[tuple[int, int, int], bool]) -> list[Slots]:
    """Returns the tets of one case as slots.

    Args:
        signs: 1 inside, 0 on the surface, -1 outside, of nodes 0 to 3.
        starts: Whether the diagonal of each of `PARITY_FACES` starts at its first node.
    """
    p, q, r, n = sorted(range(4), key=lambda node: -signs[node])
    is_even = _is_even((p, q, r, n))
    inside, outside = signs.count(1), signs.count(-1)
    if inside == 1:
        ends = [cut_slot(p, node) if signs[node] < 0 else node for node in (q, r, n)]
        return [_oriented((p, ends[0], ends[1], ends[2]), is_even)]
    if inside == 2 and outside == 1:
        if not starts_at_first(p, q, n, starts):
            p, q, is_even = q, p, not is_even
        pyramid = [(p, q, r, cut_slot(q, n)), (p, cut_slot(q, n), r, cut_slot(p, n))]
        return [_oriented(tet, is_even) for tet in pyramid]
    if inside == 2:
        first, second = starts_at_first(p, q, r, starts), starts_at_first(p, q, n, starts)
        # the quadrilateral on the surface belongs to this tet alone: it is split so that the prism can be split
        return _split_prism(
            (p, cut_slot(p, r), cut_slot(p, n)),
            (q, cut_slot(q, r), cut_slot(q, n)),
            (first, second, not first),
            is_even,
        )
    before = starts_at_first(p, q, n, starts), starts_at_first(p, r, n, starts), starts_at_first(q, r, n, starts)
    return _split_prism((p, q, r), (cut_slot(p, n), cut_slot(q, n), cut_slot(r, n)), before, is_even)


def cut_slot(a: int, b: int) -> int:
    """Returns the slot of the cut on the edge between two nodes."""
    return CUT_SLOT[frozenset((a, b))]


def starts_at_first(p: int, q: int, n: int, starts: dict[tuple[int, int, int], bool]) -> bool:
    """Whether the diagonal of the quadrilateral p q c_q c_p starts at p (else at q)."""
    if LONG_EDGE_PARTNER[p] == q:
        return starts[(min(p, q), max(p, q), n)] == (p < q)
    return LONG_EDGE_PARTNER[q] == n


def _split_prism(a: tuple[int, ...], b: tuple[int, ...], before: tuple[bool, bool, bool], is_even: bool) -> list[Slots]:
    """Splits the prism a0 a1 a2 – b0 b1 b2 whose side i j has the diagonal ai bj where i comes before j.

    Args:
        a, b: Slots of the two triangles.
        before: Whether 0 comes before 1, 0 before 2, 1 before 2.
        is_even: Whether (a0, a1, a2, b2) is positively oriented.
    """
    wins = [before[0] + before[1], (not before[0]) + before[2], (not before[1]) + (not before[2])]
    i, j, k = sorted(range(3), key=lambda corner: -wins[corner])
    is_even = is_even == _is_even((i, j, k))
    tets = [(a[i], a[j], a[k], b[k]), (a[i], a[j], b[k], b[j]), (a[i], b[j], b[k], b[i])]
    return [_oriented(tet, is_even) for tet in tets]


def _oriented(tet: Slots, is_even: bool) -> Slots:
    return tet if is_even else (tet[0], tet[1], tet[3], tet[2])


def _is_even(order: tuple[int, ...]) -> bool:
    return sum(x > y for x, y in itertools.combinations(order, 2)) % 2 == 0
