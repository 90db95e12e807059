# SPDX-License-Identifier: GPL-3.0-or-later
"""Linear, polar and QR tets once more, slowly, tet by tet: with 6×12 matrices B as the papers write them."""

from __future__ import annotations

import numpy as np

from sinew.solver.scene.formulation import HIGHAM, LINEAR, QR

SHAPES = np.array([[-1.0, -1.0, -1.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]])  # ∂N/∂(edges), (4, 3)


def edges(corners):
    """Edges from the first corner as columns, (3, 3)."""
    return (corners[1:] - corners[0]).T


def strain_displacement(g):
    """B, strain (xx, yy, zz, 2xy, 2yz, 2zx) ← displacements, (6, 12), of gradients g, (4, 3)."""
    B = np.zeros((6, 12))
    for a, (x, y, z) in enumerate(g):
        B[:, 3 * a : 3 * a + 3] = [[x, 0, 0], [0, y, 0], [0, 0, z], [y, x, 0], [0, z, y], [z, 0, x]]
    return B


def elasticity(mu, lam):
    """E of an isotropic solid, (6, 6)."""
    E = np.diag([2 * mu] * 3 + [mu] * 3)
    E[:3, :3] += lam
    return E


def six(e):
    """A symmetric strain as the six of B, shear angles doubled."""
    return np.array([e[0, 0], e[1, 1], e[2, 2], 2 * e[0, 1], 2 * e[1, 2], 2 * e[2, 0]])


def tensor_of(s):
    """The tensor of a strain of six, whose shear angles are doubled."""
    return tensor([s[0], s[1], s[2], 0.5 * s[3], 0.5 * s[4], 0.5 * s[5]])


def tensor(o):
    """xx, yy, zz, xy, yz, zx as a matrix."""
    return np.array([[o[0], o[3], o[5]], [o[3], o[1], o[4]], [o[5], o[4], o[2]]])


def axes(D):
    """Right-handed axes by Gram and Schmidt: along the first column of D, in the plane of the first two, across."""
    first = D[:, 0] / np.linalg.norm(D[:, 0])
    second = D[:, 1] - (D[:, 1] @ first) * first
    second /= np.linalg.norm(second)
    return np.column_stack([first, second, np.cross(first, second)])


def rotation(method, D, D0):
    """R of a tet whose edges are D, and D0 at rest."""
    if method.name == LINEAR:
        return np.eye(3)
    if method.name == QR:
        return axes(D) @ axes(D0).T
    U, _, Vt = np.linalg.svd(D @ np.linalg.inv(D0))
    if method.rotation != HIGHAM and np.linalg.det(U @ Vt) < 0:
        U[:, 2] *= -1
    return U @ Vt


class Tet:
    """One tet at corners x, (4, 3): rotation, strain, forces and stiffness of it."""

    def __init__(self, method, X, x, volume, mu, lam, initial=None, R=None):
        D0, D = edges(X), edges(x)
        self.F = D @ np.linalg.inv(D0)
        self.R = rotation(method, D, D0) if R is None else R
        U = self.R.T @ self.F
        self.strain = 0.5 * (U + U.T) - np.eye(3)
        if method.name == QR and not method.is_stale:
            # gradients of the shape functions over the present tet in its own axes, times its volume over that at rest
            local = self.R.T @ D
            g = SHAPES @ cofactors(local).T / np.linalg.det(D0)
            # with the same B as the force, of displacements in these axes
            u = np.vstack([np.zeros(3), (local - D0).T])
            self.strain = tensor_of(strain_displacement(g) @ u.ravel())
        else:
            g = SHAPES @ np.linalg.inv(D0)
        self.strain = self.strain - (0.0 if initial is None else tensor(initial))
        self.B, E, T = strain_displacement(g), elasticity(mu, lam), np.kron(np.eye(4), self.R)
        self.K = volume * T @ self.B.T @ E @ self.B @ T.T
        self.force = (-volume * T @ self.B.T @ E @ six(self.strain)).reshape(4, 3)
        self.energy = 0.5 * volume * six(self.strain) @ E @ six(self.strain)


def cofactors(D):
    """cof(D) = det(D) D⁻ᵀ, for singular D too, (3, 3)."""
    a, b, c = D.T
    return np.column_stack([np.cross(b, c), np.cross(c, a), np.cross(a, b)])


def forces_and_stiffness(model, method, x, frames=None):
    """Forces on the nodes, (n, 3), and K of the whole mesh, (3n, 3n), and the energy."""
    n = model.node_count
    force, K, energy = np.zeros((n, 3)), np.zeros((n, 3, n, 3)), 0.0
    for t, nodes in enumerate(model.tets):
        initial = model.initial_strain[t] if len(model.initial_strain) else None
        X = np.zeros((4, 3))
        X[1:] = np.linalg.inv(model.Dm_inverse[t]).T  # the rest shape that the tet has by now
        R = None if frames is None else frames[t]
        tet = Tet(method, X, x[nodes], model.volume[t], model.mu[t], model.lam[t], initial, R)
        force[nodes] += tet.force
        energy += tet.energy
        block = tet.K.reshape(4, 3, 4, 3)
        for a in range(4):
            for b in range(4):
                K[nodes[a], :, nodes[b], :] += block[a, :, b, :]
    return force, K.reshape(3 * n, 3 * n), energy
