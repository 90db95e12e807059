# SPDX-License-Identifier: GPL-3.0-or-later
"""Tets that what holds all their nodes has turned inside out, or flat.

They pull at held nodes only, so where flesh is at rest does not depend on them. A solver that tries to lead them back
never ends, though. So it takes them for unstrained: as if they had the shape at rest that they are held in.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ...mechanics.model import Model
from ...quasistatic.fixed_nodes import FixedNodes
from ...runtime.arrays import Bools, floats

MIN_STRETCH = 0.1  # stretch below which a tet counts as flat
EDGE_REGULARISATION = 1.0e-9  # of a tet's size: what is added to its edges, so that those of a flat one have an inverse


def relax_inverted_held_tets(model: Model, held: FixedNodes) -> tuple[Model, Bools]:
    """Returns the model without strain in crushed tets, and which these are, (m,)."""
    is_crushed = np.zeros(model.tet_count, bool)
    is_fixed = ~held.is_free(model.node_count)
    tets = np.flatnonzero(is_fixed[model.tets].all(axis=1))
    if not len(tets):
        return model, is_crushed
    place = np.zeros((model.node_count, 3))
    place[held.nodes] = held.positions
    corners = place[model.tets[tets]]
    edges = np.swapaxes(corners[:, 1:] - corners[:, :1], 1, 2)
    F = edges @ model.Dm_inverse[tets]
    # σ1 σ2 ≤ ‖F‖² / 2, so this is at most σ3
    smallest = 2.0 * np.linalg.det(F) / np.maximum(np.sum(F * F, axis=(1, 2)), 1e-300)
    is_crushed[tets[smallest < MIN_STRETCH]] = True
    if not is_crushed.any():
        return model, is_crushed
    edges = edges[smallest < MIN_STRETCH]
    size = np.maximum(np.abs(edges).max(axis=(1, 2)), EDGE_REGULARISATION)
    Dm_inverse = model.Dm_inverse.copy()
    Dm_inverse[is_crushed] = np.linalg.inv(edges + EDGE_REGULARISATION * size[:, None, None] * np.eye(3))
    return replace(model, Dm_inverse=floats(Dm_inverse)), is_crushed
