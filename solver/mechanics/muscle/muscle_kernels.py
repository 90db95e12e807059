# SPDX-License-Identifier: GPL-3.0-or-later
"""Energy, stress and tangent of muscle tets in the diagonal frame, F̂ = diag(σ), fibres along w = Vᵀ f.

With the derivatives ψ_a and ψ_ab by the invariants I_a of `muscle_energy.py`, fully:

    P̂ = Σ_a ψ_a ∂I_a/∂F,   T = Σ_ab ψ_ab ∂I_a/∂F ⊗ ∂I_b/∂F + Σ_a ψ_a ∂²I_a/∂F²

Fascia adds ½ E Σ max(|σ_i| − 1, 0)², which resists elongation in every direction.

Source: S07, sections 2.5 (fascia) and A.3; derivatives by F instead of C, of own derivation.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ...runtime.arrays import Bools, Floats
from ...runtime.jit import kernel
from .muscle_energy import muscle_energy

MIN_STRETCH_DIFFERENCE = 1.0e-9  # below which a difference quotient is the derivative


class MuscleArrays(NamedTuple):
    """What kernels read of the k tets of a muscle term.

    Attributes:
        direction: Unit fibre directions f at rest, (k, 3).
        unit: The contractile unit of each tet, whose activation it has, (k,).
        tendon: Share τ of tendon, (k,).
        peak_stress: σ_max [Pa], (k,).
        tendon_stress: σ_t of tendon at a strain of 3 % [Pa], (k,).
        optimal_stretch: λ_o, (k,).
        is_deviatoric: Whether the stretch λ of fibres is without the change of volume, (k,).
        shear: Moduli of shear along and across fibres G1, G2 [Pa], (k, 2).
        fascia: Modulus E of fascia [Pa], (k,).
    """

    direction: Floats
    unit: npt.NDArray[np.int32]
    tendon: Floats
    peak_stress: Floats
    tendon_stress: Floats
    optimal_stretch: Floats
    is_deviatoric: Bools
    shear: Floats
    fascia: Floats


@kernel()
def muscle_energies(begin, stretches, V, arrays, activation, least_J, psi):
    """Writes ψ [J/m³] of tets from `begin` on, (c,), at stretches (c, 3) and frames V, (c, 3, 3)."""
    slopes, w = np.empty(14), np.empty(3)
    for place in range(len(psi)):
        s = stretches[place]
        rotate_direction(V[place], arrays.direction[begin + place], w)
        fibre, shear = material_of(begin + place, arrays, activation)
        psi[place] = muscle_energy(*invariants(s, w), least_J, fibre, shear, slopes)
        modulus = arrays.fascia[begin + place]
        for i in range(3):
            excess = max(abs(s[i]) - 1.0, 0.0)
            psi[place] += 0.5 * modulus * excess * excess


@kernel()
def muscle_stresses(begin, stretches, V, arrays, activation, least_J, stress):
    """Writes P̂ of tets from `begin` on [Pa], (c, 9), rows of matrices one after the other."""
    slopes, w, gradient = np.empty(14), np.empty(3), np.empty((4, 9))
    for place in range(len(stress)):
        s, tet = stretches[place], begin + place
        write_derivatives(tet, s, V[place], arrays, activation, least_J, w, slopes, gradient)
        write_stress(s, arrays.fascia[tet], slopes, gradient, stress[place])


@kernel()
def muscle_tangents(begin, stretches, V, arrays, activation, least_J, stress, tangent):
    """Writes P̂, (c, 9), and T, (c, 9, 9), of tets from `begin` on [Pa], rows of matrices one after the other."""
    slopes, w, gradient, second = np.empty(14), np.empty(3), np.empty((4, 9)), np.empty((4, 9))
    for place in range(len(stress)):
        s, T, tet = stretches[place], tangent[place], begin + place
        write_derivatives(tet, s, V[place], arrays, activation, least_J, w, slopes, gradient)
        write_stress(s, arrays.fascia[tet], slopes, gradient, stress[place])
        combine_gradients(slopes, gradient, second)
        for r in range(9):
            for c in range(9):
                T[r, c] = gradient[2, r] * second[2, c] + gradient[3, r] * second[3, c]
        for r in range(0, 9, 4):  # the gradients of I and J are diagonal
            for c in range(9):
                T[r, c] += gradient[0, r] * second[0, c] + gradient[1, r] * second[1, c]
        add_invariant_hessians(s, w, slopes, T)
        if arrays.fascia[tet] > 0.0:
            add_fascia_tangent(s, arrays.fascia[tet], T)


@kernel(device_only=True)
def write_derivatives(tet, s, V, arrays, activation, least_J, w, slopes, gradient):
    """Writes the direction of fibres w, derivatives of the energy by invariants, and gradients of these."""
    rotate_direction(V, arrays.direction[tet], w)
    fibre, shear = material_of(tet, arrays, activation)
    muscle_energy(*invariants(s, w), least_J, fibre, shear, slopes)
    invariant_gradients(s, w, gradient)


@kernel(device_only=True)
def write_stress(s, fascia, slopes, gradient, P):
    """Writes P̂ = Σ_a ψ_a ∂I_a/∂F with what fascia adds."""
    for k in range(9):
        P[k] = (
            slopes[0] * gradient[0, k]
            + slopes[1] * gradient[1, k]
            + slopes[2] * gradient[2, k]
            + slopes[3] * gradient[3, k]
        )
    for i in range(3):
        P[4 * i] += fascia_stress(s[i], fascia)


@kernel(inline=True, device_only=True)
def material_of(tet, arrays, activation):
    """Returns what `muscle_energy` takes as `fibre` and `shear`."""
    peak_stress, tendon_stress = arrays.peak_stress[tet], arrays.tendon_stress[tet]
    optimal_stretch, is_deviatoric = arrays.optimal_stretch[tet], arrays.is_deviatoric[tet]
    a, tendon = activation[arrays.unit[tet]], arrays.tendon[tet]
    fibre = a, tendon, peak_stress, tendon_stress, optimal_stretch, is_deviatoric
    return fibre, (arrays.shear[tet, 0], arrays.shear[tet, 1])


@kernel(inline=True, device_only=True)
def rotate_direction(V, direction, w):
    """Writes w = Vᵀ f."""
    for i in range(3):
        w[i] = V[0, i] * direction[0] + V[1, i] * direction[1] + V[2, i] * direction[2]


@kernel(inline=True, device_only=True)
def invariants(s, w):
    """Returns I, J, I4 and I5."""
    p, q, r = s[0] * s[0], s[1] * s[1], s[2] * s[2]
    a, b, c = p * w[0] * w[0], q * w[1] * w[1], r * w[2] * w[2]
    return p + q + r, s[0] * s[1] * s[2], a + b + c, p * a + q * b + r * c


@kernel(device_only=True)
def invariant_gradients(s, w, gradient):
    """Writes ∂I/∂F = 2 F, ∂J/∂F = cof F, ∂I4/∂F = 2 y wᵀ and ∂I5/∂F = 2 (u wᵀ + y zᵀ): y = F w, z = Fᵀ y, u = F z."""
    for i in range(3):
        y = s[i] * w[i]
        u = s[i] * s[i] * y
        for j in range(3):
            k = 3 * i + j
            gradient[0, k], gradient[1, k] = 0.0, 0.0
            gradient[2, k] = 2.0 * y * w[j]
            gradient[3, k] = 2.0 * (u * w[j] + y * s[j] * s[j] * w[j])
        gradient[0, 4 * i] = 2.0 * s[i]
        gradient[1, 4 * i] = s[(i + 1) % 3] * s[(i + 2) % 3]


@kernel(device_only=True)
def combine_gradients(slopes, gradient, second):
    """Writes Σ_b ψ_ab ∂I_b/∂F of the four invariants, (4, 9)."""
    for k in range(9):
        a, b, c, d = gradient[0, k], gradient[1, k], gradient[2, k], gradient[3, k]
        second[0, k] = slopes[4] * a + slopes[5] * b + slopes[6] * c + slopes[7] * d
        second[1, k] = slopes[5] * a + slopes[8] * b + slopes[9] * c + slopes[10] * d
        second[2, k] = slopes[6] * a + slopes[9] * b + slopes[11] * c + slopes[12] * d
        second[3, k] = slopes[7] * a + slopes[10] * b + slopes[12] * c + slopes[13] * d


@kernel(device_only=True)
def add_invariant_hessians(s, w, slopes, T):
    """Adds Σ_a ψ_a ∂²I_a/∂F² to T, (9, 9)."""
    by_I, by_J, by_4, by_5 = 2.0 * slopes[0], slopes[1], 2.0 * slopes[2], 2.0 * slopes[3]
    for k in range(9):
        T[k, k] += by_I
    for i in range(3):
        j = (i + 1) % 3
        size = by_J * s[(i + 2) % 3]
        T[4 * i, 4 * j] += size
        T[4 * j, 4 * i] += size
        T[3 * i + j, 3 * j + i] -= size
        T[3 * j + i, 3 * i + j] -= size
    if (by_4 == 0.0) & (by_5 == 0.0):
        return
    for i in range(3):
        y = s[i] * w[i]
        for j in range(3):
            for l in range(3):  # noqa: E741
                # k = i: δ_ik (I4: w_j w_l; I5: (z_l w_j + w_l z_j) + (F Fᵀ)_ik w_l w_j)
                both = w[j] * w[l]
                T[3 * i + j, 3 * i + l] += by_4 * both + by_5 * both * (s[i] * s[i] + s[j] * s[j] + s[l] * s[l])
            for k in range(3):
                # l = i: F_il y_k w_j, l = j: δ_jl y_i y_k, k = j: y_i F_kj w_l
                T[3 * i + j, 3 * k + i] += by_5 * s[i] * s[k] * w[k] * w[j]
                T[3 * i + j, 3 * k + j] += by_5 * y * s[k] * w[k]
                T[3 * i + j, 3 * j + k] += by_5 * y * s[j] * w[k]


@kernel(inline=True, device_only=True)
def fascia_stress(stretch, modulus):
    """Returns the derivative of ½ E max(|σ| − 1, 0)² by σ [Pa]."""
    excess = max(abs(stretch) - 1.0, 0.0)
    return modulus * excess if stretch > 0.0 else -modulus * excess


@kernel(device_only=True)
def add_fascia_tangent(s, modulus, T):
    """Adds the tangent of ½ E Σ max(|σ_i| − 1, 0)², a convex function of F."""
    for i in range(3):
        j = (i + 1) % 3
        T[4 * i, 4 * i] += modulus if abs(s[i]) > 1.0 else 0.0
        p, q = fascia_stress(s[i], modulus), fascia_stress(s[j], modulus)
        if (p == 0.0) & (q == 0.0):
            continue
        apart, sum_of_both = s[i] - s[j], s[i] + s[j]
        together = (p - q) / apart if abs(apart) > MIN_STRETCH_DIFFERENCE else modulus
        against = (p + q) / sum_of_both if abs(sum_of_both) > MIN_STRETCH_DIFFERENCE else modulus
        a, b = 0.5 * (together + against), 0.5 * (together - against)
        T[3 * i + j, 3 * i + j] += a
        T[3 * j + i, 3 * j + i] += a
        T[3 * i + j, 3 * j + i] += b
        T[3 * j + i, 3 * i + j] += b
