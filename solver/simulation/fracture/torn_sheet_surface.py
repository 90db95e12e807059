# SPDX-License-Identifier: GPL-3.0-or-later
"""The collision surface of a sheet that has torn: its triangles as they were, with a vertex for every copy of a node.

Vertices of the whole sheet go first, each the copy that its contact point follows; then come the other copies. What has
torn lies side by side, nearer than the distance that a sheet keeps from itself: a vertex never meets what is at another
copy of its node, as one that is sewn never meets what it is sewn to.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ...contact.detection.surface_materials import ContactMaterials
from ...contact.surfaces.collision_surfaces import CollisionSurfaces
from ...contact.surfaces.sharp_edges import EdgeCopies
from ...mechanics.model import Model
from ...runtime.arrays import Floats, Indices, floats, indices
from .present_surface import PresentSurface


@dataclass(frozen=True, eq=False)
class _Copies:
    """Vertices of a torn sheet, v now, of which the first are those of the whole sheet.

    Attributes:
        source: The vertex of the whole sheet that each is, (v,).
        node: The node that it moves with now, (v,).
        tet, weights: The tet that it is bound to and weights there, (v,) and (v, 4).
        key: See `CollisionSurfaces`, (v,).
        triangles: (t, 3).
    """

    source: Indices
    node: Indices
    tet: Indices
    weights: Floats
    key: np.ndarray
    triangles: Indices


def torn_sheet_surface(whole: ContactMaterials, model: Model, surface: int, tets: Indices) -> PresentSurface:
    """Returns the surface of a sheet that may tear.

    Args:
        whole: All surfaces before anything broke.
        model: Then.
        surface: Which of them, and of the bodies.
        tets: Nodes of all tets now, (m, 4).
    """
    skins = whole.surfaces
    own, faces = skins.vertices_of(surface), skins.triangles_of(surface)
    support = whole.support_tet[faces]
    found = _copies(skins, model, surface, support, tets)
    corners = skins.rest[own][found.source][found.triangles]
    area = np.linalg.norm(np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]), axis=1)
    areas = floats(np.bincount(found.triangles.ravel(), np.repeat(area / 6.0, 3), len(found.source)))
    points = whole.points.select(own.start + found.source.astype(np.int64))
    return PresentSurface(
        rest=floats(skins.rest[own][found.source]),
        tet=found.tet,
        weights=found.weights,
        triangles=found.triangles,
        vertex_key=found.key.astype(np.int64),
        triangle_key=skins.triangle_key[faces],
        points=replace(points, tet=found.tet, weights=found.weights, area=areas),
        support_tet=support,
        nodes=_nodes(skins, surface, found),
        edges=_edge_copies(skins, surface, found, support),
    )


def _copies(skins: CollisionSurfaces, model: Model, surface: int, support: Indices, tets: Indices) -> _Copies:
    own, body = skins.vertices_of(surface), model.bodies[surface]
    count = own.stop - own.start
    triangles = skins.triangles[skins.triangles_of(surface)] - np.int32(own.start)
    place = skins.weights[own].argmax(axis=1)
    first = tets[skins.tet[own], place]  # the copy that stays the vertex of the whole sheet
    node_of_vertex = skins.nodes[own, 0]
    slot = (model.tets[support][:, None, :] == node_of_vertex[triangles][:, :, None]).argmax(axis=2)
    node = tets[support[:, None], slot]
    corner = 4 * (support[:, None].astype(np.int64) - body.tets.start) + slot
    is_other = node != first[triangles]
    others, at = np.unique(node[is_other], return_inverse=True)
    key = np.full(len(others), np.iinfo(np.int64).max, np.int64)
    np.minimum.at(key, at.ravel(), corner[is_other])
    source = np.zeros(len(others), np.int64)
    source[at.ravel()] = triangles[is_other]
    order = np.argsort(key)
    rank = np.empty(len(others), np.int64)
    rank[order] = count + np.arange(len(others), dtype=np.int64)
    now = triangles.copy()
    now[is_other] = rank[at.ravel()]
    key, source, others = key[order], source[order], others[order]
    return _Copies(
        source=indices(np.concatenate([np.arange(count, dtype=np.int64), source])),
        node=indices(np.concatenate([first, others])),
        tet=indices(np.concatenate([skins.tet[own], body.tets.start + key // 4])),
        weights=floats(np.concatenate([skins.weights[own], np.eye(4)[key % 4]]), -1, 4),
        key=np.concatenate([skins.vertex_key[own], count + key]),
        triangles=indices(now, -1, 3),
    )


def _nodes(skins: CollisionSurfaces, surface: int, found: _Copies) -> Indices:
    """Returns `CollisionSurfaces.nodes`: that of each vertex, and in places without weight what it must not meet."""
    whole = skins.nodes[skins.vertices_of(surface)]
    vertex_of_node = {int(node): vertex for vertex, node in enumerate(whole[:, 0])}
    nodes = np.repeat(found.node[:, None], 4, axis=1)
    copies: dict[int, list[int]] = {}
    for vertex in range(len(whole), len(found.source)):
        source = int(found.source[vertex])
        copies.setdefault(source, [source]).append(vertex)
    sewn = np.flatnonzero((whole != whole[:, :1]).any(axis=1))
    place = found.weights.argmax(axis=1)
    for source in {*copies, *sewn.tolist()}:
        at = copies.get(source, [source])
        partners = {int(node) for node in whole[source, 1:] if node != whole[source, 0]}
        to = [int(found.node[vertex_of_node[node]]) for node in sorted(partners)]
        for vertex in at:
            free = [k for k in (1, 2, 3) if k != place[vertex]]
            avoided = [*to, *(int(found.node[other]) for other in at if other != vertex)]
            for k, other in zip(free, avoided, strict=False):
                nodes[vertex, k] = other
    return indices(nodes, -1, 4)


def _edge_copies(skins: CollisionSurfaces, surface: int, found: _Copies, support: Indices) -> EdgeCopies | None:
    """Returns the edges of the torn sheet; None where the whole one had none that could touch."""
    if skins.edges is None:
        return None
    first = int(skins.vertices_of(surface).start)
    rows = np.flatnonzero(skins.edges.surface == surface)
    ends = skins.edges.ends[rows, :2].astype(np.int64) - first
    one, other = found.triangles, np.roll(found.triangles, -1, axis=1)
    pairs = np.stack([one.ravel(), other.ravel()], axis=1)
    of_whole = found.source[pairs].astype(np.int64)
    count = len(found.source)
    keys, wanted = np.sort(ends, axis=1) @ [count, 1], np.sort(of_whole, axis=1) @ [count, 1]
    order = np.argsort(keys)
    edge = order[np.searchsorted(keys[order], wanted)]
    is_reversed = of_whole[:, 0] != ends[edge, 0]
    pairs[is_reversed] = pairs[is_reversed, ::-1]
    made, at = np.unique(np.column_stack([edge, pairs]), axis=0, return_index=True)
    triangle = indices(at // 3)
    return EdgeCopies(indices(rows[made[:, 0]]), indices(made[:, 1:], -1, 2), triangle, support[triangle])
