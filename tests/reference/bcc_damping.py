# SPDX-License-Identifier: GPL-3.0-or-later
"""S07, appendix D.2: damping of body-centred tets by five numbers each, a slow twin.

Every tet of a body-centred lattice is γ Q times the one with the edges (1, 0, 0), (½, ½, −½), (½, ½, ½), so Dm⁻¹
follows from γ and a rotation Q, and products with the canonical one are sums and differences. Kept per tet are Q, as
three numbers, and α̂ = V γ⁻² α, β̂ = V γ⁻² β.

The text's G_d lacks the sign of a damping force, and its R is the element's rotation times Q; with F = Ds Dm⁻¹ for
the rotation of the moment.
"""

import itertools

import numpy as np
from scipy.spatial.transform import Rotation

INVERSE = np.array([[1.0, -1.0, 0.0], [0.0, 1.0, -1.0], [0.0, 1.0, 1.0]])
EVEN = [p for p in itertools.permutations(range(4)) if round(np.linalg.det(np.eye(4)[list(p)])) == 1]
NEAR = 1.0e-9


def five_scalars(model):
    """Returns rows of (order of the corners, rotation vector of Q, α̂, β̂), (m, 6), and which tets are such tets."""
    five, found = np.zeros((model.tet_count, 6)), np.zeros(model.tet_count, bool)
    for tet, n in enumerate(model.tets):
        for order, corners in enumerate(EVEN):
            X = model.X[n[list(corners)]]
            Dm = (X[1:] - X[0]).T
            size = np.cbrt(2.0 * np.linalg.det(Dm))
            Q = Dm @ INVERSE / size
            if np.abs(Q @ Q.T - np.eye(3)).max() < NEAR:
                scale = model.volume[tet] / size**2 * model.stiffness_damping[tet]
                turn = Rotation.from_matrix(Q).as_rotvec()
                five[tet], found[tet] = [order, *turn, scale * model.lam[tet], scale * model.mu[tet]], True
                break
    return five, found


def damping_of_five(five, x, v):
    """Returns the damping forces on the four nodes [N], (4, 3), of positions x [m] and velocities v [m/s]."""
    corners = list(EVEN[int(five[0])])
    Q, alpha, beta = Rotation.from_rotvec(five[1:4]).as_matrix(), five[4], five[5]
    x0, x1, x2, x3 = x[corners]
    v0, v1, v2, v3 = v[corners]
    # Ds times the canonical inverse, by sums and differences
    shape = np.column_stack([x1 - x0, x2 + x3 - x0 - x1, x3 - x2])
    rate = np.column_stack([v1 - v0, v2 + v3 - v0 - v1, v3 - v2])
    u, _, w = np.linalg.svd(shape @ Q.T)  # γ F
    R = u @ np.diag([1.0, 1.0, np.linalg.det(u @ w)]) @ w @ Q
    local = R.T @ rate
    H = R @ (beta * (local + local.T) + alpha * np.trace(local) * np.eye(3))
    # times the transposed canonical inverse
    g1, g2, g3 = -(H[:, 0] - H[:, 1]), -(H[:, 1] - H[:, 2]), -(H[:, 1] + H[:, 2])
    force = np.empty((4, 3))
    force[corners] = [-(g1 + g2 + g3), g1, g2, g3]
    return force
