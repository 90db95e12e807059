# SPDX-License-Identifier: GPL-3.0-or-later
"""What flesh may touch, made once.

What overlaps at rest, such as lips, armpits and shells that cross, is not pushed apart: a point that is inside other
flesh at rest is pushed from where it is deeper than then. Points and faces of a surface that more of the same material
covers at rest, where shells cross in one mesh of tets, are inside for good, and meet nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from ...contact.colliders.build_colliders import BuiltCollider
from ...contact.detection.contact_points import ContactPoints
from ...mechanics.linear_elasticity import youngs_modulus
from ...mechanics.model import Model
from ...mechanics.submodel import Submodel
from ...mesh.embedding import place_points
from ...mesh.geometry.closest_point import closest_points
from ...runtime.arrays import Bools, Floats, Indices
from ...scene.tracks import TrackReader
from .collider_sdf import sheet_sides
from .contact_candidates import SurfacePenetrations
from .contact_terms import ContactPenalty
from .enclosing_tets import TetSearch, make_tet_search
from .exit_projection import SurfaceSnapshot, keep_previous, project_to_surface
from .flesh_surface import FleshSurface, make_flesh_surface
from .render_surface import RenderSurface

PENALTY_FACTOR = 30.0  # penalty per area over Young's modulus / tet size

NEIGHBOUR_DISTANCE = 0.4  # distance at rest along a sheet below which it does not touch itself, in tet sizes


@dataclass(frozen=True, eq=False)
class FleshContact:
    """The points of some bodies, and what they may touch.

    Attributes:
        model: The bodies alone.
        points: Of their surfaces; tets counted in `model`.
        stiffness: Penalty k of each point [N/m], (k,).
        colliders: Rigid things.
        skin: The surfaces of the bodies.
        containers: Their tets; None where nothing may meet other flesh.
        triangle, weights: The place of the surface that each point is, (k,) and (k, 3).
        rest: Where the points are at rest [m], (k, 3).
        rest_facing: Where their surface faces at rest, of length one, (k, 3).
        rest_depth: How deep each is in other flesh at rest [m], infinite for points that meet nothing, (k,).
        padding: How much farther than their thickness points stay away from colliders [m], (k,).
        unfelt: By key of a collider that bodies pass through: whether each point is theirs, (k,).
        passes: Whether one body passes through another, (b, b); None: none does.
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
    ignored_bodies: Bools | None = None

    def at(
        self, tracks: TrackReader | None, time: float, x: Floats | None = None, before: float | None = None
    ) -> ContactPenalty:
        """Returns what acts at a time [s].

        Args:
            tracks: Of the colliders; None where there are none.
            time: [s].
            x: Where the solve begins, the equilibrium before [m], (n, 3): tells on which side of open sheets points
                are. None: at rest.
            before: The time of that [s]; None: the same.

        Raises:
            BadInput: A collider changes its scale or shear.
        """
        if tracks is None or not self.colliders:
            return ContactPenalty(self, (), ())
        places = self.positions(self.model.X if x is None else x)
        earlier = [collider.pose(tracks, time if before is None else before) for collider in self.colliders]
        return self.contacts_at_poses(
            [collider.pose(tracks, time) for collider in self.colliders],
            [sheet_sides(collider, pose, places) for collider, pose in zip(self.colliders, earlier, strict=True)],
        )

    def contacts_at_poses(
        self, poses: Sequence[Floats], on_sides: Sequence[np.ndarray] | None = None
    ) -> ContactPenalty:
        """Returns what acts with the colliders at these poses, rows R | t, and the points on these sides of sheets."""
        if on_sides is None:
            places = self.positions(self.model.X)
            on_sides = [
                sheet_sides(collider, pose, places) for collider, pose in zip(self.colliders, poses, strict=True)
            ]
        return ContactPenalty(self, poses, on_sides)

    def positions(self, x: Floats) -> Floats:
        """Returns where the points are [m], (k, 3), when nodes are at x, (n, 3)."""
        out = np.empty((len(self.points), 3))
        place_points(x, self.model.tets, self.points.tet, self.points.weights, out)
        return out

    def penalty_shares(self, met: SurfacePenetrations) -> Floats:
        """Returns how much of its penalty a contact has, 0 to 1: less for places that are neighbours on one sheet.

        At the bottom of a fold a surface is as near to itself as it is at rest, and only what is farther along it
        can be told from what is beside it.
        """
        corners = self.surface.rest[self.surface.triangles[met.triangle]]
        there = np.sum(met.weights[:, :, None] * corners, axis=1)
        apart = np.sqrt(np.sum((there - self.rest[met.point]) ** 2, axis=1)) / self.points.tet_size[met.point]
        faces = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
        is_one_sheet = np.sum(faces * self.rest_normals[met.point], axis=1) > 0.0
        return np.where(is_one_sheet, np.clip((apart - NEIGHBOUR_DISTANCE) / NEIGHBOUR_DISTANCE, 0.0, 1.0), 1.0)

    def find_penetrations(self, x: Floats, known: SurfacePenetrations | None = None) -> SurfacePenetrations:
        """Returns which points have gone through the surface of flesh.

        Args:
            x: Node positions [m], (n, 3).
            known: Contacts of the look before, which go on (`ways_out.with_known`).
        """
        if self.tet_search is None:
            return SurfacePenetrations.empty()
        points = self.positions(x)
        found = self.tet_search.find_enclosing(self.model, x, points, self.rest, self.points)
        found = found.select(np.isfinite(self.rest_depth[found.point]))
        if self.ignored_bodies is not None:
            group = self.tet_search.group
            found = found.select(~self.ignored_bodies[group[self.points.tet[found.point]], group[found.tet]])
        if not len(found.point) and (known is None or not len(known.point)):
            return SurfacePenetrations.empty()
        vertices = self.surface.vertices_at(self.model, x)
        faces, at_vertices = self.surface.normals(vertices)
        facing = _facing(at_vertices, self.surface, self.triangle, self.weights)
        now = SurfaceSnapshot(vertices, faces, at_vertices, points, facing)
        met = project_to_surface(self.surface, self.model, now, found)
        return met if known is None else keep_previous(self.surface, now, met, known, self.points.tet_size)


