# SPDX-License-Identifier: GPL-3.0-or-later
"""Boxes around whole surfaces: a step in which none meet another needs no vertices of surfaces, and no search."""

from __future__ import annotations

import numpy as np

from ...mechanics.model import Model
from ...runtime.arrays import Floats
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
    for surface in range(len(surfaces)):
        own = surfaces.vertices_of(surface)
        if own.start == own.stop:
            continue
        body, margin = int(surfaces.body[surface]), surfaces.thickness[surface] + SIZE_MARGIN * surfaces.size[own].max()
        if body >= 0:
            nodes = model.bodies[body].nodes
            reached = [start[nodes], end[nodes]]
        else:
            reached = [given.start[own], given.end[own]]
            if surfaces.edges:
                corners = surfaces.edges.surface_of_rest == surface
                reached += [given.corners_start[corners], given.corners_end[corners]]
        every = np.concatenate(reached)
        first, last = every.min(axis=0), every.max(axis=0)
        margin = margin + 0.5 * (surfaces.levers[surface] - 1.0) * (last - first)  # vertices outside of their tets
        low[surface], high[surface] = first - margin, last + margin
    return low, high
