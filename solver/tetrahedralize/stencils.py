# SPDX-License-Identifier: GPL-3.0-or-later
"""Cuts each tet of the lattice at the surface and splits what is inside into tets.

A tet with points inside (P), on the surface (Z) and outside (N), and cuts c on its edges from P to N:

    P Z Z N, P Z N N, P N N N   one tet
    P P Z N                     a pyramid: two tets
    P P N N, P P P N            a prism: three tets

A quadrilateral P Q c_Q c_P on a face P Q N is split by the diagonal from one of P, Q; both tets at that face have to
choose the same one, so the choice depends on the face only.

Source: Labelle and Shewchuk (2007), Isosurface Stuffing, section 3.3 and figure 3.
"""

from __future__ import annotations

import numpy as np

from ..jit import kernel

# Edge of a tet between two of its nodes, in the order of `edges.EDGES`.
EDGE_OF = np.array([[-1, 0, 1, 2], [0, -1, 3, 4], [1, 3, -1, 5], [2, 4, 5, -1]], np.int32)


@kernel()
def split_tets(tets, signs, coordinates, cut_nodes, edge_of, out):
    """Splits tets that have nodes inside and outside.

    Args:
        tets: Nodes, long edges 0–1 and 2–3, positively oriented, (m, 4).
        signs: 1 inside, 0 on the surface, -1 outside, (n,).
        coordinates: Points in half cells, (n, 3).
        cut_nodes: Node on each cut edge of each tet, (m, 6).
        edge_of: `EDGE_OF`, (4, 4).
        out: Tets, (3 m, 4); filled.

    Returns:
        How many tets there are.
    """
    count = 0
    order = np.empty(4, np.int64)
    a = np.empty(3, np.int64)
    b = np.empty(3, np.int64)
    before = np.empty((3, 3), np.bool_)
    for m in range(tets.shape[0]):
        even = sort_nodes(tets, m, signs, order)
        inside = 0
        outside = 0
        for k in range(4):
            if signs[tets[m, k]] > 0:
                inside += 1
            elif signs[tets[m, k]] < 0:
                outside += 1
        p, q, r, n = order[0], order[1], order[2], order[3]
        if inside == 1:
            for k in range(1, 4):
                b[k - 1] = tets[m, order[k]]
                if signs[tets[m, order[k]]] < 0:
                    b[k - 1] = cut_nodes[m, edge_of[p, order[k]]]
            count = add_tet(tets[m, p], b[0], b[1], b[2], even, count, out)
        elif inside == 2 and outside == 1:
            z = tets[m, r]
            cp = cut_nodes[m, edge_of[p, n]]
            cq = cut_nodes[m, edge_of[q, n]]
            if comes_first(tets, m, p, q, n, coordinates):
                count = add_tet(tets[m, p], tets[m, q], z, cq, even, count, out)
                count = add_tet(tets[m, p], cq, z, cp, even, count, out)
            else:
                count = add_tet(tets[m, q], tets[m, p], z, cp, not even, count, out)
                count = add_tet(tets[m, q], cp, z, cq, not even, count, out)
        elif inside == 2:
            a[0] = tets[m, p]
            a[1] = cut_nodes[m, edge_of[p, r]]
            a[2] = cut_nodes[m, edge_of[p, n]]
            b[0] = tets[m, q]
            b[1] = cut_nodes[m, edge_of[q, r]]
            b[2] = cut_nodes[m, edge_of[q, n]]
            before[0, 1] = comes_first(tets, m, p, q, r, coordinates)
            before[0, 2] = comes_first(tets, m, p, q, n, coordinates)
            # the quadrilateral on the surface belongs to this tet alone: split it so that the prism can be split
            before[1, 2] = not before[0, 1]
            count = add_prism(a, b, before, even, count, out)
        else:
            for k in range(3):
                a[k] = tets[m, order[k]]
                b[k] = cut_nodes[m, edge_of[order[k], n]]
            before[0, 1] = comes_first(tets, m, p, q, n, coordinates)
            before[0, 2] = comes_first(tets, m, p, r, n, coordinates)
            before[1, 2] = comes_first(tets, m, q, r, n, coordinates)
            count = add_prism(a, b, before, even, count, out)
    return count


@kernel()
def sort_nodes(tets, m, signs, order):
    """Sorts the nodes of a tet: inside, on the surface, outside. Returns whether that is an even permutation."""
    even = True
    for k in range(4):
        order[k] = k
        j = k
        while j > 0 and signs[tets[m, order[j - 1]]] < signs[tets[m, order[j]]]:
            order[j - 1], order[j] = order[j], order[j - 1]
            even = not even
            j -= 1
    return even


@kernel()
def comes_first(tets, m, p, q, n, coordinates):
    """Whether the diagonal of the quadrilateral p q c_q c_p on the face p q n starts at p (else at q).

    Args:
        tets, m: The tet.
        p, q: Its nodes inside, 0 to 3.
        n: Its node outside.
        coordinates: Points in half cells, (n, 3).
    """
    if p + q == 1 or p + q == 5:  # p q is long, both cuts are on short edges
        greater = 0
        for axis in range(3):
            if coordinates[tets[m, n], axis] > coordinates[tets[m, p], axis]:
                greater += 1
        return greater % 2 == 0
    return q + n == 1 or q + n == 5  # one cut is on a long edge: the diagonal ends there


@kernel()
def add_prism(a, b, before, even, count, out):
    """Splits the prism a0 a1 a2 – b0 b1 b2 whose side i, j has the diagonal ai bj where i comes before j.

    Args:
        a, b: Nodes of the two triangles, (3,).
        before: Whether i comes before j, for i < j, (3, 3).
        even: Whether (a0, a1, a2, b2) is positively oriented.
        count: Tets so far.
        out: Tets, (…, 4); filled.
    """
    first, second, third = 0, 1, 2
    if not before[0, 1]:
        first, second = 1, 0
    if before[0, 2] != before[1, 2]:  # 2 lies between them
        second, third = 2, second
    elif not before[0, 2]:
        first, second, third = 2, first, second
    if (second - first) % 3 != 1:
        even = not even
    count = add_tet(a[first], a[second], a[third], b[third], even, count, out)
    count = add_tet(a[first], a[second], b[third], b[second], even, count, out)
    return add_tet(a[first], b[second], b[third], b[first], even, count, out)


@kernel()
def add_tet(a, b, c, d, even, count, out):
    """Writes the tet a b c d, or a b d c where the order is odd."""
    out[count, 0] = a
    out[count, 1] = b
    out[count, 2] = c if even else d
    out[count, 3] = d if even else c
    return count + 1
