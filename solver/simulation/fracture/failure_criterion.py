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

from ...mechanics.elements.deformation_gradient import unpack_six
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
    first, last, x, strained, strengths, is_held, is_tip, breaking_stress, toughness, largest, damage, overload
):
    """Writes how near tets from `first` to `last` are to breaking.

    Args:
        first, last: Tets of the body.
        x: Node positions [m], (n, 3).
        strained: `StrainedTets`.
        strengths: `TetStrengths`.
        is_held: Which nodes are held exactly, (n,), or (0,): none. Tets with four such nodes do not break.
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
        n, G = tets[tet], Dm_inverse[tet]
        if len(is_held) > 0 and is_held[n[0]] and is_held[n[1]] and is_held[n[2]] and is_held[n[3]]:
            continue
        strength = share[tet] * breaking_stress
        if is_tip[n[0]] or is_tip[n[1]] or is_tip[n[2]] or is_tip[n[3]]:
            strength = share[tet] * toughness / math.sqrt(size[tet])
        p0, p1, p2, p3 = x[n[0]], x[n[1]], x[n[2]], x[n[3]]
        x1, y1, z1 = p1[0] - p0[0], p1[1] - p0[1], p1[2] - p0[2]
        x2, y2, z2 = p2[0] - p0[0], p2[1] - p0[1], p2[2] - p0[2]
        x3, y3, z3 = p3[0] - p0[0], p3[1] - p0[1], p3[2] - p0[2]
        g1x, g1y, g1z = G[0, 0], G[0, 1], G[0, 2]
        g2x, g2y, g2z = G[1, 0], G[1, 1], G[1, 2]
        g3x, g3y, g3z = G[2, 0], G[2, 1], G[2, 2]
        a, b, c = x1 * g1x + x2 * g2x + x3 * g3x, x1 * g1y + x2 * g2y + x3 * g3y, x1 * g1z + x2 * g2z + x3 * g3z
        d, e, f = y1 * g1x + y2 * g2x + y3 * g3x, y1 * g1y + y2 * g2y + y3 * g3y, y1 * g1z + y2 * g2z + y3 * g3z
        g, h, i = z1 * g1x + z2 * g2x + z3 * g3x, z1 * g1y + z2 * g2y + z3 * g3y, z1 * g1z + z2 * g2z + z3 * g3z
        k = 2.0 * mu[tet]
        if len(initial_strain) == 0 and len(own_strain) == 0:
            exx, eyy, ezz = a * a + d * d + g * g - 1.0, b * b + e * e + h * h - 1.0, c * c + f * f + i * i - 1.0
            exy, eyz, ezx = a * b + d * e + g * h, b * c + e * f + h * i, c * a + f * d + i * g
            trace = exx + eyy + ezz
            m = trace / 3.0
            u, v, w = exx - m, eyy - m, ezz - m
            spread = math.sqrt((u * u + v * v + w * w + 2.0 * (exy * exy + eyz * eyz + ezx * ezx)) * 2.0 / 3.0)
            bound = 0.5 * bearing[tet] * (k * (m + spread) + lam[tet] * trace)
            if (bound <= largest or not is_judged[tet]) and bound <= min(damage[tet], 1.0) * strength:
                continue
        if len(own_strain) > 0:
            exx, eyy, ezz, exy, eyz, ezx = unpack_six(own_strain[tet - first])
        else:
            A, B, C, D, E, F, P, Q, R = nearest_rotation(a, b, c, d, e, f, g, h, i)
            exx, eyy, ezz = A * a + D * d + P * g - 1.0, B * b + E * e + Q * h - 1.0, C * c + F * f + R * i - 1.0
            exy = 0.5 * (A * b + D * e + P * h + B * a + E * d + Q * g)
            eyz = 0.5 * (B * c + E * f + Q * i + C * b + F * e + R * h)
            ezx = 0.5 * (C * a + F * d + R * g + A * c + D * f + P * i)
        if len(initial_strain) > 0:
            o = initial_strain[tet]
            exx, eyy, ezz, exy, eyz, ezx = exx - o[0], eyy - o[1], ezz - o[2], exy - o[3], eyz - o[4], ezx - o[5]
        p = lam[tet] * (exx + eyy + ezz)
        stress = bearing[tet] * largest_eigenvalue(k * exx + p, k * eyy + p, k * ezz + p, k * exy, k * eyz, k * ezx)
        damage[tet] = max(damage[tet], min(stress / strength, 1.0))
        if not is_judged[tet]:
            continue
        largest = max(largest, stress)
        if stress > strength:
            overload[tet] = stress / strength
            count += 1
    return largest, count
