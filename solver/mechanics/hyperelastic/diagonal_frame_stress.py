# SPDX-License-Identifier: GPL-3.0-or-later
"""Stress and its differential in the diagonal frame F̂ = diag(σ1, σ2, σ3).

For an isotropic law P̂ is diagonal, p_i = ∂ψ/∂σ_i, and δP̂ = T : δF̂ falls apart into

    δP̂_ii = Σ_k A_ik δF̂_kk,   A_ik = ∂²ψ/∂σ_i∂σ_k
    δP̂_ij = α_ij δF̂_ij + β_ij δF̂_ji,   α + β = (p_i − p_j) / (σ_i − σ_j),   α − β = (p_i + p_j) / (σ_i + σ_j)

In terms of the invariants (`energy_densities.py`) none of these differs two large numbers:

    p_i   = ψ_s + 2 σ_i ψ_I + 4 σ_i³ ψ_II + σ_j σ_k ψ_J
    α + β = 2 ψ_I + 4 (σ_i² + σ_i σ_j + σ_j²) ψ_II − σ_k ψ_J
    α − β = 2 ψ_I + 4 (σ_i² − σ_i σ_j + σ_j²) ψ_II + σ_k ψ_J + 2 ψ_s / (σ_i + σ_j)

Only the last term has no bound, and only for the corotated law: there P itself jumps where σ_i + σ_j = 0.

Terms along a direction, such as fibres with a = Vᵀ f, add to P̂ a full 3×3 matrix and to T a full 9×9 one
(`anisotropic_terms.py`).
Source: S07, section 3.8; divided forms by own derivation.
"""

from __future__ import annotations

import math

from ...runtime.jit import kernel
from .energy_densities import energy_derivatives, limited_volume_change, stretch_sums, transcendental
from .law_numbers import CONSTANT_EXTENSION

MIN_STRETCH_SUM = 1.0e-8  # least |σ_i + σ_j| that is divided by, with its sign kept


@kernel(allow_fma=True)
def diagonal_frame_stress(law, mu, lam, parameter, extension, threshold, p, q, r):
    """Returns what a law gives at the stretches (p, q, r): ψ [J/m³], and the fifteen numbers of
    `stress_from_derivatives` [Pa].

    Args:
        law, extension: Numbers of `law_numbers.py`.
        mu, lam: Lamé's moduli μ, λ [Pa].
        parameter: The law's own.
        threshold: Stretch t below which the extension holds; t³ of volume ratios.
        p, q, r: Stretches, r < 0 where F is inverted. Under the constant extension all is of raised stretches.
    """
    p, q, r = (
        extended_stretch(extension, threshold, p),
        extended_stretch(extension, threshold, q),
        extended_stretch(extension, threshold, r),
    )
    sums = stretch_sums(p, q, r)
    s, e, j, _, _ = sums
    inside = limited_volume_change(extension, threshold, j)
    log, root = transcendental(law, inside, e + 2.0 * s)
    psi, fs, f1, f2, f3, f11, f13, f23, f33 = energy_derivatives(
        law, mu, lam, parameter, extension, sums, inside, log, root
    )
    return psi, *stress_from_derivatives(p, q, r, fs, f1, f2, f3, f11, f13, f23, f33)


@kernel(allow_fma=True, inline=True, device_only=True)
def extended_stretch(extension, threshold, stretch):
    """Returns the stretch at which stress is taken. Source: S07, section 3.9."""
    return max(stretch, threshold) if extension == CONSTANT_EXTENSION else stretch


@kernel(allow_fma=True, inline=True, device_only=True)
def stress_from_derivatives(p, q, r, fs, f1, f2, f3, f11, f13, f23, f33):
    """Returns stress and differential by stretches and derivatives of ψ by invariants: fifteen numbers.

    These are p_1, p_2, p_3; A_11, A_22, A_33, A_12, A_23, A_31; α + β of the pairs 12, 23, 31; α − β of them.
    """
    pp, qq, rr = p * p, q * q, r * r
    qr, rp, pq = q * r, r * p, p * q
    # A = (2σ, 4σ³, σσ) H (2σ, 4σ³, σσ)ᵀ and what the gradients' own derivatives give
    k1, k13, k23 = 4.0 * f11, 2.0 * f13, 4.0 * f23
    own, x, y, z = 2.0 * f1, k13 + k23 * pp, k13 + k23 * qq, k13 + k23 * rr
    near, cube = k1 + 12.0 * f2, 4.0 * f2
    return (
        fs + p * (own + cube * pp) + qr * f3,
        fs + q * (own + cube * qq) + rp * f3,
        fs + r * (own + cube * rr) + pq * f3,
        own + near * pp + 2.0 * x * p * qr + f33 * qr * qr,
        own + near * qq + 2.0 * y * q * rp + f33 * rp * rp,
        own + near * rr + 2.0 * z * r * pq + f33 * pq * pq,
        r * f3 + k1 * pq + r * (x * pp + y * qq) + f33 * qr * rp,
        p * f3 + k1 * qr + p * (y * qq + z * rr) + f33 * rp * pq,
        q * f3 + k1 * rp + q * (z * rr + x * pp) + f33 * pq * qr,
        own + cube * (pp + pq + qq) - r * f3,
        own + cube * (qq + qr + rr) - p * f3,
        own + cube * (rr + rp + pp) - q * f3,
        own + cube * (pp - pq + qq) + r * f3 + bounded_quotient(fs, p + q),
        own + cube * (qq - qr + rr) + p * f3 + bounded_quotient(fs, q + r),
        own + cube * (rr - rp + pp) + q * f3 + bounded_quotient(fs, r + p),
    )


@kernel(allow_fma=True, inline=True, device_only=True)
def bounded_quotient(slope, total):
    """Returns 2 ψ_s / (σ_i + σ_j), bounded."""
    return 2.0 * slope / math.copysign(max(abs(total), MIN_STRETCH_SUM), total)
