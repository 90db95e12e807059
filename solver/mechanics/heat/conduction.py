# SPDX-License-Identifier: GPL-3.0-or-later
"""How heat flows between nodes and through the surface, for the tets as they are joined at the moment.

Between the nodes a and b of a tet flow w_ab (T_b − T_a) watts, with w_ab = −k V g_a·g_b and the gradients g of the
shape functions at rest: linear elements. All is said by such flows, whose sum is zero whatever the w are, so that
no heat is lost to round-off. Capacities are lumped at nodes: with those of a consistent matrix, material beside
something hot would at first become colder. Tets that no longer share a node exchange nothing: cracks insulate.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...runtime.arrays import Floats, Indices, floats
from ..model import Model


@dataclass(frozen=True)
class Conduction:
    """Flows of heat for one topology.

    Attributes:
        conductance: w [W/K] of every block of the model's pattern, (b,); what is on the diagonal is not read.
        surface: Exchange of the nodes with the air [W/K], (n,).
    """

    conductance: Floats
    surface: Floats


def conduction(
    model: Model, conductivity: Floats, point_tet: Indices, point_weights: Floats, point_exchange: Floats
) -> Conduction:
    """Returns the flows of heat in a model.

    Args:
        model: The tets as they are joined now.
        conductivity: k of the tets [W/(m K)], (m,).
        point_tet, point_weights: Points of the surface, (k,) and (k, 4), weights ≥ 0 that sum to one.
        point_exchange: Their exchange with the air [W/K], (k,).
    """
    last_three = model.Dm_inverse
    gradients = np.concatenate([-last_three.sum(axis=1, keepdims=True), last_three], axis=1)
    # the same products in the same order for ab and ba, so that both directions get the same bits
    products = gradients @ gradients.transpose(0, 2, 1)
    in_tets = products * -(conductivity * model.volume)[:, None, None]
    blocks = model.pattern.corner_block.ravel().astype(np.int64)
    between = np.bincount(blocks, in_tets.ravel(), minlength=model.pattern.block_count)
    nodes = model.tets[point_tet].ravel()
    exchange = (point_exchange[:, None] * point_weights).ravel()
    surface = np.bincount(nodes, exchange, minlength=model.node_count)
    return Conduction(floats(between), floats(surface))
