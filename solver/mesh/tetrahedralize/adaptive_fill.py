# SPDX-License-Identifier: GPL-3.0-or-later
"""Adaptive tets: whole tets of the body-centred lattice that cover a surface and its inside, small where it matters.

Tets are taken and filled as in `lattice_fill.py`. The tets of the largest lattice become eight, level by level, while
one of these holds:
- The surface touches a tet that is larger than twice the smallest ones.
- A tet is so large and so near to the surface that its depth is less than `MIN_DEPTH_RATIO` of its size.
- The surface bends within it by more than `MAX_BEND_ANGLE`: edges, tips, folds, both sides of what is thin.
- Small tets are asked for where it is (`FineRegions`), or pins end there (`simulation/pin_borders.py`).

The first two stop at twice the size of the smallest tets: flat parts of the surface have tets of that size. What a fold
or a painted part gets is small as far as the surface touches.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ...runtime.arrays import Bools, Floats
from ...scene.fine_regions import FineRegions
from ...scene.scene import Meshing
from ..geometry.closest_point import closest_points
from ..geometry.nearest_points import PointSearch
from ..geometry.surface_paint import PAINT_THRESHOLD
from ..geometry.triangle_bvh import Bvh
from ..geometry.triangle_surface import Surface
from ..geometry.winding_number import winding_numbers
from ..tet_mesh import FilledTets
from .adaptive_lattice import Keys, PointNumbering, find_t_junctions, multiply_out, refine
from .bcc_lattice import lattice_around
from .inside_classification import INSIDE_WINDING
from .surface_in_tets import SHEET_MARK, SurfaceInTets, find_surface_in_tets
from .surface_lattice_overlap import TOUCH_TOLERANCE
from .surface_samples import sample_triangles
from .tet_size import tet_size
from .volume_fraction import SHEET_FILLED_FRACTION, filled_fractions, sheet_faces

MIN_DEPTH_RATIO = 1.0  # of the depth of a tet's middle to its size
MAX_BEND_ANGLE = 45.0  # [degrees]
PLACE_SPACING = 0.5  # of the smallest tets, between points of faces near which tets are small
EDGE_REACH = 1.0  # of the smallest tets, from edges at which tets are small
CIRCUMRADIUS = math.sqrt(5.0) / 4.0  # of the size of a tet, from its middle
MAX_BEND = 2.0 * math.sin(math.radians(0.5 * MAX_BEND_ANGLE))  # of unit normals


@dataclass(frozen=True)
class _Tets:
    """Tets of one level.

    Attributes:
        points: Their corners, (m, 4).
        marks: How the surface touches them, (m,).
        nodes_inside: How many of their corners are inside, (m,).
    """

    points: Keys
    marks: np.ndarray
    nodes_inside: np.ndarray

    def select(self, which: Bools) -> _Tets:
        """Returns some of them."""
        return _Tets(self.points[which], self.marks[which], self.nodes_inside[which])


class SplitCriteria:
    """Says which tets are too large."""

    def __init__(self, surface: Surface, bvh: Bvh, fine: FineRegions, finest: float) -> None:
        """Takes the surface, its tree, where small tets are asked for, and their size [m]."""
        self._finest = finest
        self._bvh = bvh
        painted = fine.paint > PAINT_THRESHOLD if len(fine.paint) else np.zeros(len(surface.vertices), np.bool_)
        self.fine_faces: Bools = painted[surface.triangles].any(axis=1)[bvh.order]
        spacing = PLACE_SPACING * finest
        on_faces, _ = sample_triangles(fine.places[fine.triangles], spacing)
        on_edges = _points_along(surface.vertices[fine.edges], spacing)
        near = (np.concatenate([fine.places, on_faces]), fine.reach), (on_edges, EDGE_REACH * finest)
        self._near = [(PointSearch(points), reach) for points, reach in near if len(points)]

    def too_large(self, corners: Floats, found: SurfaceInTets, size: float) -> Bools:
        """Returns which tets become eight, (m,), for their corners [m], (m, 4, 3), and size [m]."""
        out = ((found.bend > MAX_BEND) & (found.marks > 0)) | found.is_fine
        middles = corners.mean(axis=1)
        if size > 2.5 * self._finest:  # rounded: all sizes are the smallest one by a power of two
            out |= found.marks > 0
            deep = np.flatnonzero(~out)
            out[deep] = closest_points(self._bvh, middles[deep], MIN_DEPTH_RATIO * size).triangle >= 0
        for points, reach in self._near:
            rest = np.flatnonzero(~out)
            distance, _ = points.nearest(middles[rest], 1, reach + CIRCUMRADIUS * size)
            out[rest] = np.isfinite(distance[:, 0])
        return out


def _points_along(lines: Floats, spacing: float) -> Floats:
    """Returns points of lines [m], (e, 2, 3), their ends among them, no farther apart than `spacing` [m], (k, 3)."""
    starts, ends = lines[:, 0], lines[:, 1]
    count = np.ceil(np.linalg.norm(ends - starts, axis=1) / spacing).astype(np.int64) + 1
    line = np.repeat(np.arange(len(count), dtype=np.int64), count)
    step = np.arange(len(line), dtype=np.int64) - np.repeat(np.cumsum(count, dtype=np.int64) - count, count)
    share = (step / np.maximum(count - 1, 1)[line])[:, None]
    return (1.0 - share) * starts[line] + share * ends[line]


def fill_adaptively(surface: Surface, bvh: Bvh, meshing: Meshing, is_closed: bool) -> FilledTets:
    """Covers a surface and its inside with tets of several sizes.

    Args:
        surface: The surface, outward.
        bvh: Its tree.
        meshing: Size of the smallest tets, how much larger others may be, and where they are small.
        is_closed: Whether the surface has no border.
    """
    finest, levels = tet_size(surface, meshing), meshing.coarsest_size.bit_length() - 1
    numbering = PointNumbering(lattice_around(*surface.bounds, finest * 2**levels), levels)
    criteria = SplitCriteria(surface, bvh, meshing.fine or FineRegions(), finest)
    is_sheet = sheet_faces(bvh, is_closed)
    kept, points = [], list[Keys]()
    tets = numbering.coarse_tets()
    may_cross = np.ones(len(tets), np.bool_)
    for level in range(levels + 1):
        size = numbering.size(level)
        found = surface_in_some(numbering, tets, may_cross, bvh, is_sheet, criteria.fine_faces, TOUCH_TOLERANCE * size)
        inside = count_nodes_inside(numbering, tets, may_cross, bvh)
        is_taken = (found.marks > 0) | (inside > 0)
        tets, found, inside = tets[is_taken], found.select(is_taken), inside[is_taken]
        own = _Tets(tets, found.marks, inside)
        if level == levels:
            kept.append(own)
            break
        splits = criteria.too_large(numbering.positions(tets), found, size)
        kept.append(own.select(~splits))
        parents = own.select(splits)
        tets = refine(parents.points)
        points.append(np.unique(tets))
        may_cross = np.repeat((parents.marks > 0) | (parents.nodes_inside < 4), 8)
    return _filled_tets(numbering, kept, points, bvh)


def surface_in_some(
    numbering: PointNumbering, tets: Keys, some: Bools, bvh: Bvh, is_sheet: Bools, is_fine: Bools, slack: float
) -> SurfaceInTets:
    """Returns what of the surface is in tets, (m, 4), of which only some can have any."""
    found = find_surface_in_tets(numbering.positions(tets[some]), bvh, is_sheet, is_fine, slack)
    out = SurfaceInTets(np.zeros(len(tets), np.uint8), np.zeros(len(tets), np.bool_), np.zeros(len(tets)))
    for values, part in zip(out, found, strict=True):
        values[some] = part
    return out


def count_nodes_inside(numbering: PointNumbering, tets: Keys, some: Bools, bvh: Bvh) -> np.ndarray:
    """Returns how many corners of tets are inside, (m,), of which all but some are inside with all."""
    out = np.full(len(tets), 4, np.int8)
    points, place = np.unique(tets[some], return_inverse=True)
    is_inside = winding_numbers(bvh, numbering.positions(points)) > INSIDE_WINDING
    out[some] = is_inside[place.reshape(-1, 4)].sum(axis=1)
    return out


def _filled_tets(numbering: PointNumbering, kept: list[_Tets], refined: list[Keys], bvh: Bvh) -> FilledTets:
    """Returns the tets of all levels in the order of their places, their nodes numbered in the same way."""
    tets = np.concatenate([each.points for each in kept])
    marks = np.concatenate([each.marks for each in kept])
    inside = np.concatenate([each.nodes_inside for each in kept])
    order = np.argsort(tets.sum(axis=1), kind="stable")
    tets, marks, inside = tets[order], marks[order], inside[order]
    used = np.unique(tets)
    nodes = numbering.positions(used)
    number = np.searchsorted(used, tets).astype(np.int32)
    edges = np.swapaxes(nodes[number[:, 1:]] - nodes[number[:, :1]], 1, 2)
    number = np.where((np.linalg.det(edges) < 0.0)[:, None], number[:, [0, 1, 3, 2]], number)
    points = np.unique(np.concatenate([np.zeros(0, np.int64), *refined]))
    junctions = find_t_junctions([each.points for each in kept], points)
    fill = filled_shares(nodes[number], marks, inside, bvh)
    return FilledTets(nodes, np.ascontiguousarray(number), fill, multiply_out(*junctions, used, numbering.levels))


def filled_shares(corners: Floats, marks: np.ndarray, nodes_inside: np.ndarray, bvh: Bvh) -> Floats:
    """Returns the filled shares of tets, (m,), with corners [m], (m, 4, 3).

    Args:
        corners: Of tets that the surface touches, or that have corners inside.
        marks: How the surface touches them, (m,).
        nodes_inside: How many of their corners are inside, (m,).
        bvh: The surface.
    """
    fill, is_sheet = np.ones(len(corners)), marks == SHEET_MARK
    fill[is_sheet] = SHEET_FILLED_FRACTION
    partly = np.flatnonzero(((marks > 0) | (nodes_inside < 4)) & ~(is_sheet & (nodes_inside == 0)))
    fill[partly] = filled_fractions(corners[partly], partly, is_sheet[partly], bvh)
    return fill
