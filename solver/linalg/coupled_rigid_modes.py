# SPDX-License-Identifier: GPL-3.0-or-later
"""The motions of bodies that touch, as `rigid_modes.py` has them for bodies that do not.

E = ZᵀAZ then has blocks between the motions of bodies that touch, and A Z has rows in other bodies. So all bodies of a
stack are moved at once to where the forces between them balance: otherwise a push from below climbs a body, or a
layer of nodes, in every iteration.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ..runtime.arrays import Bools, Floats
from ..runtime.jit import kernel
from ..runtime.simd.vec3 import vec3_add_cross, vec3_axpy, vec3_load, vec3_store, vec3_unpack, vec3_zero
from .block_pattern import BlockPattern
from .envelope_cholesky import EnvelopeLayout, Int64s, envelope_layout, factor_envelope, solve_envelope

# Work of the factor per block of the matrix, at most: it takes as long as some forty iterations then, and saves more.
# So much is always allowed, some 50 ms: crumbs have few blocks, but need hundreds of iterations.
MAX_FACTOR_WORK_PER_BLOCK = 1000.0
FACTOR_WORK_ALLOWANCE = 1.0e8


class CoupledModeArrays(NamedTuple):
    """`CoupledModes` for kernels."""

    row: Int64s
    other: Int64s
    product: Floats
    start: Int64s
    first: Int64s
    factor: Floats
    motion: Floats
    place: Int64s


@dataclass(frozen=True, eq=False)
class CoupledModes:
    """What coupled bodies without held nodes have beside their own `RigidModes`, g of them.

    Attributes:
        place: Of each island in the matrix E, or −1, (k,). Islands that move as one have the same.
        row, other, product: Rows of A Z beside those in the islands themselves: the row, the place whose motions these
            are, and A Z there, three rows of six, (e,), (e,), (e, 18).
        start, first, factor: Of E, see `envelope_cholesky.py`.
        motion: Work space, (6g,).
    """

    place: Int64s
    row: Int64s
    other: Int64s
    product: Floats
    start: Int64s
    first: Int64s
    factor: Floats
    motion: Floats

    @property
    def arrays(self) -> CoupledModeArrays:
        """The same for kernels."""
        return CoupledModeArrays(
            self.row, self.other, self.product, self.start, self.first, self.factor, self.motion, self.place
        )


def coupled_layout(
    pattern: BlockPattern, is_free: Bools, positions: Floats, arms: Floats
) -> tuple[Int64s, EnvelopeLayout] | None:
    """Returns the places of coupled islands without held nodes, and how they are arranged.

    Writes the arms, (n, 3), of those that move as one, at positions x, (n, 3). None where no islands are coupled.
    """
    coupling = pattern.coupling
    if coupling is None:
        return None
    is_own = coupling.is_coupled()
    is_own &= np.logical_and.reduceat(is_free, pattern.island_start[:-1].astype(np.int64))
    islands = np.flatnonzero(is_own)
    place = np.full(pattern.island_count, -1, np.int64)
    place[islands] = np.arange(len(islands), dtype=np.int64)
    touch = is_own[coupling.first] & is_own[coupling.second]
    first, second = place[coupling.first[touch]], place[coupling.second[touch]]
    known = is_own.tobytes()
    if known not in coupling.arrangements:
        coupling.arrangements[known] = envelope_layout(
            first,
            second,
            len(islands),
            max(FACTOR_WORK_ALLOWANCE, MAX_FACTOR_WORK_PER_BLOCK * (pattern.first_count or pattern.block_count)),
        )
    arranged = coupling.arrangements[known]
    place[islands] = arranged.place
    if len(arranged.first) < 6 * len(islands):
        _write_lever_arms(place[pattern.island_of_row], len(arranged.first) // 6, positions, arms)
    return place, arranged


def coupled_modes(
    pattern: BlockPattern, values: Floats, place: Int64s, arranged: EnvelopeLayout, arms: Floats, product: Floats
) -> CoupledModes | None:
    """Returns the modes of coupled islands, and takes from `product`, (n, 18), what belongs to other islands.

    None where every island that others touch is held somewhere.
    """
    coupling = pattern.coupling
    assert coupling is not None
    cluster = np.empty(pattern.island_count, np.int64)
    cluster[coupling.members] = np.repeat(np.arange(len(coupling.start) - 1, dtype=np.int64), np.diff(coupling.start))
    most = count_inter_island_blocks(pattern.row_start, pattern.column, pattern.island_start)
    row, other, there = np.empty(most, np.int64), np.empty(most, np.int64), np.empty((most, 18))
    count = multiply_inter_island(
        pattern.row_start,
        pattern.column,
        values,
        pattern.island_start,
        pattern.island_of_row,
        cluster,
        place,
        arms,
        product,
        row,
        other,
        there,
    )
    start, columns = arranged.start, arranged.first
    if not len(columns):
        return None
    factor, motion = np.zeros(start[-1]), np.empty(len(columns))
    modes = CoupledModes(place, row[:count], other[:count], there[:count], start, columns, factor, motion)
    assemble_coarse_matrix(
        pattern.island_start,
        pattern.island_of_row,
        place,
        arms,
        product,
        modes.row,
        modes.other,
        modes.product,
        start,
        columns,
        factor,
    )
    factor_envelope(start, columns, factor)
    return modes


def _write_lever_arms(place: Int64s, count: int, positions: Floats, arms: Floats) -> None:
    """Writes positions from the centres of places, (n, 3), in units of their radius, where rows have one."""
    rows = np.flatnonzero(place >= 0)
    place, own = place[rows], positions[rows]
    counts = np.bincount(place, minlength=count)
    centre = np.stack([np.bincount(place, own[:, axis], count) for axis in range(3)], axis=1) / counts[:, None]
    arm = own - centre[place]
    radius = np.sqrt(np.bincount(place, np.sum(arm * arm, axis=1), count) / counts)
    arms[rows] = arm / np.maximum(radius, 1e-300)[place, None]


@kernel()
def count_inter_island_blocks(row_start, column, island_start):
    """Returns how many blocks are not on an island of their own."""
    count = 0
    for island in range(len(island_start) - 1):
        begin, end = island_start[island], island_start[island + 1]
        for i in range(begin, end):
            if column[row_start[i]] < begin or column[row_start[i + 1] - 1] >= end:
                for k in range(row_start[i], row_start[i + 1]):
                    count += column[k] < begin or column[k] >= end
    return count


@kernel(allow_fma=True)
def multiply_inter_island(
    row_start, column, values, island_start, island_of_row, cluster, place, arms, product, row, other, there
):
    """Writes A Z of rows that reach to other islands anew: own motions to `product`, others as in `CoupledModes`.

    Returns how many of the latter there are. Islands of another cluster have blocks of zeros there, if any.
    """
    count = 0
    for i in range(len(island_of_row)):
        island = island_of_row[i]
        begin, end = island_start[island], island_start[island + 1]
        if column[row_start[i]] >= begin and column[row_start[i + 1] - 1] < end:
            continue
        of_row = count
        # own motions to the same bits as in rows that have no blocks of zeros
        p, q, r, d, e, f = vec3_zero(), vec3_zero(), vec3_zero(), vec3_zero(), vec3_zero(), vec3_zero()
        for k in range(row_start[i], row_start[i + 1]):
            j = column[k]
            number = island_of_row[j]
            to = place[number]
            if number == island or (to >= 0 and to == place[island]):
                arm, block = vec3_load(arms, 3 * j), 9 * k
                s, t, u = vec3_load(values, block), vec3_load(values, block + 3), vec3_load(values, block + 6)
                p, q, r = vec3_axpy(p, 1.0, s), vec3_axpy(q, 1.0, t), vec3_axpy(r, 1.0, u)
                d, e, f = vec3_add_cross(d, arm, s), vec3_add_cross(e, arm, t), vec3_add_cross(f, arm, u)
                continue
            if to < 0 or cluster[number] != cluster[island]:
                continue
            at = of_row
            while at < count and other[at] != to:
                at += 1
            if at == count:
                row[at], other[at] = i, to
                there[at] = 0.0
                count += 1
            add_block_times_modes(values[k], arms[j], there[at])
        row_of = 18 * i
        vec3_store(product, row_of, p)
        vec3_store(product, row_of + 3, d)
        vec3_store(product, row_of + 6, q)
        vec3_store(product, row_of + 9, e)
        vec3_store(product, row_of + 12, r)
        vec3_store(product, row_of + 15, f)
    return count


@kernel(inline=True, device_only=True)
def add_block_times_modes(block, arm, out):
    """Adds a block times what six motions do at an arm: three rows of six."""
    for axis in range(3):
        a, b, c = block[3 * axis], block[3 * axis + 1], block[3 * axis + 2]
        out[6 * axis] += a
        out[6 * axis + 1] += b
        out[6 * axis + 2] += c
        out[6 * axis + 3] += arm[1] * c - arm[2] * b
        out[6 * axis + 4] += arm[2] * a - arm[0] * c
        out[6 * axis + 5] += arm[0] * b - arm[1] * a


@kernel()
def assemble_coarse_matrix(island_start, island_of_row, place, arms, product, row, other, there, start, first, factor):
    """Writes the lower half of E into its envelope, zero at first."""
    for island in range(len(island_start) - 1):
        own = place[island]
        if own >= 0:
            for i in range(island_start[island], island_start[island + 1]):
                _add_projected_block(own, own, arms[i], product[i], start, first, factor)
    for e in range(len(row)):
        own = place[island_of_row[row[e]]]
        if own > other[e]:
            _add_projected_block(own, other[e], arms[row[e]], there[e], start, first, factor)


@kernel(inline=True, device_only=True)
def _add_projected_block(own, other, arm, rows, start, first, factor):
    for m in range(6):
        to = start[6 * own + m] - first[6 * own + m] + 6 * other
        for k in range(m + 1 if own == other else 6):
            a, b, c = rows[k], rows[6 + k], rows[12 + k]
            if m < 3:
                factor[to + k] += rows[6 * m + k]
            elif m == 3:
                factor[to + k] += arm[1] * c - arm[2] * b
            elif m == 4:
                factor[to + k] += arm[2] * a - arm[0] * c
            else:
                factor[to + k] += arm[0] * b - arm[1] * a


@kernel(allow_fma=True, device_only=True)
def add_inter_island_products(sign, row, other, there, x, motion):
    """Adds `sign` times the products of the rows of A Z in other islands with x, (n, 3), to `motion`, (6g,).

    By single arrays: with the bundle as a parameter, LLVM fused other products and sums, and results had other bits.
    """
    for e in range(len(row)):
        s, t, u = sign * x[row[e], 0], sign * x[row[e], 1], sign * x[row[e], 2]
        for m in range(6):
            motion[6 * other[e] + m] += there[e, m] * s + there[e, 6 + m] * t + there[e, 12 + m] * u


@kernel(allow_fma=True)
def coarse_correct_coupled(island_start, arms, product, coupled, b, x):
    """Adds Z E⁻¹ Zᵀ(b − A x) to x, (n, 3), over all coupled islands, for b (n, 3) or, where that is empty, for zero."""
    place, motion = coupled.place, coupled.motion
    motion[:] = 0.0
    for island in range(len(place)):
        if place[island] < 0:
            continue
        push, twist = vec3_zero(), vec3_zero()
        for i in range(island_start[island], island_start[island + 1]):
            at, (s, t, u) = 18 * i, vec3_unpack(vec3_load(x, 3 * i))
            push = vec3_axpy(
                vec3_axpy(vec3_axpy(push, -s, vec3_load(product, at)), -t, vec3_load(product, at + 6)),
                -u,
                vec3_load(product, at + 12),
            )
            twist = vec3_axpy(vec3_axpy(twist, -s, vec3_load(product, at + 3)), -t, vec3_load(product, at + 9))
            twist = vec3_axpy(twist, -u, vec3_load(product, at + 15))
            if len(b) > 0:
                push = vec3_axpy(push, 1.0, vec3_load(b, 3 * i))
                twist = vec3_add_cross(twist, vec3_load(arms, 3 * i), vec3_load(b, 3 * i))
        to = 6 * place[island]
        vec3_store(motion, to, vec3_axpy(vec3_load(motion, to), 1.0, push))
        vec3_store(motion, to + 3, vec3_axpy(vec3_load(motion, to + 3), 1.0, twist))
    add_inter_island_products(-1.0, coupled.row, coupled.other, coupled.product, x, motion)
    solve_envelope(coupled.start, coupled.first, coupled.factor, motion)
    for island in range(len(place)):
        if place[island] < 0:
            continue
        move, turn = vec3_load(motion, 6 * place[island]), vec3_load(motion, 6 * place[island] + 3)
        for i in range(island_start[island], island_start[island + 1]):
            vec3_store(
                x, 3 * i, vec3_add_cross(vec3_axpy(vec3_load(x, 3 * i), 1.0, move), turn, vec3_load(arms, 3 * i))
            )
