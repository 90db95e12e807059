# SPDX-License-Identifier: GPL-3.0-or-later
"""T-junctions of sheets: vertices on the border that lie in the middle of an edge of other, larger triangles."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..runtime.arrays import Floats, Indices, floats, indices
from .t_junctions import TJunctions
from .tet_mesh import TetMesh

TOLERANCE = 1.0e-3  # of an edge, within which a vertex lies on it


def close_t_junctions(mesh: TetMesh) -> TetMesh:
    """Returns a sheet with the T-junctions of its triangles."""
    assert mesh.sheet is not None
    return replace(mesh, junctions=sheet_t_junctions(mesh.nodes, mesh.sheet.triangles))


def sheet_t_junctions(nodes: Floats, triangles: Indices) -> TJunctions:
    """Returns the T-junctions on the borders of a sheet, as weighted sums of nodes that are at none.

    A node that lies on several edges hangs on the longest of them.

    Args:
        nodes: Places at rest [m], (n, 3).
        triangles: (t, 3).
    """
    edges = _border_edges(triangles)
    edge, node, share = _nodes_on_edges(nodes, edges)
    sums: dict[int, dict[int, float]] = {}
    for e, v, t in zip(edge.tolist(), node.tolist(), share.tolist(), strict=True):
        a, b = edges[e].tolist()
        found = _sum((1.0 - t, sums.get(a, {a: 1.0})), (t, sums.get(b, {b: 1.0})))
        if v in sums or v in found:  # borders that overlap without matching would hang on each other
            continue
        sums[v] = found
        for other, parents in sums.items():
            if v in parents:
                rest = {parent: weight for parent, weight in parents.items() if parent != v}
                sums[other] = _sum((1.0, rest), (parents[v], found))
    hanging = sorted(sums)
    start = np.cumsum([0, *(len(sums[v]) for v in hanging)], dtype=np.int64)
    pairs = [pair for v in hanging for pair in sorted(sums[v].items())]
    return TJunctions(indices(hanging), indices(start), indices([p for p, _ in pairs]), floats([w for _, w in pairs]))


def _sum(*terms: tuple[float, dict[int, float]]) -> dict[int, float]:
    """Returns the sum of weighted sums of nodes, each times a factor."""
    total: dict[int, float] = {}
    for factor, parents in terms:
        for parent, weight in parents.items():
            total[parent] = total.get(parent, 0.0) + factor * weight
    return total


def _border_edges(triangles: Indices) -> Indices:
    """Returns the edges of one triangle alone, (e, 2)."""
    pairs = np.sort(np.stack([triangles, np.roll(triangles, -1, axis=1)], axis=2).reshape(-1, 2), axis=1)
    edges, count = np.unique(pairs, axis=0, return_counts=True)
    return indices(edges[count == 1], -1, 2)


def _nodes_on_edges(nodes: Floats, edges: Indices) -> tuple[Indices, Indices, Floats]:
    """Returns edges, the nodes of others that lie on them, and where, 0 to 1, (k,) each; the longest edges first."""
    from scipy.spatial import cKDTree  # few sheets need it

    border = np.unique(edges)
    ends = nodes[edges]
    along = ends[:, 1] - ends[:, 0]
    length = np.linalg.norm(along, axis=1)
    near = cKDTree(nodes[border]).query_ball_point(ends.mean(axis=1), 0.5 * (1.0 + TOLERANCE) * length)
    edge = np.repeat(np.arange(len(edges), dtype=np.int64), [len(each) for each in near])
    node = border[np.concatenate([np.zeros(0, np.int64), *(np.array(each, np.int64) for each in near)])]
    apart = nodes[node] - ends[edge, 0]
    share = np.einsum("ki,ki->k", apart, along[edge]) / length[edge] ** 2
    off = np.linalg.norm(apart - share[:, None] * along[edge], axis=1)
    inside = (share > TOLERANCE) & (share < 1.0 - TOLERANCE) & (off < TOLERANCE * length[edge])
    found = np.flatnonzero(inside & (node[:, None] != edges[edge]).all(axis=1))
    found = found[np.lexsort((node[found], edge[found], -length[edge[found]]))]
    return indices(edge[found]), indices(node[found]), floats(share[found])
