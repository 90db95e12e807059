# SPDX-License-Identifier: GPL-3.0-or-later
"""The connected components of tets: how many there are beyond those of the surface, and their nodes in order."""

from __future__ import annotations

import numpy as np

from ...runtime.arrays import Indices
from ..geometry.connected_components import connected_components, mesh_components
from ..geometry.triangle_surface import Surface
from ..geometry.welding import weld
from ..tet_mesh import FilledTets


def number_by_component(filling: FilledTets) -> FilledTets:
    """Returns the same tets with the nodes of each component one after the other, otherwise in their order.

    Each component is then an island of the system matrix, solved with its own coefficients.
    """
    nodes, tets = filling.nodes, filling.tets
    component = mesh_components(tets, len(nodes))
    order = np.argsort(component, kind="stable")
    if (order[1:] > order[:-1]).all():
        return filling
    number = np.empty(len(order), np.int32)
    number[order] = np.arange(len(order), dtype=np.int32)
    return FilledTets(nodes[order], number[tets], filling.fill, filling.junctions.renumbered(number))


def excess_component_count(surface: Surface, tets: Indices) -> int:
    """Returns the number of components of the tets, (m, 4), or 0 where the surface has as many.

    Tets fall apart where a neck of the surface is thinner than a tet.
    """
    count = _component_count(tets)
    return count if count > 1 and count > _component_count(weld(surface)) else 0


def _component_count(cells: Indices) -> int:
    """Returns how many sets of cells share no node, cells (m, k)."""
    used, numbered = np.unique(cells, return_inverse=True)
    numbered = numbered.reshape(cells.shape)
    first = np.repeat(numbered[:, 0], cells.shape[1] - 1)
    return int(connected_components(first, numbered[:, 1:].ravel(), len(used)).max(initial=-1)) + 1
