# SPDX-License-Identifier: GPL-3.0-or-later
"""What tets of ten nodes have of their own, whatever nodes they share: made once for a body, and kept while it cracks.

A crack step changes which copies of nodes a few tets have, and none of this. Made anew for each of the hundreds of
stress solves of a hit, it took as long as a third of the solves.
"""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np
import numpy.typing as npt

from ..mesh.local_tet_numbering import EDGE_ENDS, EDGE_STARTS
from ..mesh.tetrahedralize.material_moments import MaterialMoments
from ..runtime.arrays import Bools, Floats, Indices, floats


@dataclass(frozen=True, eq=False)
class ElementTables:
    """Tets of ten nodes.

    Attributes:
        gradients: ∇λ of the corners [1/m], (m, 4, 3).
        volume: V [m³], (m,).
        weight: V times the filled share [m³], (m,).
        second_moments: ∫ λᵢ λⱼ dV over the material in each tet [m³], (m, 4, 4).
        shape_moments: ∫ N_a λ_c dV / ∫ dV over it, (m, 10, 4).
        gradient_products: ∫ ∇N ∇Nᵀ dV over it of each node [m], (m, 10, 3, 3).
        centre: Of it, in barycentric coordinates, (m, 4).
        nearest: Its points nearest to the corners, in barycentric coordinates, (m, 4, 4).
        is_full: Which tets are full, or evenly filled, (m,).
    """

    gradients: Floats
    volume: Floats
    weight: Floats
    second_moments: Floats
    shape_moments: Floats
    gradient_products: Floats
    centre: Floats
    nearest: Floats
    is_full: Bools

    def of_tets(self, tets: npt.NDArray[np.integer]) -> ElementTables:
        """Returns those of some tets, (k,)."""
        return ElementTables(*(getattr(self, each.name)[tets] for each in fields(self)))


def element_tables(nodes: Floats, tets: Indices, fill: Floats, moments: MaterialMoments) -> ElementTables:
    """Returns the tables of tets.

    Args:
        nodes: [m], (n, 3).
        tets: Their corners come first, (m, ≥ 4).
        fill: Which share of each is material, (m,).
        moments: Where in the tets that is.
    """
    gradients, volume = gradients_and_volumes(nodes, tets)
    weight = floats(fill * volume)
    second = moments.second
    second_moments = floats(weight[:, None, None] * second)
    return ElementTables(
        gradients=gradients,
        volume=volume,
        weight=weight,
        second_moments=second_moments,
        shape_moments=shape_moments(moments, second),
        gradient_products=_gradient_products(gradients, weight, second_moments),
        centre=moments.first,
        nearest=moments.nearest,
        is_full=moments.is_full,
    )


def gradients_and_volumes(nodes: Floats, tets: Indices) -> tuple[Floats, Floats]:
    """Returns ∇λ of the corners of tets, (m, ≥ 4), with nodes (n, 3) [1/m], (m, 4, 3), and V [m³], (m,)."""
    corners = nodes[tets[:, :4]]
    edges = corners[:, 1:] - corners[:, :1]
    gradients = np.linalg.inv(edges).transpose(0, 2, 1)
    gradients = np.concatenate([-gradients.sum(axis=1, keepdims=True), gradients], axis=1)
    return floats(gradients), floats(np.linalg.det(edges) / 6.0)


def shape_moments(moments: MaterialMoments, second: Floats | None = None) -> Floats:
    """Returns ∫ N_a λ_c dV / ∫ dV over the material in tets of ten nodes, (m, 10, 4), of its moments, and of second."""
    third = moments.third
    second = moments.second if second is None else second
    corners = 2.0 * np.einsum("taac->tac", third) - second
    return floats(np.concatenate([corners, 4.0 * third[:, EDGE_STARTS, EDGE_ENDS]], axis=1))


def _gradient_products(g: Floats, weight: Floats, moments: Floats) -> Floats:
    """Returns ∫ ∇N ∇Nᵀ dV of corners, ∇N = (4 λᵢ − 1) gᵢ, and of the middles of edges, N = 4 λᵢ λⱼ."""
    products = np.einsum("tir,tjs->tijrs", g, g)
    i, j = EDGE_STARTS, EDGE_ENDS
    own = products[:, range(4), range(4)]
    squares = moments[:, range(4), range(4), None, None]
    first = moments.sum(axis=2)[:, :, None, None]
    corners = (16.0 * squares - 8.0 * first + weight[:, None, None, None]) * own
    middles = 16.0 * (squares[:, j] * own[:, i] + squares[:, i] * own[:, j])
    middles += 16.0 * moments[:, i, j, None, None] * (products[:, i, j] + products[:, j, i])
    return floats(np.concatenate([corners, middles], axis=1))
