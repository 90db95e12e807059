# SPDX-License-Identifier: GPL-3.0-or-later
"""The mesh of a sheet: its vertices are nodes, and every edge between two of its triangles is a hinge of four nodes.

Hinges take the place of tets, so that whatever names a tet and four weights may name a place of a sheet. They are flat
or folded, and have no barycentric coordinates: points are bound by the triangle that they are on.

In a sheet that may tear every triangle is a tet of its own besides, whose last two corners are one node. A hinge whose
edge tears then joins nothing, and all that is bound to a triangle stays on it.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ..runtime.arrays import Floats, Indices, floats, indices
from ..runtime.errors import BadInput
from .embedding import Binding
from .geometry.closest_point import closest_points
from .geometry.triangle_bvh import build_bvh
from .geometry.triangle_surface import Surface
from .strand_mesh import strand_lengths, strand_tets
from .tet_mesh import MeshReport, SheetTriangles, TetMesh

MIN_AREA_SHARE = 1.0e-9  # of the square of a triangle's longest edge, below which it has no area


def sheet_mesh(surface: Surface, name: str, may_tear: bool = False, strands: Indices | None = None) -> TetMesh:
    """Returns a sheet as tets without volume, those of `sheet_tets`, then those of its strands (`strand_mesh.py`).

    The tet size is the root mean square of the lengths of its edges. Vertices without faces and strands are no nodes.

    Args:
        surface: Its triangles.
        name: Of the sheet, for people.
        may_tear: Whether triangles are tets of their own.
        strands: Two vertices of each edge that is a string, (e, 2); None: there are none.

    Raises:
        BadInput: A triangle has no area, or there is but one, or a strand has no length.
    """
    if strands is not None and len(strands):
        return _mesh_with_strands(surface, name, may_tear, strands)
    used, numbers = np.unique(surface.triangles, return_inverse=True)
    nodes, triangles = surface.vertices[used], indices(numbers.reshape(-1, 3))
    edges, longest = triangle_edges(nodes, triangles)
    area = check_areas(edges, longest, name)
    if len(used) < 4:
        raise BadInput("sheet-one-triangle", name=name)
    hinges, owners, _ = sheet_tets(triangles, may_tear)
    size = float(np.sqrt(np.mean(np.sum(edges**2, axis=2))))
    report = MeshReport(size, 0.0, 180.0, float(area.sum()), 1.0)
    sheet = SheetTriangles(triangles, indices(owners), indices(used))
    return TetMesh(nodes, hinges, np.ones(len(hinges)), report, sheet=sheet)


def _mesh_with_strands(surface: Surface, name: str, may_tear: bool, strands: Indices) -> TetMesh:
    """Returns a sheet with strands; raises as `sheet_mesh`. It may have no triangles."""
    corners = surface.triangles.size
    used, numbers = np.unique(np.concatenate([surface.triangles.ravel(), strands.ravel()]), return_inverse=True)
    nodes = surface.vertices[used]
    triangles, edges = indices(numbers[:corners].reshape(-1, 3)), indices(numbers[corners:].reshape(-1, 2))
    length, made = strand_lengths(nodes, edges, name), strand_tets(nodes, edges)
    hinges, hinge, area, squares = np.zeros((0, 4), np.int32), np.zeros(0, np.int32), 0.0, length**2
    if len(triangles):
        faces = sheet_mesh(surface, name, may_tear)
        assert faces.sheet is not None
        node = indices(np.searchsorted(used, faces.sheet.vertices))
        hinges, hinge, area = node[faces.tets], faces.sheet.hinge, faces.report.volume
        squares = np.concatenate([squares, np.full(corners, faces.report.tet_size**2, np.float64)])
    tets = indices(np.concatenate([hinges, made.tets]), -1, 4)
    report = MeshReport(float(np.sqrt(squares.mean())), 0.0, 180.0, area, 1.0)
    sheet = SheetTriangles(triangles, hinge, indices(used), edges, indices(made.owner + len(hinges)))
    return TetMesh(nodes, tets, np.ones(len(tets)), report, sheet=sheet)


def bind_to_sheet(mesh: TetMesh, points: Floats) -> Binding:
    """Returns the places of a sheet nearest to points [m], (k, 3), bound to the nodes of a triangle each."""
    sheet = mesh.sheet
    assert sheet is not None
    near = closest_points(build_bvh(mesh.nodes, sheet.triangles), floats(points, -1, 3))
    return bind_to_triangles(mesh, near.triangle, near.weights)


def bind_to_triangles(mesh: TetMesh, triangle: npt.NDArray[np.integer], weights: Floats) -> Binding:
    """Returns places of triangles, (k,), with barycentric weights in these, (k, 3), in the hinges of a sheet."""
    sheet = mesh.sheet
    assert sheet is not None
    hinge = sheet.hinge[triangle]
    return Binding(indices(hinge), weights_in_hinges(mesh.tets[hinge], sheet.triangles[triangle], weights))


def weights_in_hinges(hinges: Indices, nodes: Indices, weights: Floats) -> Floats:
    """Returns the weights of the nodes of hinges, (k, 4) both, for those of some nodes of them, (k, c) both."""
    is_node = hinges[:, :, None] == nodes[:, None, :]
    is_node[hinges[:, 3] == hinges[:, 2], 3] = False  # a triangle names its last corner twice
    is_node[hinges[:, 2] == hinges[:, 1], 2] = False  # and a strand that meets no other one, thrice
    return floats((is_node * weights[:, None, :]).sum(axis=2), -1, 4)


def bind_vertices(mesh: TetMesh, vertices: Floats) -> Binding:
    """Returns the vertices of a sheet [m], (n, 3), each bound to its node; those without faces to the nearest place."""
    sheet = mesh.sheet
    assert sheet is not None
    if len(sheet.strands):
        return _bind_with_strands(mesh, vertices)
    triangle, corner = np.full(len(vertices), -1, np.int64), np.zeros(len(vertices), np.int64)
    triangle[sheet.vertices], corner[sheet.vertices] = _triangles_of_nodes(sheet.triangles, len(sheet.vertices))
    loose = np.flatnonzero(triangle < 0)
    triangle[loose] = 0
    bound = bind_to_triangles(mesh, triangle, np.eye(3)[corner])
    if len(loose):
        near = bind_to_sheet(mesh, vertices[loose])
        bound.tet[loose], bound.weights[loose] = near.tet, near.weights
    return bound


def _bind_with_strands(mesh: TetMesh, vertices: Floats) -> Binding:
    """Returns what `bind_vertices` does, of a sheet with strands: loose vertices go with the nearest node."""
    sheet = mesh.sheet
    assert sheet is not None
    tet_of_node = np.empty(len(mesh.nodes), np.int64)
    tet_of_node[sheet.strands], tet_of_node[sheet.triangles] = sheet.strand_tet[:, None], sheet.hinge[:, None]
    node = np.full(len(vertices), -1, np.int64)
    node[sheet.vertices] = np.arange(len(mesh.nodes), dtype=np.int64)
    loose = np.flatnonzero(node < 0)
    node[loose] = [np.sum((mesh.nodes - place) ** 2, axis=1).argmin() for place in vertices[loose]]
    tet = indices(tet_of_node[node])
    return Binding(tet, weights_in_hinges(mesh.tets[tet], indices(node[:, None]), np.ones((len(vertices), 1))))


def strand_areas(mesh: TetMesh, thickness: float) -> Floats:
    """Returns the area that strands of a diameter [m] show from the side, at the vertices of a sheet [m²], (v,)."""
    sheet = mesh.sheet
    assert sheet is not None
    ends = mesh.nodes[sheet.strands]
    share = 0.5 * thickness * np.linalg.norm(ends[:, 1] - ends[:, 0], axis=1)
    return floats(np.bincount(sheet.strands.ravel(), np.repeat(share, 2), len(sheet.vertices)))


def followed_corners(mesh: TetMesh) -> Indices:
    """Returns the corner 4 · tet + c of a sheet that the vertex of each node is bound to by `bind_vertices`, (n,)."""
    sheet = mesh.sheet
    assert sheet is not None
    triangle, _ = _triangles_of_nodes(sheet.triangles, len(mesh.nodes))
    tet, node = sheet.hinge[triangle], np.arange(len(mesh.nodes), dtype=np.int32)
    return indices(4 * tet + (mesh.tets[tet] == node[:, None]).argmax(axis=1))


def _triangles_of_nodes(triangles: Indices, count: int) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Returns one triangle at each node, and which corner of it the node is, (n,) each."""
    triangle, corner = np.zeros((2, count), np.int64)
    for c in range(3):
        triangle[triangles[:, c]], corner[triangles[:, c]] = np.arange(len(triangles), dtype=np.int64), c
    return triangle, corner


