# SPDX-License-Identifier: GPL-3.0-or-later
"""Cuts tets by planes, slowly: what is in each copy of a tet is a polyhedron, which every plane clips.

Copies hang together across a face where both have material of the same side of the plane at it.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from sinew.solver.mesh.cut_tets import CutTets
from sinew.solver.mesh.embedding import Binding
from sinew.solver.mesh.geometry.connected_components import mesh_components
from sinew.solver.simulation.cutting.cut_skin import CutSkin

FACES = ((1, 2, 3), (0, 3, 2), (0, 1, 3), (0, 2, 1))
CUT_FACE = -1


@dataclass
class Polyhedron:
    """Convex material of a copy: polygons, outward, each with the number of the tet's face that it lies on."""

    polygons: list[np.ndarray]
    faces: list[int]

    def clipped(self, normal: np.ndarray, offset: float) -> Polyhedron | None:
        """Returns what is above a plane; None: nothing."""
        polygons, faces, rim = [], [], []
        for polygon, face in zip(self.polygons, self.faces, strict=True):
            h = polygon @ normal - offset
            kept = []
            for k in range(len(h)):
                after = (k + 1) % len(h)
                if h[k] >= 0.0:
                    kept.append(polygon[k])
                if h[k] == 0.0:
                    rim.append(polygon[k])
                if h[k] * h[after] < 0.0:
                    share = h[k] / (h[k] - h[after])
                    kept.append(polygon[k] + share * (polygon[after] - polygon[k]))
                    rim.append(kept[-1])
            if h.max() > 0.0:
                polygons.append(np.array(kept))
                faces.append(face)
        if not polygons:
            return None
        if all((polygon @ normal - offset >= 0.0).all() for polygon in self.polygons):
            return self
        points = np.array(rim)
        middle = points.mean(axis=0)
        along = np.eye(3)[np.argmin(np.abs(normal))]
        first = np.cross(normal, along)
        second = np.cross(normal, first)
        order = np.argsort(np.arctan2((points - middle) @ second, (points - middle) @ first))[::-1]
        return Polyhedron([*polygons, points[order]], [*faces, CUT_FACE])

    def volume(self) -> float:
        """Returns its volume [m³]."""
        at, total = self.polygons[0][0], 0.0
        for polygon in self.polygons:
            for k in range(1, len(polygon) - 1):
                a, b, c = polygon[0] - at, polygon[k] - at, polygon[k + 1] - at
                total += a @ np.cross(b, c) / 6.0
        return total


