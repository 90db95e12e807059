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
from ..geometry.crew import TASK, await_bell, crew_of, is_over, post, take, tell, wait
from ..jit import kernel, thread_count
from ..linear.edges import edge_shares
from ..linear.pattern import BlockPattern
from ..linear.threes import (
    add,
    add_products,
    cycled,
    load,
    load_four,
    nothing,
    numbers,
    prefetch,
    store,
    store_four,
    three,
    total,
)  # fmt: skip
from .record import (
    BULK,
    BULK_DAMPING,
    DAMPED_LAMBDA,
    DAMPED_MU,
    FORCE,
    PLAIN,
    PRESSED,
    SQUARE,
    STRETCHED,
    TURNED,
    V_LAMBDA,
    V_MU,
    WARPED,
    WITH_DAMPING,
)  # fmt: skip

LEAST, PARTS = 64, 32  # nodes that a thread works on at once, at least, and parts that many nodes are in
AHEAD = 48  # records that memory is asked for ahead of their use: they lie here and there


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
        warped: Records of all tets, (m, …); damping is left out where they have none.
        values: The blocks, row by row, (b, 9), out.
        force: Elastic forces [N], (n, 3), out.
        nodes: Those of some bodies, whose rows are written and no others; None: all.
    """
    edges, p = edge_shares(pattern), pattern
    first, last = (nodes.start, nodes.stop) if nodes else (0, pattern.node_count)
    at_once = max(LEAST, (last - first) // PARTS)
    if len(edges.others):
        start, end = pattern.row_start[first], pattern.row_start[last]
        values[edges.others[(edges.others >= start) & (edges.others < end)]] = 0.0
    given = (
        first, last, at_once, stiff, damp, diagonal_mass, p.row_start, p.column, p.diagonal, edges.of_row, edges.upper,
        edges.lower, edges.start, edges.shares, p.corner_start, p.corners, warped, values, force,
    )  # fmt: skip
    threads = min(thread_count(), (last - first) // at_once)
    with crew_of(threads, lambda crew, leads: assemble_shared(leads, crew, *given)) as crew:
        assemble_shared(True, crew, *given)


@kernel(bare=True)
def assemble_shared(
    leads, crew, first, last, at_once, stiff, damp, diagonal_mass, row_start, column, diagonal, edge_start, upper,
    lower, share_start, shares, corner_start, corners, warped, values, force,
):  # fmt: skip
    """Shares in writing the rows from `first` to `last`, `at_once` at a time; see `assemble`."""
    task, parts = 0, (last - first + at_once - 1) // at_once
    while True:
        if leads:
            crew[TASK] = task
            post(crew, parts)
        part, done = take(crew, leads), 0
        while part >= 0:
            begin, end = first + part * at_once, min(first + (part + 1) * at_once, last)
            if crew[TASK] == 0:
                gather_rows(
                    begin, end, stiff, damp, diagonal_mass, row_start, column, diagonal, edge_start, upper, lower,
                    share_start, shares, corner_start, corners, warped, values, force,
                )  # fmt: skip
            else:
                complete_rows(begin, end, diagonal_mass, row_start, column, diagonal, values)
            part, done = take(crew, leads), done + 1
        if leads:
            wait(crew, done)
            task += 1
            if task == 2:
                break
        else:
            tell(crew, done)
            if is_over(crew):
                await_bell(crew)
                break


@kernel(contract=True, inside=True, bare=True)
def gather_rows(
    begin, end, stiff, damp, diagonal_mass, row_start, column, diagonal, edge_start, upper, lower, share_start, shares,
    corner_start, corners, warped, values, force,
):  # fmt: skip
    """Writes the forces on the nodes from `begin` to `end`, and the blocks of the edges that their rows have first.

    After its edges a row is complete where its others come from this range too: then its diagonal follows at once,
    while the row is in the processor's cache. See `EdgeShares` and `assemble` for the arguments.
    """
    length = warped.shape[1]
    # The fourth lane of a vector is what follows in a record, and counts for nothing.
    is_damped, is_pressed = damp != 0.0 and length >= WITH_DAMPING, length >= WARPED
    for node in range(begin, end):
        store(force, 3 * node, pull_on(node, corner_start, corners, warped, TURNED))
        for edge in range(edge_start[node], edge_start[node + 1]):
            own, even, there, back = nothing(), nothing(), nothing(), nothing()
            damped, damped_there, damped_back = nothing(), nothing(), nothing()
            for place in range(share_start[edge], share_start[edge + 1]):
                share = shares[place]
                tet = share >> np.uint32(4)
                w = length * tet  # where its record begins
                a, b = w + 3 * ((share >> np.uint32(2)) & np.uint32(3)), w + 3 * (share & np.uint32(3))
                u, v = load_four(warped, TURNED + a), load_four(warped, TURNED + b)
                straight, ahead = add_products(nothing(), u, v), add_products(nothing(), u, cycled(v))
                behind, k, m = add_products(nothing(), cycled(u), v), warped[tet, V_LAMBDA], warped[tet, V_MU]
                own, even = add(own, k, straight), add(even, m, straight)
                there, back = add(add(there, k, ahead), m, behind), add(add(back, k, behind), m, ahead)
                if is_damped:
                    ask_for_record(place, shares, np.uint32(4), STRETCHED, WITH_DAMPING, warped)
                    # rotations keep g_a·g_b
                    k, m, along = warped[tet, DAMPED_LAMBDA], warped[tet, DAMPED_MU], total(straight)
                    u, v = load_four(warped, STRETCHED + a), load_four(warped, STRETCHED + b)
                    straight, ahead = add_products(nothing(), u, v), add_products(nothing(), u, cycled(v))
                    behind, across = add_products(nothing(), cycled(u), v), load_four(warped, w + SQUARE + 3)
                    damped = add(add(damped, k, straight), m, straight)
                    damped = add(damped, m * along, load_four(warped, w + SQUARE))
                    damped_there = add(add(add(damped_there, k, ahead), m, behind), m * along, across)
                    damped_back = add(add(add(damped_back, k, behind), m, ahead), m * along, across)
            spread = total(even)
            own = add(add(add(nothing(), stiff, own), stiff, even), stiff * spread, three(1.0, 1.0, 1.0))
            there, back = add(nothing(), stiff, there), add(nothing(), stiff, back)
            if is_damped:
                own, there, back = add(own, damp, damped), add(there, damp, damped_there), add(back, damp, damped_back)
            if is_pressed:
                for place in range(share_start[edge], share_start[edge + 1]):
                    ask_for_record(place, shares, np.uint32(4), PRESSED, WARPED, warped)
                    share = shares[place]
                    tet = share >> np.uint32(4)
                    if warped[tet, BULK] != 0.0:
                        k, w = stiff * warped[tet, BULK] + damp * warped[tet, BULK_DAMPING], length * tet + PRESSED
                        u = load(warped, w + 3 * ((share >> np.uint32(2)) & np.uint32(3)))
                        v = load(warped, w + 3 * (share & np.uint32(3)))
                        own = add(own, k, add_products(nothing(), u, v))
                        there = add(there, k, add_products(nothing(), u, cycled(v)))
                        back = add(back, k, add_products(nothing(), cycled(u), v))
            write_block(own, there, back, values, upper[edge], lower[edge])
        if column[row_start[node]] >= begin:
            write_diagonal(node, diagonal_mass, row_start, diagonal, values)


@kernel(inside=True)
def complete_rows(begin, end, diagonal_mass, row_start, column, diagonal, values):
    """Writes the blocks on the diagonal that `gather_rows` left out of the same range."""
    for node in range(begin, end):
        if column[row_start[node]] < begin:
            write_diagonal(node, diagonal_mass, row_start, diagonal, values)


@kernel(contract=True)
def gather_forces(begin, end, corner_start, corners, warped, force):
    """Writes the forces on the nodes from `begin` to `end` [N], (n, 3), as `gather_rows` does, and nothing else."""
    for node in range(begin, end):
        store(force, 3 * node, pull_on(node, corner_start, corners, warped, FORCE))


@kernel(contract=True, inline=True, inside=True)
def pull_on(node, corner_start, corners, warped, asked):
    """Returns the sum of the forces that tets have for a node; asks memory for records ahead from `asked` on."""
    pull, length = nothing(), warped.shape[1]
    for place in range(corner_start[node], corner_start[node + 1]):
        ask_for_record(place, corners, np.uint32(2), asked, PLAIN, warped)
        corner, w = corners[place] & np.uint32(3), length * (corners[place] >> np.uint32(2)) + FORCE
        if corner == 0:
            pull = add(pull, -1.0, load(warped, w))
            pull = add(pull, -1.0, load(warped, w + 3))
            pull = add(pull, -1.0, load(warped, w + 6))
        else:
            pull = add(pull, 1.0, load(warped, w + 3 * corner - 3))
    return pull


@kernel(inline=True, inside=True)
def ask_for_record(place, uses, shift, first, last, warped):
    """Asks memory for the numbers from `first` to `last` of the record that is used `AHEAD` places later.

    `uses` are shares or corners, from which `shift` leaves the tet. Who reads a part of records first asks for it: that
    keeps what is asked for apart, and all of a record at once is more than a processor waits for side by side.
    """
    use = uses[min(place + np.uint32(AHEAD), np.uint64(len(uses) - 1))]
    w = warped.shape[1] * (use >> shift)
    for number in range(first, last, 8):
        prefetch(warped, w + number)


@kernel(inline=True, inside=True)
def write_block(own, there, back, values, upper, lower):
    """Writes the block with xx, yy, zz in `own`, xy, yz, zx in `there`, yx, zy, xz in `back`, and its transpose."""
    (xx, yy, zz), (xy, yz, zx), (yx, zy, xz) = numbers(own), numbers(there), numbers(back)
    # each row but the last writes a zero to where the next begins
    store_four(values, 9 * upper, three(xx, xy, xz))
    store_four(values, 9 * upper + 3, three(yx, yy, yz))
    store(values, 9 * upper + 6, three(zx, zy, zz))
    store_four(values, 9 * lower, three(xx, yx, zx))
    store_four(values, 9 * lower + 3, three(xy, yy, zy))
    store(values, 9 * lower + 6, three(xz, yz, zz))


@kernel(inline=True, inside=True)
def write_diagonal(node, diagonal_mass, row_start, diagonal, values):
    """Writes the block on the diagonal of a row by the others: their sum is that of what no motion of all feels."""
    first, second, third, own = nothing(), nothing(), nothing(), diagonal[node]
    for k in range(row_start[node], own):
        first = add(first, -1.0, load(values, 9 * k))
        second = add(second, -1.0, load(values, 9 * k + 3))
        third = add(third, -1.0, load(values, 9 * k + 6))
    for k in range(own + 1, row_start[node + 1]):
        first = add(first, -1.0, load(values, 9 * k))
        second = add(second, -1.0, load(values, 9 * k + 3))
        third = add(third, -1.0, load(values, 9 * k + 6))
    (a, b, c), (d, e, f), (g, h, i) = numbers(first), numbers(second), numbers(third)
    # symmetric but for round-off, which is shared
    b, c, f, mass = 0.5 * (b + d), 0.5 * (c + g), 0.5 * (f + h), diagonal_mass[node]
    store(values, 9 * own, three(a + mass, b, c))
    store(values, 9 * own + 3, three(b, e + mass, f))
    store(values, 9 * own + 6, three(c, f, i + mass))