def triangle_edges(nodes: Floats, triangles: Indices) -> tuple[Floats, Floats]:
    """Returns the edges of triangles, each from a corner to the next, (t, 3, 3), and the longest of each, (t,) [m]."""
    edges = nodes[np.roll(triangles, -1, axis=1)] - nodes[triangles]
    return edges, np.linalg.norm(edges, axis=2).max(axis=1, initial=0.0)


def check_areas(edges: Floats, longest: Floats, name: str) -> Floats:
    """Returns the areas of triangles [m²], (t,), for what `triangle_edges` returns.

    Raises:
        BadInput: One has none, or there are no triangles.
    """
    area = 0.5 * np.linalg.norm(np.cross(edges[:, 0], -edges[:, 2]), axis=1)
    flat = ~(area > MIN_AREA_SHARE * longest**2)
    if flat.any() or not len(area):
        raise BadInput("sheet-no-area", name=name, count=int(flat.sum()))
    return floats(area)


def sheet_tets(triangles: Indices, may_tear: bool) -> tuple[Indices, npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Returns nodes of the tets of a sheet, (m, 4), the tet of each triangle, (t,), and the triangles of each, (m, 2).

    They are its hinges. Where it may tear, its triangles come first, with −1 for their other triangle.
    """
    hinges, owners, sides = sheet_hinges(triangles)
    if not may_tear:
        return hinges, owners, sides
    own, folds = np.arange(len(triangles), dtype=np.int64), sides[:, 1] >= 0
    tets = np.concatenate([triangles[:, [0, 1, 2, 2]], hinges[folds]])
    return indices(tets, -1, 4), own, np.concatenate([np.stack([own, np.full_like(own, -1)], axis=1), sides[folds]])


def sheet_hinges(triangles: Indices) -> tuple[Indices, npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Returns nodes of the hinges, (h, 4), the hinge of each triangle, (t,), and the triangles of each hinge, (h, 2).

    Edges of more than two triangles are hinges between each of these and the first one. A triangle that shares no edge
    with another one gets a hinge with any fourth node, which does not resist, and −1 for its other triangle.
    """
    count = len(triangles)
    pairs = np.stack([triangles, np.roll(triangles, -1, axis=1)], axis=2).reshape(-1, 2).astype(np.int64)
    opposite, of = np.roll(triangles, -2, axis=1).ravel(), np.repeat(np.arange(count, dtype=np.int64), 3)
    low, high = pairs.min(axis=1), pairs.max(axis=1)
    order = np.lexsort((of, high, low))
    is_first = np.append(True, (np.diff(low[order]) != 0) | (np.diff(high[order]) != 0))
    first = order[np.maximum.accumulate(np.where(is_first, np.arange(len(order), dtype=np.int64), 0))]
    one, other = first[~is_first], order[~is_first]
    hinges = np.stack([pairs[one, 0], pairs[one, 1], opposite[one], opposite[other]], axis=1)
    sides = np.stack([of[one], of[other]], axis=1)
    folded = hinges[:, 2] != hinges[:, 3]  # not two triangles of the same corners
    hinges, sides = hinges[folded], sides[folded]
    owners = np.full(count, -1, np.int64)
    numbers = np.arange(len(hinges), dtype=np.int64)
    owners[sides[::-1, 1]] = numbers[::-1]
    owners[sides[::-1, 0]] = numbers[::-1]
    alone = np.flatnonzero(owners < 0)
    nodes = np.unique(triangles)
    fourth = [nodes[~np.isin(nodes, triangles[t])][0] for t in alone]
    owners[alone] = len(hinges) + np.arange(len(alone), dtype=np.int64)
    hinges = np.concatenate([hinges, np.column_stack([triangles[alone], np.array(fourth, np.int64)]).reshape(-1, 4)])
    sides = np.concatenate([sides, np.column_stack([alone, np.full(len(alone), -1, np.int64)]).reshape(-1, 2)])
    return indices(hinges, -1, 4), owners, sides
