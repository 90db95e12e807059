# SPDX-License-Identifier: GPL-3.0-or-later
"""Moves muscles that are drawn out of bones and neighbouring muscles, by signed distances.

First the curve moves away, so that a whole section finds room beside the obstacle; without that, the far side of a
muscle around a thin bone would be pushed out on the other side. Then what still reaches in is shrunk towards the middle
of its section, and the surface around follows smoothly.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array

from ...runtime.arrays import Floats, Indices
from ..geometry.signed_distance_interface import SignedDistance
from .swept_surface import Sections, SweptSurface

CURVE_ITERATIONS, SHRINK_ITERATIONS, PUSH_ITERATIONS = 30, 12, 8
TRACE_STEPS, BISECTIONS = 8, 5  # along an arm, and then between two of these steps
CURVE_SMOOTHING, SHARE_SMOOTHING = 4, 3  # passes over displacements, and over shares, in each iteration
SHRINK_FACTOR = 0.93  # of the arms around a quad whose middle is too near
LATERAL_SLACK = 0.05  # of an arm: how much nearer than its middle it may come, as along the facets of a bone
MIN_SHARE = 0.15  # of an arm: more is not taken away
END_SHARE = 0.15  # of the length: the curve is held at its ends, and free from here on


def move_curve_outside(sections: Sections, obstacles: Sequence[SignedDistance], gap: float) -> Floats:
    """Returns the points of the curve, (n, 3), moved until its sections are outside obstacles; its ends stay.

    Args:
        sections: What needs room.
        obstacles: In the space of the curve.
        gap: Distance to keep [m].
    """
    curve, offset = sections.curve, np.zeros_like(sections.curve.points)
    ends = np.minimum(sections.along, 1.0 - sections.along) / END_SHARE
    freedom = np.clip(ends, 0.0, 1.0)[:, None]
    for _ in range(CURVE_ITERATIONS):
        step = np.zeros_like(offset)
        for distance in obstacles:
            found, direction = distance(curve.points + offset)
            missing = gap + sections.support(direction) - found
            step += np.maximum(missing, 0.0)[:, None] * direction
        step -= np.einsum("ni,ni->n", step, curve.tangents)[:, None] * curve.tangents
        offset += freedom * step
        for _ in range(CURVE_SMOOTHING):
            offset[1:-1] = 0.5 * offset[1:-1] + 0.25 * (offset[:-2] + offset[2:])
    return curve.points + offset


def shrink_outside(surface: SweptSurface, obstacles: Sequence[SignedDistance], gap: float) -> Floats:
    """Returns the vertices of a surface, (n, 3) [m], shrunk towards the middles of its sections out of obstacles.

    Sections stay star-shaped in their planes, so the surface does not cross itself. Where the middle of a section is
    too near itself, as at an end on a bone, its vertices keep the distance that it has, and are then pushed out.

    Args:
        surface: May reach into obstacles.
        obstacles: In its space.
        gap: Distance to keep [m], of vertices and of the middles of quads.
    """
    centre, quads = surface.centre, surface.quads
    arms = surface.vertices - centre
    obstacles = _within_reach(centre, arms, obstacles, gap)
    if not obstacles:
        return surface.vertices
    means = _neighbour_means(quads, len(arms))
    kept = np.minimum(gap, _nearest(centre, obstacles)[0] - LATERAL_SLACK * np.linalg.norm(arms, axis=1))
    limit = _free_share(centre, arms, obstacles, kept)
    points = surface.vertices
    for _ in range(SHRINK_ITERATIONS):
        share = limit
        for _ in range(SHARE_SMOOTHING):
            share = np.minimum(share, 0.5 * (share + means @ share))
        points = centre + np.maximum(share, MIN_SHARE)[:, None] * arms
        nearest, _ = _nearest(points[quads].mean(axis=1), obstacles)
        is_in = nearest < kept[quads].mean(axis=1)
        if not is_in.any():
            break
        limit[quads[is_in]] *= SHRINK_FACTOR
    for _ in range(PUSH_ITERATIONS):
        distance, direction = _nearest(points, obstacles)
        if distance.min() >= gap:
            break
        points = points + np.maximum(gap - distance, 0.0)[:, None] * direction
    return points


def _within_reach(
    centre: Floats, arms: Floats, obstacles: Sequence[SignedDistance], gap: float
) -> list[SignedDistance]:
    """Returns the obstacles that vertices may come too near to, by the distances of the middles of their sections."""
    middles, section = np.unique(centre, axis=0, return_inverse=True)
    reach = np.zeros(len(middles))
    np.maximum.at(reach, section.ravel(), np.linalg.norm(arms, axis=1))
    return [distance for distance in obstacles if (distance(middles)[0] - reach).min() < gap]


def _free_share(centre: Floats, arms: Floats, obstacles: Sequence[SignedDistance], kept: Floats) -> Floats:
    """Returns how much of each arm from a middle, (n, 3), keeps a distance all along, (n,) [m], 0 to 1, (n,)."""
    share, (of_middle, _) = np.ones(len(arms)), _nearest(centre, obstacles)
    near = np.flatnonzero(of_middle - np.linalg.norm(arms, axis=1) < kept)
    low, high = np.zeros(len(near)), np.full(len(near), np.inf)
    for step in range(1, TRACE_STEPS + 1):
        going = np.flatnonzero(np.isinf(high))
        at, rows = step / TRACE_STEPS, near[going]
        distance, _ = _nearest(centre[rows] + at * arms[rows], obstacles)
        is_in = distance < kept[rows]
        low[going[~is_in]], high[going[is_in]] = at, at
    stopped = np.flatnonzero(np.isfinite(high))
    for _ in range(BISECTIONS):
        middle, rows = 0.5 * (low[stopped] + high[stopped]), near[stopped]
        distance, _ = _nearest(centre[rows] + middle[:, None] * arms[rows], obstacles)
        is_in = distance < kept[rows]
        low[stopped], high[stopped] = np.where(is_in, low[stopped], middle), np.where(is_in, middle, high[stopped])
    share[near] = low
    return share


def _nearest(points: Floats, obstacles: Sequence[SignedDistance]) -> tuple[Floats, Floats]:
    """Returns the distance from the nearest of one or more obstacles, (k,) [m], and its direction, (k, 3)."""
    distance, direction = obstacles[0](points)
    for other in obstacles[1:]:
        found, towards = other(points)
        is_nearer = found < distance
        distance, direction = np.where(is_nearer, found, distance), np.where(is_nearer[:, None], towards, direction)
    return distance, direction


def _neighbour_means(quads: Indices, count: int) -> csr_array:
    """Returns the matrix that gives each vertex the mean of its neighbours along edges, (n, n)."""
    first, second = quads.ravel(), np.roll(quads, -1, axis=1).ravel()
    ones: npt.NDArray = np.ones(2 * len(first))
    graph = csr_array((ones, (np.concatenate([first, second]), np.concatenate([second, first]))), shape=(count, count))
    graph.data[:] = 1.0
    return csr_array(graph.multiply(1.0 / graph.sum(axis=1)[:, None]))
