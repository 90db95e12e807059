# SPDX-License-Identifier: GPL-3.0-or-later
"""The system of a step out of the records of its tets (`record.py`): blocks per edge, forces and diagonal per node.

Between the nodes a and b of a tet, with R held during the step, is the block

    V [λ (A g_a)(A g_b)ᵀ + μ ((A g_b)(A g_a)ᵀ + (g_a·g_b) A Aᵀ)],    A = R

of the stiffness, the same with A = F over β of the damping, and s h_a h_bᵀ of a pressure by volume. What tets have in
an edge is summed, and written for both of its nodes. Rows have the sum zero, since neither stiffness nor damping feels
a motion of all nodes alike; so the blocks on the diagonal are minus the sum of their row, and the mass. No two threads
write to the same place, and every sum has its order.
"""

from __future__ import annotations

import numpy as np

from ..arrays import Floats
from ..geometry.chunks import run_ranges
from ..jit import kernel
from ..linear.edges import edge_shares
from ..linear.pattern import BlockPattern
from ..linear.threes import add, load, nothing, numbers, store, three
from .record import BETA, BULK, BULK_DAMPING, FORCE, PRESSED, SQUARE, STRETCHED, TURNED, V_LAMBDA, V_MU, WARPED

AT_ONCE = 4096  # edges or nodes that a thread works on: less costs more in waiting than it brings


def assemble(
    stiff: float,
    damp: float,
    diagonal_mass: Floats,
    pattern: BlockPattern,
    warped: Floats,
    values: Floats,
    force: Floats,
    nodes: slice | None = None,
) -> None:
    """Writes the blocks of `stiff` K + `damp` C + diag(`diagonal_mass`) and the forces on the nodes.

    Args:
        stiff: Factor of the stiffness K, such as Δt².
        damp: Factor of the damping matrix C, such as Δt.
        diagonal_mass: Added to the diagonal of every node [kg], (n,).
        pattern: Where the blocks are.
        warped: Records of all tets, (m, WARPED).
        values: The blocks, row by row, (b, 9), out.
        force: Elastic forces [N], (n, 3), out.
        nodes: Those of some bodies, whose rows are written and no others; None: all.
    """
    edges = edge_shares(pattern)
    first, last = (nodes.start, nodes.stop) if nodes else (0, pattern.node_count)
    first_edge, last_edge = edges.between(pattern, nodes) if nodes else (0, len(edges.upper))

    def sum_edges(begin: int, end: int) -> None:
        gather_edges(begin, end, stiff, damp, edges.upper, edges.lower, edges.start, edges.shares, warped, values)

    def sum_nodes(begin: int, end: int) -> None:
        gather_nodes(
            begin, end, diagonal_mass, pattern.row_start, pattern.diagonal, pattern.corner_start, pattern.corners,
            warped, values, force,
        )  # fmt: skip

    if len(edges.others):
        start, end = pattern.row_start[first], pattern.row_start[last]
        values[edges.others[(edges.others >= start) & (edges.others < end)]] = 0.0
    run_ranges(first_edge, last_edge, AT_ONCE, sum_edges)
    run_ranges(first, last, AT_ONCE, sum_nodes)


