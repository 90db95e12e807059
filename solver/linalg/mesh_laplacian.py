# SPDX-License-Identifier: GPL-3.0-or-later
"""The matrix of ½ Σ V |∇d|² over tets, for displacements d."""

from __future__ import annotations

import numpy as np

from ..runtime.arrays import Floats, Indices, floats
from .block_pattern import BlockPattern


def laplacian(X: Floats, tets: Indices, pattern: BlockPattern) -> Floats:
    """Returns the blocks V g_a·g_b I [m], (b, 9), for nodes at X [m], (n, 3), and tets (m, 4) of the pattern."""
    return floats(
        scatter_to_blocks(gradient_products(X, tets), pattern, np.arange(len(tets), dtype=np.int64))[:, None]
        * np.eye(3).ravel()
    )


def gradient_products(X: Floats, tets: Indices) -> Floats:
    """Returns V g_a·g_b [m] of every tet, (m, 4, 4), with the gradients g of its shape functions."""
    g, volume = shape_gradients(X, tets)
    return np.einsum("mai,mbi->mab", volume[:, None, None] * g, g)


def shape_gradients(X: Floats, tets: Indices) -> tuple[Floats, Floats]:
    """Returns the gradients g of the shape functions of tets [1/m], (m, 4, 3), and volumes V [m³], (m,)."""
    first = X[tets[:, 0]]
    one, two, three = (X[tets[:, corner]] - first for corner in (1, 2, 3))
    # a tenth of the time of np.linalg.inv, and of det
    normals = np.stack([np.cross(two, three), np.cross(three, one), np.cross(one, two)], axis=1)
    sixfold = np.einsum("mi,mi->m", one, normals[:, 0])
    inner = normals / sixfold[:, None, None]
    g = np.concatenate([-inner.sum(axis=1, keepdims=True), inner], axis=1)
    return g, np.abs(sixfold) / 6.0


def scatter_to_blocks(values: Floats, pattern: BlockPattern, tet: Indices) -> Floats:
    """Returns sums of values, (k, 4, 4), of the corners of some tets, (k,), per block, (b,)."""
    blocks = pattern.corner_block.reshape(-1, 4, 4)[tet]
    return floats(np.bincount(blocks.ravel(), values.ravel(), minlength=pattern.block_count))
