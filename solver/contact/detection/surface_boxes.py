# SPDX-License-Identifier: GPL-3.0-or-later
"""Boxes around whole surfaces: a step in which none meet another needs no vertices of surfaces, and no search."""

from __future__ import annotations

import numpy as np

from ...mechanics.model import Model
from ...runtime.arrays import Floats
from ...runtime.jit import kernel
from .collider_surface_motion import PrescribedSurfaces

SIZE_MARGIN = 0.2  # by which boxes grow, in tet sizes: contacts may act across a small gap


def surfaces_may_meet(collider_surfaces: PrescribedSurfaces, model: Model, start: Floats, end: Floats) -> bool:
    """Returns whether surfaces that may touch come near each other while nodes move from `start` to `end` [m], (n, 3).

    A surface that may touch itself always does.
    """
    surfaces = collider_surfaces.surfaces
    may_touch = surfaces.may_touch | surfaces.may_touch.T
    if may_touch.diagonal().any():
        return True
    low, high = _surface_boxes(collider_surfaces, model, start, end)
    is_apart = (low[:, None] > high[None]).any(axis=2)
    return bool((may_touch & ~(is_apart | is_apart.T)).any())


def _surface_boxes(
    collider_surfaces: PrescribedSurfaces, model: Model, start: Floats, end: Floats
) -> tuple[Floats, Floats]:
    """Returns the least and greatest coordinates that each surface reaches during a step [m], (s, 3) each."""
    surfaces, given = collider_surfaces.surfaces, collider_surfaces
    low, high = np.full((len(surfaces), 3), np.inf), np.full((len(surfaces), 3), -np.inf)
    of_body = np.flatnonzero(surfaces.body >= 0)
    nodes = [model.bodies[body].nodes for body in surfaces.body[of_body].tolist()]
    rows = np.array([(own.start, own.stop) for own in nodes], np.int64).reshape(-1, 2)
    enclose_rows(of_body, rows, start, end, low, high)
    for surface in np.flatnonzero(surfaces.body < 0).tolist():
        own = surfaces.vertices_of(surface)
        reached = [given.start[own], given.end[own]]
        if surfaces.edges:
            corners = surfaces.edges.surface_of_rest == surface
            reached += [given.corners_start[corners], given.corners_end[corners]]
        every = np.concatenate(reached)
        low[surface], high[surface] = every.min(axis=0, initial=np.inf), every.max(axis=0, initial=-np.inf)
    is_empty = np.diff(surfaces.vertex_start) == 0
    low[is_empty], high[is_empty] = np.inf, -np.inf
    size = np.where(is_empty[:, None], 0.0, high - low)
    margin = (surfaces.thickness + SIZE_MARGIN * surfaces.largest_size)[:, None]
    margin = margin + 0.5 * (surfaces.levers[:, None] - 1.0) * size  # vertices outside of their tets
    return low - margin, high + margin


@kernel()
def enclose_rows(which, rows, start, end, low, high):
    """Writes the least and greatest of ranges of `start` and `end`, (n, 3), into the rows `which` of low and high.

    Args:
        which: Rows of `low` and `high`, (k,).
        rows: The first row of each range, and the one behind its last, (k, 2).
        start, end: Positions [m], (n, 3).
        low, high: Out, (s, 3); those given are enclosed as well.
    """
    for k in range(len(which)):
        least, most = low[which[k]], high[which[k]]
        for row in range(rows[k, 0], rows[k, 1]):
            for axis in range(3):
                least[axis] = min(least[axis], start[row, axis], end[row, axis])
                most[axis] = max(most[axis], start[row, axis], end[row, axis])
