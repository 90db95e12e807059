# SPDX-License-Identifier: GPL-3.0-or-later
"""Sharp edges of surfaces. They collide where they cross between their points, which no point would detect.

Two crossing edges of length l, between faces at an angle φ, penetrate each other by up to ½ l tan(φ / 2) before a point
of either touches a face. Below `MIN_SHARP_ANGLE` this is at most an eighth of a tet, no more than usual depths in
contact, and round surfaces of few faces would consist of edges; below `NEGLIGIBLE_DEPTH` points suffice.

Sheets have no inside, and edges that are flat at rest fold: all of them count, and so do strands.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ...mesh.geometry.connected_components import connected_components
from ...mesh.geometry.face_edges import edge_sides, face_edges
from ...mesh.geometry.triangle_surface import Surface
from ...mesh.geometry.welding import weld
from ...runtime.arrays import Bools, Floats, Indices, floats, indices
from .surface_trees import SurfaceTrees, make_trees

Int64s = npt.NDArray[np.int64]

MIN_SHARP_ANGLE = np.radians(30.0)  # angle between two faces from which their edge is sharp
NEGLIGIBLE_DEPTH = 0.02  # depth in tet sizes up to which edges may cross without a contact
MIN_CHAIN_COSINE = 0.5  # cosine between two edges from which one continues the other


@dataclass(frozen=True, eq=False)
class MeshSharpEdges:
    """Sharp edges of one mesh, e of them.

    Attributes:
        ends: Vertices at their beginning and end, and the far corners of the faces beside them, the same one twice at a
            border, (e, 4). Edges of sheets, which others may touch from all sides, have their own ends there.
        triangle: One of these faces; −2 − k for strand k of a sheet, (e,).
    """

    ends: Indices
    triangle: Indices


class EdgeCopies(NamedTuple):
    """The edges of a sheet that has torn, k of them, each of which was an edge of the whole sheet or a part of one.

    Attributes:
        source: Edges of the whole surfaces, (k,).
        ends: Vertices at their beginning and end, counted from the first of the surface, (k, 2).
        triangle: A triangle beside each, counted from the first of the surface, (k,).
        tet: Of the middle of each, (k,).
    """

    source: Indices
    ends: Indices
    triangle: Indices
    tet: Indices


class EdgeArrays(NamedTuple):
    """The arrays of `SharpEdges`, which has their meaning, as kernels take them."""

    ends: Indices
    size: Floats
    triangle: Indices
    chain_start: Int64s


@dataclass(frozen=True, eq=False)
class SharpEdges:
    """The sharp edges of all surfaces and all edges of sheets, e of them, by rising surface and chain.

    Edges that continue each other form a chain. A contact keeps the number of its chain when it slides along it.

    Attributes:
        ends: See `MeshSharpEdges`: vertices of the surfaces, from v on rows of `rest`, (e, 4).
        surface, chain: Of each edge, rising, (e,) each.
        chains: Number of chains; those of bodies that broke have no edges.
        is_chain_end: Whether the chain ends at the ends of an edge, (e, 2).
        triangle: One of the faces beside the edge, −1 for rigid colliders, −2 − k for strand k of a sheet, (e,).
        tet: Of the middle of the edge, −1 for colliders, (e,).
        size: Edge length of the tets there [m], (e,).
        rest: Corners of rigid colliders, whose surfaces are points alone, in their own space [m], (w, 3).
        surface_of_rest: Surfaces of these, (w,).
        surfaces: Number of surfaces s.
        at_rest: Vertices of the surfaces at rest, and `rest` [m], (v + w, 3).
    """

    ends: Indices
    surface: Indices
    chain: Indices
    chains: int
    is_chain_end: Bools
    triangle: Indices
    tet: Indices
    size: Floats
    rest: Floats
    surface_of_rest: Indices
    surfaces: int
    at_rest: Floats

    def __len__(self) -> int:
        return len(self.ends)

    @functools.cached_property
    def arrays(self) -> EdgeArrays:
        """The edges as kernels take them."""
        return EdgeArrays(self.ends, self.size, self.triangle, self.chain_start)

    @functools.cached_property
    def is_of_sheet(self) -> Bools:
        """Which edges are those of bodies that are sheets, (e,)."""
        return self.ends[:, 2] == self.ends[:, 0]

    @functools.cached_property
    def start(self) -> Int64s:
        """First edge of each surface, (s + 1,)."""
        return np.searchsorted(self.surface, np.arange(self.surfaces + 1, dtype=np.int64)).astype(np.int64)

    @functools.cached_property
    def chain_start(self) -> Int64s:
        """First edge of each chain, (chains + 1,)."""
        return np.searchsorted(self.chain, np.arange(self.chains + 1, dtype=np.int64)).astype(np.int64)

    @functools.cached_property
    def trees(self) -> SurfaceTrees:
        """Trees of the edges, by their positions at rest."""
        return make_trees(self.at_rest, self.degenerate_triangles, self.surface, self.surfaces)

    @functools.cached_property
    def degenerate_triangles(self) -> Indices:
        """The edges as triangles with two equal corners, (e, 3)."""
        return indices(self.ends[:, [0, 1, 1]], -1, 3)

    def after_fracture(
        self,
        broken: Sequence[int],
        before: tuple[Int64s, Int64s],
        now: tuple[Int64s, Int64s],
        at: Floats,
        copies: Sequence[EdgeCopies] = (),
    ) -> SharpEdges | None:
        """Returns the edges without those of some surfaces, with new vertex and triangle numbers; None: none left.

        Args:
            broken: The surfaces that lose their edges.
            before, now: First vertex and first triangle of each surface, before and now, (s + 1,) each.
            at: Vertices of the surfaces at rest now [m], (v, 3).
            copies: What sheets among these have instead; contacts know them by the chains of the edges that they were.
        """
        kept = ~np.isin(self.surface, broken)
        ends, surface, triangle = self.ends[kept], self.surface[kept], self.triangle[kept]
        vertices, triangles = (of_now - of_before for of_before, of_now in zip(before, now, strict=True))
        shift = np.where(ends < before[0][-1], vertices[surface][:, None], vertices[-1])
        source = np.concatenate([np.flatnonzero(kept), *(each.source for each in copies)]).astype(np.int64)
        of_copies = [now[0][self.surface[each.source], None] + each.ends[:, [0, 1, 0, 1]] for each in copies]
        beside = [now[1][self.surface[each.source]] + each.triangle for each in copies]
        order = np.argsort(self.chain[source], kind="stable")  # chains rise with surfaces
        source = source[order]
        left = replace(
            self,
            ends=indices(np.concatenate([ends + shift, *of_copies])[order], -1, 4),
            surface=self.surface[source],
            chain=self.chain[source],
            is_chain_end=self.is_chain_end[source],
            triangle=indices(
                np.concatenate([np.where(triangle >= 0, triangle + triangles[surface], triangle), *beside])[order]
            ),
            tet=indices(np.concatenate([self.tet[kept], *(each.tet for each in copies)])[order]),
            size=self.size[source],
            at_rest=np.concatenate([at, self.rest]),
        )
        return left if (left.tet >= 0).any() else None


def mesh_sharp_edges(vertices: Floats, triangles: Indices, size: float, has_inside: bool) -> MeshSharpEdges:
    """Returns the sharp edges of a mesh.

    Args:
        vertices: [m], (n, 3).
        triangles: (t, 3), outward where it has an inside.
        size: Edge length of the tets of the mesh, or of those that it collides with [m].
        has_inside: Whether only convex edges are sharp; otherwise concave ones and borders are, too.
    """
    welded = weld(Surface(vertices, triangles))
    flat = welded.ravel()
    first = np.full(int(flat.max(initial=-1)) + 1, len(vertices), np.int64)
    np.minimum.at(first, flat, triangles.ravel())
    corners, one, faces_at = _edge_corners(welded)
    ends = first[corners]
    a, b, c, d = (vertices[ends[:, k]] for k in range(4))
    length = np.linalg.norm(b - a, axis=1)
    along = (b - a) / np.maximum(length, 1e-300)[:, None]
    left, right = _perpendicular_directions(c - a, along), _perpendicular_directions(d - a, along)
    turn = np.pi - np.arccos(np.clip(np.einsum("ei,ei->e", left, right), -1.0, 1.0))
    depth = 0.5 * np.minimum(length, size) * np.tan(np.minimum(0.5 * turn, 0.49 * np.pi))
    origin, second, third = (vertices[triangles[one // 3, corner]] for corner in range(3))
    outward = np.cross(second - origin, third - origin)
    sticks_out = np.einsum("ei,ei->e", d - a, outward) < 0.0
    is_fold = (faces_at == 2) & (sticks_out | (not has_inside))
    is_sharp = (
        (is_fold | ((faces_at == 1) & (not has_inside))) & (turn > MIN_SHARP_ANGLE) & (depth > NEGLIGIBLE_DEPTH * size)
    )
    return MeshSharpEdges(indices(ends[is_sharp], -1, 4), indices(one[is_sharp] // 3))


def sheet_edges(triangles: Indices, strands: Indices) -> MeshSharpEdges:
    """Returns all edges of a sheet with these triangles, (t, 3), then its strands, (s, 2)."""
    corners, side, _ = _edge_corners(triangles)
    ends = np.concatenate([corners[:, :2], strands])
    beside = np.concatenate([side // 3, -2 - np.arange(len(strands), dtype=np.int64)])
    return MeshSharpEdges(indices(ends[:, [0, 1, 0, 1]], -1, 4), indices(beside))


def _edge_corners(triangles: Indices) -> tuple[Indices, npt.NDArray[np.int64], Indices]:
    """Returns both ends of every edge and the far corners of two faces beside it, the same one twice where there are
    not two, (e, 4), the first side of each, (e,), and how many faces meet there, (e,).
    """
    found, flat = face_edges(triangles), triangles.ravel()
    one, other = edge_sides(found)
    end, opposite = np.roll(triangles, -1, axis=1).ravel(), np.roll(triangles, -2, axis=1).ravel()
    return np.stack([flat[one], end[one], opposite[one], opposite[other]], 1), one, found.faces_at


def label_chains(ends: Indices, at: Floats) -> tuple[Indices, Bools]:
    """Returns the chain of each edge, named by its first edge, (e,), and whether the chain ends at its ends, (e, 2).

    Args:
        ends: See `MeshSharpEdges`, (e, 4).
        at: Vertices [m], (v, 3).
    """
    count = len(ends)
    vertex, edge = ends[:, :2].T.ravel(), np.tile(np.arange(count, dtype=np.int64), 2)
    order = np.lexsort((edge, vertex))
    number = np.bincount(vertex, minlength=len(at))
    pairs = order[number[vertex[order]] == 2].reshape(-1, 2)
    along = at[ends[:, 1]] - at[ends[:, 0]]
    along = np.concatenate([along, -along]) / np.maximum(np.linalg.norm(along, axis=1), 1e-300)[np.tile(edge, 1), None]
    continues = -np.einsum("pi,pi->p", along[pairs[:, 0]], along[pairs[:, 1]]) > MIN_CHAIN_COSINE
    pairs = pairs[continues]
    label = connected_components(edge[pairs[:, 0]], edge[pairs[:, 1]], count)
    first = np.full(int(label.max(initial=-1)) + 1, count, np.int64)
    np.minimum.at(first, label, np.arange(count, dtype=np.int64))
    is_end = np.ones(2 * count, bool)
    is_end[pairs] = False
    return indices(first[label]), np.ascontiguousarray(is_end.reshape(2, count).T)


def merge_sharp_edges(
    own: Sequence[MeshSharpEdges | None],
    tet: Sequence[Indices | None],
    vertex_start: Int64s,
    triangle_start: Int64s,
    at: Floats,
    rigid: Sequence[Floats | None],
    size: Floats,
) -> SharpEdges | None:
    """Returns the sharp edges of all surfaces; None where there are none.

    Args:
        own: Edges of every surface; None: it has none, (s,).
        tet: Tets of the model that contain their middles; None for colliders, (s,).
        vertex_start, triangle_start: See `CollisionSurfaces`.
        at: Vertices of the surfaces at rest [m], (v, 3).
        rigid: Vertices of rigid colliders [m], to which their edges refer; None for others, (s,).
        size: Edge length of the tets at each surface [m], (s,).
    """
    ends: list[Indices] = []
    surfaces: list[npt.NDArray] = []
    triangles: list[npt.NDArray] = []
    tets: list[npt.NDArray] = []
    rest, owner = [np.zeros((0, 3))], [np.zeros(0, np.int32)]
    first_of_rest = len(at)
    for number, edges in enumerate(own):
        if edges is None or not len(edges.ends):
            continue
        vertices, bearing, count = rigid[number], tet[number], len(edges.ends)
        if vertices is None:
            ends.append(edges.ends + int(vertex_start[number]))
            triangles.append(
                np.where(edges.triangle >= 0, edges.triangle + int(triangle_start[number]), edges.triangle)
            )
        else:
            used, place = np.unique(edges.ends, return_inverse=True)
            ends.append(indices(place.reshape(-1, 4) + first_of_rest))
            triangles.append(np.full(count, -1, np.int64))
            rest.append(vertices[used])
            owner.append(np.full(len(used), number, np.int32))
            first_of_rest += len(used)
        tets.append(np.full(count, -1, np.int64) if bearing is None else bearing)
        surfaces.append(np.full(count, number, np.int64))
    if not ends:
        return None
    together, surface = indices(np.concatenate(ends), -1, 4), indices(np.concatenate(surfaces))
    corners = floats(np.concatenate(rest), -1, 3)
    places = np.concatenate([at, corners])
    chain, is_end = label_chains(together, places)
    order = np.lexsort((np.arange(len(chain), dtype=np.int64), chain, surface))
    names, chain_number = np.unique(surface[order].astype(np.int64) * len(chain) + chain[order], return_inverse=True)
    return SharpEdges(
        ends=together[order],
        surface=surface[order],
        chain=indices(chain_number.ravel()),
        chains=len(names),
        is_chain_end=is_end[order],
        triangle=indices(np.concatenate(triangles)[order]),
        tet=indices(np.concatenate(tets)[order]),
        size=floats(size[surface[order]]),
        rest=corners,
        surface_of_rest=np.concatenate(owner),
        surfaces=len(own),
        at_rest=places,
    )


def _perpendicular_directions(away: Floats, along: Floats) -> Floats:
    """Returns the unit vectors of the components perpendicular to edges, (e, 3)."""
    across = away - np.einsum("ei,ei->e", away, along)[:, None] * along
    return across / np.maximum(np.linalg.norm(across, axis=1), 1e-300)[:, None]
