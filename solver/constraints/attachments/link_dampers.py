# SPDX-License-Identifier: GPL-3.0-or-later
"""Dampers beside springs between bodies, by how points have moved in the tets of the other body since a step began.

A point p is at Σ w' x of the tet that its spring ends in, with weights w' of the start of the step. At the end of it
the damper pulls by

    f = −b / Δt (p⁺ − Σ w' x⁺)

on p, and −f by w' on the tet: as if the tet carried the damper on an arm. So f is along the way between the two places
where it acts, and has no torque; a rigid motion of both is not braked. Where the spring ends on a sheet, which carries
nothing beside itself, the tet of p has the arm.

Source: implicit Euler's difference quotient; the arm is that of `bindings/soft_particles.py`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ...mesh.embedding import barycentric_weights
from ...mesh.geometry.point_tet import barycentric_rows
from ...runtime.arrays import Floats, Indices
from .surface_links import LinkForces, SurfaceLinks, attach_to_tets


@dataclass(frozen=True, eq=False)
class LinkDampers:
    """The dampers of the links of one attachment in a step, k of them.

    Attributes:
        arm_weights: w', in the tets that have the arms, (k, 4).
        coefficient: b / Δt [N/m], (k,).
    """

    arm_weights: Floats
    coefficient: Floats

    def forces(self, links: SurfaceLinks, x: Floats, tets: Indices) -> LinkForces:
        """Returns what the dampers of links do, for nodes at x [m], (n, 3), at the end of the step."""
        braked = _with_arms(links, self.arm_weights)
        moved = braked.points(x, tets) - np.einsum("ka,kai->ki", braked.anchor_weights, x[tets[links.anchor_tet]])
        b = self.coefficient[:, None]
        energy = 0.5 * float(self.coefficient @ np.einsum("ki,ki->k", moved, moved))
        directions = np.sqrt(b)[:, :, None] * np.eye(3)
        every = np.arange(len(links.tet), dtype=np.int32)
        return LinkForces(energy, attach_to_tets(braked, braked.anchor_weights), -b * moved, directions, every)


def make_dampers(links: SurfaceLinks, strength: float, x: Floats, tets: Indices, dt: float) -> LinkDampers | None:
    """Returns the dampers of links in a step, or None where they have none.

    Args:
        links: Of one attachment.
        strength: Factor on their damping.
        x: Node positions at the start of the step [m], (n, 3).
        tets: Nodes of the tets, (m, 4).
        dt: Δt [s], infinite without inertia.
    """
    if not len(links.damping) or not np.isfinite(dt) or links.are_edges:  # these have their own: `edge_dampers`
        return None
    tet, own_weights, places = links.anchor_tet, links.anchor_weights, links.points(x, tets)
    if links.target.is_sheet:
        places = np.einsum("ka,kai->ki", links.anchor_weights, x[tets[tet]])
        tet, own_weights = links.tet, links.weights
    weights = barycentric_weights(x, tets, places, tet)
    # a flat tet, which has no rows, carries nothing on an arm
    is_flat = ~barycentric_rows(x, tets[tet])[0].any(axis=(1, 2))
    weights[is_flat] = own_weights[is_flat]
    return LinkDampers(weights, np.where(is_flat, 0.0, strength * links.damping / dt))


def _with_arms(links: SurfaceLinks, arm_weights: Floats) -> SurfaceLinks:
    """Returns links whose ends are at the same place, with the weights of their arms, (k, 4)."""
    if links.target.is_sheet:
        return replace(links, weights=arm_weights)
    return replace(links, anchor_weights=arm_weights)
