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
from dataclasses import replace

import numpy as np

from ..arrays import Bools, Floats, Indices, floats, indices
from ..contact.points import ContactPoints, contact_points
from ..contact.skin_surfaces import NOT_LOOKED_FOR, SkinSurfaces
from ..geometry.bvh import build_bvh
from ..geometry.closest import closest_points
from ..late_dataclass import dataclass
from ..materials.elastic import youngs_modulus
from ..model import Model
from ..skins.make import nodes_of
from ..skins.skin import Skins, Whole
from .bodies import FractureBodies
from .neighbours import FACES, Neighbours

SOFTNESS = 0.02  # of contacts between pieces, so that these give like the tets behind: blows of stiffer ones break more
REACH = 1.0  # how far a node may be put elsewhere, in tet sizes
LOOSE = 0.05  # distance from the faces of tets from which a vertex of the mesh is a point by itself, in tet sizes


@dataclass(frozen=True, eq=False)
class _Laid:
    """A breakable body whose nodes are laid on its mesh.

    Attributes:
        rest: Where its nodes are put [m], (n, 3).
        weights: Of these places in each tet at the node, (m, 4, 4).
        lever: How far they reach beyond that tet: the largest weight, (m, 4).
        loose: Vertices of its whole skin that stay, counted from its first, rising, (l,).
    """

    rest: Floats
    weights: Floats
    lever: Floats
    loose: Indices


@dataclass(frozen=True, eq=False)
class _Part:
    """The skin of one body now; vertices and triangles are counted from 0. For the attributes see `Skins`."""

    rest: Floats
    tet: Indices
    weights: Floats
    triangles: Indices
    vertex_key: Whole
    triangle_key: Whole
    points: ContactPoints


