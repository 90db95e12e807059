# SPDX-License-Identifier: GPL-3.0-or-later
"""Plastic flow that keeps volume: F = Fe Fp with det Fp = 1, so that the shape at rest is Fp of what it was made as.

With the principal stretches λ of Fe, the strain that flows is e = ln λ − ⅓ ln det Fe, which has no volume. While
its norm is above the yield strain, de/dt = −c e. In a step its norm becomes the larger of exp(−c Δt) ‖e‖ and the
yield strain, whatever Δt is: e = s e0, and Fp⁻¹ → Fp⁻¹ exp((s − 1) e0) in the principal directions.

Work hardening raises the yield strain by h per strain flowed, α. The norm at which flow ends then solves
‖e‖ = y + h (α + ‖e0‖ − ‖e‖).

Flow takes energy out of shear, leaves det Fe, and so never adds energy while −λ tr ε ≤ 2μ (2 λ_min − 1): for d/ds of
the energy is Σ e_i λ_i σ_i, and λ_i σ_i then rises with λ_i. Under more pressure, as in a melt, the linear tet may
count a little more energy all the same, since it measures volume by the sum of the stretches. To hold flow back
there would be wrong: shear that stays makes such a tet give way until it is inside out.

Source: for the split, Lee 1969; for the rate, Müller and Gross 2004, section 3. Integration by own derivation.
"""

from __future__ import annotations

import math

from ..elements.gradient import gradient_of
from ..jit import kernel
from .principal import eigenvalues, entries, function_of, most_shear, plastic_shear, shear_of

# smallest over largest principal stretch of Fe below which it does not flow
FLATTEST = 1.0e-4
# strain that may flow in one step: a stretch of e
MOST_IN_A_STEP = 1.0
# norm of ln Fp beyond which no rest shape goes, whatever is asked for: tets three hundred times as long as they were
LARGEST = 7.0


@kernel()
def flow_multiplicative(
    first, x, tets, Dm_inverse, mu, lam, dt, yield_strain, rate, maximum, hardening, Fp_inverse, flowed
):
    """Lets the tets from number `first` on flow for Δt = `dt` [s]: one for each of `yield_strain`.

    Args:
        first: Number of the first tet in the model.
        x: Node positions at the end of the step [m], (n, 3).
        tets: Of the model, (m, 4).
        Dm_inverse: Of the model as it was built, (m, 3, 3).
        mu, lam: Present moduli of what strain does [Pa], (m,).
        dt: Δt [s].
        yield_strain, rate, maximum, hardening: Yield strain, c [1/s], largest norm of ln Fp and h, (k,) each.
        Fp_inverse: Fp⁻¹, (m, 3, 3), in and out.
        flowed: α, the strain that has flowed so far, (m,), in and out.
    """
    for k in range(len(yield_strain)):
        tet = first + k
        inverse = Fp_inverse[tet]
        F = gradient_of(x, tets[tet], Dm_inverse[tet])
        J, C = elastic_squared(F, inverse)
        h = hardening[k]
        threshold = yield_strain[k] + h * flowed[tet]
        if not (J > 0.0 and rate[k] > 0.0 and most_shear(C) > threshold):
            continue
        u, v, w = eigenvalues(C, J * J)
        if not w > FLATTEST * FLATTEST * u:
            continue
        a, b, c, norm = shear_of(u, v, w)
        if not norm > threshold:
            continue
        left = max(norm * math.exp(-rate[k] * dt), (threshold + h * norm) / (1.0 + h))
        # how much of the strain goes over, and by what the stretches change
        share = 1.0 - max(left, norm - MOST_IN_A_STEP) / norm
        a, b, c = math.exp(-share * a), math.exp(-share * b), math.exp(-share * c)
        old, before = entries(inverse), elastic_energy(u, v, w, mu[tet], lam[tet])
        multiply_by(inverse, function_of(C, u, v, w, a, b, c, -0.5 * share * b / v))
        amount = share * norm
        # a shape is never further off than all the strain that made it
        most = min(maximum[k], LARGEST)
        if flowed[tet] + amount > most and hold_maximum(inverse, old, most):
            J, C = elastic_squared(F, inverse)
            u, v, w = eigenvalues(C, J * J)
            amount = norm - shear_of(u, v, w)[3]
            if not amount > 0.0 or elastic_energy(u, v, w, mu[tet], lam[tet]) > before:
                write(inverse, old)
                amount = 0.0
        flowed[tet] += amount


