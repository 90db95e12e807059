# SPDX-License-Identifier: GPL-3.0-or-later
"""Contact points of bodies and the stiffness of their contacts.

Contact points are the render vertices of a body, and further points on its large faces. Rigid colliders meet these.
Surfaces meet each other with their vertices (`surface_materials.py`).
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ...mesh.geometry.face_edges import edge_ends, face_edges
from ...runtime.arrays import Floats, Indices, concatenated, floats
from ...runtime.errors import BadInput
from ...scene.surface_detail import SurfaceDetail

STIFFNESS_FACTOR = 100.0  # contact stiffness per area over Young's modulus / tet size
MAX_SURFACE_SAMPLES = 5.0e7  # 1.2 GB of positions; a surface of ten million tets has half a million
MIN_POINT_STIFFNESS_FACTOR = 3.0  # least stiffness of a single point over Young's modulus · tet size
MAX_DEPTH_UNDER_WEIGHT = 5.0e-4  # depth of a point under its share of the body's weight, in tet sizes
MAX_POINT_DEPTH_UNDER_WEIGHT = 0.5  # depth of a single point under the whole weight of the body, in tet sizes
# A body may land on tips that got no tets, and softer contacts let them sink in: a skull of 1 m that falls by half its
# height on such tips, whose levers are 3.8, went 1.62 % of its size into the ground, and goes 0.41 %.
MAX_LEVER = 2.0  # by which contacts of points outside of their tets are softer, at most its square
MIN_PARTICLE_AREA = 1.0e-6  # least area of a particle of surface detail over the square of their spacing
MIN_INERTIAL_STIFFNESS_FACTOR = 10.0  # least contact stiffness over (share of mass) / Δt²


class ContactPointArrays(NamedTuple):
    """The arrays of `ContactPoints` that kernels take."""

    tet: Indices
    weights: Floats
    stiffness: Floats
    mass: Floats
    tet_size: Floats
    binding_stiffness: Floats
    yield_length: Floats


@dataclass(frozen=True)
class ContactPoints:
    """Points of all bodies that may touch colliders, k of them.

    Attributes:
        tet, weights: Tets of the model and barycentric weights in them, (k,) and (k, 4).
        area: Their share of the surface [m²], (k,).
        elastic_stiffness: Stiffness by the elasticity of the tets as they are made [N/m], (k,).
        weight_stiffness: The least one that the weight takes [N/m], (k,).
        mass: Their share of the body's mass by area [kg], (k,).
        tet_size: Edge length of the lattice of their body [m], (k,).
        binding_stiffness: Of the spring between a particle of surface detail and its target [N/m], ∞ for other
            points, (k,).
        yield_length: Length of that spring from which the target moves, ∞ for never [m], (k,).
        distance_bounds: Bounds of the distances of the points from colliders, by key (`DistanceBounds`).
        near_points: The points near colliders, by key (`NearPoints`).
    """

    tet: Indices
    weights: Floats
    area: Floats
    elastic_stiffness: Floats
    weight_stiffness: Floats
    mass: Floats
    tet_size: Floats
    binding_stiffness: Floats
    yield_length: Floats
    distance_bounds: dict[str, Any] = field(default_factory=dict, compare=False, repr=False)
    near_points: dict[str, Any] = field(default_factory=dict, compare=False, repr=False)

    def __len__(self) -> int:
        return len(self.tet)

    @functools.cached_property
    def arrays(self) -> ContactPointArrays:
        """The points as kernels take them."""
        return ContactPointArrays(
            self.tet,
            self.weights,
            self.stiffness,
            self.mass,
            self.tet_size,
            self.binding_stiffness,
            self.yield_length,
        )

    @functools.cached_property
    def largest_tet(self) -> float:
        """The largest `tet_size` [m]."""
        return float(self.tet_size.max(initial=0.0))

    @functools.cached_property
    def largest_lever(self) -> float:
        """The largest Σ |weights|, by which a point moves at most farther than the nodes of its tet."""
        return float(np.abs(self.weights).sum(axis=1).max(initial=1.0))

    @functools.cached_property
    def tet_count(self) -> int:
        """How many tets have points."""
        return len(np.unique(self.tet))

    @functools.cached_property
    def stiffness(self) -> Floats:
        """Stiffness by elasticity and weight [N/m], (k,)."""
        return np.maximum(self.elastic_stiffness, self.weight_stiffness)

    def with_moduli(self, factors: Floats) -> ContactPoints:
        """Returns the points where the moduli of the tets are those they were made of times `factors`, (m,).

        A contact a thousand times as stiff as what has melted behind it would let no step converge.
        """
        own = np.where(self.tet >= 0, factors[self.tet], 1.0)
        return replace(
            self, elastic_stiffness=own * self.elastic_stiffness, binding_stiffness=own * self.binding_stiffness
        )

    def with_targets(self, tet: Indices, weights: Floats, yield_length: Floats) -> ContactPoints:
        """Returns the same points where some have moved in the material, and keeps what that leaves alone.

        Args:
            tet, weights, yield_length: See the class.
        """
        moved = replace(self, tet=tet, weights=weights, yield_length=yield_length)
        for name in ("largest_tet", "largest_lever", "tet_count", "stiffness"):
            moved.__dict__[name] = getattr(self, name)
        return moved

    def select(self, which: slice | npt.NDArray[np.int64]) -> ContactPoints:
        """Returns some of the points."""
        arrays: list[Any] = [np.ascontiguousarray(getattr(self, name)[which]) for name in ARRAY_NAMES]
        return ContactPoints(*arrays)

    def stiffness_for(self, dt: float, which: npt.NDArray[np.int64]) -> Floats:
        """Returns the normal stiffness of some points in a step of `dt` [s], in [N/m]."""
        return np.maximum(self.stiffness[which], MIN_INERTIAL_STIFFNESS_FACTOR * self.mass[which] / dt**2)

    @staticmethod
    def concatenate(groups: Sequence[ContactPoints]) -> ContactPoints:
        """Returns the points of all groups, in order."""
        empty: tuple[npt.NDArray, ...] = (
            np.zeros(0, np.int32),
            np.zeros((0, 4)),
            *(np.zeros(0) for _ in ARRAY_NAMES[2:]),
        )
        arrays: list[Any] = [
            concatenated([getattr(group, name) for group in groups], first)
            for name, first in zip(ARRAY_NAMES, empty, strict=True)
        ]
        return ContactPoints(*arrays)


ARRAY_NAMES = tuple(each.name for each in fields(ContactPoints) if each.name not in ("distance_bounds", "near_points"))


def contact_points(
    *,
    tet: Indices,
    weights: Floats,
    area: Floats,
    youngs_modulus: Floats,
    mass: float | Floats,
    weight: float | Floats,
    tet_size: float | Floats,
    surface: float | Floats | None = None,
) -> ContactPoints:
    """Returns the contact points of one body, or of several where what is one number for a body is an array, (k,).

    The stiffness of a point is the largest of `STIFFNESS_FACTOR` · E · area / tet size, which keeps the depth of a
    contact small compared with the strain under it; the stiffness at which its share of the weight sinks in by
    `MAX_DEPTH_UNDER_WEIGHT`, which matters for bodies too soft to carry themselves; and two bounds for points that
    carry more than their share, since a body may stand on a few of them.

    Args:
        tet, weights: Tets of the model and barycentric weights in them, (k,) and (k, 4).
        area: Share of the surface [m²], (k,).
        youngs_modulus: E of the tets of the points [Pa], (k,).
        mass, weight: Of the body [kg], [N].
        tet_size: Edge length of the lattice [m].
        surface: Area of the surface [m²]; None: the area of these points together.
    """
    share = area / np.maximum(area.sum() if surface is None else surface, 1e-300)
    elastic = youngs_modulus * np.maximum(STIFFNESS_FACTOR * area / tet_size, MIN_POINT_STIFFNESS_FACTOR * tet_size)
    heavy = weight / tet_size * np.maximum(share / MAX_DEPTH_UNDER_WEIGHT, 1.0 / MAX_POINT_DEPTH_UNDER_WEIGHT)
    # a point far outside its tet moves it with a long lever
    lever = np.clip(np.abs(weights).max(axis=1, initial=0.0), 1.0, MAX_LEVER) ** 2
    size = np.full(len(tet), tet_size, float)
    never = np.full(len(tet), np.inf)
    return ContactPoints(tet, weights, area, elastic / lever, heavy / lever, mass * share / lever, size, never, never)


def with_soft_bindings(
    points: ContactPoints, youngs_modulus: Floats, detail: SurfaceDetail, tet_size: float
) -> ContactPoints:
    """Returns points that are particles of surface detail, on springs as stiff as a layer of their spacing.

    Args:
        points: (k,).
        youngs_modulus: E of their tets [Pa], (k,).
        detail: How many there are per tet, and how hard they are.
        tet_size: Edge length of the lattice [m].
    """
    spacing = tet_size / detail.particles_per_tet
    area = np.maximum(points.area, MIN_PARTICLE_AREA * spacing**2)
    length = np.full(len(points), detail.yield_strain * spacing, np.float64)
    return replace(points, binding_stiffness=floats(youngs_modulus * area / spacing), yield_length=length)


def sample_surface(
    vertices: Floats, triangles: Indices, spacing: float, name: str = ""
) -> tuple[Indices, Floats, Floats]:
    """Returns points on a surface no farther apart than about `spacing` [m]; `name` is that of its body.

    Returns:
        The vertices that faces use, (u,); further points on long edges and in large faces [m], (k, 3); and the
        share of the surface of all of them, vertices first [m²], (u + k,).

    Raises:
        BadInput: "edge-too-long": there would be more points than memory bears.
    """
    corners = vertices[triangles]
    area = 0.5 * np.linalg.norm(np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]), axis=1)
    found = face_edges(triangles)
    edges, edge_of = edge_ends(triangles, found), found.edge.reshape(-1, 3).T
    lengths = np.linalg.norm(vertices[edges[:, 1]] - vertices[edges[:, 0]], axis=1)
    cuts = np.maximum(np.ceil(lengths / spacing - 1e-9), 1.0)
    if cuts.sum() + 0.5 * np.square(cuts[edge_of].max(axis=0)).sum() > MAX_SURFACE_SAMPLES:
        raise BadInput("edge-too-long", name=name, length=f"{lengths.max():g}", tet_size=f"{spacing:g}")
    parts = cuts.astype(np.int64)
    on_edges, edge = _split_segments(vertices[edges[:, 0]], vertices[edges[:, 1]], parts)
    inside, triangle = _split_triangles(corners, parts[edge_of].max(axis=0))

    count = 3 + (parts[edge_of] - 1).sum(axis=0) + np.bincount(triangle, minlength=len(triangles))
    each = area / count
    per_edge = np.bincount(edge_of.ravel(), np.tile(each, 3), minlength=len(edges))
    per_vertex = np.bincount(triangles.ravel(), np.repeat(each, 3), minlength=len(vertices))
    used = np.unique(triangles).astype(np.int32)
    shares = np.concatenate([per_vertex[used], per_edge[edge], each[triangle]])
    return used, floats(np.concatenate([on_edges, inside]), -1, 3), shares


def _split_segments(start: Floats, end: Floats, parts: Indices) -> tuple[Floats, npt.NDArray[np.int64]]:
    """Returns the points that cut each segment into equal parts, and the segment of each."""
    segment = np.repeat(np.arange(len(parts), dtype=np.int64), parts - 1)
    number = (
        np.arange(len(segment), dtype=np.int64)
        - np.repeat(np.cumsum(parts - 1, dtype=np.int64) - (parts - 1), parts - 1)
        + 1
    )
    s = (number / parts[segment])[:, None]
    return start[segment] + s * (end[segment] - start[segment]), segment


def _split_triangles(corners: Floats, parts: Indices) -> tuple[Floats, Indices]:
    """Returns the inner points of triangles (t, 3, 3) cut into parts², and the triangle of each."""
    points, owners = [np.zeros((0, 3))], [np.zeros(0, np.int64)]
    for n in np.unique(parts[parts > 2]):
        i, j = (
            grid.ravel()
            for grid in np.meshgrid(np.arange(1, n, dtype=np.int64), np.arange(1, n, dtype=np.int64), indexing="ij")
        )
        i, j = i[i + j < n], j[i + j < n]
        weights = np.column_stack([n - i - j, i, j]) / n
        owner = np.flatnonzero(parts == n)
        points.append(np.einsum("pa,tai->tpi", weights, corners[owner]).reshape(-1, 3))
        owners.append(np.repeat(owner, len(weights)))
    return np.concatenate(points), np.concatenate(owners)
