# SPDX-License-Identifier: GPL-3.0-or-later
"""Energy of muscle as a function of invariants, with its derivatives; F = U diag(σ) Vᵀ, fibres along f, w = Vᵀ f.

    I = Σ σ²,   J = σ1 σ2 σ3,   I4 = |F f|²,   I5 = |C f|²,   λ = J^(−1/3) √I4 or √I4

    ψ = G1 (I5 / I4² − 1) + G2 arcosh² ω + ψ_f(λ),   ω = (I I4 − I5) / (2 J √I4)

G1 is the modulus of shear along fibres, G2 that of shear across them. Fibres with the activation a and the optimal
stretch λ_o have ψ_f' = σ_max / λ_o (a f_a + f_p)(λ / λ_o); of tendon, whose share in a tet is τ and whose stress at a
strain of 3 % is σ_t, ψ_f' = σ_t f_t(λ).
So the stress is affine in a. Where J or I4 is small, their powers go on as cubics, so that ψ and its derivatives are
finite for every F; arcosh² ω is −arccos² ω below ω = 1, which is the same power series.

The stretch without the change of volume, J^(−1/3) √I4, is S07's. Its stress has a pressure −T λ / 3 of every tet.
Where nodes bear the bulk modulus (`hyperelastic/nodal_averaging.py`), tets hardly resist it, and neighbours swell and
shrink in turns: with a = 1 by a third. So these tets have √I4, which makes an equilibrium whose J is T λ / (3 κ) less:
1 % where κ = 33 T.

Source: S07, sections A.2.1 to A.2.3; Blemker, Pinsky and Delp 2005. The extension is of own derivation.
"""

from __future__ import annotations

import math

from ...runtime.jit import kernel
from .force_length_curves import active_curve, passive_curve, tendon_curve

MIN_FIBRE_STRETCH_SQUARED = 0.25  # I4 below which its powers go on as cubics
SERIES_RADIUS = 0.01  # |ω − 1| within which arcosh² ω is summed as a series


@kernel(inline=True, device_only=True)
def extended_power(base, exponent, least):
    """Returns b^p and two derivatives, below `least` those of the Taylor polynomial of third degree there."""
    at = max(base, least)
    d, value = base - at, at**exponent
    first = exponent * value / at
    second = (exponent - 1.0) * first / at
    third = (exponent - 2.0) * second / at if d < 0.0 else 0.0
    return (
        value + d * (first + d * (0.5 * second + d * third / 6.0)),
        first + d * (second + 0.5 * d * third),
        second + d * third,
    )


@kernel(inline=True, device_only=True)
def squared_arcosh(w):
    """Returns arcosh² ω and two derivatives, analytic at ω = 1 and continued below it, ω > −1."""
    e = w - 1.0
    if abs(e) < SERIES_RADIUS:
        return (
            e * (2.0 + e * (-1.0 / 3.0 + e * (4.0 / 45.0 + e * (-1.0 / 35.0 + e * 16.0 / 1575.0)))),
            2.0 + e * (-2.0 / 3.0 + e * (4.0 / 15.0 + e * (-4.0 / 35.0 + e * 16.0 / 315.0))),
            -2.0 / 3.0 + e * (8.0 / 15.0 + e * (-12.0 / 35.0 + e * (64.0 / 315.0 - e * 80.0 / 693.0))),
        )
    if e > 0.0:
        angle, root = math.acosh(w), math.sqrt(e * (w + 1.0))
        value, first = angle * angle, 2.0 * angle / root
    else:
        angle, root = math.acos(w), math.sqrt(-e * (w + 1.0))
        value, first = -angle * angle, 2.0 * angle / root
    return value, first, (2.0 - w * first) / (e * (w + 1.0))


@kernel(device_only=True)
def fibre_energy(stretch, activation, tendon, peak_stress, tendon_stress, optimal_stretch):
    """Returns ψ_f [J/m³], ψ_f' and ψ_f'' [Pa] at a stretch λ."""
    length = stretch / optimal_stretch
    work, force, slope = passive_curve(length)
    if activation != 0.0:
        a, b, c = active_curve(length)
        work, force, slope = work + activation * a, force + activation * b, slope + activation * c
    share = (1.0 - tendon) * peak_stress
    psi, first, second = (
        share * work,
        share * force / optimal_stretch,
        share * slope / (optimal_stretch * optimal_stretch),
    )
    if tendon > 0.0:
        a, b, c = tendon_curve(stretch)
        drawn = tendon * tendon_stress
        return psi + drawn * a, first + drawn * b, second + drawn * c
    return psi, first, second


