# SPDX-License-Identifier: GPL-3.0-or-later
"""Numbers the nodes component by component, so that the solver can treat components separately."""

from __future__ import annotations

import numpy as np

from ..geometry.connected_components import connected_components
from ..tet_mesh import FilledTets


def number_by_component(filling: FilledTets) -> FilledTets:
    """Returns the same tets with the nodes of each component in consecutive order."""
    nodes, tets, fill = filling
    piece = connected_components(np.repeat(tets[:, 0], 3), tets[:, 1:].ravel(), len(nodes))
    order = np.argsort(piece, kind="stable")
    if (order[1:] > order[:-1]).all():
        return filling
    number = np.empty(len(order), np.int32)
    number[order] = np.arange(len(order), dtype=np.int32)
    return FilledTets(nodes[order], number[tets], fill)
