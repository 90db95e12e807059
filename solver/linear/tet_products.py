# SPDX-License-Identifier: GPL-3.0-or-later
"""Products with the stiffness of tets, one after the other, in place of the blocks of a matrix that sums them up.

With the edges' differences d_b = v_b − v_0 and D = Σ d_b t_bᵀ over the corners 1 to 3, a tet adds to node a

    (k tr(D) I + m (D + Dᵀ)) t_a    and, of damping,    k' tr(G) s_a + m' (Gᵀ s_a + S D t_a),    G = Σ d_b s_bᵀ

and minus the sum of these to node 0. Source: Nesme, Payan and Faure 2005, section 3.2, with the axes of space in place
of those of the tet.
"""

from __future__ import annotations

import numpy as np

from ..arrays import Floats, Indices
from ..jit import kernel
from ..late_dataclass import dataclass
from .pattern import BlockPattern
from .row_passes import ACTIVE, VECTORS, Q
from .threes import add, add_products, load, nothing, numbers, store, three, total

STIFF = 12  # numbers of a tet: t1, t2, t3, k, m, and one that counts for nothing
DAMPED = 21  # s1, s2, s3, the rows of S, k', m', and one that counts for nothing


@dataclass(frozen=True)
class TetProducts:
    """Tets whose stiffness is in no matrix, k of them.

    Attributes:
        tets: Their nodes, (k, 4).
        stiff: See `STIFF`, (k, 12).
        damped: See `DAMPED`, (k, 21), or (0, 21) where there is no damping besides.
    """

    tets: Indices
    stiff: Floats
    damped: Floats

    def add_to(self, v: Floats, out: Floats) -> None:
        """Adds the product with v, (n, 3), to `out`, (n, 3)."""
        add_tets(self.tets, self.stiff, self.damped, v, out)

    def arrays(self, pattern: BlockPattern, chunk_island: np.ndarray) -> tuple[np.ndarray, ...]:
        """Returns what `add_searched` wants first; `chunk_island` are the islands of chunks of rows, rising."""
        island = pattern.island_of_row[self.tets[:, 0]].astype(np.int64)
        return self.tets, self.stiff, self.damped, island, np.searchsorted(chunk_island, island)

    def diagonal(self, count: int) -> Floats:
        """Returns the blocks on the diagonal of so many nodes, (n, 9)."""
        blocks = np.zeros((count, 9))
        add_diagonals(self.tets, self.stiff, self.damped, blocks)
        return blocks

    def bend(self, pattern: BlockPattern, d: Floats) -> Floats:
        """Returns dᵀ A d of every island, (islands,), for a direction d, (n, 3)."""
        product = np.zeros_like(d)
        self.add_to(d, product)
        return np.add.reduceat((product * d).sum(axis=1), pattern.island_start[:-1].astype(np.int64))


@kernel(contract=True, inline=True, inside=True)
def product_of(tet, tets, stiff, damped, v, first):
    """Returns what a tet adds to its nodes 1, 2 and 3 by v, three numbers a node from number `first` on."""
    o = load(v, first + 3 * tets[tet, 0])
    d1 = add(load(v, first + 3 * tets[tet, 1]), -1.0, o)
    d2 = add(load(v, first + 3 * tets[tet, 2]), -1.0, o)
    d3 = add(load(v, first + 3 * tets[tet, 3]), -1.0, o)
    w = STIFF * tet
    t1, t2, t3 = load(stiff, w), load(stiff, w + 3), load(stiff, w + 6)
    k, m = stiff[tet, 9], stiff[tet, 10]
    (a1, b1, c1), (a2, b2, c2), (a3, b3, c3) = numbers(d1), numbers(d2), numbers(d3)
    # the rows of D
    r = add(add(add(nothing(), a1, t1), a2, t2), a3, t3)
    s = add(add(add(nothing(), b1, t1), b2, t2), b3, t3)
    u = add(add(add(nothing(), c1, t1), c2, t2), c3, t3)
    (xx, xy, xz), (yx, yy, yz), (zx, zy, zz) = numbers(r), numbers(s), numbers(u)
    even, xy_, yz_, zx_ = k * (xx + yy + zz), m * (xy + yx), m * (yz + zy), m * (zx + xz)
    # the columns, or rows, of k tr(D) I + m (D + Dᵀ)
    p = three(2.0 * m * xx + even, xy_, zx_)
    q = three(xy_, 2.0 * m * yy + even, yz_)
    z = three(zx_, yz_, 2.0 * m * zz + even)
    f1, f2, f3 = times(p, q, z, t1), times(p, q, z, t2), times(p, q, z, t3)
    if len(damped) > 0:
        w = DAMPED * tet
        s1, s2, s3 = load(damped, w), load(damped, w + 3), load(damped, w + 6)
        A, B, C = load(damped, w + 9), load(damped, w + 12), load(damped, w + 15)
        k, m = damped[tet, 18], damped[tet, 19]
        # the rows of G, and the columns of m S D
        p = add(add(add(nothing(), a1, s1), a2, s2), a3, s3)
        q = add(add(add(nothing(), b1, s1), b2, s2), b3, s3)
        z = add(add(add(nothing(), c1, s1), c2, s2), c3, s3)
        (gx, _, _), (_, gy, _), (_, _, gz) = numbers(p), numbers(q), numbers(z)
        even = k * (gx + gy + gz)
        x, y, n = three(m * xx, m * yx, m * zx), three(m * xy, m * yy, m * zy), three(m * xz, m * yz, m * zz)
        x, y, n = times(A, B, C, x), times(A, B, C, y), times(A, B, C, n)
        f1 = add(add(add(f1, even, s1), m, times(p, q, z, s1)), 1.0, times(x, y, n, t1))
        f2 = add(add(add(f2, even, s2), m, times(p, q, z, s2)), 1.0, times(x, y, n, t2))
        f3 = add(add(add(f3, even, s3), m, times(p, q, z, s3)), 1.0, times(x, y, n, t3))
    return f1, f2, f3


