# SPDX-License-Identifier: GPL-3.0-or-later
"""Fibres between curves that are drawn over or through a muscle, such as hair strands.

Each tet has the first eigenvector of a tensor that is fitted to those of the nearest strands, d dᵀ with their tangents
d, so that strands drawn in opposite directions do not cancel. The fit is affine in the place, A + B q, where q is zero
in the tet; a penalty on B keeps it bounded where strands are few. Its weights are w = (1/r − 1/R)² for a strand
at a distance r, where R is that of the farthest point that counts. What lies behind an aponeurosis does not count.

Source: Franke and Nielson 1980, for the weights.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ....mesh.geometry.nearest_points import PointSearch
from ....mesh.moving_least_squares import vertex_per_cell
from ....runtime.arrays import Bools, Floats, Indices, floats
from ....runtime.errors import BadInput
from .aponeurosis_planes import APONEUROSIS_SHARE
from .direction_tensors import principal_directions

NEAREST_POINTS, MAX_STRANDS = 96, 12  # around a tet; where these do not surround it, of ever fewer points
THINNING = 2.0  # by which the distance of the points then grows
SURROUNDINGS = 2.0  # distance up to which strands have to be known, over that of the nearest one
SLOPE_PENALTY = 0.01  # of B, over the mean square of q
HIDDEN_SLOPE_PENALTY = 10.0  # beside an aponeurosis, at which fibres change their direction at once
TETS_AT_A_TIME = 5_000
TINY = 1.0e-9  # distance of a strand that counts at least, in tets
MIN_CONTRAST = 0.1  # (λ1 − λ2) / Σ λ, below which strands cross so much that no direction stands out


@dataclass(frozen=True, eq=False)
class StrandPoints:
    """Points along strands.

    Attributes:
        places: [m], (p, 3).
        tangents: Unit vectors there, (p, 3).
        strand: Number of the strand, (p,).
    """

    places: Floats
    tangents: Floats
    strand: Indices

    @cached_property
    def search(self) -> PointSearch:
        """Search among the places."""
        return PointSearch(self.places)

    def thinned(self, cell: float) -> StrandPoints:
        """Returns one point in each cell of that side [m] that has any."""
        kept = vertex_per_cell(self.places, cell)
        return StrandPoints(self.places[kept], self.tangents[kept], self.strand[kept])


@dataclass(frozen=True, eq=False)
class Belly:
    """What strands are seen from and hidden by.

    Attributes:
        centroids: Of the tets [m], (k, 3).
        is_aponeurosis: Which of them are tendon that hides what is behind it, (k,).
        spacing: Size of a tet [m].
    """

    centroids: Floats
    is_aponeurosis: Bools
    spacing: float

    @cached_property
    def search(self) -> PointSearch:
        """Search among the centroids."""
        return PointSearch(self.centroids)


def strand_points(curves: Sequence[Floats], spacing: float, name: str, source: str = "Curves") -> StrandPoints:
    """Returns points along polylines [m], (p, 3) each, one in the middle of every piece of at most `spacing` [m].

    Raises:
        BadInput: No curve has a length.
    """
    starts = np.concatenate([np.zeros((0, 3)), *(curve[:-1] for curve in curves)])
    edges = np.concatenate([np.zeros((0, 3)), *(np.diff(curve, axis=0) for curve in curves)])
    counts = np.array([max(len(curve) - 1, 0) for curve in curves], np.int64)
    strand = np.repeat(np.arange(len(curves), dtype=np.int32), counts)
    length = np.linalg.norm(edges, axis=1)
    pieces = np.ceil(length / spacing).astype(np.int64)
    if not pieces.any():
        raise BadInput("fibre-curves-empty", name=name, curves=source)
    own = np.repeat(np.arange(len(edges), dtype=np.int64), pieces)
    number = np.arange(len(own), dtype=np.int64) - np.repeat(np.cumsum(pieces, dtype=np.int64) - pieces, pieces)
    places = starts[own] + edges[own] * ((number + 0.5) / pieces[own])[:, None]
    return StrandPoints(places, edges[own] / length[own, None], strand[own])


def curve_fibres(points: StrandPoints, centroids: Floats, tendon: Floats, spacing: float) -> tuple[Floats, Bools]:
    """Returns unit directions, (k, 3), and where strands are seen and one direction stands out of them, (k,).

    Args:
        points: Of the strands, no farther apart than a tet.
        centroids: Of the tets [m], (k, 3).
        tendon: Share of tendon painted there, (k,).
        spacing: Size of a tet [m].
    """
    belly, cell, among = Belly(centroids, tendon >= APONEUROSIS_SHARE, spacing), spacing, points
    tensors, is_seen = np.empty((len(centroids), 3, 3)), np.zeros(len(centroids), np.bool_)
    left = np.arange(len(centroids), dtype=np.int32)
    while True:
        is_surrounded = np.empty(len(left), np.bool_)
        for begin in range(0, len(left), TETS_AT_A_TIME):
            part = slice(begin, begin + TETS_AT_A_TIME)
            own = left[part]
            tensors[own], is_seen[own], is_surrounded[part] = _mean_tensors(among, belly, own)
        left = left[~is_surrounded]
        if len(left) == 0 or len(among.places) <= NEAREST_POINTS:
            break
        cell *= THINNING
        among = points.thinned(cell)
    directions, contrast = principal_directions(tensors)
    return directions, is_seen & (contrast > MIN_CONTRAST)


def _mean_tensors(points: StrandPoints, belly: Belly, tets: Indices) -> tuple[Floats, Bools, Bools]:
    """Returns the tensors of some tets by the points around them, (c, 3, 3).

    And which of the tets see a strand there, (c,), and of which all points twice as far away as that are known, (c,).
    """
    places, count = belly.centroids[tets], min(NEAREST_POINTS, len(points.places))
    distance, near = points.search.nearest(places, count)
    reach = distance[:, -1] if count < len(points.places) else np.full(len(tets), np.inf)
    distance = np.where(_first_of_each_strand(points.strand[near]), np.maximum(distance, TINY * belly.spacing), np.inf)
    order = np.argsort(distance, axis=1, kind="stable")[:, :MAX_STRANDS]
    distance, near = np.take_along_axis(distance, order, axis=1), np.take_along_axis(near, order, axis=1)
    is_known = np.isfinite(distance)
    is_hidden = _is_hidden(points.places[near], belly, tets, is_known)
    is_known &= ~is_hidden
    is_seen = is_known.any(axis=1)
    is_known[~is_seen, 0] = True
    distance[~is_known] = np.inf
    first = distance.min(axis=1)
    w = _weights(distance / first[:, None], np.maximum(reach / first, SURROUNDINGS)[:, None])
    q = (points.places[near] - places[:, None]) / first[:, None, None]
    penalty = np.where(is_hidden.any(axis=1), HIDDEN_SLOPE_PENALTY, SLOPE_PENALTY)
    tensors = _fitted_tensors(q, points.tangents[near], w, penalty)
    return tensors, is_seen, is_seen & (reach >= SURROUNDINGS * first)


def _weights(distance: Floats, reach: Floats) -> Floats:
    """Returns weights that sum to one, (c, s).

    Args:
        distance: Of points, over that of the nearest one; ∞ where there is none, (c, s).
        reach: From where on they count nothing, more than one, (c, 1).
    """
    w = np.square(np.maximum(1.0 / distance - 1.0 / reach, 0.0))
    return w / w.sum(axis=1, keepdims=True)


def _fitted_tensors(q: Floats, d: Floats, w: Floats, penalty: Floats) -> Floats:
    """Returns A of the affine A + B q that fits tensors d dᵀ, (c, 3, 3).

    Args:
        q: Their places, of the order of one, (c, s, 3).
        d: Unit vectors there, (c, s, 3).
        w: Weights that sum to one, (c, s).
        penalty: Of B, over the mean square of q, (c,).
    """
    one_and_q = np.concatenate([np.ones((*w.shape, 1)), q], axis=2)
    weighted = np.swapaxes(w[:, :, None] * one_and_q, 1, 2)
    matrix = weighted @ one_and_q
    slopes = np.arange(1, 4, dtype=np.int64)
    squares = np.einsum("kii->k", matrix[:, 1:, 1:])
    matrix[:, slopes, slopes] += (penalty * np.maximum(squares, np.finfo(float).eps))[:, None]
    right = weighted @ (d[:, :, :, None] * d[:, :, None, :]).reshape(*w.shape, 9)
    return floats(np.linalg.solve(matrix, right)[:, 0].reshape(-1, 3, 3))


def _first_of_each_strand(strand: Indices) -> Bools:
    """Returns which points of rows, (k, p), are the first of their strand in the row."""
    order = np.argsort(strand, axis=1, kind="stable")
    ordered = np.take_along_axis(strand, order, axis=1)
    is_new = np.ones(strand.shape, np.bool_)
    is_new[:, 1:] = ordered[:, 1:] != ordered[:, :-1]
    out = np.empty_like(is_new)
    np.put_along_axis(out, order, is_new, axis=1)
    return out


def _is_hidden(near: Floats, belly: Belly, tets: Indices, is_asked: Bools) -> Bools:
    """Returns which points near some tets, (c, s, 3), have an aponeurosis between them and the tet, (c, s).

    Lines of sight are sampled twice per tet; each sample belongs to the tet of the nearest centroid. From inside the
    aponeurosis, all is seen.

    Args:
        near: Points [m].
        belly: What may hide them.
        tets: From where, (c,).
        is_asked: Of which points, (c, s).
    """
    out = np.zeros(is_asked.shape, np.bool_)
    if not belly.is_aponeurosis.any():
        return out
    row, column = np.nonzero(is_asked & ~belly.is_aponeurosis[tets][:, None])
    start = belly.centroids[tets[row]]
    line = near[row, column] - start
    steps = np.ceil(2.0 * np.linalg.norm(line, axis=1) / belly.spacing).astype(np.int64)
    ray = np.repeat(np.arange(len(row), dtype=np.int64), steps)
    number = np.arange(len(ray), dtype=np.int64) - np.repeat(np.cumsum(steps, dtype=np.int64) - steps, steps)
    samples = start[ray] + line[ray] * ((number + 1.0) / steps[ray])[:, None]
    tet = belly.search.nearest(samples, 1)[1][:, 0]
    out[row, column] = np.bincount(ray, belly.is_aponeurosis[tet], minlength=len(row)) > 0.0
    return out
