# SPDX-License-Identifier: GPL-3.0-or-later
"""Energy densities as functions of four sums over the stretches σ, and their derivatives.

    s = Σ (σ − 1),   I = Σ σ² = tr C,   II = Σ σ⁴ = C : C,   J = σ1 σ2 σ3

Every isotropic law here is a function ψ(s, I, II, J), zero without deformation. Of its second derivatives only those
by (I, I), (I, J), (II, J) and (J, J) are not zero. For small strains all laws are Hooke's with the same μ and λ.
They are neo-Hookean, stable neo-Hookean, Mooney–Rivlin, corotated, St. Venant–Kirchhoff and hybrid.

Sources: S07, appendix A.1 (Mooney–Rivlin); Smith, de Goes and Kim 2018, equation (14) and section 3.4 (stable
neo-Hookean); Stomakhin, Howes, Schroeder and Teran 2012 (fixed corotated); Hauth and Strasser 2004 (hybrid). The
weight of rotations is of own derivation.
"""

from __future__ import annotations

import math

from ...runtime.jit import kernel
from .law_numbers import (
    COROTATED,
    HYBRID,
    LINEAR_EXTENSION,
    MOONEY_RIVLIN,
    NEO_HOOKEAN,
    NO_EXTENSION,
    SMOOTH_EXTENSION,
    STABLE_NEO_HOOKEAN,
    STVK,
    WEIGHTED_COROTATED,
)

MIN_VOLUME_RATIO = 1.0e-9  # volume ratio at which laws without an extension stop getting steeper
MIN_ROTATION_WEIGHT = 0.05  # of a rotation


@kernel(allow_fma=True, inline=True)
def stretch_sums(p, q, r):
    """Returns s, Σ (σ − 1)², J − 1, I and II of three stretches; the first three keep their digits near rest."""
    x, y, z = p - 1.0, q - 1.0, r - 1.0
    s, pp, qq, rr = x + y + z, p * p, q * q, r * r
    return (
        s,
        x * x + y * y + z * z,
        s + x * y + y * z + z * x + x * y * z,
        pp + qq + rr,
        pp * pp + qq * qq + rr * rr,
    )


@kernel(allow_fma=True, inline=True, device_only=True)
def limited_volume_change(extension, threshold, j):
    """Returns J − 1, raised to where functions of J leave their law: t³, or nearly flat without an extension."""
    least = threshold * threshold * threshold if extension >= LINEAR_EXTENSION else MIN_VOLUME_RATIO
    return max(j, least - 1.0)


@kernel(allow_fma=True, device_only=True)
def transcendental(law, inside, grown):
    """Returns ln J and J^(−2/3) for J − 1 = `inside`; of stable neo-Hookean ln((I + 1) / 4) for I − 3 = `grown`.

    What a law does not need is 0 or 1. These calls do not vectorise, so they have a loop of their own.
    """
    if law == NEO_HOOKEAN:
        return math.log1p(inside), 1.0
    if law == MOONEY_RIVLIN:
        log = math.log1p(inside)
        return log, math.exp(-2.0 / 3.0 * log)
    return math.log1p(0.25 * grown) if law == STABLE_NEO_HOOKEAN else 0.0, 1.0


@kernel(allow_fma=True, inline=True, device_only=True)
def taylor_cubic(f, f1, f2, f3, d):
    """Returns value and two derivatives of the polynomial with these derivatives at zero, at d."""
    return f + d * (f1 + d * (0.5 * f2 + d * f3 / 6.0)), f1 + d * (f2 + 0.5 * d * f3), f2 + d * f3


@kernel(allow_fma=True, inline=True, device_only=True)
def rotation_weight(s, I):  # noqa: E741
    """Returns the weight w of the rotation R in P = 2 μ (F − w R), for s and I of `stretch_sums`: at most 1, and 1 at
    rest.

    w = min(1, √3 / ‖F‖) · min(max(Σ σ / 3, `MIN_ROTATION_WEIGHT`), 1): how a tet is turned that is drawn out without
    measure, or that has hardly any size in one direction, is chance; beside its neighbours it hardly counts.
    """
    return min(max((s + 3.0) / 3.0, MIN_ROTATION_WEIGHT), 1.0) / math.sqrt(max(I / 3.0, 1.0))


