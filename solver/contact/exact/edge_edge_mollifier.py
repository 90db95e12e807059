# SPDX-License-Identifier: GPL-3.0-or-later
"""A factor that fades the contact of two edges where they become parallel.

The distance of edges has a kink where they are parallel, since other features become the closest. With c = |a × b|²
of edges a and b, the factor m = (2 − c/ε) c/ε for c < ε, and 1 elsewhere, has a continuous derivative; points and
edges beside these then do what parallel edges do not.

Source: Li et al. (2020), with ε = 1e-3 |a|² |b|² at rest.
"""

from __future__ import annotations

from ...runtime.jit import kernel

PARALLEL_RATIO = 1.0e-3  # ε over |a|² |b|²


@kernel()
def edge_cross_squared(x):
    """Returns c = |a × b|² [m⁴] of two edges with ends x [m], (4, 3)."""
    total = 0.0
    for axis in range(3):
        n = _cross(x, axis)
        total += n * n
    return total


@kernel()
def mollifier_threshold(rest):
    """Returns ε [m⁴] of two edges with ends at rest [m], (4, 3)."""
    aa, bb = 0.0, 0.0
    for axis in range(3):
        a, b = rest[1, axis] - rest[0, axis], rest[3, axis] - rest[2, axis]
        aa, bb = aa + a * a, bb + b * b
    return PARALLEL_RATIO * aa * bb


@kernel()
def mollifier(c, threshold):
    """Returns m, dm/dc [1/m⁴] and d²m/dc² [1/m⁸] at c and ε [m⁴]."""
    if c >= threshold:
        return 1.0, 0.0, 0.0
    ratio = c / threshold
    return (2.0 - ratio) * ratio, 2.0 * (1.0 - ratio) / threshold, -2.0 / (threshold * threshold)


@kernel()
def fill_edge_cross_derivatives(x, gradient, hessian):
    """Writes ∂c/∂x, (12,), and ∂²c/∂x², (12, 12), of two edges.

    c = |a|² |b|² − (a · b)², whose derivatives by a and b go on to the ends with the signs −1, 1.

    Args:
        x: Ends [m], (4, 3).
        gradient, hessian: Out.
    """
    aa, ab, bb = 0.0, 0.0, 0.0
    for axis in range(3):
        a, b = x[1, axis] - x[0, axis], x[3, axis] - x[2, axis]
        aa, ab, bb = aa + a * a, ab + a * b, bb + b * b
    for i in range(4):
        sign = -1.0 if i % 2 == 0 else 1.0
        for p in range(3):
            a, b = x[1, p] - x[0, p], x[3, p] - x[2, p]
            gradient[3 * i + p] = 2.0 * sign * (bb * a - ab * b if i < 2 else aa * b - ab * a)
            for j in range(4):
                signs = sign * (-1.0 if j % 2 == 0 else 1.0)
                for q in range(3):
                    aq, bq = x[1, q] - x[0, q], x[3, q] - x[2, q]
                    same = 1.0 if p == q else 0.0
                    if i < 2 and j < 2:
                        value = bb * same - b * bq
                    elif i >= 2 and j >= 2:
                        value = aa * same - a * aq
                    elif i < 2:
                        value = 2.0 * a * bq - b * aq - ab * same
                    else:
                        value = 2.0 * b * aq - a * bq - ab * same
                    hessian[3 * i + p, 3 * j + q] = 2.0 * signs * value


@kernel(inline=True, device_only=True)
def _cross(x, axis):
    """Returns a × b along an axis [m²]."""
    i, j = (axis + 1) % 3, (axis + 2) % 3
    return (x[1, i] - x[0, i]) * (x[3, j] - x[2, j]) - (x[1, j] - x[0, j]) * (x[3, i] - x[2, i])
