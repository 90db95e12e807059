# SPDX-License-Identifier: GPL-3.0-or-later
"""Pairs that may come close, kept while no vertex leaves its box.

There are two sizes of boxes. Trees of features are searched some times in a step, for pairs of wide boxes. Among
these those of narrow boxes are what iterations of Newton's method look at; where a vertex leaves its narrow box and
stays in its wide one, they are picked out anew, without trees.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...runtime.arrays import Bools, Floats
from ...runtime.jit import kernel
from .conservative_advancement import POINT_TRIANGLE
from .contact_mesh import ContactMesh, close_pairs
from .contact_potential import PairStencils, pair_stencils
from .excluded_features import ExcludedFeatures
from .pair_thickness import with_thickness

Groups = tuple[PairStencils, PairStencils]


class VertexBoxes(NamedTuple):
    """A box for each vertex.

    Attributes:
        lower, upper: Corners [m], (n, 3).
    """

    lower: Floats
    upper: Floats

    @staticmethod
    def around(start: Floats, end: Floats, margin: float) -> VertexBoxes:
        """Returns boxes around straight paths, and what is closer than `margin` [m] along each axis."""
        return VertexBoxes(np.minimum(start, end) - margin, np.maximum(start, end) + margin)

    def grown(self, margin: float | Floats) -> VertexBoxes:
        """Returns boxes larger by `margin` [m] on all sides, one for all or (n, 1)."""
        return VertexBoxes(self.lower - margin, self.upper + margin)

    def united(self, other: VertexBoxes) -> VertexBoxes:
        """Returns boxes around both."""
        return VertexBoxes(np.minimum(self.lower, other.lower), np.maximum(self.upper, other.upper))

    def contain(self, other: VertexBoxes) -> bool:
        """Returns whether all other boxes are within these."""
        return bool(are_within(other, self))


class PairSearch:
    """Searches of one step.

    Iterations of Newton's method move vertices about where the first of them went, so one search does for many.
    """

    def __init__(
        self,
        mesh: ContactMesh,
        reach: float,
        margin: float,
        excluded: ExcludedFeatures | None = None,
        begin: Floats | None = None,
        *,
        wide_margin: float | None = None,
        expected: tuple[Floats, Floats] | None = None,
    ) -> None:
        """Begins without pairs.

        Args:
            mesh: The surfaces.
            reach: Distance of pairs beyond their thickness [m].
            margin: How far vertices may leave the paths of a search before pairs are picked out anew [m].
            excluded: What is not kept apart.
            begin: Vertices where the step begins [m], (n, 3); None: where the simulation does.
            wide_margin: How far beyond that until trees are searched again [m]; None: `margin`.
            expected: Both ends of paths that are likely [m], (n, 3) each; None: none are known.
        """
        self._mesh, self._reach, self._margin = mesh, reach, margin
        self._wide_margin = margin if wide_margin is None else wide_margin
        self._expected = None if expected is None else VertexBoxes.around(*expected, margin)
        self._boxes: VertexBoxes | None = None
        self._wide_boxes: VertexBoxes | None = None
        self._wide: Groups | None = None
        self._found: Groups | None = None
        self._kept: Groups | None = None
        self.excluded = excluded or ExcludedFeatures()
        self._begin = mesh.start if begin is None else begin
        self._has_thickness = (mesh.thickness[:, None] + mesh.thickness) > 0.0
        self._vertex_thickness = mesh.thickness[mesh.surface][:, None]

    def pairs(self, start: Floats, end: Floats) -> Groups:
        """Returns at least the pairs that come closer than `reach` on straight paths [m], (n, 3) each.

        Those that are excluded are not among them.
        """
        found, kept = self.all_pairs(start, end), self._kept
        if kept is None:
            kept = self._kept = self.excluded.kept(self._mesh, found[0]), self.excluded.kept(self._mesh, found[1])
        return kept

    def all_pairs(self, start: Floats, end: Floats) -> Groups:
        """Returns the same with those that are excluded."""
        found = self._found
        if found is None or self._boxes is None or not paths_are_within(start, end, self._boxes):
            boxes = self._boxes = VertexBoxes.around(start, end, self._margin)
            wide, thick = self._wide_pairs(boxes), boxes.grown(self._vertex_thickness)
            found = self._found = self._narrow(wide[0], thick), self._narrow(wide[1], thick)
            self._kept = None
        return found

    def _with_thickness(self, pairs: PairStencils) -> PairStencils:
        if not self._has_thickness.any():
            return pairs
        return with_thickness(self._mesh, pairs, self._begin, self._reach, self._has_thickness)

    def give_up_thickness(self, owners: Bools) -> bool:
        """No longer keeps a thickness between some bodies and colliders.

        Args:
            owners: Between which, symmetric, (s, s).

        Returns:
            Whether any of them had some.
        """
        had_some = bool((owners & self._has_thickness).any())
        if had_some:
            self._has_thickness = self._has_thickness & ~owners
            self._found = self._wide = None
        return had_some

    def exclude(self, features: ExcludedFeatures) -> None:
        """No longer returns what is excluded by some further features."""
        self.excluded, self._kept = self.excluded.united(features), None

    def _wide_pairs(self, boxes: VertexBoxes) -> Groups:
        """Returns at least the pairs of features whose boxes come closer than `reach`."""
        wide, known = self._wide, self._wide_boxes
        if wide is None or known is None or not known.contain(boxes):
            known = self._wide_boxes = self._widened(boxes)
            one, other = pair_stencils(self._mesh, close_pairs(self._mesh, known.lower, known.upper, self._reach))
            wide = self._wide = self._with_thickness(one), self._with_thickness(other)
        return wide

    def _widened(self, boxes: VertexBoxes) -> VertexBoxes:
        wide = boxes.grown(self._wide_margin)
        return wide if self._expected is None else wide.united(self._expected)

    def _narrow(self, group: PairStencils, boxes: VertexBoxes) -> PairStencils:
        rows = np.empty(len(group.vertices), np.int32)
        first = 1 if group.kind == POINT_TRIANGLE else 2
        return group.select(rows[: pick_close_boxes(group.vertices, first, boxes, self._reach, rows)])


@kernel()
def pick_close_boxes(vertices, first, boxes, reach, rows):
    """Writes the rows of pairs of features whose boxes are closer than `reach` [m] along all axes; returns how many.

    Args:
        vertices: Four of each pair, (k, 4).
        first: How many of them are those of its first feature.
        boxes: `VertexBoxes`.
        reach: Distance [m].
        rows: Out, (k,).
    """
    count = 0
    for pair in range(len(vertices)):
        is_close = True
        for axis in range(3):
            low, high, other_low, other_high = np.inf, -np.inf, np.inf, -np.inf
            for corner in range(4):
                vertex = vertices[pair, corner]
                if corner < first:
                    low, high = min(low, boxes.lower[vertex, axis]), max(high, boxes.upper[vertex, axis])
                else:
                    other_low = min(other_low, boxes.lower[vertex, axis])
                    other_high = max(other_high, boxes.upper[vertex, axis])
            if low - reach > other_high or high + reach < other_low:
                is_close = False
                break
        if is_close:
            rows[count] = pair
            count += 1
    return count


@kernel()
def paths_are_within(start, end, boxes):
    """Returns whether all straight paths [m], (n, 3) each, are within their `VertexBoxes`."""
    for vertex in range(len(start)):
        for axis in range(3):
            low, high = min(start[vertex, axis], end[vertex, axis]), max(start[vertex, axis], end[vertex, axis])
            if low < boxes.lower[vertex, axis] or high > boxes.upper[vertex, axis]:
                return False
    return True


@kernel()
def are_within(inner, outer):
    """Returns whether all `VertexBoxes` are within others."""
    for vertex in range(len(inner.lower)):
        for axis in range(3):
            if inner.lower[vertex, axis] < outer.lower[vertex, axis]:
                return False
            if inner.upper[vertex, axis] > outer.upper[vertex, axis]:
                return False
    return True
