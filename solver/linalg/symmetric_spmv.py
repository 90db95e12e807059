# SPDX-License-Identifier: GPL-3.0-or-later
"""The upper half of a symmetric block matrix, packed, for products that read half as many bytes.

A product with a large matrix takes as long as its blocks take to come from memory. So a block A_ij above the diagonal
is read once, for y_i += A_ij x_j and y_j += A_ijᵀ x_i. Rows are taken in segments that threads work on side by side;
what a segment adds to rows still ahead of it is kept in a ring of its own, as many rows long as its blocks reach
ahead. What is left in it at the end belongs to rows of later segments, which add the rings of segments before them in
order: the number of threads changes no bit.

This pays where rows reach ahead by little, as in lattices and bars: see `upper_half`.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ..runtime.arrays import Floats
from ..runtime.frozen_memo import derived
from ..runtime.jit import kernel
from ..runtime.simd.vec3 import (
    prefetch,
    vec3,
    vec3_axpy,
    vec3_fma,
    vec3_load,
    vec3_store,
    vec3_sum,
    vec3_unpack,
    vec3_zero,
    vec4_load,
    vec4_store,
)
from .block_pattern import ROWS_PER_CHUNK, BlockPattern, UInt32s
from .block_system import PcgWorkspace

MIN_SEGMENT_ROWS = 4 * ROWS_PER_CHUNK  # of a segment
MIN_LENGTH_OVER_REACH = 2  # a segment is this many times longer than it reaches ahead, at least
# blocks that memory is asked for ahead of their use, twice as many as rows of whole matrices ask for
PREFETCH_BLOCKS = 64
MIN_SEGMENTS = 4  # segments of an island that is longer than so many of the shortest: fewer keep fewer threads busy


@dataclass(frozen=True, eq=False)
class UpperHalf:
    """The blocks on and above the diagonal of a `BlockPattern`, row by row, and its s segments.

    Attributes:
        row_start: Where rows begin among these blocks, each with its diagonal block, (n + 1,).
        column: Column of every block, (u,).
        start: Where segments begin among the rows, (s + 1,).
        island: Island of each, (s,).
        end: The row behind the last that each reaches, (s,).
        mask: Rows of its ring less one, a power of two less one, (s,).
        ring_start: Where its ring begins, in rows, (s + 1,).
        first, own: The segments that reach rows of a chunk: from `first` on and before its `own`, (c,) each.
    """

    row_start: UInt32s
    column: UInt32s
    start: UInt32s
    island: UInt32s
    end: UInt32s
    mask: UInt32s
    ring_start: UInt32s
    first: UInt32s
    own: UInt32s

    def with_workspace(self, workspace: PcgWorkspace) -> UpperHalfArrays:
        """Returns it with work arrays; the rings are zero."""
        values = workspace.array("upper_blocks", int(self.row_start[-1]) + 1, 9)
        ring = workspace.array("upper_rings", int(self.ring_start[-1]), 4)
        ring[:] = 0.0
        return UpperHalfArrays(
            self.start,
            self.island,
            self.row_start,
            self.column,
            values,
            self.end,
            self.mask,
            self.ring_start,
            ring,
            self.first,
            self.own,
        )


class UpperHalfArrays(NamedTuple):
    """An `UpperHalf` with work arrays, for kernels; without segments, kernels multiply by whole rows.

    Attributes:
        values: The packed blocks, and what is read behind the last, (u + 1, 9).
        ring: Rows of four numbers, (rows of all rings, 4).
    """

    start: UInt32s
    island: UInt32s
    row_start: UInt32s
    column: UInt32s
    values: Floats
    end: UInt32s
    mask: UInt32s
    ring_start: UInt32s
    ring: Floats
    first: UInt32s
    own: UInt32s


EMPTY = np.zeros(0, np.uint32)
NO_UPPER_HALF = UpperHalfArrays(
    EMPTY, EMPTY, EMPTY, EMPTY, np.zeros((0, 9)), EMPTY, EMPTY, EMPTY, np.zeros((0, 4)), EMPTY, EMPTY
)


@derived
def upper_half(pattern: BlockPattern) -> UpperHalf | None:
    """Returns the upper half of a pattern, or None where rows reach too far ahead, or to other islands."""
    if pattern.coupling is not None:
        return None
    count = pattern.node_count
    rows = np.arange(count, dtype=np.int64)
    last = pattern.column[pattern.row_start[1:].astype(np.int64) - 1].astype(np.int64)
    starts: list[int] = []
    for begin, end in itertools.pairwise(pattern.island_start.tolist()):
        reach = int(np.max(last[begin:end] - rows[begin:end], initial=0))
        length = max(MIN_SEGMENT_ROWS, MIN_LENGTH_OVER_REACH * reach)
        number = max((end - begin) // length, 1)
        if number < MIN_SEGMENTS and end - begin > MIN_SEGMENTS * MIN_SEGMENT_ROWS:
            return None
        chunks = -(-(end - begin) // ROWS_PER_CHUNK)
        starts += [begin + ROWS_PER_CHUNK * (chunks * k // number) for k in range(number)]
    start = np.array([*starts, count], np.int64)
    reaches = np.maximum.reduceat(last - rows, start[:-1])
    sizes = 1 << np.array([int(reach).bit_length() for reach in reaches], np.int64)
    end = np.maximum.reduceat(last, start[:-1]) + 1
    kept = pattern.row_start[1:].astype(np.int64) - pattern.diagonal
    row_start = np.concatenate([[0], np.cumsum(kept, dtype=np.int64)])
    own = np.searchsorted(start, pattern.chunk_start[:-1], side="right") - 1
    # the first segment from which on the rows of one before the chunk's reach into it
    first = np.searchsorted(np.maximum.accumulate(end), pattern.chunk_start[:-1], side="right")
    return UpperHalf(
        row_start=_as_uint32(row_start),
        column=pattern.column[_is_upper_block(pattern)],
        start=_as_uint32(start),
        island=pattern.island_of_row[start[:-1]],
        end=_as_uint32(end),
        mask=_as_uint32(sizes - 1),
        ring_start=_as_uint32(np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)])),
        first=_as_uint32(np.minimum(first, own)),
        own=_as_uint32(own),
    )


def _as_uint32(numbers: np.ndarray) -> UInt32s:
    return numbers.astype(np.uint32)


def _is_upper_block(pattern: BlockPattern) -> np.ndarray:
    """Returns which blocks are on or above the diagonal, (b,)."""
    rows = np.repeat(np.arange(pattern.node_count, dtype=np.uint32), np.diff(pattern.row_start.astype(np.int64)))
    return pattern.column >= rows


@kernel(device_only=True, no_refcount=True)
def pack_rows(begin, end, matrix, half):
    """Copies the blocks on and above the diagonal of the rows from `begin` to `end` of A to its upper half."""
    diagonal, row_start, values = matrix.diagonal, matrix.row_start, matrix.values
    upper_start, packed = half.row_start, half.values
    for i in range(begin, end):
        first, to = np.int64(diagonal[i]), np.int64(upper_start[i])
        for k in range(np.int64(row_start[i + 1]) - first):
            vec4_store(packed, 9 * (to + k), vec4_load(values, 9 * (first + k)))
            vec4_store(packed, 9 * (to + k) + 4, vec4_load(values, 9 * (first + k) + 4))
            packed[to + k, 8] = values[first + k, 8]


@kernel(allow_fma=True, device_only=True, no_refcount=True)
def multiply_segment(segment, half, p, vectors, q):
    """Writes what the rows of a segment make of themselves in A p; returns their part of p·(A p).

    Args:
        segment: Its number.
        half: The `UpperHalfArrays`.
        p: (n, 3), with a row of anything behind it.
        vectors, q: Out, rows of three from number q on. What is in the rings of segments before is still to be added.
    """
    row_start, column, values, ring = half.row_start, half.column, half.values, half.ring
    base, mask = 4 * np.int64(half.ring_start[segment]), np.int64(half.mask[segment])
    for row in range(mask + 1):
        vec4_store(ring, base + 4 * row, vec3_zero())
    along = vec3_zero()
    for i in range(half.start[segment], half.start[segment + 1]):
        d, x = 9 * np.int64(row_start[i]), vec3_load(p, 3 * i)
        s, t, u = vec3_unpack(x)
        prefetch(values, d + 9 * PREFETCH_BLOCKS)
        own = vec3_axpy(
            vec3_axpy(vec3_axpy(vec3_zero(), s, vec3_load(values, d)), t, vec3_load(values, d + 3)),
            u,
            vec3_load(values, d + 6),
        )
        f, g, h = vec3_zero(), vec3_zero(), vec3_zero()
        for k in range(np.int64(row_start[i]) + 1, np.int64(row_start[i + 1])):
            prefetch(values, 9 * (k + PREFETCH_BLOCKS))
            j = np.int64(column[k])
            a, b, c = vec4_load(values, 9 * k), vec4_load(values, 9 * k + 3), vec4_load(values, 9 * k + 6)
            y, to = vec4_load(p, 3 * j), base + 4 * (j & mask)
            f, g, h = vec3_fma(f, a, y), vec3_fma(g, b, y), vec3_fma(h, c, y)
            vec4_store(ring, to, vec3_axpy(vec3_axpy(vec3_axpy(vec4_load(ring, to), s, a), t, b), u, c))
        # the row itself is through when those before it are, and its place is free for one that comes ahead
        above, to = vec3(vec3_sum(f), vec3_sum(g), vec3_sum(h)), base + 4 * (np.int64(i) & mask)
        vec3_store(vectors, q + 3 * i, vec3_axpy(vec3_axpy(vec4_load(ring, to), 1.0, own), 1.0, above))
        vec4_store(ring, to, vec3_zero())
        along = vec3_fma(along, x, vec3_axpy(own, 2.0, above))
    return vec3_sum(along)


@kernel(device_only=True, no_refcount=True)
def add_segment_rings(chunk, start, end, half, vectors, q):
    """Adds to the rows of a chunk, from `start` to `end`, what the segments before its own have made for them."""
    ring = half.ring
    for segment in range(half.first[chunk], half.own[chunk]):
        base, around = 4 * np.int64(half.ring_start[segment]), np.int64(half.mask[segment])
        for i in range(np.int64(start), min(np.int64(end), np.int64(half.end[segment]))):
            place = q + 3 * i
            there = vec4_load(ring, base + 4 * (i & around))
            vec3_store(vectors, place, vec3_axpy(vec3_load(vectors, place), 1.0, there))
