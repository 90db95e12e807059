# SPDX-License-Identifier: GPL-3.0-or-later
"""How near to breaking every tet is: its largest principal stress over its strength.

The strength is a tet's own share of the breaking stress, or, where one of its nodes is at a crack tip or a notch, of
K_c / √h. The stress is that of `mechanics/elements/elastic_stress.py`, taken only where an upper bound that needs no
rotation says that it could matter: with Green's strain G = ½ (FᵀF − I), s − 1 ≤ ½ (s² − 1) for every stretch s, so that
the largest principal stress is at most 2μ g + λ tr G, where g is the largest eigenvalue of G, itself at most ⅓ tr G +
√(2/3) ‖dev G‖.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from ...mechanics.elements.deformation_gradient import corotated_strain_of, deformation_gradient_of, unpack_six
from ...mechanics.elements.elastic_stress import largest_eigenvalue
from ...mechanics.elements.nearest_rotation import nearest_rotation
from ...runtime.arrays import Bools, Floats, Indices
from ...runtime.jit import kernel


class StrainedTets(NamedTuple):
    """What the stress of tets follows from, beside where their nodes are.

    Attributes:
        tets, Dm_inverse, mu, lam, initial_strain: Of the present model.
        strain: Of the body's own tets as its formulation measures it, (k, 6), or (0, 6): by the nearest rotation.
    """

    tets: Indices
    Dm_inverse: Floats
    mu: Floats
    lam: Floats
    initial_strain: Floats
    strain: Floats


class TetStrengths(NamedTuple):
    """What tets bear; see `FractureBodies`, (m,) each."""

    is_breakable: Bools
    is_stress_checked: Bools
    load_share: Floats
    strength_share: Floats
    size: Floats


@kernel()
def evaluate_overload(
    first, last, x, strained, strengths, is_fixed, is_tip, breaking_stress, toughness, largest, damage, overload
):
    """Writes how near tets from `first` to `last` are to breaking.

    Args:
        first, last: Tets of the body.
        x: Node positions [m], (n, 3).
        strained: `StrainedTets`.
        strengths: `TetStrengths`.
        is_fixed: Which nodes are held exactly, (n,), or (0,): none. Tets with four such nodes do not break.
        is_tip: Which nodes are at crack tips or notches, (n,).
        breaking_stress: [Pa].
        toughness: K_c [Pa √m].
        largest: The largest principal stress so far [Pa].
        damage: Stress over strength, the most so far, at most 1, (m,); raised.
        overload: Out, stress over strength where the stress of a tet is checked and that is above 1, else 0, (m,).

    Returns:
        The largest principal stress so far, and how many tets are overloaded.
    """
    tets, Dm_inverse, mu, lam, initial_strain, own_strain = strained
    is_breakable, is_judged, bearing, share, size = strengths
    count = 0
    for tet in range(first, last):
        overload[tet] = 0.0
        if not is_breakable[tet]:
            continue
        n = tets[tet]
        if len(is_fixed) > 0 and is_fixed[n[0]] and is_fixed[n[1]] and is_fixed[n[2]] and is_fixed[n[3]]:
            continue
        strength = tet_strength(n, is_tip, share[tet], breaking_stress, toughness, size[tet])
        F = deformation_gradient_of(x, n, Dm_inverse[tet])
        if len(initial_strain) == 0 and len(own_strain) == 0:
            bound = bearing[tet] * stress_bound(F, mu[tet], lam[tet])
            if (bound <= largest or not is_judged[tet]) and bound <= min(damage[tet], 1.0) * strength:
                continue
        strain = unpack_six(own_strain[tet - first]) if len(own_strain) > 0 else tet_strain(F)
        if len(initial_strain) > 0:
            strain = elastic_strain(strain, initial_strain[tet])
        stress = bearing[tet] * largest_stress(strain, mu[tet], lam[tet])
        damage[tet] = max(damage[tet], min(stress / strength, 1.0))
        if not is_judged[tet]:
            continue
        largest = max(largest, stress)
        if stress > strength:
            overload[tet] = stress / strength
            count += 1
    return largest, count


@kernel(device_only=True)
def tet_strength(nodes, is_tip, share, breaking_stress, toughness, size):
    """Returns the stress [Pa] that breaks a tet with these nodes, (4,), and the size h [m]."""
    if is_tip[nodes[0]] or is_tip[nodes[1]] or is_tip[nodes[2]] or is_tip[nodes[3]]:
        return share * toughness / math.sqrt(size)
    return share * breaking_stress


@kernel(device_only=True)
def stress_bound(F, mu, lam):
    """Returns 2μ (⅓ tr G + √(2/3) ‖dev G‖) + λ tr G [Pa], G = ½ (FᵀF − I), for the entries of F, row by row."""
    a, b, c, d, e, f, g, h, i = F
    exx, eyy, ezz = a * a + d * d + g * g - 1.0, b * b + e * e + h * h - 1.0, c * c + f * f + i * i - 1.0
    exy, eyz, ezx = a * b + d * e + g * h, b * c + e * f + h * i, c * a + f * d + i * g
    trace = exx + eyy + ezz
    m = trace / 3.0
    u, v, w = exx - m, eyy - m, ezz - m
    spread = math.sqrt((u * u + v * v + w * w + 2.0 * (exy * exy + eyz * eyz + ezx * ezx)) * 2.0 / 3.0)
    return 0.5 * (2.0 * mu * (m + spread) + lam * trace)


@kernel(device_only=True)
def tet_strain(F):
    """Returns xx, yy, zz, xy, yz, zx of sym(RᵀF) − I with the nearest rotation R, for the entries of F, row by row."""
    return corotated_strain_of(F, nearest_rotation(*F))


@kernel(device_only=True)
def elastic_strain(strain, initial_strain):
    """Returns the strain less the initial strain, (6,)."""
    exx, eyy, ezz, exy, eyz, ezx = strain
    o = initial_strain
    return exx - o[0], eyy - o[1], ezz - o[2], exy - o[3], eyz - o[4], ezx - o[5]


@kernel(device_only=True)
def largest_stress(strain, mu, lam):
    """Returns the largest principal value of 2μ ε + λ tr(ε) I [Pa]."""
    exx, eyy, ezz, exy, eyz, ezx = strain
    k, p = 2.0 * mu, lam * (exx + eyy + ezz)
    return largest_eigenvalue(k * exx + p, k * eyy + p, k * ezz + p, k * exy, k * eyz, k * ezx)
