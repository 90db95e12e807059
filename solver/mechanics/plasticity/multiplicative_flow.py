# SPDX-License-Identifier: GPL-3.0-or-later
"""Plastic flow that keeps volume: F = Fe Fp, det Fp = 1; the present rest shape is the original one deformed by Fp.

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
from typing import NamedTuple

from ...runtime.arrays import Floats
from ...runtime.jit import kernel
from ..elements.deformation_gradient import deformation_gradient_of
from .symmetric_matrix import (
    determinant,
    eigenvalues,
    log_shear,
    log_shear_bound,
    matrix_entries,
    matrix_function,
    matrix_product,
    plastic_shear,
    right_cauchy_green,
    write_matrix,
)

# smallest over largest principal stretch of Fe below which it does not flow
MIN_STRETCH_RATIO = 1.0e-4
# strain that may flow in one step: a stretch of e
MAX_STRAIN_PER_STEP = 1.0
# norm of ln Fp beyond which no rest shape goes, whatever is asked for: tets three hundred times as long as they were
MAX_PLASTIC_STRAIN = 7.0


class FlowRule(NamedTuple):
    """How k tets flow: yield strain, c [1/s], largest norm of ln Fp, and h, (k,) each."""

    yield_strain: Floats
    rate: Floats
    maximum: Floats
    hardening: Floats


@kernel()
def flow_multiplicative(begin, end, first, x, tets, Dm_inverse, mu, lam, dt, rule, Fp_inverse, flowed):
    """Lets k of the tets from number `first` on flow for Δt = `dt` [s], those from `begin` to `end` of them.

    Args:
        begin, end: Which ones.
        first: Number of the first tet in the model.
        x: Node positions at the end of the step [m], (n, 3).
        tets: Of the model, (m, 4).
        Dm_inverse: Of the model as it was built, (m, 3, 3).
        mu, lam: Present moduli of what strain does [Pa], (m,).
        dt: Δt [s].
        rule: `FlowRule`.
        Fp_inverse: Fp⁻¹, (m, 3, 3), in and out.
        flowed: α, the strain that has flowed so far, (m,), in and out.
    """
    yield_strain, rate, maximum, hardening = rule
    for k in range(begin, end):
        tet = first + k
        F, old = deformation_gradient_of(x, tets[tet], Dm_inverse[tet]), matrix_entries(Fp_inverse[tet])
        Fe = matrix_product(F, old)
        J, C = determinant(Fe), right_cauchy_green(Fe)
        h = hardening[k]
        threshold = yield_strain[k] + h * flowed[tet]
        if not (J > 0.0 and rate[k] > 0.0 and log_shear_bound(C) > threshold):
            continue
        u, v, w = eigenvalues(C, J * J)
        if not w > MIN_STRETCH_RATIO * MIN_STRETCH_RATIO * u:
            continue
        a, b, c, norm = log_shear(u, v, w)
        if not norm > threshold:
            continue
        left = max(norm * math.exp(-rate[k] * dt), (threshold + h * norm) / (1.0 + h))
        # how much of the strain goes over, and by what the stretches change, whose product stays
        share = 1.0 - max(left, norm - MAX_STRAIN_PER_STEP) / norm
        a, b = math.exp(-share * a), math.exp(-share * b)
        c = 1.0 / (a * b)
        new = with_unit_determinant(matrix_product(old, matrix_function(C, u, v, w, a, b, c, -0.5 * share * b / v)))
        amount, most = share * norm, min(maximum[k], MAX_PLASTIC_STRAIN)
        # a shape is never further off than all the strain that made it
        if flowed[tet] + amount > most:
            is_above, new = limit_plastic_strain(new, old, most)
            if is_above:
                before = elastic_energy(u, v, w, mu[tet], lam[tet])
                u, v, w = eigenvalues(right_cauchy_green(matrix_product(F, new)), J * J)
                amount = norm - log_shear(u, v, w)[3]
                if not amount > 0.0 or elastic_energy(u, v, w, mu[tet], lam[tet]) > before:
                    continue
        flowed[tet] += amount
        write_matrix(Fp_inverse[tet], new)


@kernel(device_only=True)
def limit_plastic_strain(new, old, maximum):
    """Returns whether ‖ln Fp‖ is above `maximum`, and Fp⁻¹ with ln Fp scaled down to that, all as nine entries.

    What has flowed before the maximum was lowered, or while it was molten, does not spring back: where the norm of
    `old` is above it, that is the maximum.
    """
    A, u, v, w, (a, b, c, norm) = plastic_shear(new)
    if not norm > maximum:
        return False, new
    share = max(0.0, 1.0 - max(maximum, plastic_shear(old)[4][3]) / norm)
    a, b, c = math.exp(-share * a), math.exp(-share * b), math.exp(-share * c)
    return True, matrix_product(matrix_function(A, u, v, w, a, b, c, -0.5 * share * b / v), new)


@kernel(device_only=True)
def with_unit_determinant(Fp_inverse):
    """Returns Fp⁻¹, nine entries, with its determinant brought back to 1 by a step of Newton's."""
    a, b, c, d, e, f, g, h, i = Fp_inverse
    k = (4.0 - determinant(Fp_inverse)) / 3.0
    return k * a, k * b, k * c, k * d, k * e, k * f, k * g, k * h, k * i


@kernel()
def elastic_energy(u, v, w, mu, lam):
    """Returns the elastic energy [J/m³] at principal stretches √u, √v, √w."""
    a, b, c = math.sqrt(u) - 1.0, math.sqrt(v) - 1.0, math.sqrt(w) - 1.0
    return mu * (a * a + b * b + c * c) + 0.5 * lam * (a + b + c) ** 2
