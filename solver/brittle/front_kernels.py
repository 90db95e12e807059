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
        # three rows at once: a number of the work space is read and written once for them
        for j in range(0, rows, 3):
            p = value_start[f] + j * size
            q, s = p + size, p + 2 * size
            a = room[j] / values[p + j]
            b = (room[j + 1] - values[p + j + 1] * a) / values[q + j + 1]
            c = (room[j + 2] - values[p + j + 2] * a - values[q + j + 2] * b) / values[s + j + 2]
            room[j], room[j + 1], room[j + 2] = a, b, c
            for k in range(j + 3, size):
                room[k] -= values[p + k] * a + values[q + k] * b + values[s + k] * c
        for k in range(begin, end):
            for r in range(3):
                x[3 * nodes[k] + r] = room[3 * (k - begin) + r]
    for f in range(len(own) - 1, -1, -1):
        begin, end = node_start[f], node_start[f + 1]
        size, rows = 3 * (end - begin), 3 * own[f]
        for k in range(begin, end):
            for r in range(3):
                room[3 * (k - begin) + r] = x[3 * nodes[k] + r]
        for j in range(rows - 3, -1, -3):
            p = value_start[f] + j * size
            q, s = p + size, p + 2 * size
            # six sums at once: one alone waits for its own last addition
            a, b, c, d, e, g, k = room[j], room[j + 1], room[j + 2], 0.0, 0.0, 0.0, j + 3
            while k + 2 <= size:
                x0, x1 = room[k], room[k + 1]
                a -= values[p + k] * x0
                b -= values[q + k] * x0
                c -= values[s + k] * x0
                d -= values[p + k + 1] * x1
                e -= values[q + k + 1] * x1
                g -= values[s + k + 1] * x1
                k += 2
            if k < size:
                a -= values[p + k] * room[k]
                b -= values[q + k] * room[k]
                c -= values[s + k] * room[k]
            c = (c + g) / values[s + j + 2]
            b = (b + e - values[q + j + 2] * c) / values[q + j + 1]
            room[j] = (a + d - values[p + j + 1] * b - values[p + j + 2] * c) / values[p + j]
            room[j + 1], room[j + 2] = b, c
        for k in range(begin, begin + own[f]):
            for r in range(3):
                x[3 * nodes[k] + r] = room[3 * (k - begin) + r]
