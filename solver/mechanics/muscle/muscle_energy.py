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
from .force_length_curves import active_curve, passive_curve_of, passive_growth, tendon_curve_of, tendon_growth

MIN_FIBRE_STRETCH_SQUARED = 0.25  # I4 below which its powers go on as cubics
MIN_DIVISOR = 1.0e-100  # I4 that is divided by where fibres have no length, nor then a force
SERIES_RADIUS = 0.01  # |ω − 1| within which arcosh² ω is summed as a series


@kernel(inline=True, device_only=True)
def extended_power(power, exponent, base, at):
    """Returns b^p and two derivatives, below `at` those of the Taylor polynomial of third degree there.

    Args:
        power: at^p.
        exponent, base: p and b.
        at: b, or what it is raised to.
    """
    d = base - at
    first = exponent * power / at
    second = (exponent - 1.0) * first / at
    third = (exponent - 2.0) * second / at if d < 0.0 else 0.0
    return (
        power + d * (first + d * (0.5 * second + d * third / 6.0)),
        first + d * (second + 0.5 * d * third),
        second + d * third,
    )


@kernel(inline=True, device_only=True)
def shear_angle(w):
    """Returns arcosh ω or, below 1, arccos ω; zero where `squared_arcosh` does not read it."""
    if abs(w - 1.0) < SERIES_RADIUS:
        return 0.0
    return math.acosh(w) if w > 1.0 else math.acos(w)


@kernel(inline=True, device_only=True)
def squared_arcosh(w, angle):
    """Returns arcosh² ω and two derivatives, analytic at ω = 1 and continued below it, ω > −1; see `shear_angle`."""
    e = w - 1.0
    is_near = abs(e) < SERIES_RADIUS
    product = e * (w + 1.0)
    value, slope = math.copysign(angle * angle, e), 2.0 * angle / math.sqrt(abs(product))
    bend = (2.0 - w * slope) / product
    return (
        e * (2.0 + e * (-1.0 / 3.0 + e * (4.0 / 45.0 + e * (-1.0 / 35.0 + e * 16.0 / 1575.0)))) if is_near else value,
        2.0 + e * (-2.0 / 3.0 + e * (4.0 / 15.0 + e * (-4.0 / 35.0 + e * 16.0 / 315.0))) if is_near else slope,
        -2.0 / 3.0 + e * (8.0 / 15.0 + e * (-12.0 / 35.0 + e * (64.0 / 315.0 - e * 80.0 / 693.0))) if is_near else bend,
    )


@kernel(inline=True, device_only=True)
def shear_argument(I, J, I4, I5, least_J, across):  # noqa: E741
    """Returns ω, and 1 where nothing resists shear across fibres."""
    n = extended_power(1.0 / max(J, least_J), -1.0, J, max(J, least_J))[0]
    at = max(I4, MIN_FIBRE_STRETCH_SQUARED)
    q = extended_power(1.0 / math.sqrt(at), -0.5, I4, at)[0]
    return 0.5 * (I * I4 - I5) * n * q if across > 0.0 else 1.0


@kernel(device_only=True)
def muscle_transcendental(J, I4, w, least_J, fibre):
    """Returns four numbers that `muscle_energy` takes: arcosh ω, J^(−1/3), and growths of passive fibres and tendon.

    J^(−1/3) is that of J raised to `least_J`, and 1 where stretches are not without the change of volume. These calls
    do not vectorise, so they have a loop of their own.
    """
    _, tendon, _, _, optimal_stretch, is_deviatoric = fibre
    at, stretch, root = max(J, least_J), math.sqrt(I4), 1.0
    if is_deviatoric > 0.0:
        root = at ** (-1.0 / 3.0)
        stretch *= extended_power(root, -1.0 / 3.0, J, at)[0]
    return (
        shear_angle(w),
        root,
        passive_growth(stretch / optimal_stretch),
        tendon_growth(stretch) if tendon > 0.0 else 0.0,
    )