@kernel(allow_fma=True, inline=True, device_only=True)
def energy_derivatives(law, mu, lam, parameter, extension, sums, inside, log, J_power):
    """Returns ψ [J/m³] and its derivatives ψ_s, ψ_I, ψ_II, ψ_J, ψ_I,I, ψ_I,J, ψ_II,J, ψ_J,J: nine numbers.

    Args:
        law, extension: Numbers of `law_numbers.py`; of a law that has no branch here all nine are not numbers.
        mu, lam: Lamé's moduli μ, λ [Pa].
        parameter: The law's own: of Mooney–Rivlin, the share of μ before the second invariant.
        sums: `stretch_sums`.
        inside: Of `limited_volume_change`.
        log, J_power: Of `transcendental`.
    """
    s, e, j, I, II = sums  # noqa: E741
    grown = e + 2.0 * s  # I − 3
    if (law == NEO_HOOKEAN) | (law == MOONEY_RIVLIN):
        c = mu if law == NEO_HOOKEAN else 0.0
        k = lam if law == NEO_HOOKEAN else lam + 2.0 / 3.0 * mu
        d = 0.0 if extension == NO_EXTENSION else j - inside
        n = 1.0 / (1.0 + inside)
        cube = n * n * n if extension == SMOOTH_EXTENSION else 0.0
        # k/2 ln²J − c ln J
        v, v1, v2 = taylor_cubic(
            log * (0.5 * k * log - c), n * (k * log - c), n * n * (k - k * log + c),
            cube * (2.0 * (k * log - c) - 3.0 * k), d,
        )  # fmt: skip
        v = math.inf if (extension == NO_EXTENSION) & (j <= -1.0) else v
        c01 = 0.0 if law == NEO_HOOKEAN else 0.5 * mu * parameter
        c10 = 0.5 * mu - c01
        q = J_power * J_power
        # of neo-Hookean, both powers of J are 1
        b = 0.0 if law == NEO_HOOKEAN else 1.0
        p, p1, p2 = taylor_cubic(
            J_power, b * -2.0 / 3.0 * n * J_power, b * 10.0 / 9.0 * n * n * J_power,
            b * -80.0 / 27.0 * cube * J_power, d,
        )  # fmt: skip
        q, q1, q2 = taylor_cubic(q, -4.0 / 3.0 * n * q, 28.0 / 9.0 * n * n * q, -280.0 / 27.0 * cube * q, d)
        D = I * I - II
        first = grown if law == NEO_HOOKEAN else I * p - 3.0
        return (
            c10 * first + 0.5 * c01 * (D * q - 6.0) + v,
            0.0,
            c10 * p + c01 * I * q,
            -0.5 * c01 * q,
            c10 * I * p1 + 0.5 * c01 * D * q1 + v1,
            c01 * q,
            c10 * p1 + c01 * I * q1,
            -0.5 * c01 * q1,
            c10 * I * p2 + 0.5 * c01 * D * q2 + v2,
        )
    if law == STABLE_NEO_HOOKEAN:
        m, k = 4.0 / 3.0 * mu, lam + 5.0 / 6.0 * mu
        over = 1.0 / (I + 1.0)
        # k/2 ((J − α)² − (1 − α)²) with α = 1 + ¾ m/k
        psi = 0.5 * m * (grown - log) + 0.5 * k * j * j - 0.75 * m * j
        return psi, 0.0, 0.5 * m * (1.0 - over), 0.0, k * j - 0.75 * m, 0.5 * m * over * over, 0.0, 0.0, k
    if law == COROTATED:
        return mu * e + 0.5 * lam * j * j, -2.0 * mu, mu, 0.0, lam * j, 0.0, 0.0, 0.0, lam
    if law == STVK:
        # μ E:E + λ/2 tr²E with 2 E = C − 1, so 4 E:E = II − 2 I + 3
        psi = 0.25 * mu * (II - 2.0 * I + 3.0) + 0.125 * lam * grown * grown
        return psi, 0.0, -0.5 * mu + 0.25 * lam * grown, 0.25 * mu, 0.0, 0.25 * lam, 0.0, 0.0, 0.0
    if law == WEIGHTED_COROTATED:
        # stress for a weight that stays; no energy belongs to it
        return mu * e, -2.0 * mu * rotation_weight(s, I), mu, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    if law == HYBRID:
        # shear by the corotated strain, μ Σ (σ − 1)², pressure by Green's, λ/2 tr²E with 2 tr E = I − 3
        psi, slope = mu * e + 0.125 * lam * grown * grown, mu + 0.25 * lam * grown
        return psi, -2.0 * mu, slope, 0.0, 0.0, 0.25 * lam, 0.0, 0.0, 0.0
    # a law that has no branch here: no body moves by it unnoticed
    nan = math.nan
    return nan, nan, nan, nan, nan, nan, nan, nan, nan
