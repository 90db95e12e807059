# SPDX-License-Identifier: GPL-3.0-or-later
"""One implicit Euler step of heat conduction in one body, by conjugate gradients on the change of temperature.

With capacities C, conductances w and rates of exchange γ with what has the temperature T∞, the change d = T⁺ − T solves

    (C_i + Δt γ_i) d_i + Δt Σ_j w_ij (d_i − d_j) = Δt γ_i (T∞_i − T_i) + Δt Σ_j w_ij (T_j − T_i)

At the end the residual over C is added to d. So T⁺ follows from the flows at the temperatures found: wherever the
iterations stop, the heat gained equals the heat input to round-off, and a piece that no flow reaches gains none. The
solve is serial, since wax conducts so little that a step takes a handful of iterations.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from ...linalg.block_pattern import UInt32s
from ...runtime.arrays import Floats
from ...runtime.jit import kernel


class ConductionRows(NamedTuple):
    """Conductances between the nodes of one body.

    Attributes:
        first: First node of the body in the model.
        row_start, column: Rows of the body in the model's pattern, (n + 1,), and columns of all rows.
        conductance: w [W/K], (b,).
    """

    first: int
    row_start: UInt32s
    column: UInt32s
    conductance: Floats


class NodeHeat(NamedTuple):
    """Temperatures and heat input of the n nodes of a body at the start of a step.

    Attributes:
        capacity: C [J/K], > 0.
        gain: Δt γ [J/K], ≥ 0.
        heat_input: Δt γ (T∞ − T) [J].
        temperature: T [°C].
    """

    capacity: Floats
    gain: Floats
    heat_input: Floats
    temperature: Floats


@kernel()
def conduct_heat(rows, nodes, dt, tolerance, max_iterations, work, change):
    """Writes the change of temperature of a body in a step; returns the number of iterations, −1 if it is not finite.

    Args:
        rows: `ConductionRows`.
        nodes: `NodeHeat`.
        dt: Length of the step [s].
        tolerance: Relative residual at which it stops, in the norm of the inverse of the diagonal.
        max_iterations: After which it stops.
        work: Scratch, (4, n).
        change: Out, T⁺ − T [K], (n,).
    """
    first, row_start, column, conductance = rows
    capacity, gain, heat_input, T = nodes
    count = len(capacity)
    residual, direction, product, diagonal = work[0], work[1], work[2], work[3]
    norm = 0.0
    for i in range(count):
        total, flow = 0.0, 0.0
        for block in range(row_start[i], row_start[i + 1]):
            j = column[block] - first
            if j != i:
                total += conductance[block]
                flow += conductance[block] * (T[j] - T[i])
        diagonal[i] = capacity[i] + gain[i] + dt * max(total, 0.0)
        residual[i] = heat_input[i] + dt * flow
        change[i] = 0.0
        direction[i] = residual[i] / diagonal[i]
        norm += residual[i] * direction[i]
    goal = tolerance * tolerance * norm
    iterations = 0
    while iterations < max_iterations and norm > goal:
        curvature = 0.0
        for i in range(count):
            flow = 0.0
            for block in range(row_start[i], row_start[i + 1]):
                j = column[block] - first
                flow += conductance[block] * (direction[i] - direction[j])
            product[i] = (capacity[i] + gain[i]) * direction[i] + dt * flow
            curvature += direction[i] * product[i]
        step = norm / curvature
        before, norm = norm, 0.0
        for i in range(count):
            change[i] += step * direction[i]
            residual[i] -= step * product[i]
            norm += residual[i] * residual[i] / diagonal[i]
        for i in range(count):
            direction[i] = residual[i] / diagonal[i] + norm / before * direction[i]
        iterations += 1
    for i in range(count):
        flow = 0.0
        for block in range(row_start[i], row_start[i + 1]):
            j = column[block] - first
            flow += conductance[block] * ((T[j] + change[j]) - (T[i] + change[i]))
        product[i] = (heat_input[i] - gain[i] * change[i] + dt * flow) / capacity[i]
    largest = 0.0
    for i in range(count):
        change[i] = product[i]
        largest = max(largest, math.fabs(change[i]))
    return iterations if largest < math.inf else -1
