# SPDX-License-Identifier: GPL-3.0-or-later
"""Stress and its differential in the diagonal frame F̂ = diag(σ1, σ2, σ3).

For an isotropic law P̂ is diagonal, p_i = ∂ψ/∂σ_i, and δP̂ = T : δF̂ falls apart into

    δP̂_ii = Σ_k A_ik δF̂_kk,   A_ik = ∂²ψ/∂σ_i∂σ_k
    δP̂_ij = α_ij δF̂_ij + β_ij δF̂_ji,   α + β = (p_i − p_j) / (σ_i − σ_j),   α − β = (p_i + p_j) / (σ_i + σ_j)

In terms of the invariants (`invariants.py`) none of these differs two large numbers:

    p_i   = ψ_s + 2 σ_i ψ_I + 4 σ_i³ ψ_II + σ_j σ_k ψ_J
    α + β = 2 ψ_I + 4 (σ_i² + σ_i σ_j + σ_j²) ψ_II − σ_k ψ_J
    α − β = 2 ψ_I + 4 (σ_i² − σ_i σ_j + σ_j²) ψ_II + σ_k ψ_J + 2 ψ_s / (σ_i + σ_j)

Only the last term has no bound, and only for the corotated law: there P itself jumps where σ_i + σ_j = 0.

Terms along a direction, such as fibres with a = Vᵀ f, add to P̂ a full 3×3 matrix and to T a full 9×9 one; both go
into `element.py` beside these. Source: S07, section 3.8; divided forms by own derivation.
"""

from __future__ import annotations

import math

from ..jit import kernel
from .invariants import derivatives
from .jacobi import without_negative
from .laws import CONSTANT

NEAREST = 1.0e-8  # least |σ_i + σ_j| that is divided by, with its sign kept


@kernel(contract=True)
def principal(law, mu, lam, share, extension, threshold, p, q, r):
    """Returns what a law gives at the stretches (p, q, r): sixteen numbers.

    Args:
        law, extension: Numbers of `laws.py`.
        mu, lam: Lamé's moduli μ, λ [Pa].
        share: Of Mooney–Rivlin.
        threshold: Stretch t below which the extension holds; t³ of volume ratios.
        p, q, r: Stretches, r < 0 where F is inverted.

    Returns:
        ψ [J/m³]; p_1, p_2, p_3 [Pa]; A_11, A_22, A_33, A_12, A_23, A_31 [Pa]; α + β and α − β of the pairs 12, 23
        and 31, the three sums first [Pa]. Under the constant extension all of these are of the raised stretches.
    """
    if extension == CONSTANT:
        p, q, r = max(p, threshold), max(q, threshold), max(r, threshold)
    x, y, z = p - 1.0, q - 1.0, r - 1.0
    pp, qq, rr = p * p, q * q, r * r
    qr, rp, pq = q * r, r * p, p * q
    s, e = x + y + z, x * x + y * y + z * z
    j = s + x * y + y * z + z * x + x * y * z
    psi, fs, f1, f2, f3, f11, f13, f23, f33 = derivatives(
        law, mu, lam, share, extension, threshold * threshold * threshold,
        s, e, j, pp + qq + rr, pp * pp + qq * qq + rr * rr,
    )  # fmt: skip
    # A = (2σ, 4σ³, σσ) H (2σ, 4σ³, σσ)ᵀ and what the gradients' own derivatives give
    k1, k13, k23, k33 = 4.0 * f11, 2.0 * f13, 4.0 * f23, f33
    own = 2.0 * f1
    x, y, z = k13 + k23 * pp, k13 + k23 * qq, k13 + k23 * rr
    return (
        psi,
        fs + p * (own + 4.0 * f2 * pp) + qr * f3,
        fs + q * (own + 4.0 * f2 * qq) + rp * f3,
        fs + r * (own + 4.0 * f2 * rr) + pq * f3,
        own + 12.0 * f2 * pp + k1 * pp + 2.0 * x * p * qr + k33 * qr * qr,
        own + 12.0 * f2 * qq + k1 * qq + 2.0 * y * q * rp + k33 * rp * rp,
        own + 12.0 * f2 * rr + k1 * rr + 2.0 * z * r * pq + k33 * pq * pq,
        r * f3 + k1 * pq + r * (x * pp + y * qq) + k33 * qr * rp,
        p * f3 + k1 * qr + p * (y * qq + z * rr) + k33 * rp * pq,
        q * f3 + k1 * rp + q * (z * rr + x * pp) + k33 * pq * qr,
        own + 4.0 * f2 * (pp + pq + qq) - r * f3,
        own + 4.0 * f2 * (qq + qr + rr) - p * f3,
        own + 4.0 * f2 * (rr + rp + pp) - q * f3,
        own + 4.0 * f2 * (pp - pq + qq) + r * f3 + over(fs, p + q),
        own + 4.0 * f2 * (qq - qr + rr) + p * f3 + over(fs, q + r),
        own + 4.0 * f2 * (rr - rp + pp) + q * f3 + over(fs, r + p),
    )


@kernel(contract=True)
def over(slope, total):
    """Returns 2 ψ_s / (σ_i + σ_j), bounded."""
    if slope == 0.0:
        return 0.0
    return 2.0 * slope / math.copysign(max(abs(total), NEAREST), total)


@kernel(contract=True)
def clamped(A11, A22, A33, A12, A23, A31, s12, s23, s31, t12, t23, t31):
    """Returns the nearest positive semi-definite A, and α + β and α − β without what is below zero.

    α ± β are the eigenvalues of the 2×2 blocks, so T is positive semi-definite then. Source: S07, section 3.8.
    """
    A11, A22, A33, A12, A23, A31 = without_negative(A11, A22, A33, A12, A23, A31)
    return (
        A11, A22, A33, A12, A23, A31,
        max(s12, 0.0), max(s23, 0.0), max(s31, 0.0), max(t12, 0.0), max(t23, 0.0), max(t31, 0.0),
    )  # fmt: skip