@kernel(inline=True, device_only=True)
def fibre_energy(stretch, fibre, passive, drawn):
    """Returns ψ_f [J/m³], ψ_f' and ψ_f'' [Pa] at a stretch λ, for the growths of `muscle_transcendental`."""
    activation, tendon, peak_stress, tendon_stress, optimal_stretch, _ = fibre
    length = stretch / optimal_stretch
    work, force, slope = passive_curve_of(length, passive)
    a, b, c = active_curve(length)
    share = (1.0 - tendon) * peak_stress
    first, second = share / optimal_stretch, share / (optimal_stretch * optimal_stretch)
    u, v, w = tendon_curve_of(stretch, drawn)
    pull = tendon * tendon_stress
    return (
        share * (work + activation * a) + pull * u,
        first * (force + activation * b) + pull * v,
        second * (slope + activation * c) + pull * w,
    )


@kernel(inline=True, device_only=True)
def muscle_energy(sums, least_J, w, transcendental, fibre, shear):
    """Returns ψ [J/m³], its derivatives by I, J, I4 and I5, and the ten second ones: fifteen numbers.

    Without branches, for loops over many tets.

    Args:
        sums: I, J, I4 and I5.
        least_J: J below which its powers go on as cubics.
        w: Of `shear_argument`.
        transcendental: Of `muscle_transcendental`.
        fibre: a, τ, σ_max and σ_t [Pa], λ_o, and 1 where λ is without the change of volume, 0 elsewhere.
        shear: G1 and G2 [Pa].

    Returns:
        ψ; by I, J, 4, 5; II, IJ, I4, I5, JJ, J4, J5, 44, 45, 55.
    """
    I, J, I4, I5 = sums  # noqa: E741
    angle, root, passive, drawn = transcendental
    along, across = shear
    at_J, at_4 = max(J, least_J), max(I4, MIN_FIBRE_STRETCH_SQUARED)
    r, r1, r2 = extended_power(1.0 / (at_4 * at_4), -2.0, I4, at_4)
    n, n1, n2 = extended_power(1.0 / at_J, -1.0, J, at_J)
    q, q1, q2 = extended_power(1.0 / math.sqrt(at_4), -0.5, I4, at_4)
    A = I * I4 - I5
    psi, first, second = squared_arcosh(w, angle)
    psi, first, second = across * psi, across * first, across * second
    by_I, by_J, by_4, by_5 = 0.5 * I4 * n * q, 0.5 * A * n1 * q, 0.5 * n * (I * q + A * q1), -0.5 * n * q

    c, c1, c2 = extended_power(root, -1.0 / 3.0 * fibre[5], J, at_J)
    length = math.sqrt(I4)
    energy, force, slope = fibre_energy(c * length, fibre, passive, drawn)
    over = 1.0 / math.sqrt(max(I4, MIN_DIVISOR))
    of_J, of_4 = c1 * length, 0.5 * c * over
    return (
        psi + along * (I5 * r - 1.0) + energy,
        first * by_I,
        first * by_J + force * of_J,
        first * by_4 + along * I5 * r1 + force * of_4,
        first * by_5 + along * r,
        second * by_I * by_I,
        second * by_I * by_J + first * 0.5 * I4 * n1 * q,
        second * by_I * by_4 + first * 0.5 * n * (q + I4 * q1),
        second * by_I * by_5,
        second * by_J * by_J + first * 0.5 * A * n2 * q + slope * of_J * of_J + force * c2 * length,
        second * by_J * by_4 + first * 0.5 * n1 * (I * q + A * q1) + slope * of_J * of_4 + force * 0.5 * c1 * over,
        second * by_J * by_5 - first * 0.5 * n1 * q,
        second * by_4 * by_4
        + first * 0.5 * n * (2.0 * I * q1 + A * q2)
        + along * I5 * r2
        + slope * of_4 * of_4
        - force * 0.25 * c * over * over * over,
        second * by_4 * by_5 - first * 0.5 * n * q1 + along * r1,
        second * by_5 * by_5,
    )