@kernel()
def elastic_squared(F, inverse):
    """Returns det Fe and the six entries xx, yy, zz, xy, yz, zx of Feᵀ Fe of Fe = F Fp⁻¹, with Fp⁻¹ = inverse."""
    A, B, C, D, E, G, P, Q, R = F
    a, b, c = (
        A * inverse[0, 0] + B * inverse[1, 0] + C * inverse[2, 0],
        A * inverse[0, 1] + B * inverse[1, 1] + C * inverse[2, 1],
        A * inverse[0, 2] + B * inverse[1, 2] + C * inverse[2, 2],
    )
    d, e, f = (
        D * inverse[0, 0] + E * inverse[1, 0] + G * inverse[2, 0],
        D * inverse[0, 1] + E * inverse[1, 1] + G * inverse[2, 1],
        D * inverse[0, 2] + E * inverse[1, 2] + G * inverse[2, 2],
    )
    g, h, i = (
        P * inverse[0, 0] + Q * inverse[1, 0] + R * inverse[2, 0],
        P * inverse[0, 1] + Q * inverse[1, 1] + R * inverse[2, 1],
        P * inverse[0, 2] + Q * inverse[1, 2] + R * inverse[2, 2],
    )
    return a * (e * i - f * h) + b * (f * g - d * i) + c * (d * h - e * g), (
        a * a + d * d + g * g,
        b * b + e * e + h * h,
        c * c + f * f + i * i,
        a * b + d * e + g * h,
        b * c + e * f + h * i,
        c * a + f * d + i * g,
    )  # fmt: skip


@kernel()
def elastic_energy(u, v, w, mu, lam):
    """Returns the elastic energy [J/m³] at principal stretches √u, √v, √w."""
    a, b, c = math.sqrt(u) - 1.0, math.sqrt(v) - 1.0, math.sqrt(w) - 1.0
    return mu * (a * a + b * b + c * c) + 0.5 * lam * (a + b + c) ** 2


@kernel()
def multiply_by(inverse, U):
    """Multiplies Fp⁻¹ by U, given by its six entries, and brings the determinant back to 1 by a Newton step."""
    xx, yy, zz, xy, yz, zx = U
    for row in range(3):
        a, b, c = inverse[row, 0], inverse[row, 1], inverse[row, 2]
        inverse[row, 0], inverse[row, 1], inverse[row, 2] = (
            a * xx + b * xy + c * zx,
            a * xy + b * yy + c * yz,
            a * zx + b * yz + c * zz,
        )
    a, b, c, d, e, f, g, h, i = entries(inverse)
    k = (4.0 - (a * (e * i - f * h) + b * (f * g - d * i) + c * (d * h - e * g))) / 3.0
    write(inverse, (k * a, k * b, k * c, k * d, k * e, k * f, k * g, k * h, k * i))


@kernel()
def hold_maximum(inverse, old, maximum):
    """Scales ln Fp down to the norm `maximum`, or to that of before where it was more; returns whether it was above.

    Given are Fp⁻¹, in and out, and the nine entries of the one before.
    """
    A, u, v, w, (a, b, c, norm) = plastic_shear(entries(inverse))
    if not norm > maximum:
        return False
    # what has flowed before the maximum was lowered, or while it was molten, does not spring back
    maximum = min(max(maximum, plastic_shear(old)[4][3]), norm)
    share = 1.0 - maximum / norm
    a, b, c = math.exp(-share * a), math.exp(-share * b), math.exp(-share * c)
    xx, yy, zz, xy, yz, zx = function_of(A, u, v, w, a, b, c, -0.5 * share * b / v)
    for column in range(3):
        a, b, c = inverse[0, column], inverse[1, column], inverse[2, column]
        inverse[0, column], inverse[1, column], inverse[2, column] = (
            xx * a + xy * b + zx * c,
            xy * a + yy * b + yz * c,
            zx * a + yz * b + zz * c,
        )
    return True


@kernel()
def write(inverse, nine):
    """Writes the nine entries of a matrix, row by row."""
    (
        inverse[0, 0],
        inverse[0, 1],
        inverse[0, 2],
        inverse[1, 0],
        inverse[1, 1],
        inverse[1, 2],
        inverse[2, 0],
        inverse[2, 1],
        inverse[2, 2],
    ) = nine
