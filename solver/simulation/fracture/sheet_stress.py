# SPDX-License-Identifier: GPL-3.0-or-later
"""The stress that tears a sheet: Hooke's of how far its triangles are stretched.

With F, 3×2, of a triangle and C = FᵀF the stretch is U = (C + √det C I) / √(tr C + 2 √det C), and with the moduli of
plane stress (`mechanics/sheets/membrane_kernels.py`) and ε = U − I

    σ₁₁ = C₁₁ ε₁₁ + C₁₂ ε₂₂,   σ₂₂ = C₁₂ ε₁₁ + C₂₂ ε₂₂,   σ₁₂ = 2 G ε₁₂

of every law of membranes, as solids are judged by Hooke's stress of their strain. A strip that is stretched by s has
the stress E (s − 1). A tear crosses the direction of the largest stress, in the sheet at rest.

Source of U: Hoger and Carlson 1984, Determination of the stretch and rotation in the polar decomposition of the
deformation gradient.
"""

from __future__ import annotations

import math

import numpy as np

from ...mechanics.model import Model
from ...runtime.arrays import Floats, Indices, floats
from ...runtime.jit import kernel
from .failure_criterion import tet_strength


@kernel()
def evaluate_sheet_overload(
    first, x, tets, triangles, strengths, is_fixed, is_tip, breaking_stress, toughness, largest, damage, overload
):
    """Writes how near triangles of a sheet are to tearing; `evaluate_overload` does the same for tets.

    Args:
        first: Number of the tet of its first triangle; the others follow.
        x: Node positions [m], (n, 3).
        tets: Nodes of all tets, (m, 4).
        triangles: Inverse rest edges [1/m], (t, 2, 2), and moduli [Pa], (t, 4), of its triangles.
        strengths, is_fixed, is_tip, breaking_stress, toughness, largest, damage, overload: See `evaluate_overload`.

    Returns:
        The largest principal stress so far, and how many triangles are overloaded.
    """
    is_breakable, _, _, share, size = strengths
    rest_inverse, moduli = triangles
    count = 0
    for triangle in range(len(rest_inverse)):
        tet = first + triangle
        overload[tet] = 0.0
        n = tets[tet]
        if not is_breakable[tet] or (len(is_fixed) > 0 and is_fixed[n[0]] and is_fixed[n[1]] and is_fixed[n[2]]):
            continue
        stress = largest_stress(x, n, rest_inverse[triangle], moduli[triangle])[0]
        strength = tet_strength(n, is_tip, share[tet], breaking_stress, toughness, size[tet])
        damage[tet] = max(damage[tet], min(stress / strength, 1.0))
        largest = max(largest, stress)
        if stress > strength:
            overload[tet] = stress / strength
            count += 1
    return largest, count


@kernel(device_only=True)
def largest_stress(x, nodes, inverse, moduli):
    """Returns the largest principal stress of a triangle [Pa], and its direction in the material axes, two numbers."""
    aa, bb, ab = 0.0, 0.0, 0.0
    for i in range(3):
        p, q = x[nodes[1], i] - x[nodes[0], i], x[nodes[2], i] - x[nodes[0], i]
        f, g = p * inverse[0, 0] + q * inverse[1, 0], p * inverse[0, 1] + q * inverse[1, 1]
        aa, bb, ab = aa + f * f, bb + g * g, ab + f * g
    root = math.sqrt(max(aa * bb - ab * ab, 0.0))
    total = math.sqrt(aa + bb + 2.0 * root)
    if total == 0.0:  # all of it is at one place
        return -math.inf, 1.0, 0.0
    e11, e22, e12 = (aa + root) / total - 1.0, (bb + root) / total - 1.0, ab / total
    s11, s22 = moduli[0] * e11 + moduli[2] * e22, moduli[2] * e11 + moduli[1] * e22
    s12 = 2.0 * moduli[3] * e12
    angle = 0.5 * math.atan2(2.0 * s12, s11 - s22)
    radius = math.sqrt(0.25 * (s11 - s22) * (s11 - s22) + s12 * s12)
    return 0.5 * (s11 + s22) + radius, math.cos(angle), math.sin(angle)


@kernel()
def fill_stress_directions(x, X, nodes, rest_inverse, moduli, out):
    """Writes the directions of the largest stress of triangles at rest, unit vectors, (k, 3).

    Args:
        x, X: Node positions now and at rest [m], (n, 3) each.
        nodes: Of the triangles, (k, 4).
        rest_inverse, moduli: Of these, (k, 2, 2) and (k, 4).
        out: Out.
    """
    for k in range(len(nodes)):
        _, first, second = largest_stress(x, nodes[k], rest_inverse[k], moduli[k])
        along = rest_inverse[k, 0, 0] * first + rest_inverse[k, 0, 1] * second
        other = rest_inverse[k, 1, 0] * first + rest_inverse[k, 1, 1] * second
        square = 0.0
        for i in range(3):
            a, b = X[nodes[k, 1], i] - X[nodes[k, 0], i], X[nodes[k, 2], i] - X[nodes[k, 0], i]
            out[k, i] = along * a + other * b
            square += out[k, i] * out[k, i]
        for i in range(3):
            out[k, i] /= math.sqrt(square)


def tear_normals(model: Model, x: Floats, which: Indices) -> Floats:
    """Returns the directions of the largest stress of triangles, tets of the model, as normals at rest, (k, 3)."""
    sheets = model.sheets
    assert sheets is not None
    triangle = sheets.hinges.triangle_start[np.searchsorted(sheets.tets, which)]
    out = np.empty((len(which), 3))
    fill_stress_directions(
        x, model.X, model.tets[which], sheets.hinges.rest_inverse[triangle], sheets.hinges.moduli[triangle], out
    )
    return floats(out)
