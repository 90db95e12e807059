# SPDX-License-Identifier: GPL-3.0-or-later
"""Energy, forces and stiffness of tets that are stretched beyond a limit, or pressed below a floor.

A tet with the singular values σ_i of its deformation gradient F = U diag(σ) Vᵀ, without signs, has the energy density

    ψ = Σ_i ⅓ κ E w d_i³,   d_i = max(σ_i − L, 0) / w,

so a fibre that is stretched to σ carries the stress p = κ E d² beside that of its material: none at the limit L, and κ
times Young's modulus at L + w. Both p and p' are continuous at L. ψ grows with every σ_i and is convex, so it is convex
in F, too: its Hessian is positive semi-definite, also where F is turned inside out, and needs no clamping.

With the volume V and the gradients g_a of the shape functions, node a feels −V P g_a, P = Σ_j p_j u_j v_jᵀ. In the
frame of U and V the Hessian joins δF̂_ij to δF̂_ji alone, i ≠ j:

    p_i' on δF̂_ii²,   a on δF̂_ij² + δF̂_ji²,   2 b on δF̂_ij δF̂_ji,
    a + b = (p_i − p_j) / (σ_i − σ_j),   a − b = (p_i + p_j) / (σ_i + σ_j).

Newton's method with p' needs many iterations where p is to vanish: from d it goes to d / 2, since p grows as d². The
stiffness may therefore be the chord from d to the d_e that bears the stress which the previous linear solve gave the
tet. With d₀, and d_e0, when that solve began,

    d_e² = max(d₀² + (d₀ + d_e0) (d − d₀), 0),   p'_e = κ E (d + d_e) / w

instead of 2 κ E d / w. Where the tet is at rest, d_e = d = d₀, and this is p'. Own derivation, after primal-dual
methods for constraints.

A tet with a floor L₀ > 0 also has ψ₀ = Σ_i ⅓ κ E w d_i³, d_i = max(L₀ − σ_i, 0) / w, where σ_3 < 0 if F is turned
inside out: a material that gives way under pressure keeps its side. ψ₀ is not convex, since what is pressed can turn
out of the way. So negative eigenvalues a ± b become 0.

Source: frame of S07, section 3.8; convexity of functions of singular values, Lewis (1995), The convex analysis of
unitarily invariant matrix functions.
"""

from __future__ import annotations

import math

import numpy as np

from ...runtime.jit import kernel
from ..hyperelastic.signed_svd import signed_svd

LIMIT_MARGIN = 0.1  # w: stretch beyond the limit at which the stress is κ E
# κ: Young's moduli that a tet bears at L + w; a shaken creature ten times as long as its arms are thick needs 300
LIMIT_STRESS = 500.0
MIN_STRETCH_DIFFERENCE = 1.0e-9  # below which a difference quotient is the derivative


@kernel()
def limit_derivatives(stretch, limit, modulus):
    """Returns ψ [J/m³], p = ψ' and p' [Pa] of one principal stretch."""
    d = max(stretch - limit, 0.0) / LIMIT_MARGIN
    stress = LIMIT_STRESS * modulus
    return stress * LIMIT_MARGIN * d * d * d / 3.0, stress * d * d, 2.0 * stress * d / LIMIT_MARGIN


@kernel()
def floor_derivatives(stretch, floor, modulus):
    """Returns ψ₀ [J/m³], p = ψ₀' and p' [Pa] of one principal stretch."""
    energy, stress, slope = limit_derivatives(-stretch, -floor, modulus)
    return energy, -stress, slope


