# SPDX-License-Identifier: GPL-3.0-or-later
"""The surfaces at whose points links begin: those of bodies, and of colliders that are attached to bodies."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...mechanics.elastic_moduli import youngs_modulus
from ...mechanics.model import BodyRange, Model
from ...mesh.geometry.closest_point import ClosestPoints, closest_points
from ...mesh.geometry.orient_outward import orient_outward
from ...mesh.geometry.triangle_bvh import build_bvh
from ...mesh.geometry.triangle_surface import Surface, make_surface
from ...mesh.strand_mesh import outward_and_strand_faces
from ...runtime.arrays import Floats, Indices
from ...scene.attachment import AttachedSurface
from ...scene.scene import Body
from .surface_links import AnimatedPoints
from .target_surface import TargetSurface


@dataclass(frozen=True, eq=False)
class SurfacePoints:
    """Points all over the surface of a body, k of them.

    Attributes:
        tet, weights: In the tets of the model, (k,) and (k, 4).
        area: Their share of the surface [m²], (k,).
    """

    tet: Indices
    weights: Floats
    area: Floats

    def positions(self, model: Model) -> Floats:
        """Returns where they are at rest [m], (k, 3)."""
        return np.einsum("ka,kai->ki", self.weights, model.X[model.tets[self.tet]])


@dataclass(frozen=True, eq=False)
class ColliderPoints:
    """Points all over the surface of a collider at rest, k of them.

    Attributes:
        positions: [m], (k, 3).
        area: Their share of the surface [m²], (k,).
    """

    positions: Floats
    area: Floats


@dataclass(frozen=True, eq=False)
class OriginSurface:
    """A surface at rest, and points on it at which links begin, k of them.

    Attributes:
        name: For people.
        body, own: Number of the body, and its nodes and tets in the model; None: it is a collider.
        tet, weights: Of the points of a body, (k,) and (k, 4); of a collider −1 and 0.
        animated: The points of a collider; None: of a body.
        positions, area: Of the points [m], (k, 3), and their share of the surface [m²], (k,).
        vertices, triangles: Of the surface [m], (v, 3) and (t, 3), with all normals outwards.
        nearest: The places on it that are closest to the points.
        youngs_modulus: E at the points [Pa], (k,).
        thickness: L = 3 V / A [m]; of a sheet see `sheet_length`.
        has_tets: Whether its points are in tets, and not on the triangles of a sheet or of a collider.
    """

    name: str
    body: int | None
    own: BodyRange | None
    tet: Indices
    weights: Floats
    animated: AnimatedPoints | None
    positions: Floats
    area: Floats
    vertices: Floats
    triangles: Indices
    nearest: ClosestPoints
    youngs_modulus: Floats
    thickness: float
    has_tets: bool = True

    def paint_at_points(self, paint: Floats) -> Floats:
        """Returns what is painted at the vertices, (v,), or 1 where nothing is, (0,), at the points, (k,)."""
        if not len(paint):
            return np.ones(len(self.positions))
        return np.einsum("kc,kc->k", paint[self.triangles[self.nearest.triangle]], self.nearest.weights)

    def normals(self) -> Floats:
        """Returns outward normals at the points, not of unit length, (k, 3)."""
        corners = self.vertices[self.triangles[self.nearest.triangle]]
        return np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])


def origin_of_body(number: int, body: Body, surface: Surface, points: SurfacePoints, model: Model) -> OriginSurface:
    """Returns the surface of the body of this number as what links begin at."""
    positions, own = points.positions(model), model.bodies[number]
    triangles, _ = outward_and_strand_faces(surface)
    E = youngs_modulus(model.mu[points.tet], model.lam[points.tet])
    if body.is_sheet:  # the moduli of its tets are those of contacts
        E = np.full(len(points.tet), body.material.youngs_modulus, np.float64)
    volume = model.volume[own.tets].sum()
    return OriginSurface(
        name=body.name,
        body=number,
        own=own,
        tet=points.tet,
        weights=points.weights,
        animated=None,
        positions=positions,
        area=points.area,
        vertices=body.vertices,
        triangles=triangles,
        nearest=closest_points(build_bvh(body.vertices, triangles), positions),
        youngs_modulus=E,
        thickness=sheet_length(body, points) if body.is_sheet else 3.0 * volume / points.area.sum(),
        has_tets=not body.is_sheet,
    )


def sheet_length(body: Body, points: SurfacePoints) -> float:
    """Returns what stands for L of a sheet of the thickness h [m].

    Hung by one row of points, of the area a² each, a sheet of the area A pulls at each with E h a ε, strained by ε. As
    in a solid, ε = 1/10 is to open links by 1/300 of its size: so E / L is E h / a √A.
    """
    spacing, size = np.sqrt(points.area.mean()), np.sqrt(points.area.sum())
    return float(spacing * size / body.sheet.thickness)


def origin_of_collider(surface: TargetSurface, points: ColliderPoints, attached: AttachedSurface) -> OriginSurface:
    """Returns the surface of a collider as what links begin at."""
    vertices, count = surface.rest_vertices, len(points.area)
    triangles = orient_outward(make_surface(vertices, surface.surface.triangles, surface.name)).surface.triangles
    nearest = closest_points(build_bvh(vertices, triangles), points.positions)
    corners = triangles[nearest.triangle]
    return OriginSurface(
        name=surface.name,
        body=None,
        own=None,
        tet=np.full(count, -1, np.int32),
        weights=np.zeros((count, 4)),
        animated=AnimatedPoints(surface, corners, nearest.weights),
        positions=points.positions,
        area=points.area,
        vertices=vertices,
        triangles=triangles,
        nearest=nearest,
        youngs_modulus=np.einsum("kc,kc->k", attached.youngs_modulus[corners], nearest.weights),
        thickness=attached.thickness,
        has_tets=False,
    )


def softer_moduli(origin: OriginSurface, target: TargetSurface, model: Model) -> Floats:
    """Returns E of the softer side at the points [Pa], (k,): that of a target which is a body is its mean."""
    if target.body is None:
        return origin.youngs_modulus
    other = model.bodies[target.body].tets
    volume = model.volume[other]
    mean = volume @ youngs_modulus(model.mu[other], model.lam[other]) / volume.sum()
    return np.minimum(origin.youngs_modulus, mean)