@kernel(device_only=True)
def muscle_energy(I, J, I4, I5, least_J, fibre, shear, slopes):  # noqa: E741
    """Returns ψ [J/m³] and writes its derivatives by I, J, I4 and I5, and the ten second ones.

    Args:
        I, J, I4, I5: The invariants.
        least_J: J below which its powers go on as cubics.
        fibre: a, τ, σ_max and σ_t [Pa], λ_o, and whether λ is without the change of volume.
        shear: G1 and G2 [Pa].
        slopes: (14,), out: by I, J, 4, 5; II, IJ, I4, I5, JJ, J4, J5, 44, 45, 55.
    """
    for k in range(14):
        slopes[k] = 0.0
    along, across = shear
    psi = 0.0
    if along > 0.0:
        r, r1, r2 = extended_power(I4, -2.0, MIN_FIBRE_STRETCH_SQUARED)
        psi += along * (I5 * r - 1.0)
        slopes[2], slopes[3] = along * I5 * r1, along * r
        slopes[11], slopes[12] = along * I5 * r2, along * r1
    if across > 0.0:
        psi += add_cross_shear(I, J, I4, I5, least_J, across, slopes)
    activation, tendon, peak_stress, tendon_stress, optimal_stretch, is_deviatoric = fibre
    c, c1, c2 = extended_power(J, -1.0 / 3.0, least_J) if is_deviatoric else (1.0, 0.0, 0.0)
    length = math.sqrt(I4)
    energy, force, slope = fibre_energy(c * length, activation, tendon, peak_stress, tendon_stress, optimal_stretch)
    psi += energy
    if (force != 0.0) | (slope != 0.0):
        by_J, by_4 = c1 * length, 0.5 * c / length
        slopes[1] += force * by_J
        slopes[2] += force * by_4
        slopes[8] += slope * by_J * by_J + force * c2 * length
        slopes[9] += slope * by_J * by_4 + force * 0.5 * c1 / length
        slopes[11] += slope * by_4 * by_4 - force * 0.25 * c / (length * I4)
    return psi


@kernel(device_only=True)
def add_cross_shear(I, J, I4, I5, least_J, modulus, slopes):  # noqa: E741
    """Returns G2 arcosh² ω and adds its derivatives."""
    n, n1, n2 = extended_power(J, -1.0, least_J)
    q, q1, q2 = extended_power(I4, -0.5, MIN_FIBRE_STRETCH_SQUARED)
    A = I * I4 - I5
    psi, first, second = squared_arcosh(0.5 * A * n * q)
    first, second = modulus * first, modulus * second
    by_I, by_J, by_4, by_5 = 0.5 * I4 * n * q, 0.5 * A * n1 * q, 0.5 * n * (I * q + A * q1), -0.5 * n * q
    slopes[0] += first * by_I
    slopes[1] += first * by_J
    slopes[2] += first * by_4
    slopes[3] += first * by_5
    slopes[4] += second * by_I * by_I
    slopes[5] += second * by_I * by_J + first * 0.5 * I4 * n1 * q
    slopes[6] += second * by_I * by_4 + first * 0.5 * n * (q + I4 * q1)
    slopes[7] += second * by_I * by_5
    slopes[8] += second * by_J * by_J + first * 0.5 * A * n2 * q
    slopes[9] += second * by_J * by_4 + first * 0.5 * n1 * (I * q + A * q1)
    slopes[10] += second * by_J * by_5 - first * 0.5 * n1 * q
    slopes[11] += second * by_4 * by_4 + first * 0.5 * n * (2.0 * I * q1 + A * q2)
    slopes[12] += second * by_4 * by_5 - first * 0.5 * n * q1
    slopes[13] += second * by_5 * by_5
    return modulus * psi