@kernel(contract=True)
def gather_edges(begin, end, stiff, damp, upper, lower, start, shares, warped, values):
    """Writes the blocks of the edges from `begin` to `end` [kg], (b, 9); see `EdgeShares` and `assemble`."""
    for edge in range(begin, end):
        first, second, third, even = nothing(), nothing(), nothing(), 0.0
        for place in range(start[edge], start[edge + 1]):
            share = shares[place]
            tet = share >> np.uint32(4)
            w = WARPED * tet  # where its record begins
            a, b = w + 3 * ((share >> np.uint32(2)) & np.uint32(3)), w + 3 * (share & np.uint32(3))
            u, v = load(warped, TURNED + a), load(warped, TURNED + b)
            (p, q, r), (x, y, z) = numbers(u), numbers(v)
            k, m = stiff * warped[tet, V_LAMBDA], stiff * warped[tet, V_MU]
            first = add(add(first, k * p, v), m * x, u)
            second = add(add(second, k * q, v), m * y, u)
            third = add(add(third, k * r, v), m * z, u)
            # rotations keep g_a·g_b
            along = p * x + q * y + r * z
            even += m * along
            n = damp * warped[tet, BETA]
            if n != 0.0:
                k, m = n * warped[tet, V_LAMBDA], n * warped[tet, V_MU]
                u, v = load(warped, STRETCHED + a), load(warped, STRETCHED + b)
                (p, q, r), (x, y, z), along = numbers(u), numbers(v), m * along
                first = add(add(add(first, k * p, v), m * x, u), along, load(warped, w + SQUARE))
                second = add(add(add(second, k * q, v), m * y, u), along, load(warped, w + SQUARE + 3))
                third = add(add(add(third, k * r, v), m * z, u), along, load(warped, w + SQUARE + 6))
            if warped[tet, BULK] != 0.0:
                k = stiff * warped[tet, BULK] + damp * warped[tet, BULK_DAMPING]
                (p, q, r), v = numbers(load(warped, PRESSED + a)), load(warped, PRESSED + b)
                first, second, third = add(first, k * p, v), add(second, k * q, v), add(third, k * r, v)
        write_block(first, second, third, even, values, upper[edge], lower[edge])


@kernel(contract=True, inline=True, inside=True)
def write_block(first, second, third, even, values, upper, lower):
    """Writes a block of three rows, `even` added to its diagonal, and its transpose to another place."""
    (a, b, c), (d, e, f), (g, h, i) = numbers(first), numbers(second), numbers(third)
    store(values, 9 * upper, three(a + even, b, c))
    store(values, 9 * upper + 3, three(d, e + even, f))
    store(values, 9 * upper + 6, three(g, h, i + even))
    store(values, 9 * lower, three(a + even, d, g))
    store(values, 9 * lower + 3, three(b, e + even, h))
    store(values, 9 * lower + 6, three(c, f, i + even))


@kernel(contract=True)
def gather_nodes(
    begin, end, diagonal_mass, row_start, diagonal, corner_start, corners, warped, values, force
):  # fmt: skip
    """Writes the forces on the nodes from `begin` to `end` [N], (n, 3), and the blocks on the diagonal."""
    for node in range(begin, end):
        pull = nothing()
        for place in range(corner_start[node], corner_start[node + 1]):
            tet, corner = corners[place] >> np.uint32(2), corners[place] & np.uint32(3)
            pull = add(pull, 1.0, load(warped, WARPED * tet + FORCE + 3 * corner))
        store(force, 3 * node, pull)
        first, second, third, own = nothing(), nothing(), nothing(), 9 * diagonal[node]
        for row in range(own, own + 9, 3):
            store(values, row, nothing())
        for k in range(row_start[node], row_start[node + 1]):
            first = add(first, -1.0, load(values, 9 * k))
            second = add(second, -1.0, load(values, 9 * k + 3))
            third = add(third, -1.0, load(values, 9 * k + 6))
        (a, b, c), (d, e, f), (g, h, i) = numbers(first), numbers(second), numbers(third)
        # symmetric but for round-off, which is shared
        b, c, f, mass = 0.5 * (b + d), 0.5 * (c + g), 0.5 * (f + h), diagonal_mass[node]
        store(values, own, three(a + mass, b, c))
        store(values, own + 3, three(b, e + mass, f))
        store(values, own + 6, three(c, f, i + mass))


@kernel(contract=True)
def gather_forces(begin, end, corner_start, corners, warped, force):
    """Writes the forces on the nodes from `begin` to `end` [N], (n, 3), as `gather_nodes` does, and nothing else."""
    for node in range(begin, end):
        pull = nothing()
        for place in range(corner_start[node], corner_start[node + 1]):
            tet, corner = corners[place] >> np.uint32(2), corners[place] & np.uint32(3)
            pull = add(pull, 1.0, load(warped, WARPED * tet + FORCE + 3 * corner))
        store(force, 3 * node, pull)
