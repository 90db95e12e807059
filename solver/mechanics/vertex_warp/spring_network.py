# SPDX-License-Identifier: GPL-3.0-or-later
"""A network of springs along the edges of tets, in place of the tets.

Every tet brings a spring per edge, of the stiffness

    k = E V / l²

for its Young's modulus E, its volume V and the edge's length l. In a small strain ε the six of a tet store
½ E V Σ (dᵀ ε d)² over the directions d of its edges. Where these are spread evenly over space, that is the energy of
the isotropic material of this E with Poisson's ratio ¼, whose Lamé's moduli are alike, μ = λ = 2 E / 5. No other
ratio can be had of springs, so that of the material is not read.

Source: k by own derivation from the energy; it is the rule of van Gelder 1998 with volumes for areas.
"""

from __future__ import annotations

import numpy as np

from ...linalg.block_pattern import BlockPattern
from ...runtime.arrays import Floats, Indices

_EDGE_STARTS, _EDGE_ENDS = np.array([0, 0, 0, 1, 1, 2], np.int64), np.array([1, 2, 3, 2, 3, 3], np.int64)


def add_springs(
    pattern: BlockPattern,
    which: slice,
    nodes: Indices,
    Dm: Floats,
    strain: Floats,
    youngs_volume: Floats,
    blocks: Floats,
    push: Floats,
) -> None:
    """Adds the springs of some tets to K, (b, 9), and to its forces where all nodes are in one place [N], (n, 3).

    Args:
        pattern: Of all tets.
        which: The k tets.
        nodes: Their nodes, (k, 4).
        Dm: Edge matrices at rest [m], (k, 3, 3).
        strain: Strain at which each feels no force, as xx, yy, zz, xy, yz, zx, (k, 6) or (0, 6) for none.
        youngs_volume: E V [J], (k,).
        blocks, push: Out.
    """
    corners = np.concatenate([np.zeros((len(Dm), 1, 3)), np.swapaxes(Dm, 1, 2)], axis=1)
    along = corners[:, _EDGE_ENDS] - corners[:, _EDGE_STARTS]  # (k, 6, 3)
    square = np.einsum("kei,kei->ke", along, along)
    stiffness = youngs_volume[:, None] / square
    # k d dᵀ
    each = (stiffness / square)[:, :, None, None] * along[..., :, None] * along[..., None, :]
    rest = along
    if len(strain):
        rest = along + np.einsum("kij,kej->kei", strain[:, [0, 3, 5, 3, 1, 4, 5, 4, 2]].reshape(-1, 3, 3), along)
    pull = np.einsum("keij,kej->kei", each, rest)
    of = pattern.corner_block.reshape(-1, 4, 4)[which]
    for places, sign in (
        (of[:, _EDGE_STARTS, _EDGE_STARTS], 1.0),
        (of[:, _EDGE_ENDS, _EDGE_ENDS], 1.0),
        (of[:, _EDGE_STARTS, _EDGE_ENDS], -1.0),
        (of[:, _EDGE_ENDS, _EDGE_STARTS], -1.0),
    ):
        _scatter_add(places.ravel(), sign * each.reshape(-1, 9), blocks)
    _scatter_add(nodes[:, _EDGE_STARTS].ravel(), -pull.reshape(-1, 3), push)
    _scatter_add(nodes[:, _EDGE_ENDS].ravel(), pull.reshape(-1, 3), push)


def _scatter_add(places: np.ndarray, values: Floats, out: Floats) -> None:
    """Adds rows of values to the rows of `out` at some places, which may come more than once."""
    for column in range(values.shape[1]):
        out[:, column] += np.bincount(places, values[:, column], minlength=len(out))
