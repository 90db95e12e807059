# SPDX-License-Identifier: GPL-3.0-or-later
"""What a pass over the tets leaves of each for the system of a step: a row of numbers, (m, WARPED)."""

from __future__ import annotations

# Where what begins: R g0 … R g3, F g0 … F g3, the rows of F Fᵀ, the forces f0 … f3 [N] on the nodes; h0 … h3 = ∂J/∂x_a
# of tets with a pressure by their volume, nothing for the others; V λ, V μ [N m], β [s] that acts; what the pressure's
# h hᵀ is multiplied with in the stiffness [N/m · m²], zero where there is none, and that times β.
TURNED, STRETCHED, SQUARE, FORCE, PRESSED = 0, 12, 24, 33, 45
V_LAMBDA, V_MU, BETA, BULK, BULK_DAMPING = range(57, 62)
WARPED = 64  # rows begin where lines of the processor's cache do
