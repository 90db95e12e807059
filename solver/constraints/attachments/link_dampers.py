# SPDX-License-Identifier: GPL-3.0-or-later
"""Dampers beside springs between bodies, by how points have moved in the tets of the other body since a step began.

A point p is at Σ w' x of the tet that its spring ends in, with weights w' of the start of the step. At the end of it
the damper pulls by

    f = −b / Δt (p⁺ − Σ w' x⁺)

on p, and −f by w' on the tet: as if the tet carried the damper on an arm. So f is along the way between the two places
where it acts, and has no torque; a rigid motion of both is not braked.

Source: implicit Euler's difference quotient; the arm is that of `bindings/soft_particles.py`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...mesh.geometry.point_tet import barycentric_rows
from ...runtime.arrays import Floats, Indices
from .surface_links import LinkForces, SurfaceLinks, attach_to_tets


@dataclass(frozen=True, eq=False)
class LinkDampers:
    """The dampers of the links of one attachment in a step, k of them.

    Attributes:
        arm_weights: w', (k, 4).
        coefficient: b / Δt [N/m], (k,).
    """

    arm_weights: Floats
    coefficient: Floats

    def forces(self, links: SurfaceLinks, x: Floats, tets: Indices) -> LinkForces:
        """Returns what the dampers of links do, for nodes at x [m], (n, 3), at the end of the step."""
        moved = links.points(x, tets) - np.einsum("ka,kai->ki", self.arm_weights, x[tets[links.anchor_tet]])
        b = self.coefficient[:, None]
        energy = 0.5 * float(self.coefficient @ np.einsum("ki,ki->k", moved, moved))
        directions = np.sqrt(b)[:, :, None] * np.eye(3)
        every = np.arange(len(links.tet), dtype=np.int32)
        return LinkForces(energy, attach_to_tets(links, self.arm_weights), -b * moved, directions, every)


def make_dampers(links: SurfaceLinks, strength: float, x: Floats, tets: Indices, dt: float) -> LinkDampers | None:
    """Returns the dampers of links in a step, or None where they have none.

    Args:
        links: Of one attachment.
        strength: Factor on their damping.
        x: Node positions at the start of the step [m], (n, 3).
        tets: Nodes of the tets, (m, 4).
        dt: Δt [s], infinite without inertia.
    """
    if not len(links.damping) or not np.isfinite(dt):
        return None
    rows, _ = barycentric_rows(x, tets[links.anchor_tet])
    last = np.einsum("kij,kj->ki", rows, links.points(x, tets) - x[tets[links.anchor_tet, 0]])
    weights = np.concatenate([1.0 - last.sum(axis=1, keepdims=True), last], axis=1)
    # a flat tet carries nothing on an arm
    is_flat = ~np.isfinite(weights).all(axis=1)
    weights[is_flat] = links.anchor_weights[is_flat]
    return LinkDampers(weights, np.where(is_flat, 0.0, strength * links.damping / dt))
