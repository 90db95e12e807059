# SPDX-License-Identifier: GPL-3.0-or-later
"""The fascia of S07, 2.7, as it is printed: after a step, points and their velocities are moved towards their anchors.

    x' = x + α [(x_a − x) · N] N,    v' = v + β [(v_a − v) · N] N

The closest point of the other surface is the anchor. Where surfaces keep a distance at rest, x_a is that far above it.
Points are those of the links, and not the places where edges of a lattice cross the surface; nodes take the mean of
what the points between them want, by their weights.
"""

from __future__ import annotations

import numpy as np

from sinew.solver.constraints.attachments.link_energy import fade
from sinew.solver.constraints.attachments.surface_links import SurfaceLinks
from sinew.solver.runtime.arrays import Floats, Indices

ALPHA, BETA = 0.1, 0.5  # of S07


def wanted_changes(
    links: SurfaceLinks, x: Floats, v: Floats, tets: Indices, alpha: float = ALPHA, beta: float = BETA
) -> tuple[Floats, Floats]:
    """Returns x' − x [m] and v' − v [m/s] of the points of links, (k, 3) each."""
    target = links.target
    at = target.surface.at(target.simulated_vertices(x, tets))
    found = at.distances(links.points(x, tets))
    corners = target.surface.triangles[found.triangle]
    anchor_v = np.einsum("kc,kci->ki", found.weights, target.simulated_vertices(v, tets)[corners])
    opening = found.distance - links.rest_distance
    share = fade(np.abs(opening), links.reach)[:, None]
    closing = np.einsum("ki,ki->k", anchor_v - links.points(v, tets), found.normal)
    return -alpha * share * opening[:, None] * found.normal, beta * share * closing[:, None] * found.normal


def correct(
    links: tuple[SurfaceLinks, ...], x: Floats, v: Floats, tets: Indices, is_free: np.ndarray
) -> tuple[Floats, Floats]:
    """Returns corrected node positions [m] and velocities [m/s], (n, 3) each; those that are not free stay."""
    weight, moved, hurried = np.zeros(len(x)), np.zeros_like(x), np.zeros_like(v)
    for each in links:
        dx, dv = wanted_changes(each, x, v, tets)
        nodes, share = tets[each.tet], np.maximum(each.weights, 0.0)
        np.add.at(weight, nodes, share)
        np.add.at(moved, nodes, share[:, :, None] * dx[:, None])
        np.add.at(hurried, nodes, share[:, :, None] * dv[:, None])
    own = (weight > 0.0) & is_free
    x, v = x.copy(), v.copy()
    x[own] += moved[own] / weight[own, None]
    v[own] += hurried[own] / weight[own, None]
    return x, v
