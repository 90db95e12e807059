# SPDX-License-Identifier: GPL-3.0-or-later
"""Slow twins of warped stiffness per vertex, in plain NumPy: MDMJC02 (12) and (14) to (16), and BiCGSTAB in loops."""

from __future__ import annotations

import numpy as np


def linear_stiffness(X, tets, mu, lam):
    """Returns the whole matrix of linear tets, (3n, 3n), by B and E."""
    K = np.zeros((3 * len(X), 3 * len(X)))
    for k, tet in enumerate(tets):
        Dm = (X[tet[1:]] - X[tet[0]]).T
        g = np.vstack([-np.linalg.inv(Dm).sum(axis=0), np.linalg.inv(Dm)])
        B = np.zeros((6, 12))
        for a in range(4):
            x, y, z = g[a]
            B[:, 3 * a : 3 * a + 3] = [[x, 0, 0], [0, y, 0], [0, 0, z], [y, x, 0], [0, z, y], [z, 0, x]]
        E = np.zeros((6, 6))
        E[:3, :3] = lam[k]
        E += np.diag([2 * mu[k]] * 3 + [mu[k]] * 3)
        at = (3 * tet[:, None] + np.arange(3)).ravel()
        K[np.ix_(at, at)] += np.linalg.det(Dm) / 6.0 * B.T @ E @ B
    return K


def spring_stiffness(X, tets, youngs):
    """Returns the Jacobian of the forces of springs along the edges of tets at rest, (3n, 3n), each edge by itself."""
    K = np.zeros((3 * len(X), 3 * len(X)))
    for k, tet in enumerate(tets):
        volume = np.linalg.det((X[tet[1:]] - X[tet[0]]).T) / 6.0
        for a in range(4):
            for b in range(a):
                i, j = tet[a], tet[b]
                d = (X[j] - X[i]) / np.linalg.norm(X[j] - X[i])
                block = youngs[k] * volume / np.linalg.norm(X[j] - X[i]) ** 2 * np.outer(d, d)
                for p, q, sign in ((i, i, 1), (j, j, 1), (i, j, -1), (j, i, -1)):
                    K[3 * p : 3 * p + 3, 3 * q : 3 * q + 3] += sign * block
    return K


def neighbours(tets, count):
    """Returns the nodes that each node has an edge with."""
    found = [set() for _ in range(count)]
    for tet in tets:
        for i in tet:
            found[i] |= {int(j) for j in tet if j != i}
    return [sorted(of) for of in found]


def least_squares_rotations(X, tets, x):
    """Returns R per node, (n, 3, 3), by (14) and (15) with singular values."""
    rotations = []
    for i, near in enumerate(neighbours(tets, len(X))):
        F = sum(np.outer(X[j] - X[i], x[j] - x[i]) for j in near)
        U, _, Vt = np.linalg.svd(F)
        V = Vt.T
        if np.linalg.det(V @ U.T) < 0:
            V[:, 2] *= -1
        rotations.append(V @ U.T)
    return np.array(rotations)


def edge_rotations(X, x, chosen):
    """Returns R per node by (16), for the other ends of three edges per node, (n, 3)."""
    return np.array([_frame(x[ends] - x[i]) @ _frame(X[ends] - X[i]).T for i, ends in enumerate(chosen)])


def _frame(edges):
    n1 = edges.mean(axis=0) / np.linalg.norm(edges.mean(axis=0))
    n2 = np.cross(n1, edges[0])
    n2 /= np.linalg.norm(n2)
    return np.stack([n1, n2, np.cross(n1, n2)], axis=1)


def warped_forces(K, X, rotations, x):
    """Returns f_i = −R_i Σ_j k_ij (R_iᵀ x_j − X_j), (n, 3): (12)."""
    f = np.zeros_like(x)
    for i, R in enumerate(rotations):
        for j in range(len(x)):
            f[i] -= R @ K[3 * i : 3 * i + 3, 3 * j : 3 * j + 3] @ (R.T @ x[j] - X[j])
    return f


def warped_stiffness(K, rotations):
    """Returns the matrix of blocks R_i k_ij R_iᵀ, (3n, 3n)."""
    out = np.zeros_like(K)
    for i, R in enumerate(rotations):
        for j in range(len(rotations)):
            at = np.s_[3 * i : 3 * i + 3, 3 * j : 3 * j + 3]
            out[at] = R @ K[at] @ R.T
    return out


def whole(pattern, values):
    """Returns a matrix of blocks as a whole one, (3n, 3n)."""
    A = np.zeros((3 * pattern.node_count, 3 * pattern.node_count))
    for i in range(pattern.node_count):
        for k in range(pattern.row_start[i], pattern.row_start[i + 1]):
            j = int(pattern.column[k])
            A[3 * i : 3 * i + 3, 3 * j : 3 * j + 3] = values[k].reshape(3, 3)
    return A
