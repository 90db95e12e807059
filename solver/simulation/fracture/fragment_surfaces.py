# SPDX-License-Identifier: GPL-3.0-or-later
"""Skins of bodies that have broken: closed surfaces of their pieces, made of tet faces that are laid on the mesh.

What is drawn of pieces is cut out of the render mesh when all is over; cutting it in every step would cost too much.
So each piece gets the faces of its tets that no other tet of it shares. Of these nodes, those outside the material,
where the lattice sticks out, are put on the nearest place of the mesh, the same for all copies of a node. So the faces
on both sides of a crack are the same at rest, no piece has a hole, and only what is finer than tets is missing: the
vertices of the mesh that are left off these faces go on as points by themselves. Both sides of a crack touch each other
from the moment that tets part, long before there is another piece: a crack that closes bears what presses on it. Else
its sides would go into each other, and be jammed when they become pieces.

Every vertex is bound to one tet, to that of its copy of the node that reaches least beyond itself. Vertices and
triangles have keys that never change: those of the whole skin go first, then 4 · tet + corner, and 4 · tet + face.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass, replace

import numpy as np

from ...contact.detection.contact_sample_points import ContactPoints, contact_points
from ...contact.detection.surface_materials import NO_SUPPORT_TETS, ContactMaterials
from ...contact.surfaces.build_surfaces import tet_nodes
from ...contact.surfaces.collision_surfaces import CollisionSurfaces
from ...mechanics.elastic_moduli import youngs_modulus
from ...mechanics.model import Model, is_sheet
from ...mesh.geometry.closest_point import closest_points
from ...mesh.geometry.triangle_bvh import build_bvh
from ...mesh.node_splitting.face_adjacency import FACE_CORNERS, FaceAdjacency
from ...runtime.arrays import Bools, Floats, Indices, floats, indices
from .breakable_bodies import FractureBodies
from .present_surface import PresentSurface
from .torn_sheet_surface import torn_sheet_surface

# of contacts between pieces, so that these give like the tets behind: blows of stiffer ones break more
FRAGMENT_STIFFNESS_FACTOR = 0.02
MAX_PROJECTION_DISTANCE = 1.0  # how far a node may be put elsewhere, in tet sizes
# distance from the faces of tets from which a vertex of the mesh is a point by itself, in tet sizes
MIN_FREE_VERTEX_DISTANCE = 0.05


@dataclass(frozen=True, eq=False)
class _ProjectedBody:
    """A breakable body whose nodes are laid on its mesh.

    Attributes:
        rest: Where its nodes are put [m], (n, 3).
        weights: Of these places in each tet at the node, (m, 4, 4).
        lever: How far they reach beyond that tet: the largest weight, (m, 4).
        free_vertices: Vertices of its whole skin that stay, counted from its first, rising, (l,).
    """

    rest: Floats
    weights: Floats
    lever: Floats
    free_vertices: Indices


@dataclass(frozen=True, eq=False)
class FragmentSurfaces:
    """What skins become when bodies break.

    Attributes:
        surfaces: The skins of all bodies while they are whole.
        model: Of these.
        neighbours: The inner faces of breakable bodies.
        node_inside: Whether each node lies inside the material, (n,).
        breakable_numbers: The solids that may break.
        sheet_numbers: The sheets that may tear.
        weight: Magnitude of gravity at the first frame [m/s²].
    """

    surfaces: ContactMaterials
    model: Model
    neighbours: FaceAdjacency
    node_inside: Bools
    breakable_numbers: tuple[int, ...]
    sheet_numbers: tuple[int, ...]
    weight: float

    def at_topology(self, tets: Indices, origin: Indices, is_parted: Bools) -> ContactMaterials:
        """Returns the skins when the tets have the nodes `tets`, (m, 4).

        Args:
            tets: See above.
            origin: Nodes of the whole bodies that they are copies of, (n,).
            is_parted: Across which faces tets have parted, (m, 4).
        """
        skins = self.surfaces.surfaces
        broken = [number for number in self.breakable_numbers if is_parted[self.model.bodies[number].tets].any()]
        torn = [number for number in self.sheet_numbers if is_parted[self.model.bodies[number].tets].any()]
        parts = []
        for skin in range(len(skins)):
            number = int(skins.body[skin])
            if number in broken:
                parts.append(self.fragment_surface(skin, tets, origin, is_parted))
            elif number in torn:
                parts.append(torn_sheet_surface(self.surfaces, self.model, number, tets))
            else:
                parts.append(self._intact_surface(skin, tets))
        together = merge_surfaces(skins, parts, tets, broken, torn)
        has_sheets = self.model.sheets is not None  # places of which are on the tets under triangles
        support = indices(np.concatenate([part.support_tet for part in parts])) if has_sheets else NO_SUPPORT_TETS
        return replace(self.surfaces, surfaces=together, points=concatenate_points(parts), support_tet=support)

    @functools.cached_property
    def projected(self) -> dict[int, _ProjectedBody]:
        """The breakable bodies, laid on their meshes, when the first of them breaks."""
        return {number: self._project(number) for number in self.breakable_numbers}

    def _project(self, number: int) -> _ProjectedBody:
        skins, body = self.surfaces.surfaces, self.model.bodies[number]
        own, first = skins.vertices_of(number), body.nodes.start
        X, tets = self.model.X[body.nodes], self.model.tets[body.tets] - np.int32(first)
        size = float(skins.size[own.start])
        surface = skins.triangles[skins.triangles_of(number)] - np.int32(own.start)
        outer = _faces_where(tets, self.neighbours.tet[body.tets] < 0)[2]
        moves = ~self.node_inside[body.nodes]
        moves[outer] = True
        rest = X.copy()
        found = closest_points(build_bvh(skins.rest[own], surface), X[moves])
        at = np.einsum("kc,kci->ki", found.weights, skins.rest[own][surface[found.triangle]])
        share = np.minimum(1.0, MAX_PROJECTION_DISTANCE * size / np.maximum(found.distance, 1e-300))
        rest[moves] += share[:, None] * (at - X[moves])
        edges = np.swapaxes(X[tets[:, 1:]] - X[tets[:, :1]], 1, 2)
        away = np.swapaxes(rest[tets] - X[tets[:, :1]], 1, 2)
        three = np.swapaxes(np.linalg.solve(edges, away), 1, 2)
        weights = np.concatenate([1.0 - three.sum(axis=2, keepdims=True), three], axis=2)
        apart = closest_points(build_bvh(rest, outer), skins.rest[own]).distance
        loose = np.flatnonzero((apart > MIN_FREE_VERTEX_DISTANCE * size) & (skins.area[own] > 0.0))
        return _ProjectedBody(rest, floats(weights), np.abs(weights).max(axis=2), indices(loose))

    def _intact_surface(self, skin: int, tets: Indices) -> PresentSurface:
        skins, points = self.surfaces.surfaces, self.surfaces.points
        own, faces, nodes = skins.vertices_of(skin), skins.triangles_of(skin), None
        if skins.body[skin] >= 0 and is_sheet(self.model, int(skins.body[skin])):
            first = self.model.bodies[int(skins.body[skin])].tets.start
            nodes = indices(skins.nodes[own] + (tets[first, 0] - self.model.tets[first, 0]), -1, 4)
        return PresentSurface(
            skins.rest[own],
            skins.tet[own],
            skins.weights[own],
            skins.triangles[faces] - np.int32(own.start),
            skins.vertex_key[own],
            skins.triangle_key[faces],
            points.select(own),
            self.surfaces.support_tet[faces],
            nodes,
        )

    def fragment_surface(self, skin: int, tets: Indices, origin: Indices, is_parted: Bools) -> PresentSurface:
        """Returns the faces of the tets of a solid that may break, laid on its mesh; see `at_topology`."""
        skins, body, laid = self.surfaces.surfaces, self.model.bodies[skin], self.projected[skin]
        own, first = skins.vertices_of(skin), body.tets.start
        is_face = (self.neighbours.tet[body.tets] < 0) | is_parted[body.tets]
        tet, face, at = _faces_where(tets[body.tets], is_face)
        used = np.unique(at)
        triangles = np.searchsorted(used, at)
        corner = _least_lever_corners(tets[body.tets], laid.lever, used)
        order = np.argsort(corner)
        place = np.empty(len(used), np.int64)
        place[order] = np.arange(len(used), dtype=np.int64) + len(laid.free_vertices)
        corner, node = corner[order], origin[used[order]] - body.nodes.start
        kept = own.start + laid.free_vertices
        rest = np.concatenate([skins.rest[kept], laid.rest[node]])
        of_tet = np.concatenate([skins.tet[kept], indices(corner // 4) + np.int32(first)])
        weights = np.concatenate([skins.weights[kept], laid.weights.reshape(-1, 4)[corner]])
        triangles = indices(place[triangles.reshape(-1, 3)])
        edges = rest[triangles[:, 1:]] - rest[triangles[:, :1]]
        share = np.repeat(np.linalg.norm(np.cross(edges[:, 0], edges[:, 1]), axis=1) / 6.0, 3)
        area = floats(np.bincount(triangles.ravel(), share, minlength=len(rest)))
        area[: len(kept)] = skins.area[kept]
        count, faces = own.stop - own.start, skins.triangles_of(skin)
        return PresentSurface(
            floats(rest, -1, 3),
            indices(of_tet),
            floats(weights, -1, 4),
            triangles,
            np.concatenate([skins.vertex_key[kept], count + corner]).astype(np.int64),
            (faces.stop - faces.start + 4 * tet + face).astype(np.int64),
            self._points_of(skin, indices(of_tet), weights, area, float(skins.area[own].sum())),
            indices(first + tet),
        )

    def _points_of(self, number: int, tet: Indices, weights: Floats, area: Floats, surface: float) -> ContactPoints:
        model, body = self.model, self.model.bodies[number]
        mass = float(model.mass[body.nodes].sum())
        return contact_points(
            tet=tet,
            weights=floats(weights, -1, 4),
            area=floats(area),
            youngs_modulus=FRAGMENT_STIFFNESS_FACTOR * youngs_modulus(model.mu[tet], model.lam[tet]),
            mass=mass,
            weight=mass * self.weight * float(model.gravity_scale[body.nodes.start]),
            tet_size=float(self.surfaces.surfaces.size[self.surfaces.surfaces.vertex_start[number]]),
            surface=surface,
        )


def make_fragment_surfaces(
    surfaces: ContactMaterials | None, fracture: FractureBodies | None, model: Model, gravity: Floats
) -> FragmentSurfaces | None:
    """Returns what skins become when bodies break; None where none may, or nothing has a skin."""
    if surfaces is None or fracture is None:
        return None
    numbers = tuple(body.number for body in fracture.bodies if body.sheet is None)
    sheets = tuple(body.number for body in fracture.bodies if body.sheet is not None)
    inside, weight = fracture.points.node_inside, float(np.linalg.norm(gravity))
    return FragmentSurfaces(surfaces, model, fracture.neighbours, inside, numbers, sheets, weight)


def _faces_where(tets: Indices, which: Bools) -> tuple[np.ndarray, np.ndarray, Indices]:
    """Returns tet, number and nodes of faces, outward, by rising tet and face."""
    tet, face = np.nonzero(which)
    return tet, face, indices(np.take_along_axis(tets[tet], FACE_CORNERS[face], axis=1), -1, 3)


def _least_lever_corners(tets: Indices, lever: Floats, nodes: Indices) -> np.ndarray:
    """Returns for nodes, rising, the corner 4 · tet + c of theirs with the least lever, (k,)."""
    at = np.searchsorted(nodes, tets.ravel())
    corner = np.flatnonzero(nodes[np.minimum(at, len(nodes) - 1)] == tets.ravel())
    at = at[corner]
    order = np.lexsort((corner, np.round(lever.ravel()[corner], 9), at))
    return corner[order][np.searchsorted(at[order], np.arange(len(nodes), dtype=np.int64))]


def concatenate_points(parts: list[PresentSurface]) -> ContactPoints:
    """Returns the vertices of all surfaces as contact points."""
    return ContactPoints.concatenate([part.points for part in parts])


def merge_surfaces(
    skins: CollisionSurfaces, parts: list[PresentSurface], tets: Indices, broken: list[int], torn: list[int]
) -> CollisionSurfaces:
    """Returns all surfaces after some have come apart.

    Args:
        skins: Before anything came apart.
        parts: Each of them now.
        tets: Nodes of all tets now, (m, 4).
        broken, torn: Bodies that have come apart, solids and sheets; they lose their edges, but for those of `parts`.
    """
    vertex_start = np.cumsum([0, *(len(part.rest) for part in parts)], dtype=np.int64)
    triangle_start = np.cumsum([0, *(len(part.triangles) for part in parts)], dtype=np.int64)
    tet = indices(np.concatenate([part.tet for part in parts]))
    source_vertices = np.full((int(vertex_start[-1]), 3), -1, np.int32)
    shares = np.zeros((int(vertex_start[-1]), 3))
    for skin in np.flatnonzero(skins.body < 0):
        own = slice(int(vertex_start[skin]), int(vertex_start[skin + 1]))
        source_vertices[own], shares[own] = (
            skins.source_vertices[skins.vertices_of(skin)],
            skins.source_weights[skins.vertices_of(skin)],
        )
    points, rest = concatenate_points(parts), floats(np.concatenate([part.rest for part in parts]), -1, 3)
    now = vertex_start.astype(np.int64), triangle_start.astype(np.int64)
    # pieces meet by their points alone
    copies = [part.edges for part in parts if part.edges is not None]
    before = (skins.vertex_start, skins.triangle_start)
    edges = skins.edges and skins.edges.after_fracture([*broken, *torn], before, now, rest, copies)
    nodes = tet_nodes(tet, tets)
    for part, first in zip(parts, vertex_start[:-1].tolist(), strict=True):
        if part.nodes is not None:
            nodes[first : first + len(part.nodes)] = part.nodes
    # pieces meet each other, and both sides of a crack; those of a sheet do if it meets itself
    meets = skins.may_touch.copy()
    meets[broken, broken] = True
    return replace(
        skins,
        may_touch=meets,
        vertex_start=now[0],
        triangle_start=now[1],
        rest=rest,
        tet=tet,
        weights=floats(np.concatenate([part.weights for part in parts]), -1, 4),
        nodes=nodes,
        source_vertices=source_vertices,
        source_weights=shares,
        triangles=indices(
            np.concatenate(
                [part.triangles + np.int32(first) for part, first in zip(parts, vertex_start[:-1], strict=True)]
            ),
            -1,
            3,
        ),
        area=points.area,
        size=points.tet_size,
        vertex_key=np.concatenate([part.vertex_key for part in parts]),
        triangle_key=np.concatenate([part.triangle_key for part in parts]),
        edges=edges,
    )
