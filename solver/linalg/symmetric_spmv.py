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
from weakref import WeakKeyDictionary

import numpy as np

from ..runtime.arrays import Floats
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

MIN_SEGMENT_ROWS = 4 * ROWS_PER_CHUNK  # of a segment
MIN_LENGTH_OVER_REACH = 2  # a segment is this many times longer than it reaches ahead, at least
PREFETCH_BLOCKS = (
    64  # blocks that memory is asked for ahead of their use, twice as many as rows of whole matrices ask for
)
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
        values: Work space for the blocks, and for what is read behind the last, (u + 1, 9).
        ring: Work space, rows of four numbers, (rows of all rings, 4).
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
    values: Floats
    ring: Floats

    @property
    def arrays(self) -> tuple[np.ndarray, ...]:
        """What conjugate gradients need of it."""
        return (
            self.start, self.island, self.row_start, self.column, self.values, self.end, self.mask, self.ring_start,
            self.ring, self.first, self.own,
        )  # fmt: skip


_EMPTY = np.zeros(0, np.uint32)
NO_UPPER_HALF = UpperHalf(
    _EMPTY, _EMPTY, _EMPTY, _EMPTY, _EMPTY, _EMPTY, _EMPTY, _EMPTY, _EMPTY, np.zeros((0, 9)), np.zeros((0, 4))
)  # of no rows
_cache: WeakKeyDictionary[BlockPattern, UpperHalf | None] = WeakKeyDictionary()


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
        values=np.zeros((row_start[-1] + 1, 9)),
        ring=np.zeros((int(sizes.sum()), 4)),
    )


def _as_uint32(numbers: np.ndarray) -> UInt32s:
    return numbers.astype(np.uint32)


def cached_upper_half(pattern: BlockPattern) -> UpperHalf | None:
    """Returns `upper_half` of a pattern, made at its first use and dropped with it."""
    if pattern not in _cache:
        _cache[pattern] = upper_half(pattern)
    return _cache[pattern]


def _is_upper_block(pattern: BlockPattern) -> np.ndarray:
    """Returns which blocks are on or above the diagonal, (b,)."""
    rows = np.repeat(np.arange(pattern.node_count, dtype=np.uint32), np.diff(pattern.row_start.astype(np.int64)))
    return pattern.column >= rows


@kernel(device_only=True, no_refcount=True)
def pack_rows(begin, end, diagonal, row_start, values, upper_start, packed):
    """Copies the blocks on and above the diagonal of the rows from `begin` to `end`."""
    for i in range(begin, end):
        first, to = np.int64(diagonal[i]), np.int64(upper_start[i])
        for k in range(np.int64(row_start[i + 1]) - first):
            vec4_store(packed, 9 * (to + k), vec4_load(values, 9 * (first + k)))
            vec4_store(packed, 9 * (to + k) + 4, vec4_load(values, 9 * (first + k) + 4))
            packed[to + k, 8] = values[first + k, 8]


@kernel(allow_fma=True, device_only=True, no_refcount=True)
def multiply_segment(start, end, row_start, column, values, mask, ring_start, ring, p, vectors, q):
    """Writes what the rows from `start` to `end` make of themselves in A p; returns their part of p·(A p).

    Args:
        start, end: A segment.
        row_start, column, values, ring: Of the `UpperHalf`.
        mask, ring_start: Those of the segment.
        p: (n, 3), with a row of anything behind it.
        vectors, q: Out, rows of three from number q on. What is in the rings of segments before is still to be added.
    """
    base, mask = 4 * np.int64(ring_start), np.int64(mask)
    for row in range(mask + 1):
        vec4_store(ring, base + 4 * row, vec3_zero())
    along = vec3_zero()
    for i in range(start, end):
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
def add_segment_rings(start, end, first, own, until, mask, ring_start, ring, vectors, q):
    """Adds to the rows from `start` to `end` what the segments from `first` to before `own` have made for them."""
    for segment in range(first, own):
        base, around = 4 * np.int64(ring_start[segment]), np.int64(mask[segment])
        for i in range(np.int64(start), min(np.int64(end), np.int64(until[segment]))):
            place = q + 3 * i
            there = vec4_load(ring, base + 4 * (i & around))
            vec3_store(vectors, place, vec3_axpy(vec3_load(vectors, place), 1.0, there))
