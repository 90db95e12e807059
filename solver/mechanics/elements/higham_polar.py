# SPDX-License-Identifier: GPL-3.0-or-later
"""The orthogonal factor of the polar decomposition F = R S by Higham's iteration: of an inverted F a reflection.

    R ← ½ (γ R + R⁻ᵀ / γ),    γ² = ‖R⁻¹‖ / ‖R‖

Where F is singular, its columns and rows are made orthogonal first, as by QR decomposition, to find what F leaves out:
directions m of space that nothing is mapped to, and n that are mapped to nothing. F + ‖F‖ m nᵀ has the same factor in
all else; m is turned so that the factor is proper.

Source: Higham, Computing the polar decomposition, 1986; Higham and Schreiber 1990 for singular F; Hauth and Straßer
2004, section 4.
"""

from __future__ import annotations

import math

from ...runtime.jit import kernel

SINGULAR_DETERMINANT = 1.0e-12  # |det F| over ‖F‖³ up to which F counts as singular
COLLINEAR_TOLERANCE = 1.0e-9  # length of a cross product of unit vectors up to which they lie on a line
MAX_ITERATIONS = 30
CONVERGED_CHANGE = 1.0e-16
UNSCALED_CHANGE = 1.0e-2  # square of a change from which on γ = 1: then every pass doubles the digits


@kernel()
def orthogonal_factor_of(a, b, c, d, e, f, g, h, i):
    """Returns the nine entries of R for F = [[a, b, c], [d, e, f], [g, h, i]]; the identity for F = 0."""
    size = math.sqrt(a * a + b * b + c * c + d * d + e * e + f * f + g * g + h * h + i * i)
    if not (size > 0.0 and size < math.inf):
        return 1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0
    k = 1.0 / size
    a, b, c, d, e, f, g, h, i = k * a, k * b, k * c, k * d, k * e, k * f, k * g, k * h, k * i
    for _ in range(2):  # one direction is left out, or two
        if not abs(a * (e * i - f * h) + b * (f * g - d * i) + c * (d * h - e * g)) > SINGULAR_DETERMINANT:
            m, n, o = null_direction(a, d, g, b, e, h, c, f, i)
            p, q, r = null_direction(a, b, c, d, e, f, g, h, i)
            A, B, C, D, E, F = a + m * p, b + m * q, c + m * r, d + n * p, e + n * q, f + n * r
            G, H, K = g + o * p, h + o * q, i + o * r
            sign = 1.0 if A * (E * K - F * H) + B * (F * G - D * K) + C * (D * H - E * G) >= 0.0 else -1.0
            m, n, o = sign * m, sign * n, sign * o
            a, b, c, d, e, f = a + m * p, b + m * q, c + m * r, d + n * p, e + n * q, f + n * r
            g, h, i = g + o * p, h + o * q, i + o * r
    gamma_counts = True
    for _ in range(MAX_ITERATIONS):
        p, q, r = e * i - f * h, f * g - d * i, d * h - e * g
        t, u, v = c * h - b * i, a * i - c * g, b * g - a * h
        w, x, y = b * f - c * e, c * d - a * f, a * e - b * d
        det = a * p + b * q + c * r
        k = 1.0
        if gamma_counts:
            inverse = (p * p + q * q + r * r + t * t + u * u + v * v + w * w + x * x + y * y) / (det * det)
            own = a * a + b * b + c * c + d * d + e * e + f * f + g * g + h * h + i * i
            k = math.sqrt(math.sqrt(inverse / own))
        s, k = 0.5 / (k * det), 0.5 * k - 1.0
        p, q, r, t, u, v = s * p + k * a, s * q + k * b, s * r + k * c, s * t + k * d, s * u + k * e, s * v + k * f
        w, x, y = s * w + k * g, s * x + k * h, s * y + k * i
        a, b, c, d, e, f, g, h, i = a + p, b + q, c + r, d + t, e + u, f + v, g + w, h + x, i + y
        change = p * p + q * q + r * r + t * t + u * u + v * v + w * w + x * x + y * y
        if change < UNSCALED_CHANGE:
            gamma_counts = False
        if not change >= CONVERGED_CHANGE:
            break
    return a, b, c, d, e, f, g, h, i


@kernel(device_only=True)
def null_direction(a, b, c, d, e, f, g, h, i):
    """Returns a unit vector normal to the three rows (a, b, c), (d, e, f), (g, h, i) of a singular matrix.

    By Gram and Schmidt from the longest row on, then the longer of what is left of the others.
    """
    A, B, C = a * a + b * b + c * c, d * d + e * e + f * f, g * g + h * h + i * i
    if B > A and B >= C:
        a, b, c, d, e, f = d, e, f, a, b, c
    elif C > A:
        a, b, c, g, h, i = g, h, i, a, b, c
    p, q, r = b * f - c * e, c * d - a * f, a * e - b * d
    t, u, v = b * i - c * h, c * g - a * i, a * h - b * g
    first, second = p * p + q * q + r * r, t * t + u * u + v * v
    if second > first:
        first, p, q, r = second, t, u, v
    longest = a * a + b * b + c * c
    if not first > (COLLINEAR_TOLERANCE * longest) ** 2:
        # all rows on a line: across it and the axis that is farthest from it
        if abs(a) <= abs(b) and abs(a) <= abs(c):
            p, q, r = 0.0, -c, b
        elif abs(b) <= abs(c):
            p, q, r = c, 0.0, -a
        else:
            p, q, r = -b, a, 0.0
        first = p * p + q * q + r * r
    k = 1.0 / math.sqrt(first)
    return k * p, k * q, k * r
