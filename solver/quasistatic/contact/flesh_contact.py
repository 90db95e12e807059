# SPDX-License-Identifier: GPL-3.0-or-later
"""Contact of flesh, prepared once: contact points, surfaces, and the search for points that penetrate these.

Parts that overlap at rest, such as lips, armpits and shells that cross, are not pushed apart: a point inside other
flesh at rest is pushed only while it is deeper than at rest. Points and faces of a surface inside the same material at
rest, where shells cross in one mesh of tets, stay inside and touch nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np

from ...contact.colliders.rigid_colliders import BuiltCollider
from ...contact.detection.contact_sample_points import ContactPoints
from ...mechanics.elastic_moduli import youngs_modulus
from ...mechanics.model import Model
from ...mechanics.submodel import Submodel
from ...mesh.embedding import interpolate_points
from ...mesh.geometry.closest_point import closest_points
from ...runtime.arrays import Bools, Floats, Indices
from ...runtime.frozen_memo import derived_from
from .enclosing_tets import EnclosedPoints, TetSearch, make_tet_search
from .exit_projection import SurfacePenetrations, SurfaceSnapshot, keep_previous, project_to_surface
from .flesh_surface import FleshSurface, RenderSurface, make_flesh_surface

PENALTY_FACTOR = 30.0  # penalty per area over Young's modulus / tet size
NEIGHBOUR_DISTANCE = 0.4  # distance at rest, in tet sizes, below which places of one sheet do not touch


@dataclass(frozen=True, eq=False)
class FleshContact:
    """The contact points of some bodies, and what they may touch.

    Attributes:
        model: The bodies alone.
        points: Of their surfaces, with tets of `model`.
        stiffness: Penalty k of each point [N/m], (k,).
        colliders: Rigid ones.
        surface: The surfaces of the bodies.
        tet_search: Their tets; None if no body may touch flesh.
        triangle, weights: The place of each point on the surface, (k,) and (k, 3).
        rest: Positions of the points at rest [m], (k, 3).
        rest_normals: Unit normals of the surface there at rest, (k, 3).
        rest_depth: Depth of each point in other flesh at rest [m], infinite for points that touch nothing, (k,).
        extra_thickness: Distance beyond its thickness that each point keeps from colliders [m], (k,).
        ignoring_points: By key of a collider that bodies pass through: which points are theirs, (k,).
        rest_overlap: By key of a collider that keeps its overlap: depth of each point in it at rest [m], (k,).
    """

    model: Model
    points: ContactPoints
    stiffness: Floats
    colliders: tuple[BuiltCollider, ...]
    surface: FleshSurface
    tet_search: TetSearch | None
    triangle: Indices
    weights: Floats
    rest: Floats
    rest_normals: Floats
    rest_depth: Floats
    extra_thickness: Floats
    ignoring_points: Mapping[str, Bools] = field(default_factory=dict)
    rest_overlap: Mapping[str, Floats] = field(default_factory=dict)

    def positions(self, x: Floats) -> Floats:
        """Returns the positions of the points [m], (k, 3), for nodes at x, (n, 3)."""
        out = np.empty((len(self.points), 3))
        interpolate_points(x, self.model.tets, self.points.tet, self.points.weights, out)
        return out

    def between(self, pairs: Bools) -> FleshContact:
        """Returns the same where points of one body touch another, or the same, only as `pairs` says, (b, b)."""
        if self.tet_search is None:
            return self
        return replace(self, tet_search=replace(self.tet_search, may_touch=self.tet_search.may_touch & pairs))

    def penalty_shares(self, contacts: SurfacePenetrations) -> Floats:
        """Returns the share of its penalty that each contact has, 0 to 1: less for neighbours on one sheet, (c,).

        At the bottom of a fold a surface is as close to itself as at rest, and only places farther along the sheet can
        be told from neighbours.
        """
        corners = self.surface.rest[self.surface.triangles[contacts.triangle]]
        place = np.sum(contacts.place[:, :, None] * corners, axis=1)
        apart = np.sqrt(np.sum((place - self.rest[contacts.point]) ** 2, axis=1)) / self.points.tet_size[contacts.point]
        faces = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
        is_one_sheet = np.sum(faces * self.rest_normals[contacts.point], axis=1) > 0.0
        return np.where(is_one_sheet, np.clip((apart - NEIGHBOUR_DISTANCE) / NEIGHBOUR_DISTANCE, 0.0, 1.0), 1.0)

    def find_penetrations(self, x: Floats, previous: SurfacePenetrations | None = None) -> SurfacePenetrations:
        """Returns the points that have penetrated the surface of flesh.

        Args:
            x: Node positions [m], (n, 3).
            previous: Contacts of the previous search, which persist (`keep_previous`).
        """
        if self.tet_search is None:
            return SurfacePenetrations.empty()
        points, found = derived_from(self, "enclosed points", partial(self._find_enclosed, x), values=(x,))
        found = found.select(np.isfinite(self.rest_depth[found.point]))
        if not len(found.point) and (previous is None or not len(previous.point)):
            return SurfacePenetrations.empty()
        vertices = self.surface.vertices_at(self.model, x)
        face_normals, vertex_normals = self.surface.normals(vertices)
        used = found.point if previous is None else np.concatenate([found.point, previous.point])
        point_normals = np.empty_like(points)
        point_normals[used] = _normals_at(vertex_normals, self.surface, self.triangle[used], self.weights[used])
        now = SurfaceSnapshot(vertices, face_normals, vertex_normals, points, point_normals)
        contacts = project_to_surface(self.surface, self.model, now, found)
        if previous is None:
            return contacts
        return keep_previous(self.surface, now, contacts, previous, self.points.tet_size)

    def _find_enclosed(self, x: Floats) -> tuple[Floats, EnclosedPoints]:
        """Returns positions of the points, and those in other tets; an equilibrium is asked for it several times."""
        points = self.positions(x)
        assert self.tet_search is not None
        return points, self.tet_search.find_enclosing(self.model, x, points, self.rest, self.points)


def make_flesh_contact(
    part: Submodel,
    surfaces: Sequence[RenderSurface],
    points: ContactPoints,
    colliders: Sequence[BuiltCollider],
    self_contact: Sequence[bool],
    thickness: Sequence[float] | None = None,
    added_moduli: Floats | None = None,
) -> FleshContact:
    """Returns the contact of the bodies of a part.

    Args:
        part: The bodies.
        surfaces: Of these bodies, in their order.
        points: Of the whole model, with its tets; those of other bodies are left out.
        colliders: Of the scene.
        self_contact: Whether each body may touch itself, in their order.
        thickness: Extra thickness of each body [m], in their order; None: zero.
        added_moduli: Young's modulus of tets beside that of their law [Pa], (m,) of the whole model; None: zero.
    """
    model, own = part.model, _own_points(part, points)
    surface = make_flesh_surface(model, surfaces)
    lever = np.maximum(np.abs(own.weights).max(axis=1, initial=0.0), 1.0) ** 2
    E = youngs_modulus(model.mu[own.tet], model.lam[own.tet])
    if added_moduli is not None:
        E = E + added_moduli[part.tets][own.tet]
    may_touch = ~np.eye(len(surfaces), dtype=bool) | np.diag(np.array(self_contact, bool))
    rest = np.empty((len(own), 3))
    interpolate_points(model.X, model.tets, own.tet, own.weights, rest)
    triangle, weights = _closest_places(surface, own, rest)
    vertex_normals = surface.normals(surface.rest)[1]
    contact = FleshContact(
        model=model,
        points=own,
        stiffness=PENALTY_FACTOR * E * own.area / own.tet_size / lever,
        colliders=tuple(colliders),
        surface=surface,
        tet_search=make_tet_search(model, may_touch) if may_touch.any() else None,
        triangle=triangle,
        weights=weights,
        rest=rest,
        rest_normals=_normals_at(vertex_normals, surface, triangle, weights),
        rest_depth=np.where(surface.is_outer[triangle], 0.0, np.inf),
        extra_thickness=_extra_thickness(model, own, thickness),
    )
    at_rest, depth = contact.find_penetrations(model.X), contact.rest_depth
    np.maximum.at(depth, at_rest.point, at_rest.depth)
    return contact


def _extra_thickness(model: Model, points: ContactPoints, thickness: Sequence[float] | None) -> Floats:
    """Returns the extra thickness of each point [m], (k,)."""
    extra = np.zeros(len(points))
    for body, own in zip(model.bodies, thickness or (), strict=False):
        extra[(points.tet >= body.tets.start) & (points.tet < body.tets.stop)] = own
    return extra


def _own_points(part: Submodel, points: ContactPoints) -> ContactPoints:
    number = np.full(int(max(part.tets.max(initial=0), points.tet.max(initial=0))) + 1, -1, np.int32)
    number[part.tets] = np.arange(len(part.tets), dtype=np.int32)
    own = np.flatnonzero(number[points.tet] >= 0)
    return replace(points.select(own), tet=number[points.tet[own]])


def _normals_at(vertex_normals: Floats, surface: FleshSurface, triangle: Indices, weights: Floats) -> Floats:
    """Returns unit normals at places on triangles, (k, 3), for normals at vertices of any length, (v, 3)."""
    corners = vertex_normals[surface.triangles[triangle]]
    normals = weights[:, :1] * corners[:, 0] + weights[:, 1:2] * corners[:, 1] + weights[:, 2:] * corners[:, 2]
    return normals / np.maximum(np.sqrt(np.sum(normals**2, axis=1, keepdims=True)), 1e-300)


def _closest_places(surface: FleshSurface, points: ContactPoints, rest: Floats) -> tuple[Indices, Floats]:
    """Returns the triangle closest to each point at rest, and barycentric weights of the place, (k,) and (k, 3)."""
    triangle, weights = np.zeros(len(points), np.int32), np.zeros((len(points), 3))
    island = surface.island[points.tet]
    for number in np.unique(island):
        shell, which = surface.shells[number], np.flatnonzero(island == number)
        if shell is not None:
            nearest = closest_points(shell, rest[which])
            triangle[which], weights[which] = nearest.triangle, nearest.weights
    return triangle, weights
