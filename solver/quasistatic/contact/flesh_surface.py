# SPDX-License-Identifier: GPL-3.0-or-later
"""The surfaces of all bodies of flesh as one: positions and normals of vertices, and neighbours."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ...contact.surfaces.surface_trees import VertexRings
from ...mechanics.model import Model
from ...mesh.embedding import interpolate_points
from ...mesh.geometry.connected_components import mesh_components
from ...mesh.geometry.triangle_bvh import Bvh, build_bvh
from ...mesh.geometry.triangle_surface import Surface
from ...mesh.geometry.welding import weld
from ...mesh.geometry.winding_number import winding_numbers
from ...runtime.arrays import Floats, Indices, floats, indices
from ...runtime.jit import kernel

PROBE_HEIGHT = 1.0e-4  # height above a face, in sizes of the surface, of the place that tells whether it is inside


@dataclass(frozen=True, eq=False)
class RenderSurface:
    """The render surface of one body at rest, bound to its tets.

    Attributes:
        vertices: At rest [m], (v, 3).
        triangles: (t, 3).
        tet, weights: Tets of the vertices, counted from the first of the body, and weights in them, (v,) and (v, 4).
    """

    vertices: Floats
    triangles: Indices
    tet: Indices
    weights: Floats


@dataclass(frozen=True, eq=False)
class FleshSurface:
    """v vertices and t triangles.

    Attributes:
        rest: Vertices at rest [m], (v, 3).
        tet, weights: Their tets in the model, and barycentric weights in them, (v,) and (v, 4).
        triangles: (t, 3).
        rings: The triangles at each vertex.
        island: Connected part of the model that each tet belongs to, (m,).
        shells: The triangles at rest of each part; None if it has none.
        is_outer: Whether the outside lies above a triangle at rest, (t,); not where shells cross.
    """

    rest: Floats
    tet: Indices
    weights: Floats
    triangles: Indices
    rings: VertexRings
    island: Indices
    shells: tuple[Bvh | None, ...]
    is_outer: npt.NDArray[np.bool_]

    def vertices_at(self, model: Model, x: Floats) -> Floats:
        """Returns the positions of the vertices [m], (v, 3), for nodes at x."""
        out = np.empty((len(self.tet), 3))
        interpolate_points(x, model.tets, self.tet, self.weights, out)
        return out

    def normals(self, vertices: Floats) -> tuple[Floats, Floats]:
        """Returns outward normals of triangles, (t, 3), zero where they are not outer, and of vertices, (v, 3)."""
        faces, at_vertices = np.empty((len(self.triangles), 3)), np.zeros((len(self.tet), 3))
        fill_normals(vertices, self.triangles, self.is_outer, faces, at_vertices)
        return faces, at_vertices


def make_flesh_surface(model: Model, surfaces: Sequence[RenderSurface]) -> FleshSurface:
    """Returns the surfaces of the bodies of a model, in their order, as one."""
    starts = np.cumsum([0, *(len(surface.vertices) for surface in surfaces)], dtype=np.int64)
    tet = indices(
        np.concatenate([s.tet + np.int32(body.tets.start) for s, body in zip(surfaces, model.bodies, strict=True)])
    )
    vertices = floats(np.concatenate([surface.vertices for surface in surfaces]), -1, 3)
    # vertices of a body at one place get one number, so that triangles have neighbours across seams
    welded = [_welded_triangles(surface) for surface in surfaces]
    triangles = indices(
        np.concatenate([faces + np.int32(first) for faces, first in zip(welded, starts[:-1], strict=True)]), -1, 3
    )
    order = np.argsort(triangles.ravel(), kind="stable")
    part = mesh_components(model.tets, model.node_count)
    island = indices(part[model.tets[:, 0]])
    own = island[tet[triangles[:, 0]]]
    shells: list[Bvh | None] = []
    is_outer = np.zeros(len(triangles), np.bool_)
    for number in range(int(part.max(initial=-1)) + 1):
        which = np.flatnonzero(own == number)
        if not len(which):
            shells.append(None)
            continue
        shell = build_bvh(vertices, triangles[which])
        is_outer[which] = ~_is_covered(shell, vertices[triangles[which]])
        shells.append(Bvh(shell.boxes, shell.tree, shell.corners, indices(which[shell.order]), shell.moments))
    return FleshSurface(
        rest=vertices,
        tet=tet,
        weights=floats(np.concatenate([surface.weights for surface in surfaces]), -1, 4),
        triangles=triangles,
        rings=VertexRings(
            np.searchsorted(triangles.ravel()[order], np.arange(len(tet) + 1, dtype=np.int64)).astype(np.int64),
            indices(order // 3),
        ),
        island=island,
        shells=tuple(shells),
        is_outer=is_outer,
    )


def _welded_triangles(surface: RenderSurface) -> Indices:
    """Returns the triangles of a surface, with the first of all vertices at one place, (t, 3)."""
    welded = weld(Surface(surface.vertices, surface.triangles))
    numbers, first = np.unique(welded, return_index=True)
    vertex = np.zeros(int(numbers[-1]) + 1, np.int32)
    vertex[numbers] = surface.triangles.ravel()[first]
    return vertex[welded]


def _is_covered(shell: Bvh, corners: Floats) -> npt.NDArray[np.bool_]:
    """Returns which triangles, (t, 3, 3), of a surface have more of the same body above them."""
    size = float((shell.boxes[0, 3:] - shell.boxes[0, :3]).max())
    normal = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    normal /= np.maximum(np.linalg.norm(normal, axis=1, keepdims=True), 1e-300)
    return winding_numbers(shell, corners.mean(axis=1) + PROBE_HEIGHT * size * normal) > 0.5


@kernel()
def fill_normals(vertices, triangles, is_outer, faces, at_vertices):
    """Writes unit normals of triangles, zero where not outer, and adds area-weighted normals at the vertices."""
    for t in range(len(triangles)):
        a, b, c = triangles[t, 0], triangles[t, 1], triangles[t, 2]
        e0, e1, e2 = vertices[b, 0] - vertices[a, 0], vertices[b, 1] - vertices[a, 1], vertices[b, 2] - vertices[a, 2]
        f0, f1, f2 = vertices[c, 0] - vertices[a, 0], vertices[c, 1] - vertices[a, 1], vertices[c, 2] - vertices[a, 2]
        n0, n1, n2 = e1 * f2 - e2 * f1, e2 * f0 - e0 * f2, e0 * f1 - e1 * f0
        length = np.sqrt(n0 * n0 + n1 * n1 + n2 * n2)
        k = 1.0 / length if is_outer[t] and length > 0.0 else 0.0
        faces[t, 0], faces[t, 1], faces[t, 2] = k * n0, k * n1, k * n2
        for corner in range(3):
            at = triangles[t, corner]
            at_vertices[at, 0] += n0
            at_vertices[at, 1] += n1
            at_vertices[at, 2] += n2
