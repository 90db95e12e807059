# SPDX-License-Identifier: GPL-3.0-or-later
"""Membrane energies of a triangle: St. Venant and Kirchhoff's, orthotropic, and a stable neo-Hookean one.

F, 3×2, maps the material axes of a triangle to space. With E = ½ (FᵀF − I) the energy per volume of St. Venant and
Kirchhoff's law in plane stress is

    ψ = ½ (C₁₁ E₁₁² + C₂₂ E₂₂²) + C₁₂ E₁₁ E₂₂ + 2 G E₁₂²,

and with the ratio J of areas, J² = det FᵀF, that of the stable neo-Hookean law

    ψ = ½ μ (tr FᵀF − 2) − μ (J − 1) + ½ (λ + μ) (J − 1)²,

which is finite for every F, also where a triangle has no area, and for small strains is Hooke's with μ and λ: then
C₁₁ = C₂₂ = λ + 2μ, C₁₂ = λ, G = μ. In plane stress λ = E ν / (1 − ν²).

Source: Smith, de Goes and Kim 2018, Stable neo-Hookean flesh simulation, (10) without its logarithm, for two dimensions
instead of three, which turns their λ + 4/3 μ of J into λ + μ (own derivation).
"""

from __future__ import annotations

import math

from ...runtime.jit import kernel

STVK, STABLE_NEO_HOOKEAN = 0, 1  # numbers of the laws
MIN_AREA_RATIO = 1.0e-9  # J below which the direction in which J grows is not known


@kernel(device_only=True)
def membrane(law, moduli, F, P, H):
    """Returns ψ [Pa] of a triangle.

    Args:
        law: Its number.
        moduli: C₁₁, C₂₂, C₁₂ and G [Pa], (4,).
        F: (3, 2).
        P: ∂ψ/∂F [Pa], (3, 2), out.
        H: ∂²ψ/∂F² [Pa], with F row by row, (6, 6), out.
    """
    return stvk(moduli, F, P, H) if law == STVK else stable_neo_hookean(moduli, F, P, H)


@kernel(device_only=True)
def stvk(moduli, F, P, H):
    """Returns ψ by St. Venant and Kirchhoff's law; see `membrane`."""
    c11, c22, c12, shear = moduli[0], moduli[1], moduli[2], moduli[3]
    e11, e22, e12 = green_strain(F)
    s11, s22, s12 = c11 * e11 + c12 * e22, c12 * e11 + c22 * e22, 2.0 * shear * e12
    for i in range(3):
        P[i, 0], P[i, 1] = F[i, 0] * s11 + F[i, 1] * s12, F[i, 0] * s12 + F[i, 1] * s22
    for i in range(3):
        for k in range(3):
            a, b, c, d = F[i, 0], F[i, 1], F[k, 0], F[k, 1]
            same = 1.0 if i == k else 0.0
            H[2 * i, 2 * k] = same * s11 + c11 * a * c + shear * b * d
            H[2 * i, 2 * k + 1] = same * s12 + c12 * a * d + shear * b * c
            H[2 * i + 1, 2 * k] = same * s12 + c12 * b * c + shear * a * d
            H[2 * i + 1, 2 * k + 1] = same * s22 + c22 * b * d + shear * a * c
    return 0.5 * (c11 * e11 * e11 + c22 * e22 * e22) + c12 * e11 * e22 + 2.0 * shear * e12 * e12


@kernel(device_only=True)
def strain_stiffness(moduli, F, H):
    """Writes the part of ∂²ψ/∂F² that is due to the change of strain, Hooke's C of every law; see `membrane`."""
    c11, c22, c12, shear = moduli[0], moduli[1], moduli[2], moduli[3]
    for i in range(3):
        for k in range(3):
            a, b, c, d = F[i, 0], F[i, 1], F[k, 0], F[k, 1]
            H[2 * i, 2 * k] = c11 * a * c + shear * b * d
            H[2 * i, 2 * k + 1] = c12 * a * d + shear * b * c
            H[2 * i + 1, 2 * k] = c12 * b * c + shear * a * d
            H[2 * i + 1, 2 * k + 1] = c22 * b * d + shear * a * c


@kernel(device_only=True)
def green_strain(F):
    """Returns E₁₁, E₂₂ and E₁₂."""
    aa = F[0, 0] * F[0, 0] + F[1, 0] * F[1, 0] + F[2, 0] * F[2, 0]
    bb = F[0, 1] * F[0, 1] + F[1, 1] * F[1, 1] + F[2, 1] * F[2, 1]
    ab = F[0, 0] * F[0, 1] + F[1, 0] * F[1, 1] + F[2, 0] * F[2, 1]
    return 0.5 * (aa - 1.0), 0.5 * (bb - 1.0), 0.5 * ab


@kernel(device_only=True)
def stable_neo_hookean(moduli, F, P, H):
    """Returns ψ by the stable neo-Hookean law; see `membrane`."""
    mu, areal = moduli[3], moduli[2] + moduli[3]
    aa = F[0, 0] * F[0, 0] + F[1, 0] * F[1, 0] + F[2, 0] * F[2, 0]
    bb = F[0, 1] * F[0, 1] + F[1, 1] * F[1, 1] + F[2, 1] * F[2, 1]
    ab = F[0, 0] * F[0, 1] + F[1, 0] * F[1, 1] + F[2, 0] * F[2, 1]
    J = math.sqrt(max(aa * bb - ab * ab, 0.0))
    slope = areal * (J - 1.0) - mu
    half, cubed = (0.5 / J, 0.25 / (J * J * J)) if J > MIN_AREA_RATIO else (0.0, 0.0)
    for i in range(3):
        # q = J² has the gradient 2 (bb F₁ − ab F₂, aa F₂ − ab F₁)
        P[i, 0] = mu * F[i, 0] + slope * half * 2.0 * (bb * F[i, 0] - ab * F[i, 1])
        P[i, 1] = mu * F[i, 1] + slope * half * 2.0 * (aa * F[i, 1] - ab * F[i, 0])
    first, second = slope * half, areal * half * half - slope * cubed
    for i in range(3):
        p, q = 2.0 * (bb * F[i, 0] - ab * F[i, 1]), 2.0 * (aa * F[i, 1] - ab * F[i, 0])
        for k in range(3):
            r, s = 2.0 * (bb * F[k, 0] - ab * F[k, 1]), 2.0 * (aa * F[k, 1] - ab * F[k, 0])
            a, b, c, d = F[i, 0], F[i, 1], F[k, 0], F[k, 1]
            same = 1.0 if i == k else 0.0
            H[2 * i, 2 * k] = same * mu + second * p * r + first * 2.0 * (same * bb - b * d)
            H[2 * i, 2 * k + 1] = second * p * s + first * 2.0 * (2.0 * a * d - b * c - same * ab)
            H[2 * i + 1, 2 * k] = second * q * r + first * 2.0 * (2.0 * b * c - a * d - same * ab)
            H[2 * i + 1, 2 * k + 1] = same * mu + second * q * s + first * 2.0 * (same * aa - a * c)
    return 0.5 * mu * (aa + bb - 2.0) - mu * (J - 1.0) + 0.5 * areal * (J - 1.0) * (J - 1.0)