@kernel(allow_fma=True)
def find_tets_below(begin, end, x, tets, Dm_inverse, floor, is_beyond):
    """Writes True for those of some tets that have a principal stretch below their floor.

    The smallest stretch is above L₀ where FᵀF − L₀² I is positive definite and F is not turned inside out.

    Args:
        begin, end: The first tet, and the one after the last.
        x, tets, Dm_inverse, is_beyond: See `find_tets_beyond`.
        floor: L₀, 0 where there is none, (m,).
    """
    F = np.empty((3, 3))
    for tet in range(begin, end):
        n, B, square = tets[tet], Dm_inverse[tet], floor[tet] * floor[tet]
        if square == 0.0:
            continue
        for r in range(3):
            o = x[n[0], r]
            p, q, s = x[n[1], r] - o, x[n[2], r] - o, x[n[3], r] - o
            for c in range(3):
                F[r, c] = p * B[0, c] + q * B[1, c] + s * B[2, c]
        a = F[0, 0] * F[0, 0] + F[1, 0] * F[1, 0] + F[2, 0] * F[2, 0] - square
        b = F[0, 1] * F[0, 1] + F[1, 1] * F[1, 1] + F[2, 1] * F[2, 1] - square
        c = F[0, 2] * F[0, 2] + F[1, 2] * F[1, 2] + F[2, 2] * F[2, 2] - square
        d = F[0, 0] * F[0, 1] + F[1, 0] * F[1, 1] + F[2, 0] * F[2, 1]
        e = F[0, 1] * F[0, 2] + F[1, 1] * F[1, 2] + F[2, 1] * F[2, 2]
        f = F[0, 2] * F[0, 0] + F[1, 2] * F[1, 0] + F[2, 2] * F[2, 0]
        turned = (
            F[0, 0] * (F[1, 1] * F[2, 2] - F[1, 2] * F[2, 1])
            - F[0, 1] * (F[1, 0] * F[2, 2] - F[1, 2] * F[2, 0])
            + F[0, 2] * (F[1, 0] * F[2, 1] - F[1, 1] * F[2, 0])
        ) <= 0.0
        minor = a * b - d * d
        is_above = (a > 0.0) & (minor > 0.0) & (c * minor + 2.0 * d * e * f - a * e * e - b * f * f > 0.0)
        if turned or not is_above:
            is_beyond[tet] = True


@kernel(allow_fma=True)
def find_tets_beyond(begin, end, x, tets, Dm_inverse, limit, is_beyond):
    """Writes which of some tets have a principal stretch beyond their limit.

    The largest stretch is within L where L² I − FᵀF is positive definite: where its leading minors are positive.

    Args:
        begin, end: The first tet, and the one after the last.
        x: Node positions [m], (n, 3).
        tets, Dm_inverse: Nodes of the tets, (m, 4), and inverse rest edges [1/m], (m, 3, 3).
        limit: L, infinite where there is none, (m,).
        is_beyond: Out, (m,).
    """
    for tet in range(begin, end):
        n, B, square = tets[tet], Dm_inverse[tet], limit[tet] * limit[tet]
        if square == math.inf:
            is_beyond[tet] = False
            continue
        a = b = c = square
        d = e = f = 0.0
        for r in range(3):
            o = x[n[0], r]
            p, q, s = x[n[1], r] - o, x[n[2], r] - o, x[n[3], r] - o
            i = p * B[0, 0] + q * B[1, 0] + s * B[2, 0]
            j = p * B[0, 1] + q * B[1, 1] + s * B[2, 1]
            k = p * B[0, 2] + q * B[1, 2] + s * B[2, 2]
            a, b, c = a - i * i, b - j * j, c - k * k
            d, e, f = d - i * j, e - j * k, f - k * i
        minor = a * b - d * d
        is_within = (a > 0.0) & (minor > 0.0) & (c * minor + 2.0 * d * e * f - a * e * e - b * f * f > 0.0)
        is_beyond[tet] = not is_within


