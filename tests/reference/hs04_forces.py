# SPDX-License-Identifier: GPL-3.0-or-later
"""Forces of the formulations of HS04 in plain NumPy, tet by tet: what the page's force errors are checked against.

With F = Ds Dm⁻¹ node a of a tet feels −V P g_a, and P is

    linear   μ (F + Fᵀ − 2) + λ tr(F − 1)
    polar    R (2μ (S − 1) + λ tr(S − 1)),        F = R S
    green    F (2μ E + λ tr(E)),                  E = ½ (FᵀF − 1)
    hybrid   2μ R (S − 1) + λ tr(E) F

A node i of a warped body feels −R_i Σ_j k_ij (R_iᵀ x_j − X_j), with the k_ij of linear tets at rest.
"""

from __future__ import annotations

import numpy as np

I3 = np.eye(3)


def shape(X, tet):
    """Returns the gradients g_a of a tet, (4, 3), and its volume."""
    D = (X[tet[1:]] - X[tet[0]]).T
    g = np.linalg.inv(D)
    return np.concatenate([[-g.sum(axis=0)], g]), np.linalg.det(D) / 6.0


def polar(F):
    """Returns the nearest rotation R."""
    U, s, Vt = np.linalg.svd(F)
    return U @ np.diag([1.0, 1.0, np.linalg.det(U @ Vt)]) @ Vt


def stress(name, F, mu, lam):
    """Returns P [Pa], (3, 3)."""
    R = polar(F)
    S = R.T @ F
    E = 0.5 * (F.T @ F - I3)
    return {
        "linear": mu * (F + F.T - 2 * I3) + lam * np.trace(F - I3) * I3,
        "polar": R @ (2 * mu * (S - I3) + lam * np.trace(S - I3) * I3),
        "green": F @ (2 * mu * E + lam * np.trace(E) * I3),
        "hybrid": 2 * mu * R @ (S - I3) + lam * np.trace(E) * F,
    }[name]


def forces(name, X, tets, x, mu, lam):
    """Returns the elastic forces on the nodes [N], (n, 3)."""
    if name == "vertex-warp":
        return warped_forces(X, tets, x, mu, lam)
    f = np.zeros_like(x)
    for tet in tets:
        g, V = shape(X, tet)
        F = x[tet].T @ g
        f[tet] -= V * g @ stress(name, F, mu, lam).T
    return f


def warped_forces(X, tets, x, mu, lam):
    """Returns the forces of MDMJC02 (12), rotations by (14) and (15)."""
    around = [set() for _ in X]
    for tet in tets:
        for i in tet:
            around[i] |= set(tet) - {i}
    R = [polar(sum(np.outer(x[j] - x[i], X[j] - X[i]) for j in around[i])) for i in range(len(X))]
    f = np.zeros_like(x)
    for tet in tets:
        g, V = shape(X, tet)
        for a, i in enumerate(tet):
            for b, j in enumerate(tet):
                k = V * (lam * np.outer(g[a], g[b]) + mu * np.outer(g[b], g[a]) + mu * (g[a] @ g[b]) * I3)
                f[i] -= R[i] @ k @ (R[i].T @ x[j] - X[j])
    return f
