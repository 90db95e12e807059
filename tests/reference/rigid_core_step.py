# SPDX-License-Identifier: GPL-3.0-or-later
"""Slow twin of a step with a rigid core: dense matrices, and constraints by Lagrange's multipliers."""

from __future__ import annotations

import numpy as np

from sinew.solver.integrators.solver_context import StepWorkspace
from sinew.solver.integrators.system.step_matrix import assemble_system, compute_element_records


def dense_solution(model, state, outside, dt):
    """Returns v⁺ [m/s], (n, 3), of (M + Δt C + Δt² K) v⁺ = M v + Δt f with a rigid core and held nodes.

    That a core is rigid is said by pairs of its nodes, which come neither closer nor farther, (x_i − x_j)·(v_i − v_j)
    = 0; that it turns about its axis by every node, which moves across the axis and across its arm from it.
    """
    n, x = model.node_count, state.x
    pattern = model.pattern
    system = assemble_system(model, compute_element_records(model, x), dt, StepWorkspace(pattern))
    A = np.zeros((3 * n, 3 * n))
    rows = np.repeat(np.arange(n), np.diff(pattern.row_start.astype(int)))
    for row, column, block in zip(rows, pattern.column.astype(int), system.values, strict=True):
        A[3 * row : 3 * row + 3, 3 * column : 3 * column + 3] = block.reshape(3, 3)
    b = model.mass[:, None] * state.v + dt * system.force + dt * model.mass[:, None] * outside.gravity
    b = b.ravel()
    for tet, weights, force, k in zip(
        outside.points.tet, outside.points.weights, outside.points.force, outside.points.stiffness, strict=True
    ):
        W = np.zeros((3, 3 * n))
        for corner, weight in zip(model.tets[tet], weights, strict=True):
            W[:, 3 * corner : 3 * corner + 3] = weight * np.eye(3)
        A += dt * dt * W.T @ k @ W
        b += dt * W.T @ force

    constraints, wanted = [], []
    for node in np.flatnonzero(outside.is_fixed):
        for axis in range(3):
            constraints.append(np.eye(3 * n)[3 * node + axis])
            wanted.append((outside.fixed_target - x)[node, axis] / dt)
    (core,) = model.cores
    for number, i in enumerate(core.nodes):
        for j in core.nodes[:number]:
            row = np.zeros((n, 3))
            row[i], row[j] = x[i] - x[j], x[j] - x[i]
            constraints.append(row.ravel())
            wanted.append(0.0)
        if core.hinge is not None:
            normal, arm = core.hinge.before[:3, 2], x[i] - core.hinge.before[:3, 3]
            for across in (normal, arm):
                row = np.zeros((n, 3))
                row[i] = across
                constraints.append(row.ravel())
                wanted.append(0.0)
    G, g = np.array(constraints), np.array(wanted)
    particular = np.linalg.lstsq(G, g, rcond=1e-9)[0]
    _, sizes, Vt = np.linalg.svd(G)
    N = Vt[int((sizes > 1e-9 * sizes[0]).sum()) :].T
    v = particular + N @ np.linalg.solve(N.T @ A @ N, N.T @ (b - A @ particular))
    return v.reshape(n, 3)