@dataclass(frozen=True, eq=False)
class BreakingSkins:
    """What skins become when bodies break.

    Attributes:
        surfaces: The skins of all bodies while they are whole.
        model: Of these.
        neighbours: The inner faces of breakable bodies.
        node_inside: Whether each node lies inside the material, (n,).
        numbers: The bodies that may break.
        weight: Magnitude of gravity at the first frame [m/s²].
    """

    surfaces: SkinSurfaces
    model: Model
    neighbours: Neighbours
    node_inside: Bools
    numbers: tuple[int, ...]
    weight: float

    def now(self, tets: Indices, origin: Indices, parted: Bools) -> SkinSurfaces:
        """Returns the skins when the tets have the nodes `tets`, (m, 4).

        Args:
            tets: See above.
            origin: Nodes of the whole bodies that they are copies of, (n,).
            parted: Across which faces tets have parted, (m, 4).
        """
        skins = self.surfaces.skins
        broken = [number for number in self.numbers if parted[self.model.bodies[number].tets].any()]
        parts = []
        for skin in range(len(skins)):
            number = int(skins.body[skin])
            if number in broken:
                parts.append(self._broken(skin, tets, origin, parted))
            else:
                parts.append(self._whole(skin))
        together = _together(skins, parts, tets, broken)
        return replace(self.surfaces, skins=together, points=_points(parts), under=NOT_LOOKED_FOR)

    @functools.cached_property
    def laid(self) -> dict[int, _Laid]:
        """The breakable bodies, laid on their meshes, when the first of them breaks."""
        return {number: self._lay(number) for number in self.numbers}

    def _lay(self, number: int) -> _Laid:
        skins, body = self.surfaces.skins, self.model.bodies[number]
        own, first = skins.vertices_of(number), body.nodes.start
        X, tets = self.model.X[body.nodes], self.model.tets[body.tets] - np.int32(first)
        size = float(skins.size[own.start])
        surface = skins.triangles[skins.triangles_of(number)] - np.int32(own.start)
        outer = _faces(tets, self.neighbours.tet[body.tets] < 0)[2]
        moves = ~self.node_inside[body.nodes]
        moves[outer] = True
        rest = X.copy()
        found = closest_points(build_bvh(skins.rest[own], surface), X[moves])
        at = np.einsum("kc,kci->ki", found.weights, skins.rest[own][surface[found.triangle]])
        share = np.minimum(1.0, REACH * size / np.maximum(found.distance, 1e-300))
        rest[moves] += share[:, None] * (at - X[moves])
        edges = np.swapaxes(X[tets[:, 1:]] - X[tets[:, :1]], 1, 2)
        away = np.swapaxes(rest[tets] - X[tets[:, :1]], 1, 2)
        three = np.swapaxes(np.linalg.solve(edges, away), 1, 2)
        weights = np.concatenate([1.0 - three.sum(axis=2, keepdims=True), three], axis=2)
        apart = closest_points(build_bvh(rest, outer), skins.rest[own]).distance
        loose = np.flatnonzero((apart > LOOSE * size) & (skins.area[own] > 0.0))
        return _Laid(rest, floats(weights), np.abs(weights).max(axis=2), indices(loose))

    def _whole(self, skin: int) -> _Part:
        skins, points = self.surfaces.skins, self.surfaces.points
        own, faces = skins.vertices_of(skin), skins.triangles_of(skin)
        return _Part(
            skins.rest[own],
            skins.tet[own],
            skins.weights[own],
            skins.triangles[faces] - np.int32(own.start),
            skins.vertex_key[own],
            skins.triangle_key[faces],
            _some(points, own),
        )

    def _broken(self, skin: int, tets: Indices, origin: Indices, parted: Bools) -> _Part:
        skins, body, laid = self.surfaces.skins, self.model.bodies[skin], self.laid[skin]
        own, first = skins.vertices_of(skin), body.tets.start
        is_face = (self.neighbours.tet[body.tets] < 0) | parted[body.tets]
        tet, face, at = _faces(tets[body.tets], is_face)
        used = np.unique(at)
        triangles = np.searchsorted(used, at)
        corner = _best_corners(tets[body.tets], laid.lever, used)
        order = np.argsort(corner)
        place = np.empty(len(used), np.int64)
        place[order] = np.arange(len(used), dtype=np.int64) + len(laid.loose)
        corner, node = corner[order], origin[used[order]] - body.nodes.start
        kept = own.start + laid.loose
        rest = np.concatenate([skins.rest[kept], laid.rest[node]])
        of_tet = np.concatenate([skins.tet[kept], indices(corner // 4) + np.int32(first)])
        weights = np.concatenate([skins.weights[kept], laid.weights.reshape(-1, 4)[corner]])
        triangles = indices(place[triangles.reshape(-1, 3)])
        edges = rest[triangles[:, 1:]] - rest[triangles[:, :1]]
        share = np.repeat(np.linalg.norm(np.cross(edges[:, 0], edges[:, 1]), axis=1) / 6.0, 3)
        area = floats(np.bincount(triangles.ravel(), share, minlength=len(rest)))
        area[: len(kept)] = skins.area[kept]
        count, faces = own.stop - own.start, skins.triangles_of(skin)
        return _Part(
            floats(rest, -1, 3),
            indices(of_tet),
            floats(weights, -1, 4),
            triangles,
            np.concatenate([skins.vertex_key[kept], count + corner]).astype(np.int64),
            (faces.stop - faces.start + 4 * tet + face).astype(np.int64),
            self._points_of(skin, indices(of_tet), weights, area, float(skins.area[own].sum())),
        )

    def _points_of(self, number: int, tet: Indices, weights: Floats, area: Floats, surface: float) -> ContactPoints:
        model, body = self.model, self.model.bodies[number]
        mass = float(model.mass[body.nodes].sum())
        return contact_points(
            tet=tet,
            weights=floats(weights, -1, 4),
            area=floats(area),
            youngs_modulus=SOFTNESS * youngs_modulus(model.mu[tet], model.lam[tet]),
            mass=mass,
            weight=mass * self.weight * float(model.gravity_scale[body.nodes.start]),
            tet_size=float(self.surfaces.skins.size[self.surfaces.skins.vertex_start[number]]),
            surface=surface,
        )


def breaking_skins(
    surfaces: SkinSurfaces | None, fracture: FractureBodies | None, model: Model, gravity: Floats
) -> BreakingSkins | None:
    """Returns what skins become when bodies break; None where none may, or nothing has a skin."""
    if surfaces is None or fracture is None:
        return None
    numbers = tuple(body.number for body in fracture.bodies)
    inside, weight = fracture.points.node_inside, float(np.linalg.norm(gravity))
    return BreakingSkins(surfaces, model, fracture.neighbours, inside, numbers, weight)


def _faces(tets: Indices, which: Bools) -> tuple[np.ndarray, np.ndarray, Indices]:
    """Returns tet, number and nodes of faces, outward, by rising tet and face."""
    tet, face = np.nonzero(which)
    return tet, face, indices(np.take_along_axis(tets[tet], FACES[face], axis=1), -1, 3)


def _best_corners(tets: Indices, lever: Floats, nodes: Indices) -> np.ndarray:
    """Returns for nodes, rising, the corner 4 · tet + c of theirs with the least lever, (k,)."""
    at = np.searchsorted(nodes, tets.ravel())
    corner = np.flatnonzero(nodes[np.minimum(at, len(nodes) - 1)] == tets.ravel())
    at = at[corner]
    order = np.lexsort((corner, np.round(lever.ravel()[corner], 9), at))
    return corner[order][np.searchsorted(at[order], np.arange(len(nodes), dtype=np.int64))]


def _some(points: ContactPoints, which: slice) -> ContactPoints:
    return ContactPoints(
        points.tet[which], points.weights[which], points.area[which], points.stiffness[which], points.mass[which],
        points.tet_size[which],
    )  # fmt: skip


def _points(parts: list[_Part]) -> ContactPoints:
    return ContactPoints.together([part.points for part in parts])


def _together(skins: Skins, parts: list[_Part], tets: Indices, broken: list[int]) -> Skins:
    vertex_start = np.cumsum([0, *(len(part.rest) for part in parts)], dtype=np.int64)
    triangle_start = np.cumsum([0, *(len(part.triangles) for part in parts)], dtype=np.int64)
    tet = indices(np.concatenate([part.tet for part in parts]))
    told = np.full((int(vertex_start[-1]), 3), -1, np.int32)
    shares = np.zeros((int(vertex_start[-1]), 3))
    for skin in np.flatnonzero(skins.body < 0):
        own = slice(int(vertex_start[skin]), int(vertex_start[skin + 1]))
        told[own], shares[own] = skins.corners[skins.vertices_of(skin)], skins.shares[skins.vertices_of(skin)]
    points, rest = _points(parts), floats(np.concatenate([part.rest for part in parts]), -1, 3)
    now = vertex_start.astype(np.int64), triangle_start.astype(np.int64)
    # pieces meet by their points alone
    edges = skins.edges and skins.edges.without(broken, (skins.vertex_start, skins.triangle_start), now, rest)
    # pieces meet each other, and both sides of a crack
    meets = skins.meets.copy()
    meets[broken, broken] = True
    return replace(
        skins,
        meets=meets,
        vertex_start=now[0],
        triangle_start=now[1],
        rest=rest,
        tet=tet,
        weights=floats(np.concatenate([part.weights for part in parts]), -1, 4),
        nodes=nodes_of(tet, tets),
        corners=told,
        shares=shares,
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
