# SPDX-License-Identifier: GPL-3.0-or-later
"""What the stiffness of corotated tets lacks where their rotation is held: that forces turn with it.

With the stress σ, S = Rᵀ F and dΩ = skew(Rᵀ dF), the energy of isotropic corotated material has the second derivative

    dS : C : dS + Σ_k (σ_i + σ_j) / (s_i + s_j) ω_k²,    ω_k = √2 the axial vector of dΩ along the eigenvector k,

of which the first part is the stiffness with R held, and the second part this one. In the world, dΩ is half of
a = Σ_b (R g_b) × dx_b, so it is ½ aᵀ C a with

    C = ½ (tr T I − T) (tr S' I − S')⁻¹,    T = V R σ Rᵀ,    S' = F Rᵀ.

It is positive where tets are stretched and negative where they are compressed. Negative eigenvalues are dropped, so
that the matrix stays semidefinite.

Source: McAdams et al. (2011) for the derivative of a rotation; C by own derivation, see tests.
"""

from __future__ import annotations

import numpy as np

from ...linalg.semidefinite_projection import project_semidefinite
from ...runtime.jit import kernel
from .record_layout import FORCE, ROTATED_GRADIENTS, V_MU

LEAST_STRETCH_SUM = 0.1  # s_i + s_j below which a tet is next to flat or turned inside out, and gets nothing
LEAST_STRAIN = 0.02  # stress over V μ below which its turning does not count beside the stiffness


@kernel()
def add_rotation_stiffness(scale, x, tets, records, corner_block, values):
    """Adds the semidefinite part of what turning forces add to the stiffness.

    Args:
        scale: What it is multiplied with, such as Δt².
        x: Nodes [m], (n, 3).
        tets: Nodes of tets, (m, 4).
        records: Of tets there (`record_layout.py`), (m, …).
        corner_block: Of the `BlockPattern`.
        values: Blocks, (b, 9), changed.
    """
    S, T, C, room = np.empty((3, 3)), np.empty((3, 3)), np.empty((3, 3)), np.empty((3, 3))
    g, right = np.empty((4, 3)), np.empty((3, 3))
    for tet in range(len(tets)):
        if not records[tet, V_MU] > 0.0:  # what is not corotated
            continue
        for a in range(4):
            for i in range(3):
                g[a, i] = records[tet, ROTATED_GRADIENTS + 3 * a + i]
        _write_stretch_and_stress(x, tets[tet], g, records[tet], S, T)
        if not _is_strained(T, records[tet, V_MU]) or not _write_twist_stiffness(S, T, C, room):
            continue
        for b in range(4):
            for i in range(3):  # C [g_b]ₓ
                right[i, 0] = C[i, 1] * g[b, 2] - C[i, 2] * g[b, 1]
                right[i, 1] = C[i, 2] * g[b, 0] - C[i, 0] * g[b, 2]
                right[i, 2] = C[i, 0] * g[b, 1] - C[i, 1] * g[b, 0]
            for a in range(4):
                block = values[corner_block[4 * tet + a, b]]
                for j in range(3):  # [g_a]ₓᵀ of that
                    block[j] += scale * (g[a, 2] * right[1, j] - g[a, 1] * right[2, j])
                    block[3 + j] += scale * (g[a, 0] * right[2, j] - g[a, 2] * right[0, j])
                    block[6 + j] += scale * (g[a, 1] * right[0, j] - g[a, 0] * right[1, j])


@kernel(device_only=True)
def _is_strained(T, shear_stiffness):
    """Returns whether stress is enough for its turning to count beside the stiffness [N m]."""
    largest = 0.0
    for i in range(3):
        for j in range(3):
            largest = max(largest, abs(T[i, j]))
    return largest > LEAST_STRAIN * shear_stiffness


@kernel(device_only=True)
def _write_stretch_and_stress(x, nodes, g, record, S, T):
    """Writes F Rᵀ, and V R σ Rᵀ [N m], made symmetric, (3, 3) each."""
    volume = (
        g[1, 0] * (g[2, 1] * g[3, 2] - g[2, 2] * g[3, 1])
        + g[1, 1] * (g[2, 2] * g[3, 0] - g[2, 0] * g[3, 2])
        + g[1, 2] * (g[2, 0] * g[3, 1] - g[2, 1] * g[3, 0])
    )
    for i in range(3):
        for j in range(3):
            S[i, j] = 0.0
            T[i, j] = 0.0
    for a in range(1, 4):
        b, c = 1 + a % 3, 1 + (a + 1) % 3
        for j in range(3):
            k, m = (j + 1) % 3, (j + 2) % 3
            dual = (g[b, k] * g[c, m] - g[b, m] * g[c, k]) / volume
            for i in range(3):
                S[i, j] += (x[nodes[a], i] - x[nodes[0], i]) * g[a, j]
                T[i, j] -= record[FORCE + 3 * (a - 1) + i] * dual
    for i in range(3):
        for j in range(i):
            S[i, j] = S[j, i] = 0.5 * (S[i, j] + S[j, i])
            T[i, j] = T[j, i] = 0.5 * (T[i, j] + T[j, i])


@kernel(device_only=True)
def _write_twist_stiffness(S, T, C, room):
    """Writes the semidefinite part of C, (3, 3); returns whether there is any.

    Args:
        S, T: F Rᵀ, and V R σ Rᵀ [N m], (3, 3).
        C: Out [N m].
        room: (3, 3).
    """
    strain, stress = S[0, 0] + S[1, 1] + S[2, 2], T[0, 0] + T[1, 1] + T[2, 2]
    for i in range(3):
        for j in range(3):
            S[i, j] = (strain if i == j else 0.0) - S[i, j]
            T[i, j] = 0.5 * ((stress if i == j else 0.0) - T[i, j])
    determinant = 0.0
    for i in range(3):
        j, k = (i + 1) % 3, (i + 2) % 3
        determinant += S[0, i] * (S[1, j] * S[2, k] - S[1, k] * S[2, j])
    # positive definite with enough to divide by: all principal minors are
    if not (S[0, 0] > LEAST_STRETCH_SUM and S[0, 0] * S[1, 1] - S[0, 1] * S[1, 0] > LEAST_STRETCH_SUM**2):
        return False
    if not determinant > LEAST_STRETCH_SUM**3:
        return False
    for i in range(3):
        for j in range(3):
            a, b, c, d = (j + 1) % 3, (j + 2) % 3, (i + 1) % 3, (i + 2) % 3
            room[i, j] = (S[a, c] * S[b, d] - S[a, d] * S[b, c]) / determinant
    for i in range(3):
        for j in range(3):
            C[i, j] = 0.0
            for k in range(3):
                C[i, j] += T[i, k] * room[k, j]
    for i in range(3):
        for j in range(i):
            C[i, j] = C[j, i] = 0.5 * (C[i, j] + C[j, i])
    if _is_positive(C, 1.0):
        return True
    if _is_positive(C, -1.0):
        return False
    project_semidefinite(C, room)
    return True


@kernel(device_only=True)
def _is_positive(C, sign):
    """Returns whether sign · C, (3, 3), is positive definite, by its leading principal minors."""
    two = C[0, 0] * C[1, 1] - C[0, 1] * C[1, 0]
    three = (
        C[0, 2] * (C[1, 0] * C[2, 1] - C[1, 1] * C[2, 0])
        - C[1, 2] * (C[0, 0] * C[2, 1] - C[0, 1] * C[2, 0])
        + C[2, 2] * two
    )
    return sign * C[0, 0] > 0.0 and two > 0.0 and sign * three > 0.0
