# SPDX-License-Identifier: GPL-3.0-or-later
"""Energy densities as functions of four sums over the stretches σ, and their derivatives.

    s = Σ (σ − 1),   I = Σ σ² = tr C,   II = Σ σ⁴ = C : C,   J = σ1 σ2 σ3

Every isotropic law here is a function ψ(s, I, II, J), zero without deformation. Of its second derivatives only those
by (I, I), (I, J), (II, J) and (J, J) are not zero. For small strains all laws are Hooke's with the same μ and λ.

Sources: S07, appendix A.1 (Mooney–Rivlin); Smith, de Goes and Kim 2018, equation (14) and section 3.4 (stable
neo-Hookean); Stomakhin, Howes, Schroeder and Teran 2012 (fixed corotated).
"""

from __future__ import annotations

import math

from ..jit import kernel
from .laws import COROTATED, MOONEY_RIVLIN, NEO_HOOKEAN, NONE, SMOOTH, STABLE_NEO_HOOKEAN

FLATTEST = 1.0e-9  # volume ratio at which laws without an extension stop getting steeper


@kernel(contract=True)
def gone_on(f, f1, f2, f3, d):
    """Returns value and two derivatives of the polynomial with these derivatives at zero, at d."""
    return f + d * (f1 + d * (0.5 * f2 + d * f3 / 6.0)), f1 + d * (f2 + 0.5 * d * f3), f2 + d * f3


@kernel(contract=True)
def derivatives(law, mu, lam, share, extension, least, s, e, j, I, II):  # noqa: E741
    """Returns ψ [J/m³] and its derivatives ψ_s, ψ_I, ψ_II, ψ_J, ψ_I,I, ψ_I,J, ψ_II,J, ψ_J,J: nine numbers.

    Args:
        law, extension: Numbers of `laws.py`.
        mu, lam: Lamé's moduli μ, λ [Pa].
        share: Share of μ before the second invariant, of Mooney–Rivlin.
        least: Volume ratio below which functions of J are extended.
        s: Σ (σ − 1).
        e: Σ (σ − 1)², so that I − 3 = e + 2 s keeps its digits near rest.
        j: J − 1.
        I, II: As above.
    """
    grown = e + 2.0 * s
    if law == STABLE_NEO_HOOKEAN:
        m, k = 4.0 / 3.0 * mu, lam + 5.0 / 6.0 * mu
        over = 1.0 / (I + 1.0)
        # k/2 ((J − α)² − (1 − α)²) with α = 1 + ¾ m/k
        psi = 0.5 * m * (grown - math.log1p(0.25 * grown)) + 0.5 * k * j * j - 0.75 * m * j
        return psi, 0.0, 0.5 * m * (1.0 - over), 0.0, k * j - 0.75 * m, 0.5 * m * over * over, 0.0, 0.0, k
    if law == NEO_HOOKEAN or law == MOONEY_RIVLIN:
        c = mu if law == NEO_HOOKEAN else 0.0
        k = lam if law == NEO_HOOKEAN else lam + 2.0 / 3.0 * mu
        floor = FLATTEST if extension <= 1 else least
        inside = max(j, floor - 1.0)
        d = 0.0 if extension == NONE else j - inside
        third = 1.0 if extension == SMOOTH else 0.0
        l, n = math.log1p(inside), 1.0 / (1.0 + inside)  # noqa: E741
        # k/2 ln²J − c ln J
        v, v1, v2 = gone_on(
            l * (0.5 * k * l - c), n * (k * l - c), n * n * (k - k * l + c),
            third * n * n * n * (2.0 * (k * l - c) - 3.0 * k), d,
        )  # fmt: skip
        if extension == NONE and not j > -1.0:
            v = math.inf
        if law == NEO_HOOKEAN:
            return 0.5 * mu * grown + v, 0.0, 0.5 * mu, 0.0, v1, 0.0, 0.0, 0.0, v2
        c01 = 0.5 * mu * share
        c10 = 0.5 * mu - c01
        p = math.exp(-2.0 / 3.0 * l)
        q = p * p
        p, p1, p2 = gone_on(p, -2.0 / 3.0 * n * p, 10.0 / 9.0 * n * n * p, -80.0 / 27.0 * third * n * n * n * p, d)
        q, q1, q2 = gone_on(q, -4.0 / 3.0 * n * q, 28.0 / 9.0 * n * n * q, -280.0 / 27.0 * third * n * n * n * q, d)
        D = I * I - II
        return (
            c10 * (I * p - 3.0) + 0.5 * c01 * (D * q - 6.0) + v,
            0.0,
            c10 * p + c01 * I * q,
            -0.5 * c01 * q,
            c10 * I * p1 + 0.5 * c01 * D * q1 + v1,
            c01 * q,
            c10 * p1 + c01 * I * q1,
            -0.5 * c01 * q1,
            c10 * I * p2 + 0.5 * c01 * D * q2 + v2,
        )
    if law == COROTATED:
        return mu * e + 0.5 * lam * j * j, -2.0 * mu, mu, 0.0, lam * j, 0.0, 0.0, 0.0, lam
    # St. Venant–Kirchhoff: μ E:E + λ/2 tr²E with 2 E = C − 1, so 4 E:E = II − 2 I + 3
    psi = 0.25 * mu * (II - 2.0 * I + 3.0) + 0.125 * lam * grown * grown
    return psi, 0.0, -0.5 * mu + 0.25 * lam * grown, 0.25 * mu, 0.0, 0.25 * lam, 0.0, 0.0, 0.0
