# SPDX-License-Identifier: GPL-3.0-or-later
"""What a pass over the tets leaves of each for the system of a step: a row of numbers.

A step reads every record several times, from memory where there are many tets: so rows are as short as they can be,
24 numbers where nothing damps deformation, 48 where it does, and `WARPED` where there is a pressure by volume as well.
"""

from __future__ import annotations

# Where what begins, of all: R g0 … R g3; V λ, V μ [N m]; the forces f1 … f3 [N] on the nodes, that on node 0 being
# minus their sum.
TURNED, V_LAMBDA, V_MU, FORCE, PLAIN = 0, 12, 13, 15, 24
# With damping: F g0 … F g3; xx, yy, zz, xy, yz, zx of F Fᵀ; V λ and V μ times the β that acts [N m s].
STRETCHED, SQUARE, DAMPED_LAMBDA, DAMPED_MU, WITH_DAMPING = 24, 36, 42, 43, 48
# With pressure: h0 … h3 = ∂J/∂x_a of tets that have it, nothing for the others; what h hᵀ is multiplied with in the
# stiffness [N/m · m²], zero where there is none, and that times β.
PRESSED, BULK, BULK_DAMPING, WARPED = 48, 60, 61, 64


def record_length(has_damping: bool, has_pressure: bool) -> int:
    """Returns how many numbers a record needs."""
    return WARPED if has_pressure else WITH_DAMPING if has_damping else PLAIN
