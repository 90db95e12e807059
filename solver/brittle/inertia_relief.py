# SPDX-License-Identifier: GPL-3.0-or-later
"""Loads of a body: forces at places, in balance with the inertia of the body that they accelerate where pins do not.

The body moves by r̈ = a + α × r + ω × (ω × r) from its centre of mass, with m a = Σ F and I α + ω × I ω = Σ r × F.
−ρ r̈ is linear in r, so that its integrals over shape functions are exact, and no force is left over.

Source: Müller, McMillan, Dorsey and Jagnow (2001), section 3.2; Nelson and Wolf (1977).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..mesh.local_tet_numbering import EDGE_ENDS, EDGE_STARTS
from ..runtime.arrays import Floats, Indices, floats
from .elastic_solid import ElasticSolid
from .quadratic_kernels import subtract_inertia
from .rigid_mass import RigidMass


@dataclass(frozen=True, eq=False)
class PlacedForces:
    """Forces at places of tets.

    Attributes:
        tet: The tets, (k,).
        weights: Barycentric coordinates in them, (k, 4).
        force: [N], (k, 3).
    """

    tet: Indices
    weights: Floats
    force: Floats

    def places(self, nodes: Floats, tets: Indices) -> Floats:
        """Returns where they are [m], (k, 3), in tets (m, ≥ 4) with nodes (n, 3)."""
        return np.asarray(np.einsum("ka,kai->ki", self.weights, nodes[tets[self.tet, :4]]))


def shape_functions(weights: Floats) -> Floats:
    """Returns N of a tet of ten nodes at barycentric coordinates, (k, 4), as (k, 10)."""
    corners = weights * (2.0 * weights - 1.0)
    return np.concatenate([corners, 4.0 * weights[:, EDGE_STARTS] * weights[:, EDGE_ENDS]], axis=1)


def balanced_load(
    solid: ElasticSolid, body: RigidMass, forces: PlacedForces, angular_velocity: Floats | None = None
) -> Floats:
    """Returns the forces on the nodes [N], (n, 3): those at the places and those of inertia; their sums are zero.

    On a body that is held, those at the places are all: what holds it balances them.

    Args:
        solid: The body.
        body: Its mass.
        forces: What presses on it.
        angular_velocity: ω [rad/s], (3,); None: it does not turn.
    """
    mesh = solid.mesh
    load = np.zeros_like(mesh.nodes)
    nodal = shape_functions(forces.weights)[:, :, None] * forces.force[:, None, :]
    np.add.at(load, mesh.tets[forces.tet], nodal)
    if body.is_held:
        return load
    omega = np.zeros(3) if angular_velocity is None else angular_velocity
    arms = forces.places(mesh.nodes, mesh.tets) - body.centre
    torque = np.cross(arms, forces.force).sum(axis=0) - np.cross(omega, body.inertia @ omega)
    a, alpha = forces.force.sum(axis=0) / body.mass, np.linalg.solve(body.inertia, torque)
    # α × r + ω × (ω × r) = A r
    A = np.cross(alpha, np.eye(3)).T + np.cross(omega, np.cross(omega, np.eye(3))).T
    acceleration = floats(a + (mesh.nodes[: mesh.corner_count] - body.centre) @ A.T)
    subtract_inertia(mesh.tets, solid.elements.shape_moments, solid.density * solid.weight, acceleration, load)
    return floats(load)
