# SPDX-License-Identifier: GPL-3.0-or-later
"""Points and edges that are not kept out of some surface, because they are inside it or cannot be kept out.

A pair is excluded if its point is not kept out of the surface of its triangle, or if one of its edges is not kept out
of the surface of the other. All other pairs are kept apart as ever: a triangle that the edge of a spike crosses still
keeps other points out.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from ...mechanics.state import State
from ...mechanics.state_fields import EXACT_EXCLUDED_EDGES_FIELD, EXACT_EXCLUDED_POINTS_FIELD
from ...runtime.arrays import Bools, Indices
from .conservative_advancement import POINT_TRIANGLE
from .contact_mesh import ContactMesh
from .contact_potential import PairStencils

Keys = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class ExcludedFeatures:
    """Points and edges that are not kept out of some surface, as rising numbers.

    Attributes:
        points: `point_keys` of points and surfaces, (k,).
        edges: `edge_keys` of edges and surfaces, (m,).
    """

    points: Keys = field(default_factory=lambda: np.zeros(0, np.int64))
    edges: Keys = field(default_factory=lambda: np.zeros(0, np.int64))

    def __len__(self) -> int:
        return len(self.points) + len(self.edges)

    @staticmethod
    def from_state(state: State) -> ExcludedFeatures:
        """Returns what `to_state` has stored; nothing if it has not."""
        names = EXACT_EXCLUDED_POINTS_FIELD, EXACT_EXCLUDED_EDGES_FIELD
        return ExcludedFeatures(*(np.asarray(state.fields.get(name, np.zeros(0)), np.int64) for name in names))

    def to_state(self, state: State) -> None:
        """Stores it in the fields of a state; where there is nothing, there is no field."""
        for name, keys in ((EXACT_EXCLUDED_POINTS_FIELD, self.points), (EXACT_EXCLUDED_EDGES_FIELD, self.edges)):
            if len(keys):
                state.fields[name] = keys
            else:
                state.fields.pop(name, None)

    def united(self, other: ExcludedFeatures) -> ExcludedFeatures:
        """Returns the features of both."""
        return ExcludedFeatures(np.union1d(self.points, other.points), np.union1d(self.edges, other.edges))

    def without(self, other: ExcludedFeatures) -> ExcludedFeatures:
        """Returns the features that are not in the other."""
        return ExcludedFeatures(np.setdiff1d(self.points, other.points), np.setdiff1d(self.edges, other.edges))

    def common(self, other: ExcludedFeatures) -> ExcludedFeatures:
        """Returns the features that are in both."""
        return ExcludedFeatures(np.intersect1d(self.points, other.points), np.intersect1d(self.edges, other.edges))

    def renumbered(self, before: ContactMesh, now: ContactMesh, number: Indices) -> ExcludedFeatures:
        """Returns the same of vertices that have these numbers now, rising, or −1 where there are none, (n,)."""
        points, surfaces = self.excluded_points(before)
        ends, others = self.excluded_edges(before)
        points, ends = number[points], number[ends]
        stays, edges = points >= 0, (ends >= 0).all(axis=1)
        return ExcludedFeatures(
            np.unique(point_keys(now, points[stays], surfaces[stays])),
            np.unique(edge_keys(now, ends[edges], others[edges])),
        )

    def excludes(self, mesh: ContactMesh, pairs: PairStencils) -> Bools:
        """Returns which pairs are excluded, (k,)."""
        if not len(self):
            return np.zeros(len(pairs.vertices), bool)
        if pairs.kind == POINT_TRIANGLE:
            return _is_in(point_keys(mesh, *_point_and_surface(mesh, pairs.vertices)), self.points)
        one, other = _edges_and_surfaces(mesh, pairs.vertices)
        return _is_in(edge_keys(mesh, *one), self.edges) | _is_in(edge_keys(mesh, *other), self.edges)

    def kept(self, mesh: ContactMesh, pairs: PairStencils) -> PairStencils:
        """Returns the pairs that are not excluded."""
        return pairs.select(np.flatnonzero(~self.excludes(mesh, pairs))) if len(self) else pairs

    def excluded_points(self, mesh: ContactMesh) -> tuple[Indices, Indices]:
        """Returns the points, and which surface each is not kept out of, (k,) each."""
        count = len(mesh.may_touch)
        return (self.points // count).astype(np.int32), (self.points % count).astype(np.int32)

    def excluded_edges(self, mesh: ContactMesh) -> tuple[Indices, Indices]:
        """Returns the ends of the edges, (m, 2), and which surface each is not kept out of, (m,)."""
        count, vertices = len(mesh.may_touch), np.int64(len(mesh.rest))
        edge = self.edges // count
        ends = np.stack([edge // vertices, edge % vertices], axis=1).astype(np.int32)
        return ends, (self.edges % count).astype(np.int32)

    def owner_pairs(self, mesh: ContactMesh) -> Bools:
        """Returns which bodies and colliders have such features between them, symmetric, (s, s)."""
        found = np.zeros((len(mesh.may_touch),) * 2, bool)
        points, others = self.excluded_points(mesh)
        found[mesh.owner[mesh.surface[points]], mesh.owner[others]] = True
        ends, others = self.excluded_edges(mesh)
        found[mesh.owner[mesh.surface[ends[:, 0]]], mesh.owner[others]] = True
        return found | found.T


def point_keys(mesh: ContactMesh, points: Indices, surfaces: Indices) -> Keys:
    """Returns a number for each point and surface, (k,)."""
    return points.astype(np.int64) * len(mesh.may_touch) + surfaces


def edge_keys(mesh: ContactMesh, ends: Indices, surfaces: Indices) -> Keys:
    """Returns a number for each edge, the smaller end first, (k, 2), and surface, (k,)."""
    wide = ends.astype(np.int64)
    return (wide[:, 0] * len(mesh.rest) + wide[:, 1]) * len(mesh.may_touch) + surfaces


def features_of_pairs(mesh: ContactMesh, pairs: PairStencils, which: Indices) -> ExcludedFeatures:
    """Returns the features without which some pairs would be excluded, and the edges at points among them.

    A point that goes through a triangle takes its edges along.
    """
    vertices = pairs.vertices[which]
    if pairs.kind == POINT_TRIANGLE:
        points, surfaces = _point_and_surface(mesh, vertices)
        return ExcludedFeatures(
            np.unique(point_keys(mesh, points, surfaces)), np.unique(edges_at_points(mesh, points, surfaces))
        )
    keys = [edge_keys(mesh, *own) for own in _edges_and_surfaces(mesh, vertices)]
    return ExcludedFeatures(edges=np.unique(np.concatenate(keys)))


def edges_at_points(mesh: ContactMesh, points: Indices, surfaces: Indices) -> Keys:
    """Returns the `edge_keys` of all edges at some points, each with the surface of the point."""
    order = np.argsort(points, kind="stable")
    points, surfaces = points[order], surfaces[order]
    keys = []
    for end in (0, 1):
        at = mesh.edges[:, end]
        first, last = np.searchsorted(points, at, "left"), np.searchsorted(points, at, "right")
        edge = np.repeat(np.arange(len(at), dtype=np.int64), last - first)
        place = np.arange(len(edge), dtype=np.int64) - np.repeat(np.cumsum(last - first, dtype=np.int64), last - first)
        keys.append(edge_keys(mesh, mesh.edges[edge], surfaces[place + np.repeat(last, last - first)]))
    return np.concatenate(keys)


def _point_and_surface(mesh: ContactMesh, vertices: Indices) -> tuple[Indices, Indices]:
    """Returns the points of pairs and the surfaces of their triangles, (k,) each."""
    return vertices[:, 0], mesh.surface[vertices[:, 1]]


def _edges_and_surfaces(
    mesh: ContactMesh, vertices: Indices
) -> tuple[tuple[Indices, Indices], tuple[Indices, Indices]]:
    """Returns both edges of pairs, (k, 2), each with the surface of the other one, (k,)."""
    one, other = mesh.surface[vertices[:, 0]], mesh.surface[vertices[:, 2]]
    return (vertices[:, :2], other), (vertices[:, 2:], one)


def _is_in(keys: Keys, known: Keys) -> Bools:
    """Returns which keys are among rising ones, (k,)."""
    if not len(known):
        return np.zeros(len(keys), bool)
    return known[np.minimum(np.searchsorted(known, keys), len(known) - 1)] == keys
