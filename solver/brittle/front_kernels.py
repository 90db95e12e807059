# SPDX-License-Identifier: GPL-3.0-or-later
"""Kernels of the factor of a cracking body: dense matrices of groups of tets, and solves with the factors of all."""

from __future__ import annotations

from ..runtime.jit import kernel


@kernel()
def add_linear_stiffness(places, gradients, weight, mu, lam, shift, F):
    """Adds the stiffness of displacements that are linear in tets to a dense matrix, (3 n, 3 n) [N/m].

    Args:
        places: Of the corners of the tets in the matrix, −1 where there is none, (k, 4).
        gradients: ∇λ [1/m], (k, 4, 3).
        weight: Volumes of material [m³], (k,).
        mu, lam: Lamé's moduli [Pa].
        shift: Of its diagonal, by which each tet is stiffer.
        F: The matrix.
    """
    for tet in range(len(places)):
        g = gradients[tet]
        m, c = weight[tet] * mu, weight[tet] * lam
        for i in range(4):
            if places[tet, i] < 0:
                continue
            for j in range(4):
                if places[tet, j] < 0:
                    continue
                row, column = 3 * places[tet, i], 3 * places[tet, j]
                dot = m * (g[i, 0] * g[j, 0] + g[i, 1] * g[j, 1] + g[i, 2] * g[j, 2])
                for r in range(3):
                    for s in range(3):
                        value = c * g[i, r] * g[j, s] + m * g[i, s] * g[j, r]
                        if r == s:
                            value += dot
                            if i == j:
                                value *= 1.0 + shift
                        F[row + r, column + s] += value


@kernel()
def add_dense_blocks(places, S, F):
    """Adds a matrix of nodes, (3 k, 3 k), to one in which they have other places, (k,)."""
    for i in range(len(places)):
        for j in range(len(places)):
            row, column = 3 * places[i], 3 * places[j]
            for r in range(3):
                for s in range(3):
                    F[row + r, column + s] += S[3 * i + r, 3 * j + s]


@kernel(allow_fma=True)
def solve_fronts(node_start, nodes, own, value_start, values, x, room):
    """Puts A⁻¹ x into x, (3 n,), with the factors of fronts, children before their parents.

    Args:
        node_start, nodes: Of each front its nodes, those first that it eliminates, (f + 1,) and (t,).
        own: How many it eliminates, (f,).
        value_start, values: Its rows of Uᵀ U = A, full ones of all its nodes, (f + 1,) and flat.
        x: Right-hand side and solution.
        room: Work space for the numbers of a front.
    """
    for f in range(len(own)):
        begin, end = node_start[f], node_start[f + 1]
        size, rows = 3 * (end - begin), 3 * own[f]
        for k in range(begin, end):
            for r in range(3):
                room[3 * (k - begin) + r] = x[3 * nodes[k] + r]
        for j in range(rows):
            at = value_start[f] + j * size
            y = room[j] / values[at + j]
            room[j] = y
            for k in range(j + 1, size):
                room[k] -= values[at + k] * y
        for k in range(begin, end):
            for r in range(3):
                x[3 * nodes[k] + r] = room[3 * (k - begin) + r]
    for f in range(len(own) - 1, -1, -1):
        begin, end = node_start[f], node_start[f + 1]
        size, rows = 3 * (end - begin), 3 * own[f]
        for k in range(begin, end):
            for r in range(3):
                room[3 * (k - begin) + r] = x[3 * nodes[k] + r]
        for j in range(rows - 1, -1, -1):
            at = value_start[f] + j * size
            # four sums at once: one alone waits for its own last addition
            a, b, c, d, k = room[j], 0.0, 0.0, 0.0, j + 1
            while k + 4 <= size:
                a -= values[at + k] * room[k]
                b -= values[at + k + 1] * room[k + 1]
                c -= values[at + k + 2] * room[k + 2]
                d -= values[at + k + 3] * room[k + 3]
                k += 4
            while k < size:
                a -= values[at + k] * room[k]
                k += 1
            room[j] = (a + b + (c + d)) / values[at + j]
        for k in range(begin, begin + own[f]):
            for r in range(3):
                x[3 * nodes[k] + r] = room[3 * (k - begin) + r]