def make_flesh_contact(
    part: Submodel,
    surfaces: Sequence[RenderSurface],
    points: ContactPoints,
    colliders: Sequence[BuiltCollider],
    self_contact: Sequence[bool],
    thickness: Sequence[float] | None = None,
) -> FleshContact:
    """Returns the contact of the bodies of a part.

    Args:
        part: The bodies.
        surfaces: Of these bodies, in their order.
        points: Of the whole model, in its tets; those of other bodies are left out.
        colliders: Of the scene.
        self_contact: Whether each body may touch itself, in their order.
        thickness: What each keeps away from colliders by itself [m], in their order; None: nothing.
    """
    model, own = part.model, _own_points(part, points)
    skin = make_flesh_surface(model, surfaces)
    lever = np.maximum(np.abs(own.weights).max(axis=1, initial=0.0), 1.0) ** 2
    E = youngs_modulus(model.mu[own.tet], model.lam[own.tet])
    rest = np.empty((len(own), 3))
    place_points(model.X, model.tets, own.tet, own.weights, rest)
    triangle, weights = _places_on(skin, own, rest)
    at_vertices = skin.normals(skin.rest)[1]
    contact = FleshContact(
        model=model,
        points=own,
        stiffness=PENALTY_FACTOR * E * own.area / own.tet_size / lever,
        colliders=tuple(colliders),
        surface=skin,
        tet_search=make_tet_search(model, tuple(self_contact)) if any(self_contact) or len(surfaces) > 1 else None,
        triangle=triangle,
        weights=weights,
        rest=rest,
        rest_normals=_facing(at_vertices, skin, triangle, weights),
        rest_depth=np.where(skin.is_outer[triangle], 0.0, np.inf),
        extra_thickness=_padding(model, own, thickness),
    )
    at_rest, depth = contact.find_penetrations(model.X), contact.rest_depth
    np.maximum.at(depth, at_rest.point, at_rest.depth)
    return contact


def _padding(model: Model, points: ContactPoints, thickness: Sequence[float] | None) -> Floats:
    """Returns what each point keeps away by its body's thickness [m], (k,)."""
    padding = np.zeros(len(points))
    for body, own in zip(model.bodies, thickness or (), strict=False):
        padding[(points.tet >= body.tets.start) & (points.tet < body.tets.stop)] = own
    return padding


def _own_points(part: Submodel, points: ContactPoints) -> ContactPoints:
    number = np.full(int(max(part.tets.max(initial=0), points.tet.max(initial=0))) + 1, -1, np.int32)
    number[part.tets] = np.arange(len(part.tets), dtype=np.int32)
    own = np.flatnonzero(number[points.tet] >= 0)
    return ContactPoints(
        number[points.tet[own]],
        np.ascontiguousarray(points.weights[own]),
        *(getattr(points, name)[own] for name in ("area", "stiffness", "mass", "tet_size")),
    )


def _facing(at_vertices: Floats, skin: FleshSurface, triangle: Indices, weights: Floats) -> Floats:
    """Returns unit normals at places on triangles, (k, 3), for normals at vertices of any length, (v, 3)."""
    corners = at_vertices[skin.triangles[triangle]]
    normals = weights[:, :1] * corners[:, 0] + weights[:, 1:2] * corners[:, 1] + weights[:, 2:] * corners[:, 2]
    return normals / np.maximum(np.sqrt(np.sum(normals**2, axis=1, keepdims=True)), 1e-300)


def _places_on(skin: FleshSurface, points: ContactPoints, rest: Floats) -> tuple[Indices, Floats]:
    """Returns the triangle nearest to each point at rest, and the weights of its corners there, (k,) and (k, 3)."""
    triangle, weights = np.zeros(len(points), np.int32), np.zeros((len(points), 3))
    island = skin.island[points.tet]
    for number in np.unique(island):
        shell, which = skin.shells[number], np.flatnonzero(island == number)
        if shell is not None:
            nearest = closest_points(shell, rest[which])
            triangle[which], weights[which] = nearest.triangle, nearest.weights
    return triangle, weights
