# SPDX-License-Identifier: GPL-3.0-or-later
"""The meshes of single collision surfaces: of a body, of a deforming collider, and points of a rigid one.

Meshes are remeshed (`surface_remeshing.py`), so that a surface costs no more than its tets and bends with them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...mesh.embedding import Binding, bind
from ...mesh.geometry.consistent_orientation import consistent_faces
from ...mesh.geometry.orient_outward import orient_outward
from ...mesh.geometry.triangle_surface import Surface
from ...mesh.geometry.welding import distinct_faces, weld
from ...mesh.sheet_mesh import strand_areas
from ...mesh.tet_mesh import TetMesh
from ...runtime.arrays import Floats, Indices, floats, indices
from ...scene.surface_detail import SurfaceDetail
from ..colliders.deforming_collider import DeformingCollider
from .surface_remeshing import decimated_triangles, is_too_fine, split_edges

MAX_COLLIDER_POINTS = 20_000  # points on the faces of a collider, beside its vertices


@dataclass(frozen=True, eq=False)
class SurfacePart:
    """One surface, with vertices and triangles counted from 0. For the attributes see `CollisionSurfaces`.

    Attributes:
        rest, area, triangles: (n,) and (t,).
        tet, weights: Of a body, in its own tets; otherwise −1 and 0.
        source_vertices, source_weights: Of a collider; otherwise −1 and 0.
    """

    rest: Floats
    triangles: Indices
    area: Floats
    tet: Indices
    weights: Floats
    source_vertices: Indices
    source_weights: Floats


def body_surface(
    surface: Surface, mesh: TetMesh, binding: Binding, spacing: float, detail: SurfaceDetail | None = None
) -> SurfacePart:
    """Returns the surface of a body: its render mesh, as fine as its tets or as its surface detail.

    Vertices of the render mesh keep the binding by which they are rendered.

    Args:
        surface: The render mesh [m].
        mesh: The tets.
        binding: Of the render vertices, in these tets.
        spacing: No edge is longer [m].
        detail: Vertices are its particles then; None: the body has none.
    """
    size = mesh.report.tet_size
    spacing = spacing if detail is None else size / detail.particles_per_tet
    triangles = _welded(surface.vertices, orient_outward(surface).surface.triangles)
    if detail is None and is_too_fine(surface.vertices, triangles, size):
        triangles = decimated_triangles(surface.vertices, triangles, size)
    used, triangles = np.unique(triangles, return_inverse=True)
    vertices, triangles, _ = split_edges(surface.vertices[used], indices(triangles.reshape(-1, 3)), spacing)
    added = bind(mesh.nodes, mesh.tets, vertices[len(used) :])
    count = len(vertices)
    return SurfacePart(
        vertices,
        triangles,
        _areas(vertices, triangles),
        np.concatenate([binding.tet[used], added.tet]),
        np.concatenate([binding.weights[used], added.weights]),
        np.full((count, 3), -1, np.int32),
        np.zeros((count, 3)),
    )


def sheet_surface(mesh: TetMesh, binding: Binding, thickness: float) -> SurfacePart:
    """Returns the surface of a sheet: its vertices and triangles, on which points move with the corners alone.

    Strands of its thickness [m] touch others with their nodes.
    """
    sheet = mesh.sheet
    assert sheet is not None
    count, own = len(sheet.vertices), sheet.vertices
    nodes = mesh.nodes[:count]  # points that carry it stand behind them
    # layers that lie on each other stay apart, so nothing is welded
    triangles = indices(consistent_faces(sheet.triangles, _face_areas(nodes, sheet.triangles))[0], -1, 3)
    none = np.full((count, 3), -1, np.int32)
    area = _areas(nodes, triangles) + strand_areas(mesh, thickness)
    return SurfacePart(nodes, triangles, area, binding.tet[own], binding.weights[own], none, np.zeros((count, 3)))


def collider_surface(collider: DeformingCollider, spacing: float) -> SurfacePart:
    """Returns the surface of a deforming collider: its mesh, and further points on large faces.

    Args:
        collider: The collider.
        spacing: Between points [m]; larger if there were more than `MAX_COLLIDER_POINTS`.
    """
    vertices = collider.vertices
    triangles = _consistently_oriented(vertices, collider.triangles, collider.is_one_sided)
    used, triangles = np.unique(triangles, return_inverse=True)
    triangles = indices(triangles.reshape(-1, 3))
    points, cut, origin = split_edges(vertices[used], triangles, spacing)
    while len(points) > len(used) + MAX_COLLIDER_POINTS:
        spacing *= 1.5
        points, cut, origin = split_edges(vertices[used], triangles, spacing)
    corners, shares = barycentric_in_uncut(points, cut, origin, vertices[used], triangles)
    corners[: len(used)], shares[: len(used)] = np.arange(len(used), dtype=np.int64)[:, None], [1.0, 0.0, 0.0]
    return collider_part(points, triangles, _areas(points, cut), indices(used[corners]), shares)


def collider_part(rest: Floats, triangles: Indices, area: Floats, corners: Indices, weights: Floats) -> SurfacePart:
    """Returns the surface of a collider."""
    count = len(rest)
    return SurfacePart(rest, triangles, area, np.full(count, -1, np.int32), np.zeros((count, 4)), corners, weights)


def barycentric_in_uncut(
    points: Floats, cut: Indices, origin: Indices, vertices: Floats, triangles: Indices
) -> tuple[Indices, Floats]:
    """Returns the vertices between which points lie, (k, 3), and barycentric weights there, (k, 3).

    Args:
        points, cut, origin: Of `split_edges` [m].
        vertices, triangles: The mesh that was split [m].
    """
    triangle = np.zeros(len(points), np.int64)
    triangle[cut] = origin[:, None]
    corners = triangles[triangle]
    a, b, c = (vertices[corners[:, k]] for k in range(3))
    e, f, p = b - a, c - a, points - a
    ee, ef, ff = (np.einsum("ki,ki->k", x, y) for x, y in ((e, e), (e, f), (f, f)))
    pe, pf = np.einsum("ki,ki->k", p, e), np.einsum("ki,ki->k", p, f)
    area2 = np.maximum(ee * ff - ef * ef, 1e-300)
    v, w = (ff * pe - ef * pf) / area2, (ee * pf - ef * pe) / area2
    return indices(corners), floats(np.stack([1.0 - v - w, v, w], axis=1))


def _consistently_oriented(vertices: Floats, triangles: Indices, keeps_front: bool) -> Indices:
    """Returns triangles without duplicates; those of a two-sided sheet are oriented consistently."""
    welded = weld(Surface(vertices, triangles))
    face = distinct_faces(welded)
    welded, triangles = welded[face], _welded(vertices, triangles[face])
    if keeps_front:
        return triangles
    turned = (consistent_faces(welded, _face_areas(vertices, triangles))[0] != welded).any(axis=1)
    return indices(np.where(turned[:, None], triangles[:, ::-1], triangles), -1, 3)


def _welded(vertices: Floats, triangles: Indices) -> Indices:
    """Returns triangles with the first of all vertices at one place, without degenerate ones."""
    number = weld(Surface(vertices, triangles))
    first = np.full(int(number.max(initial=-1)) + 1, len(vertices), np.int64)
    np.minimum.at(first, number.ravel(), triangles.ravel())
    welded = indices(first[number])
    return welded[(welded != np.roll(welded, 1, axis=1)).all(axis=1)]


def _areas(vertices: Floats, triangles: Indices) -> Floats:
    """Returns the area of every vertex [m²], (n,)."""
    share = np.repeat(_face_areas(vertices, triangles) / 3.0, 3)
    return floats(np.bincount(triangles.ravel(), share, minlength=len(vertices)))


def _face_areas(vertices: Floats, triangles: Indices) -> Floats:
    a, b, c = (vertices[triangles[:, k]] for k in range(3))
    return 0.5 * np.linalg.norm(np.cross(b - a, c - a), axis=1)