@dataclass
class PlaneCutter:
    """A body that planes cut one after the other.

    Attributes:
        X: Rest positions of its nodes as it was built [m], (n, 3).
        whole: Its tets as it was built, (m, 4).
        parts: The material of every copy now, and the tet that it is a copy of.
    """

    X: np.ndarray
    whole: np.ndarray
    parts: list[tuple[Polyhedron, int]] = field(default_factory=list)

    def __post_init__(self) -> None:
        if not self.parts:
            for number, tet in enumerate(self.whole):
                self.parts.append((Polyhedron([self.X[tet[list(face)]] for face in FACES], [0, 1, 2, 3]), number))

    def cut(
        self,
        tets: np.ndarray,
        normal: np.ndarray,
        offset: float,
        reaches: Callable[[np.ndarray], bool] = lambda middle: True,
    ) -> CutTets:
        """Returns the copies that the plane n · x = offset makes of all copies now.

        Args:
            tets: Their nodes, (k, 4).
            normal, offset: The plane.
            reaches: Whether the blade reaches the tet with its middle at a place at rest; others stay whole.
        """
        normal = np.asarray(normal, float)
        parts, parent, side, filled = [], [], [], []
        for number, (part, tet) in enumerate(self.parts):
            found = [(s, part.clipped(s * normal, s * offset)) for s in (1.0, -1.0)]
            if not reaches(self.X[self.whole[tet]].mean(axis=0)) and all(piece is not None for _, piece in found):
                found = [(0.0, part)]
            found = [(s, piece) for s, piece in found if piece is not None and piece.volume() > 0.0]
            volumes = np.array([piece.volume() for _, piece in found])
            for (s, piece), share in zip(found, volumes / volumes.sum(), strict=True):
                parts.append((piece, tet))
                parent.append(number)
                side.append(s)
                filled.append(share)
        at = np.asarray(tets)[parent]
        label = self._united_corners(at, parts, side)
        self.parts = parts
        return _numbered(at, label, np.array(parent, np.int32), np.array(filled), int(np.max(tets)) + 1)

    @staticmethod
    def _united_corners(at: np.ndarray, parts: list, side: list) -> np.ndarray:
        """Returns a number of each corner of copies, (k, 4), the same where a node is shared."""
        label = np.arange(4 * len(at))

        def root(corner: int) -> int:
            while label[corner] != corner:
                corner = label[corner]
            return corner

        at_face: dict[tuple, list[tuple[int, int]]] = {}
        for copy, ((part, _), s) in enumerate(zip(parts, side, strict=True)):
            for face in set(part.faces) - {CUT_FACE}:
                nodes = tuple(sorted(at[copy][list(FACES[face])].tolist()))
                for half in (1.0, -1.0):
                    if s != -half:  # a tet that stays whole has both
                        at_face.setdefault((nodes, half), []).append((copy, face))
        for sharing in at_face.values():
            for (a, face), (b, other) in itertools.pairwise(sharing):
                for c, d in itertools.product(FACES[face], FACES[other]):
                    if at[a][c] == at[b][d]:
                        one, two = sorted((root(4 * a + c), root(4 * b + d)))
                        label[two] = one
        return np.array([root(corner) for corner in range(len(label))]).reshape(-1, 4)

    def holders(self, points: Binding, tets: CutTets, before: list, normal: np.ndarray, offset: float) -> np.ndarray:
        """Returns the copies that hold points bound in the tets before a cut, (k,), by the side that they are on.

        Args:
            points: In the copies before.
            tets: The copies now.
            before: `parts` before.
            normal, offset: The plane.
        """
        copies: dict[int, list[int]] = {}
        for copy, parent in enumerate(tets.parent.tolist()):
            copies.setdefault(parent, []).append(copy)
        out = []
        for tet, weights in zip(points.tet.tolist(), points.weights, strict=True):
            own = copies[tet]
            place = weights @ self.X[self.whole[before[tet][1]]]
            heights = [self._middle(copy) @ normal - offset for copy in own]
            above = place @ np.asarray(normal) - offset >= 0.0
            out.append(next((copy for copy, h in zip(own, heights, strict=True) if (h >= 0.0) == above), own[0]))
        return np.array(out, np.int32)

    def skin(self, tets: CutTets, before: np.ndarray) -> CutSkin:
        """Returns the closed surface of all pieces: outer faces of the whole body, and cut faces.

        Args:
            tets: The copies now.
            before: Vertices at rest of the skin before [m], (v, 3).
        """
        piece = mesh_components(tets.tets, len(tets.origin))[tets.tets[:, 0]]
        faces = np.sort(self.whole[:, FACES].reshape(-1, 3), axis=1)
        _, kind, count = np.unique(faces, axis=0, return_inverse=True, return_counts=True)
        is_outer = (count[kind.ravel()] == 1).reshape(-1, 4)
        place: dict[tuple, int] = {}
        rest, holder, triangles = [], [], []
        for copy, (part, tet) in enumerate(self.parts):
            for polygon, face in zip(part.polygons, part.faces, strict=True):
                if face != CUT_FACE and not is_outer[tet, face]:
                    continue
                ring = []
                for point in polygon:
                    name = (int(piece[copy]), *np.round(point, 9).tolist())
                    if name not in place:
                        place[name] = len(rest)
                        rest.append(point)
                        holder.append(copy)
                    if place[name] not in ring:
                        ring.append(place[name])
                triangles += [[ring[0], ring[k], ring[k + 1]] for k in range(1, len(ring) - 1)]
        return self._sorted_skin(np.array(rest), np.array(holder), np.array(triangles), before)

    def _sorted_skin(self, rest: np.ndarray, holder: np.ndarray, triangles: np.ndarray, before: np.ndarray) -> CutSkin:
        """Returns a skin whose vertices that were there before come first."""
        known = {tuple(np.round(point, 9).tolist()): number for number, point in reversed(list(enumerate(before)))}
        source = np.array([known.get(tuple(np.round(point, 9).tolist()), -1) for point in rest])
        _, first = np.unique(source, return_index=True)
        is_first = np.zeros(len(source), bool)
        is_first[first] = True
        source = np.where(is_first, source, -1)
        order = np.argsort(np.where(source >= 0, source, len(before)), kind="stable")
        number = np.empty_like(order)
        number[order] = np.arange(len(order))
        rest, holder = rest[order], holder[order]
        corners = self.X[self.whole[[self.parts[copy][1] for copy in holder]]]
        edges = np.swapaxes(corners[:, 1:] - corners[:, :1], 1, 2)
        three = np.linalg.solve(edges, (rest - corners[:, 0])[:, :, None])[:, :, 0]
        return CutSkin(
            rest=rest,
            tet=holder.astype(np.int32),
            weights=np.concatenate([1.0 - three.sum(axis=1, keepdims=True), three], axis=1),
            triangles=number[triangles].astype(np.int32),
            vertex_source=source[order].astype(np.int32),
            triangle_source=np.full(len(triangles), -1, np.int32),
        )

    def _middle(self, copy: int) -> np.ndarray:
        return np.concatenate(self.parts[copy][0].polygons).mean(axis=0)


def _numbered(at: np.ndarray, label: np.ndarray, parent: np.ndarray, filled: np.ndarray, node_count: int) -> CutTets:
    """Returns copies whose nodes are numbered: the first copy of each node keeps its number."""
    number: dict[int, int] = {}
    taken, origin = set(), list(range(node_count))
    for corner, node in zip(label.ravel().tolist(), at.ravel().tolist(), strict=True):
        if corner in number:
            continue
        if node not in taken:
            taken.add(node)
            number[corner] = node
        else:
            number[corner] = len(origin)
            origin.append(node)
    tets = np.array([number[corner] for corner in label.ravel().tolist()], np.int32).reshape(-1, 4)
    return CutTets(tets, parent, np.array(origin, np.int32), filled)
