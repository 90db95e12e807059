# SPDX-License-Identifier: GPL-3.0-or-later
"""Where drawn edges end: at the nearest places of a body and of one of its targets, by the smallest sum of distances.

An empty, or a bone without a mesh, carries the ends of edges as they are at rest, however far they are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ...mechanics.model import Model
from ...mesh.embedding import bind
from ...mesh.geometry.signed_distance_derivatives import MovingSurface
from ...runtime.arrays import Bools, Floats, Indices, floats, indices
from ...runtime.errors import BadInput, SolveFailed
from ...scene.attachment import FRAME, Attachment, padded
from .attachable_bodies import NO_INDICES, NO_PLACES, AttachableBodies, TargetSurfaces
from .sheet_anchors import anchor_on_sheet
from .target_surface import TargetSurface

FRAME_NAME = "its empty or bone"  # what messages call a place without a name


@dataclass(frozen=True, eq=False)
class SurfacePlaces:
    """Places of a surface that are nearest to ends of edges, k of them.

    Attributes:
        surface: The surface.
        triangle, weights: The triangles and barycentric weights in these, (k,) and (k, 3).
        positions: At rest [m], (k, 3).
        distance: From the ends [m], (k,).
    """

    surface: TargetSurface
    triangle: Indices
    weights: Floats
    positions: Floats
    distance: Floats

    @property
    def corners(self) -> Indices:
        """Vertices of the triangles, (k, 3)."""
        return self.surface.surface.triangles[self.triangle]

    def select(self, which: Indices) -> SurfacePlaces:
        """Returns some of the places."""
        return SurfacePlaces(
            self.surface, self.triangle[which], self.weights[which], self.positions[which], self.distance[which]
        )

    def at_ends(self, end: Indices) -> SurfacePlaces:
        """Returns the places of end 0 or 1 of each edge, (e,), where these are those of both, one after the other."""
        return self.select(indices(2 * np.arange(len(end), dtype=np.int64) + end))

    def painted(self, paint: Floats) -> Floats:
        """Returns what is painted at the vertices, (v,), at the places, (k,)."""
        return np.einsum("kc,kc->k", paint[self.corners], self.weights)

    def in_tets(self, model: Model) -> tuple[Indices, Floats]:
        """Returns the tets of the model that carry the places, (k,), and weights in these, (k, 4).

        There are none, (0,) and (0, 4), where no body moves the surface.
        """
        if self.surface.body is None:
            return NO_INDICES, NO_PLACES
        if self.surface.is_sheet:
            return anchor_on_sheet(model, self.surface, self.triangle, self.weights)
        tets = model.bodies[self.surface.body].tets
        found = bind(model.X, model.tets[tets], self.positions)
        return indices(found.tet + np.int32(tets.start)), floats(found.weights)


@dataclass(frozen=True, eq=False)
class PlacedEdges:
    """Edges of a row between their places on a body or collider and on targets, e of them.

    Attributes:
        edges: Their ends as drawn [m], (e, 2, 3).
        own: Nearest places of the body to both ends, one after the other, 2 e of them.
        first: Which of its ends each has at the body, (e,).
        target: The number of the target that each ends at, (e,).
        begins: Its places on the body.
        ends: Its places on each target, of those that end there.
        distance: How far it ends from its target [m], (e,).
    """

    edges: Floats
    own: SurfacePlaces
    first: Indices
    target: Indices
    begins: SurfacePlaces
    ends: tuple[SurfacePlaces, ...]
    distance: Floats

    def are_near(self, reach: float) -> Bools:
        """Returns which edges end less than the reach [m] from the body and from their target, (e,)."""
        return np.asarray((self.begins.distance < reach) & (self.distance < reach))

    def strengths(self, attachments: Sequence[Attachment], bodies: AttachableBodies) -> Floats:
        """Returns the product of what is painted at both ends of each edge, 1 where nothing is, (e,)."""
        paint, count = attachments[0].paint, len(self.edges)
        strength = self.begins.painted(paint) if len(paint) else np.ones(count)
        for number, (attachment, ends) in enumerate(zip(attachments, self.ends, strict=True)):
            if len(attachment.target_paint):
                vertices = len(bodies.rest_vertices(ends.surface))
                painted = ends.painted(padded(attachment.target_paint, vertices, ends.surface.first_vertex))
                strength = np.where(self.target == number, strength * painted, strength)
        return floats(strength)

    def check_reach(self, name: str, reach: float) -> None:
        """Raises BadInput where an edge ends too far from the body of this name, or from its target."""
        farthest = np.maximum(self.begins.distance, self.distance)
        worst = int(np.argmax(farthest))
        if farthest[worst] < reach:
            return
        target, first = self.ends[int(self.target[worst])].surface.name, int(self.first[worst])
        is_at_target = bool(self.distance[worst] >= self.begins.distance[worst])
        end = self.edges[worst, 1 - first if is_at_target else first]
        words = {"name": name, "target": target, "place": ", ".join(f"{value:.3g}" for value in end)}
        if is_at_target and (self.own.distance[2 * worst : 2 * worst + 2] < reach).all():
            raise BadInput("edge-on-one-body", **words)
        lengths = {"distance": f"{float(farthest[worst]):.3g}", "reach": f"{reach:.3g}"}
        raise BadInput("edge-out-of-reach", other=target if is_at_target else name, **words, **lengths)


def place_edges(
    bodies: AttachableBodies, own: TargetSurface, attachments: Sequence[Attachment], targets: TargetSurfaces, key: str
) -> PlacedEdges:
    """Returns the edges of one row between a surface and that of the nearest target.

    Args:
        bodies: All bodies.
        own: The surface that has the row.
        attachments: The row, to each of its targets, at least one.
        targets: Finds their surfaces.
        key: Beginning of the names of its tracks.

    Raises:
        SolveFailed: An empty has no size.
    """
    edges = floats(attachments[0].edges, -1, 2, 3)
    begins = _nearest_places(own, bodies.rest_vertices(own), edges)
    surfaces = [_end_surface(bodies, targets, each.target, edges, key) for each in attachments]
    found = [_nearest_places(each, bodies.rest_vertices(each), edges) for each in surfaces]
    # sums of both distances of each edge, by target and by which of its ends is at the body
    both = [each.distance.reshape(-1, 2) for each in (begins, *found)]
    sums = np.stack([both[0] + each[:, ::-1] for each in both[1:]], axis=1)
    target, first = map(indices, np.divmod(np.argmin(sums.reshape(len(edges), -1), axis=1), 2))
    ends = tuple(each.at_ends(1 - first) for each in found)
    distance = np.stack([each.distance for each in ends], axis=1)[np.arange(len(edges), dtype=np.int64), target]
    return PlacedEdges(edges, begins, first, target, begins.at_ends(first), ends, distance)


def _nearest_places(surface: TargetSurface, vertices: Floats, edges: Floats) -> SurfacePlaces:
    """Returns the places of a surface with vertices at rest [m], (v, 3), that are nearest to both ends of all edges."""
    points = floats(edges.reshape(-1, 3))
    if surface.carries_ends:
        triangle, distance = np.arange(len(points), dtype=np.int32), np.zeros(len(points))
        weights = np.tile([1.0, 0.0, 0.0], (len(points), 1))
    else:
        found = surface.surface.at(vertices).distances(points)
        triangle, weights, distance = found.triangle, found.weights, np.abs(found.distance)
    positions = np.einsum("kc,kci->ki", weights, vertices[surface.surface.triangles[triangle]])
    return SurfacePlaces(surface, triangle, weights, positions, distance)


def _end_surface(
    bodies: AttachableBodies, targets: TargetSurfaces, target: str, edges: Floats, key: str
) -> TargetSurface:
    """Returns the surface of a target, or the ends themselves where what has none carries them."""
    scene = bodies.scene
    line = next((bone for bone in scene.bones if bone.key == target and not len(bone.triangles)), None)
    if target != FRAME and line is None:
        return targets.find(target)
    ends = edges.reshape(-1, 1, 3) + np.concatenate([np.zeros((1, 3)), np.eye(3)[:2]])  # a triangle at each
    vertices = floats(ends.reshape(-1, 3))
    triangles = np.arange(len(vertices), dtype=np.int32).reshape(-1, 3)
    name, track, local = (line.name, f"bone.{line.key}", vertices) if line is not None else (FRAME_NAME, key, vertices)
    if line is None and bodies.tracks.has(f"{key}.matrix"):
        M, owner = bodies.tracks.sample(f"{key}.matrix", scene.settings.start_time), key.split(".")[1]
        if not np.isfinite(M).all() or np.linalg.det(M[:3, :3]) == 0.0:
            name = next(body.name for body in scene.bodies if body.key == owner)
            raise SolveFailed("hook-not-finite", name=name, time=round(scene.settings.start_time, 3))
        local = floats(np.linalg.solve(M[:3, :3], (vertices - M[:3, 3]).T).T)
    surface = MovingSurface(vertices, triangles)
    return TargetSurface(name, None, surface, NO_INDICES, NO_PLACES, local, track, vertices, carries_ends=True)