@kernel(contract=True, inline=True, inside=True)
def times(a, b, c, v):
    """Returns M v for the columns a, b, c of M."""
    x, y, z = numbers(v)
    return add(add(add(nothing(), x, a), y, b), z, c)


@kernel(contract=True)
def add_tets(tets, stiff, damped, v, out):
    """Adds the product of tets with v to `out`, (n, 3)."""
    for tet in range(len(tets)):
        f1, f2, f3 = product_of(tet, tets, stiff, damped, v, 0)
        a, b, c, d = 3 * tets[tet, 0], 3 * tets[tet, 1], 3 * tets[tet, 2], 3 * tets[tet, 3]
        store(out, b, add(load(out, b), 1.0, f1))
        store(out, c, add(load(out, c), 1.0, f2))
        store(out, d, add(load(out, d), 1.0, f3))
        store(out, a, add(add(add(load(out, a), -1.0, f1), -1.0, f2), -1.0, f3))


@kernel(contract=True, inside=True)
def add_searched(tets, stiff, damped, island, chunk, known, p, vectors, sums):
    """Adds the product of tets with p, (n, 3), to q in `vectors`, and pᵀ A p to `sums`, of islands still searched.

    Args:
        tets, stiff, damped: Of `TetProducts`.
        island, chunk: The island of each tet, and the chunk of rows to whose sum it adds, (k,).
        known, p, vectors, sums: Of `conjugate_gradients`.
    """
    q = Q * 3 * (len(vectors) // VECTORS)
    for tet in range(len(tets)):
        if known[island[tet], ACTIVE] == 0.0:
            continue
        f1, f2, f3 = product_of(tet, tets, stiff, damped, p, 0)
        a, b, c, d = 3 * tets[tet, 0], 3 * tets[tet, 1], 3 * tets[tet, 2], 3 * tets[tet, 3]
        f0 = add(add(add(nothing(), -1.0, f1), -1.0, f2), -1.0, f3)
        store(vectors, q + a, add(load(vectors, q + a), 1.0, f0))
        store(vectors, q + b, add(load(vectors, q + b), 1.0, f1))
        store(vectors, q + c, add(load(vectors, q + c), 1.0, f2))
        store(vectors, q + d, add(load(vectors, q + d), 1.0, f3))
        along = add_products(add_products(nothing(), f0, load(p, a)), f1, load(p, b))
        sums[chunk[tet], 0] += total(add_products(add_products(along, f2, load(p, c)), f3, load(p, d)))


@kernel(contract=True)
def add_diagonals(tets, stiff, damped, blocks):
    """Adds the blocks on the diagonal that tets have, (n, 9)."""
    for tet in range(len(tets)):
        for a in range(4):
            t = corner(stiff, STIFF * tet, a)
            x, y, z = numbers(t)
            k, m, square = stiff[tet, 9], stiff[tet, 10], total(add_products(nothing(), t, t))
            row = 9 * tets[tet, a]
            store(blocks, row, add(add(load(blocks, row), (k + m) * x, t), m * square, three(1.0, 0.0, 0.0)))
            store(blocks, row + 3, add(add(load(blocks, row + 3), (k + m) * y, t), m * square, three(0.0, 1.0, 0.0)))
            store(blocks, row + 6, add(add(load(blocks, row + 6), (k + m) * z, t), m * square, three(0.0, 0.0, 1.0)))
            if len(damped) > 0:
                w = DAMPED * tet
                s = corner(damped, w, a)
                x, y, z = numbers(s)
                k, m = damped[tet, 18], damped[tet, 19]
                A, B, C = load(damped, w + 9), load(damped, w + 12), load(damped, w + 15)
                store(blocks, row, add(add(load(blocks, row), (k + m) * x, s), m * square, A))
                store(blocks, row + 3, add(add(load(blocks, row + 3), (k + m) * y, s), m * square, B))
                store(blocks, row + 6, add(add(load(blocks, row + 6), (k + m) * z, s), m * square, C))


@kernel(contract=True, inline=True, inside=True)
def corner(array, w, a):
    """Returns the gradient of a corner of a tet, that of corner 0 being minus the sum of the others."""
    if a > 0:
        return load(array, w + 3 * a - 3)
    return add(add(add(nothing(), -1.0, load(array, w)), -1.0, load(array, w + 3)), -1.0, load(array, w + 6))
