# SPDX-License-Identifier: GPL-3.0-or-later
"""Assembles the system of a step from element records: blocks per edge, forces and diagonal per node.

Between the nodes a and b of a tet, with R held during the step, is the block

    V [λ (A g_a)(A g_b)ᵀ + μ ((A g_b)(A g_a)ᵀ + (g_a·g_b) A Aᵀ)],    A = R

of the stiffness, the same with A = F over β of the damping, and s h_a h_bᵀ of a pressure by volume. What tets have in
an edge is summed, and written for both of its nodes. Rows have the sum zero, since neither stiffness nor damping feels
a motion of all nodes alike; so the blocks on the diagonal are minus the sum of their row, and the mass. No two threads
write to the same place, and every sum has its order.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...linalg.block_pattern import BlockPattern, UInt32s
from ...linalg.tet_edges import edge_shares
from ...runtime.arrays import Floats
from ...runtime.jit import kernel
from ...runtime.simd.vec3 import (
    prefetch,
    vec3,
    vec3_axpy,
    vec3_fma,
    vec3_load,
    vec3_store,
    vec3_sum,
    vec3_unpack,
    vec3_yzx,
    vec3_zero,
    vec4_load,
    vec4_store,
)
from ...runtime.threads.thread_count import thread_count
from ...runtime.threads.worker_team import (
    TASK,
    await_wakeup,
    claim,
    is_finished,
    join,
    publish,
    report_done,
    worker_team,
)
from .record_layout import (
    BULK_DAMPING,
    BULK_STIFFNESS,
    DAMPED_LENGTH,
    DAMPING_LAMBDA,
    DAMPING_MU,
    DEFORMED_GRADIENTS,
    FORCE,
    LEFT_CAUCHY_GREEN,
    MAX_RECORD_LENGTH,
    ROTATED_GRADIENTS,
    UNDAMPED_LENGTH,
    V_LAMBDA,
    V_MU,
    VOLUME_GRADIENTS,
)

MIN_NODES_PER_CHUNK = 64  # nodes that a thread works on at a time at least
CHUNK_COUNT = 32  # chunks that many nodes are divided into
PREFETCH_RECORDS = 48  # records that memory is asked for ahead of their use: they lie here and there


class GatherPattern(NamedTuple):
    """Rows of a `BlockPattern`, its `EdgeShares`, and its corners."""

    row_start: UInt32s
    column: UInt32s
    diagonal: UInt32s
    edge_start: UInt32s
    upper: UInt32s
    lower: UInt32s
    share_start: UInt32s
    shares: UInt32s
    corner_start: UInt32s
    corners: UInt32s


def assemble(
    stiff: float,
    damp: float,
    diagonal_mass: Floats,
    pattern: BlockPattern,
    records: Floats,
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
        records: Records of all tets, (m, …); damping is left out where they have none.
        values: The blocks, row by row, (b, 9), out.
        force: Elastic forces [N], (n, 3), out.
        nodes: Those of some bodies, whose rows are written and no others; None: all.
    """
    edges, p = edge_shares(pattern), pattern
    first, last = (nodes.start, nodes.stop) if nodes else (0, pattern.node_count)
    at_once = max(MIN_NODES_PER_CHUNK, (last - first) // CHUNK_COUNT)
    if len(edges.others):
        start, end = pattern.row_start[first], pattern.row_start[last]
        values[edges.others[(edges.others >= start) & (edges.others < end)]] = 0.0
    gather = GatherPattern(
        p.row_start,
        p.column,
        p.diagonal,
        edges.of_row,
        edges.upper,
        edges.lower,
        edges.start,
        edges.shares,
        p.corner_start,
        p.corners,
    )
    given = (first, last, at_once, stiff, damp, diagonal_mass, gather, records, values, force)
    threads = min(thread_count(), (last - first) // at_once)
    with worker_team(threads, lambda team, is_leader: assemble_in_team(is_leader, team, *given)) as team:
        assemble_in_team(True, team, *given)


@kernel(no_refcount=True)
def assemble_in_team(
    is_leader, team, first, last, at_once, stiff, damp, diagonal_mass, pattern, records, values, force
):
    """Shares in writing the rows from `first` to `last`, `at_once` at a time; see `assemble`."""
    task, parts = 0, (last - first + at_once - 1) // at_once
    while True:
        if is_leader:
            team[TASK] = task
            publish(team, parts)
        part, done = claim(team, is_leader), 0
        while part >= 0:
            begin, end = first + part * at_once, min(first + (part + 1) * at_once, last)
            if team[TASK] == 0:
                gather_rows(begin, end, stiff, damp, diagonal_mass, pattern, records, values, force)
            else:
                complete_rows(begin, end, diagonal_mass, pattern, values)
            part, done = claim(team, is_leader), done + 1
        if is_leader:
            join(team, done)
            task += 1
            if task == 2:
                break
        else:
            report_done(team, done)
            if is_finished(team):
                await_wakeup(team)
                break


@kernel(allow_fma=True, device_only=True, no_refcount=True)
def gather_rows(begin, end, stiff, damp, diagonal_mass, pattern, records, values, force):
    """Writes the forces on the nodes from `begin` to `end`, and the blocks of the edges that their rows have first.

    After its edges a row is complete where its others come from this range too: then its diagonal follows at once,
    while the row is in the processor's cache. See `GatherPattern` and `assemble` for the arguments.
    """
    row_start, column, diagonal, edge_start, upper, lower, share_start, shares, corner_start, corners = pattern
    length = records.shape[1]
    # The fourth lane of a vector is what follows in a record, and counts for nothing.
    is_damped, is_pressed = damp != 0.0 and length >= DAMPED_LENGTH, length >= MAX_RECORD_LENGTH
    for node in range(begin, end):
        vec3_store(force, 3 * node, nodal_force(node, corner_start, corners, records, ROTATED_GRADIENTS))
        for edge in range(edge_start[node], edge_start[node + 1]):
            own, even, there, back = vec3_zero(), vec3_zero(), vec3_zero(), vec3_zero()
            damped, damped_there, damped_back = vec3_zero(), vec3_zero(), vec3_zero()
            for place in range(share_start[edge], share_start[edge + 1]):
                share = shares[place]
                tet = share >> np.uint32(4)
                w = length * tet  # where its record begins
                a, b = w + 3 * ((share >> np.uint32(2)) & np.uint32(3)), w + 3 * (share & np.uint32(3))
                u, v = vec4_load(records, ROTATED_GRADIENTS + a), vec4_load(records, ROTATED_GRADIENTS + b)
                straight, ahead = vec3_fma(vec3_zero(), u, v), vec3_fma(vec3_zero(), u, vec3_yzx(v))
                behind, k, m = vec3_fma(vec3_zero(), vec3_yzx(u), v), records[tet, V_LAMBDA], records[tet, V_MU]
                own, even = vec3_axpy(own, k, straight), vec3_axpy(even, m, straight)
                there, back = (
                    vec3_axpy(vec3_axpy(there, k, ahead), m, behind),
                    vec3_axpy(vec3_axpy(back, k, behind), m, ahead),
                )
                if is_damped:
                    prefetch_record(place, shares, np.uint32(4), DEFORMED_GRADIENTS, DAMPED_LENGTH, records)
                    # rotations keep g_a·g_b
                    k, m, along = records[tet, DAMPING_LAMBDA], records[tet, DAMPING_MU], vec3_sum(straight)
                    u, v = vec4_load(records, DEFORMED_GRADIENTS + a), vec4_load(records, DEFORMED_GRADIENTS + b)
                    straight, ahead = vec3_fma(vec3_zero(), u, v), vec3_fma(vec3_zero(), u, vec3_yzx(v))
                    behind = vec3_fma(vec3_zero(), vec3_yzx(u), v)
                    across = vec4_load(records, w + LEFT_CAUCHY_GREEN + 3)
                    damped = vec3_axpy(vec3_axpy(damped, k, straight), m, straight)
                    damped = vec3_axpy(damped, m * along, vec4_load(records, w + LEFT_CAUCHY_GREEN))
                    damped_there = vec3_axpy(vec3_axpy(vec3_axpy(damped_there, k, ahead), m, behind), m * along, across)
                    damped_back = vec3_axpy(vec3_axpy(vec3_axpy(damped_back, k, behind), m, ahead), m * along, across)
            spread = vec3_sum(even)
            own = vec3_axpy(
                vec3_axpy(vec3_axpy(vec3_zero(), stiff, own), stiff, even), stiff * spread, vec3(1.0, 1.0, 1.0)
            )
            there, back = vec3_axpy(vec3_zero(), stiff, there), vec3_axpy(vec3_zero(), stiff, back)
            if is_damped:
                own, there, back = (
                    vec3_axpy(own, damp, damped),
                    vec3_axpy(there, damp, damped_there),
                    vec3_axpy(back, damp, damped_back),
                )
            if is_pressed:
                for place in range(share_start[edge], share_start[edge + 1]):
                    prefetch_record(place, shares, np.uint32(4), VOLUME_GRADIENTS, MAX_RECORD_LENGTH, records)
                    share = shares[place]
                    tet = share >> np.uint32(4)
                    if records[tet, BULK_STIFFNESS] != 0.0:
                        k, w = (
                            stiff * records[tet, BULK_STIFFNESS] + damp * records[tet, BULK_DAMPING],
                            length * tet + VOLUME_GRADIENTS,
                        )
                        u = vec3_load(records, w + 3 * ((share >> np.uint32(2)) & np.uint32(3)))
                        v = vec3_load(records, w + 3 * (share & np.uint32(3)))
                        own = vec3_axpy(own, k, vec3_fma(vec3_zero(), u, v))
                        there = vec3_axpy(there, k, vec3_fma(vec3_zero(), u, vec3_yzx(v)))
                        back = vec3_axpy(back, k, vec3_fma(vec3_zero(), vec3_yzx(u), v))
            write_block(own, there, back, values, upper[edge], lower[edge])
        if column[row_start[node]] >= begin:
            write_diagonal(node, diagonal_mass, row_start, diagonal, values)


@kernel(device_only=True)
def complete_rows(begin, end, diagonal_mass, pattern, values):
    """Writes the blocks on the diagonal that `gather_rows` left out of the same range."""
    row_start, column, diagonal = pattern.row_start, pattern.column, pattern.diagonal
    for node in range(begin, end):
        if column[row_start[node]] < begin:
            write_diagonal(node, diagonal_mass, row_start, diagonal, values)


@kernel(allow_fma=True)
def gather_forces(begin, end, corner_start, corners, records, force):
    """Writes the forces on the nodes from `begin` to `end` [N], (n, 3), as `gather_rows` does, and nothing else."""
    for node in range(begin, end):
        vec3_store(force, 3 * node, nodal_force(node, corner_start, corners, records, FORCE))


@kernel(allow_fma=True, inline=True, device_only=True)
def nodal_force(node, corner_start, corners, records, asked):
    """Returns the sum of the forces that tets have for a node; asks memory for records ahead from `asked` on."""
    pull, length = vec3_zero(), records.shape[1]
    for place in range(corner_start[node], corner_start[node + 1]):
        prefetch_record(place, corners, np.uint32(2), asked, UNDAMPED_LENGTH, records)
        corner, w = corners[place] & np.uint32(3), length * (corners[place] >> np.uint32(2)) + FORCE
        if corner == 0:
            pull = vec3_axpy(pull, -1.0, vec3_load(records, w))
            pull = vec3_axpy(pull, -1.0, vec3_load(records, w + 3))
            pull = vec3_axpy(pull, -1.0, vec3_load(records, w + 6))
        else:
            pull = vec3_axpy(pull, 1.0, vec3_load(records, w + 3 * corner - 3))
    return pull


@kernel(inline=True, device_only=True)
def prefetch_record(place, uses, shift, first, last, records):
    """Asks memory for the numbers from `first` to `last` of the record that is used `PREFETCH_RECORDS` places later.

    `uses` are shares or corners, from which `shift` leaves the tet. Who reads a part of records first asks for it: that
    keeps what is asked for apart, and all of a record at once is more than a processor waits for side by side.
    """
    use = uses[min(place + np.uint32(PREFETCH_RECORDS), np.uint64(len(uses) - 1))]
    w = records.shape[1] * (use >> shift)
    for number in range(first, last, 8):
        prefetch(records, w + number)


@kernel(inline=True, device_only=True)
def write_block(own, there, back, values, upper, lower):
    """Writes the block with xx, yy, zz in `own`, xy, yz, zx in `there`, yx, zy, xz in `back`, and its transpose."""
    (xx, yy, zz), (xy, yz, zx), (yx, zy, xz) = vec3_unpack(own), vec3_unpack(there), vec3_unpack(back)
    # each row but the last writes a zero to where the next begins
    vec4_store(values, 9 * upper, vec3(xx, xy, xz))
    vec4_store(values, 9 * upper + 3, vec3(yx, yy, yz))
    vec3_store(values, 9 * upper + 6, vec3(zx, zy, zz))
    vec4_store(values, 9 * lower, vec3(xx, yx, zx))
    vec4_store(values, 9 * lower + 3, vec3(xy, yy, zy))
    vec3_store(values, 9 * lower + 6, vec3(xz, yz, zz))


@kernel(inline=True, device_only=True)
def write_diagonal(node, diagonal_mass, row_start, diagonal, values):
    """Writes the block on the diagonal of a row by the others: their sum is that of what no motion of all feels."""
    first, second, third, own = vec3_zero(), vec3_zero(), vec3_zero(), diagonal[node]
    for k in range(row_start[node], own):
        first = vec3_axpy(first, -1.0, vec3_load(values, 9 * k))
        second = vec3_axpy(second, -1.0, vec3_load(values, 9 * k + 3))
        third = vec3_axpy(third, -1.0, vec3_load(values, 9 * k + 6))
    for k in range(own + 1, row_start[node + 1]):
        first = vec3_axpy(first, -1.0, vec3_load(values, 9 * k))
        second = vec3_axpy(second, -1.0, vec3_load(values, 9 * k + 3))
        third = vec3_axpy(third, -1.0, vec3_load(values, 9 * k + 6))
    (a, b, c), (d, e, f), (g, h, i) = vec3_unpack(first), vec3_unpack(second), vec3_unpack(third)
    # symmetric but for round-off, which is shared
    b, c, f, mass = 0.5 * (b + d), 0.5 * (c + g), 0.5 * (f + h), diagonal_mass[node]
    vec3_store(values, 9 * own, vec3(a + mass, b, c))
    vec3_store(values, 9 * own + 3, vec3(b, e + mass, f))
    vec3_store(values, 9 * own + 6, vec3(c, f, i + mass))
