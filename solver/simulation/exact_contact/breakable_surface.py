# SPDX-License-Identifier: GPL-3.0-or-later
"""The surface of a body that may break as Exact contact takes it: the faces of its tets, laid on its mesh.

Both sides of a crack are at one place when they part, where nothing could keep them apart. So each is drawn back into
its own piece by a share of the gap, but at the tip of the crack, where both are still one. What is drawn is not.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from ...contact.surfaces.collision_surfaces import Int64s
from ...mechanics.model import Model
from ...mesh.node_splitting.face_adjacency import FACE_CORNERS
from ...runtime.arrays import Bools, Floats, Indices, floats, indices
from ..fracture.fragment_surfaces import FragmentSurfaces
from ..fracture.present_surface import PresentSurface
from ..fracture.torn_sheet_surface import torn_sheet_surface

RETREAT_SHARE = 0.25  # of the gap: by which each side of a crack is drawn back
MOST_RETREAT = 3.0  # times that of a vertex where several cracks meet
MIN_HULL_DISTANCE = 0.02  # of normals from 0, below which a piece is too thin for its sides to go back
GILBERT_ITERATIONS = 60
OUTWARD_SWEEPS = 8
KEYS_PER_SURFACE = np.int64(1) << 40


class PartedTets(NamedTuple):
    """Which tets have parted.

    Attributes:
        tets: Nodes of all tets, (m, 4).
        origin: Nodes of the whole bodies that nodes are copies of, (n,).
        is_parted: Across which faces, (m, 4).
    """

    tets: Indices
    origin: Indices
    is_parted: Bools


@dataclass(frozen=True, eq=False)
class SurfacePart:
    """A surface before all are joined.

    Attributes:
        vertices: At rest [m], (v, 3).
        triangles: (t, 3).
        tet, weights: The tet of each vertex, −1 for colliders, (v,), and barycentric weights in it, (v, 4).
        area: Share of the surface of each vertex [m²], (v,).
        key: Of each vertex, which stays when bodies break, (v,); None: their numbers.
        strands: Edges without faces, (e, 2).
    """

    vertices: Floats
    triangles: Indices
    tet: Indices
    weights: Floats
    area: Floats
    key: Int64s | None = None
    strands: Indices = field(default_factory=lambda: np.zeros((0, 2), np.int32))


def whole_topology(model: Model) -> PartedTets:
    """Returns the tets of a model where nothing has parted."""
    return PartedTets(model.tets, np.arange(model.node_count, dtype=np.int32), np.zeros(model.tets.shape, bool))


def vertex_keys(surface: int, part: SurfacePart) -> Int64s:
    """Returns numbers of the vertices of a surface that no vertex of another one has, (v,)."""
    own = np.arange(len(part.vertices), dtype=np.int64) if part.key is None else part.key
    return surface * KEYS_PER_SURFACE + own


def part_of_tets(fragments: FragmentSurfaces, number: int, parted: PartedTets, retreat: float) -> SurfacePart:
    """Returns the surface of a body that may break.

    Args:
        fragments: Of all that may.
        number: Of the body.
        parted: Which tets have parted.
        retreat: How far each side of a crack is drawn back [m].
    """
    model, found = fragments.model, fragments.fragment_surface(number, *parted)
    cracks, outer = _open_corners(fragments, number, parted, found)
    shift = retreat * kept_within(inward(found.rest, *cracks), *outer)
    of_nodes = np.einsum("kai,ki->ka", model.Dm_inverse[found.tet], shift)
    weights = found.weights + np.concatenate([-of_nodes.sum(axis=1, keepdims=True), of_nodes], axis=1)
    return SurfacePart(
        floats(found.rest + shift),
        _without_closed_faces(found.triangles),
        found.tet,
        floats(weights),
        found.points.area,
        found.vertex_key,
    )


def part_of_torn_sheet(fragments: FragmentSurfaces, number: int, tets: Indices) -> SurfacePart:
    """Returns the surface of a sheet that may tear: its triangles, with a vertex for every copy of a node.

    Both sides of a tear are at one place when they part, and are not kept apart until they have.

    Args:
        fragments: Of all that may break.
        number: Of the sheet.
        tets: Nodes of all tets now, (m, 4).
    """
    found = torn_sheet_surface(fragments.surfaces, fragments.model, number, tets)
    return SurfacePart(
        found.rest, indices(found.triangles, -1, 3), found.tet, found.weights, found.points.area, found.vertex_key
    )


def _open_corners(
    fragments: FragmentSurfaces, number: int, parted: PartedTets, found: PresentSurface
) -> tuple[tuple[Indices, Floats], tuple[Indices, Floats]]:
    """Returns corners of faces of cracks that are apart from their other side, and those of outer faces.

    Both are vertices, (c,), and the normals of their faces, (c, 3).
    """
    first = fragments.model.bodies[number].tets.start
    faces = fragments.surfaces.surfaces.triangles_of(number)
    tet, face = np.divmod(found.triangle_key - (faces.stop - faces.start), 4)
    tet += first
    is_crack = parted.is_parted[tet, face]
    tet, face = tet[is_crack], face[is_crack]
    at = FACE_CORNERS[face]
    across = fragments.neighbours.twin[tet[:, None], face[:, None], at]
    is_open = parted.tets.ravel()[across] != parted.tets[tet[:, None], at]
    outer = found.triangles[~is_crack]
    return (
        _corner_normals(found.rest, found.triangles[is_crack], is_open),
        _corner_normals(found.rest, outer, np.ones(outer.shape, bool)),
    )


def _corner_normals(rest: Floats, triangles: Indices, which: Bools) -> tuple[Indices, Floats]:
    """Returns some corners of triangles, (t, 3), and the normals of these; those without area have none."""
    corners = rest[triangles]
    normal = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    length = np.linalg.norm(normal, axis=1)[:, None]
    which = which & (length > 0.0)
    normal = np.repeat((normal / np.where(length > 0.0, length, 1.0))[:, None], 3, axis=1)
    return triangles[which], floats(normal[which], -1, 3)


def kept_within(shift: Floats, vertex: Indices, normal: Floats) -> Floats:
    """Returns shifts of vertices, (v, 3), without what takes them out of outer faces.

    Args:
        shift: (v, 3).
        vertex: Of each normal, (c,).
        normal: Outward unit vectors, (c, 3).
    """
    out = shift.copy()
    for _ in range(OUTWARD_SWEEPS):
        along = (out[vertex] * normal).sum(axis=1)
        order = np.lexsort((-along, vertex))
        vertices, first = np.unique(vertex[order], return_index=True)
        worst = order[first]
        out[vertices] -= np.maximum(along[worst], 0.0)[:, None] * normal[worst]
    return out


def inward(rest: Floats, vertex: Indices, normal: Floats) -> Floats:
    """Returns how far vertices go for faces with some normals to go back by 1, (v, 3), or less where they cannot.

    The direction in which all go back most is away from the point nearest to 0 in the hull of the normals, which is
    found by Gilbert's method.

    Args:
        rest: Vertices, (v, 3).
        vertex: Of each normal, (c,).
        normal: Outward unit vectors, (c, 3).
    """
    out = np.zeros_like(rest)
    if not len(vertex):
        return out
    order = np.argsort(vertex, kind="stable")
    normal = normal[order]
    moved, first, count = np.unique(vertex[order], return_index=True, return_counts=True)
    group = np.repeat(np.arange(len(moved), dtype=np.int64), count)
    nearest = np.add.reduceat(normal, first) / count[:, None]
    for _ in range(GILBERT_ITERATIONS):
        along = (normal * nearest[group]).sum(axis=1)
        least = np.lexsort((along, group))[first]
        way = normal[least] - nearest
        square = (way * way).sum(axis=1)
        share = np.clip(-(nearest * way).sum(axis=1) / np.where(square > 0.0, square, 1.0), 0.0, 1.0)
        nearest += share[:, None] * way
    length = np.linalg.norm(nearest, axis=1)
    far = np.minimum(1.0 / np.maximum(length, 1.0 / MOST_RETREAT), MOST_RETREAT)
    out[moved] = (
        np.where(length > MIN_HULL_DISTANCE, -far / np.maximum(length, MIN_HULL_DISTANCE), 0.0)[:, None] * nearest
    )
    return out


def _without_closed_faces(triangles: Indices) -> Indices:
    """Returns triangles without those that lie on each other, where tets have parted but not their nodes."""
    _, number, count = np.unique(np.sort(triangles, axis=1), axis=0, return_inverse=True, return_counts=True)
    return indices(triangles[count[number.ravel()] == 1], -1, 3)