@kernel()
def linearise_limit(which, x, rest, limit, floor, modulus, before, now, energy, force, stiffness):
    """Writes energy, forces and Hessian of tets beyond their limit or below their floor.

    Args:
        which: The tets, (k,).
        x: Node positions [m], (n, 3).
        rest: `RestShapes` of all tets.
        limit, floor, modulus: L, L₀ and Young's modulus E [Pa] of all tets, (m,).
        before: w d₀ and w d_e0 of all tets, (2, m, 3), for chords; (2, 0, 3): p' is taken.
        now: w d and w d_e, (2, k, 3), out.
        energy: ψ V [J], (k,), out.
        force: On the nodes of each tet [N], (k, 4, 3), out.
        stiffness: −∂f/∂x [N/m], (k, 4, 4, 3, 3), out.
    """
    tets, Dm_inverse, volume = rest
    F, U, h = np.empty((3, 3)), np.empty((3, 3)), np.empty((4, 3))
    psi, p, slope = np.empty(3), np.empty(3), np.empty(3)
    a, b, M = np.empty((3, 3)), np.empty((3, 3)), np.empty((3, 3))
    for place in range(len(which)):
        tet = which[place]
        n, B, L, E, size = tets[tet], Dm_inverse[tet], limit[tet], modulus[tet], volume[tet]
        for r in range(3):
            d, e, f = x[n[1], r] - x[n[0], r], x[n[2], r] - x[n[0], r], x[n[3], r] - x[n[0], r]
            for c in range(3):
                F[r, c] = d * B[0, c] + e * B[1, c] + f * B[2, c]
        (
            U[0, 0], U[0, 1], U[0, 2], U[1, 0], U[1, 1], U[1, 2], U[2, 0], U[2, 1], U[2, 2], s1, s2, s3,
            v11, v12, v13, v21, v22, v23, v31, v32, v33,
        ) = signed_svd(
            F[0, 0], F[0, 1], F[0, 2], F[1, 0], F[1, 1], F[1, 2], F[2, 0], F[2, 1], F[2, 2],
        )  # fmt: skip
        is_floored = floor[tet] > 0.0
        if s3 < 0.0 and not is_floored:
            s3, U[0, 2], U[1, 2], U[2, 2] = -s3, -U[0, 2], -U[1, 2], -U[2, 2]
        psi[0], p[0], slope[0] = limit_derivatives(s1, L, E)
        psi[1], p[1], slope[1] = limit_derivatives(s2, L, E)
        psi[2], p[2], slope[2] = limit_derivatives(s3, L, E)
        if is_floored:
            if s3 < 0.0:
                psi[2], p[2], slope[2] = limit_derivatives(-s3, L, E)
                p[2] = -p[2]
            for i in range(3):
                more, stress, steeper = floor_derivatives(s1 if i == 0 else s2 if i == 1 else s3, floor[tet], E)
                psi[i], p[i], slope[i] = psi[i] + more, p[i] + stress, slope[i] + steeper
        pair_stiffness(s1, s2, p[0], p[1], slope[0], 0, 1, a, b)
        pair_stiffness(s1, s3, p[0], p[2], slope[0], 0, 2, a, b)
        pair_stiffness(s2, s3, p[1], p[2], slope[1], 1, 2, a, b)
        for i in range(3):
            d = 2.0 * abs(p[i]) / slope[i] if slope[i] > 0.0 else 0.0
            now[0, place, i] = now[1, place, i] = d
            if before.shape[1] > 0 and d > 0.0:
                d0, e0 = before[0, tet, i], before[1, tet, i]
                now[1, place, i] = math.sqrt(max(d0 * d0 + (d0 + e0) * (d - d0), 0.0))
            a[i, i] = 0.5 * slope[i] * (1.0 + now[1, place, i] / d) if d > 0.0 else 0.0
        for node in range(3):
            h[node + 1, 0] = B[node, 0] * v11 + B[node, 1] * v21 + B[node, 2] * v31
            h[node + 1, 1] = B[node, 0] * v12 + B[node, 1] * v22 + B[node, 2] * v32
            h[node + 1, 2] = B[node, 0] * v13 + B[node, 1] * v23 + B[node, 2] * v33
        for i in range(3):
            h[0, i] = -h[1, i] - h[2, i] - h[3, i]
        energy[place] = size * (psi[0] + psi[1] + psi[2])
        for node in range(4):
            g = h[node]
            for r in range(3):
                force[place, node, r] = -size * (U[r, 0] * p[0] * g[0] + U[r, 1] * p[1] * g[1] + U[r, 2] * p[2] * g[2])
            for other in range(4):
                o, K = h[other], stiffness[place, node, other]
                for i in range(3):
                    M[i, i] = a[i, 0] * g[0] * o[0] + a[i, 1] * g[1] * o[1] + a[i, 2] * g[2] * o[2]
                    for k in range(3):
                        if k != i:
                            M[i, k] = b[i, k] * g[k] * o[i]
                for r in range(3):
                    for c in range(3):
                        total = 0.0
                        for i in range(3):
                            total += U[r, i] * (M[i, 0] * U[c, 0] + M[i, 1] * U[c, 1] + M[i, 2] * U[c, 2])
                        K[r, c] = size * total


@kernel(device_only=True)
def pair_stiffness(first, second, p, q, slope, i, j, a, b):
    """Writes a and b of a pair of principal stretches, i before j, the first of them not the smaller one."""
    apart = first - second
    together = (p - q) / apart if apart > MIN_STRETCH_DIFFERENCE else slope
    against = max((p + q) / max(first + second, MIN_STRETCH_DIFFERENCE), 0.0)
    a[i, j] = a[j, i] = 0.5 * (together + against)
    b[i, j] = b[j, i] = 0.5 * (together - against)
