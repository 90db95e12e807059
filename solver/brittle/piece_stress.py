# SPDX-License-Identifier: GPL-3.0-or-later
"""The stress in one piece of a body under forces that its inertia balances, and which of its tets are overloaded.

A tet cracks where the largest principal stress at one of its nodes, the mean over the tets there, is more than its
strength. At a crack tip stress has no limit, and a mean says nothing: there the mean over the tet itself counts,
against K_c / √h, as for soft bodies (`simulation/fracture/failure_criterion.py`).
"""

from __future__ import annotations

import functools
from dataclasses import dataclass

import numpy as np

from ..mechanics.elements.elastic_stress import principal_stresses
from ..runtime.arrays import Bools, Floats, Indices, indices
from .cracked_mesh import CrackedMesh
from .elastic_solid import ElasticSolid
from .inertia_relief import PlacedForces, balanced_load
from .quadratic_mesh import quadratic_mesh
from .rigid_mass import RigidMass, rigid_mass_of_tets
from .static_equilibrium import equilibrium_solver


@dataclass(frozen=True, eq=False)
class PieceStress:
    """A piece under a load.

    Attributes:
        cracked: The body.
        tets: The tets of the piece, (k,).
        solid: The piece.
        displacements: [m], (n, 3), of its nodes.
        load: [N], (n, 3).
        relative_residual: What the solve left.
    """

    cracked: CrackedMesh
    tets: Indices
    solid: ElasticSolid
    displacements: Floats
    load: Floats
    relative_residual: float

    @property
    def energy(self) -> float:
        """½ fᵀ u, what the load has stored [J]."""
        return float(0.5 * np.einsum("ni,ni->", self.load, self.displacements))

    @property
    def tet_displacements(self) -> Floats:
        """Of the ten nodes of each tet [m], (k, 10, 3): they tell what a piece with one more crack is like."""
        return self.displacements[self.solid.mesh.tets]

    @functools.cached_property
    def corner_stress(self) -> Floats:
        """Of each tet at its corners [Pa], (k, 4, 6)."""
        return self.solid.corner_stress(self.displacements)

    @functools.cached_property
    def nodal(self) -> tuple[Floats, Floats]:
        """Principal stresses at the corners of the piece [Pa], (c, 3), rising, and their directions, (c, 3, 3)."""
        return principal_stresses(self.solid.nodal_stress(self.corner_stress))

    @functools.cached_property
    def mean(self) -> tuple[Floats, Floats]:
        """The same of tets, (k, 3) and (k, 3, 3)."""
        return principal_stresses(self.corner_stress.mean(axis=1))

    @functools.cached_property
    def is_tip(self) -> Bools:
        """Which corners of the tets are crack tips, (k, 4)."""
        return self.cracked.is_tip[self.cracked.tets[self.tets]]

    @functools.cached_property
    def overload(self) -> Floats:
        """Stress over strength, (k,); 0 of tets whose stress tells nothing."""
        body, at = self.cracked.body, self.tets
        at_nodes = self.nodal[0][:, 2][self.solid.mesh.tets[:, :4]].max(axis=1)
        has_tip = self.is_tip.any(axis=1)
        stress = body.load_share[at] * np.where(has_tip, self.mean[0][:, 2], at_nodes)
        strength = np.where(has_tip, body.material.toughness / np.sqrt(body.size[at]), body.material.breaking_stress)
        ratio = stress / (body.strength_share[at] * strength)
        return np.where(body.is_stress_checked[at], np.maximum(ratio, 0.0), 0.0)


def piece_mass(cracked: CrackedMesh, tets: Indices) -> RigidMass:
    """Returns the mass of a piece of these tets, (k,)."""
    body = cracked.body
    return rigid_mass_of_tets(body.nodes, body.tets[tets], body.tet_mass[tets])


def piece_stress(
    cracked: CrackedMesh, tets: Indices, forces: PlacedForces, tolerance: float, guess: Floats | None = None
) -> PieceStress:
    """Returns the stress of a piece.

    Args:
        cracked: The body.
        tets: The tets of the piece, rising, (k,).
        forces: What presses on it, in tets of the body.
        tolerance: Relative residual of the solve.
        guess: Displacements of the ten nodes of each tet to begin with [m], (k, 10, 3); None: zero.
    """
    body = cracked.body
    used, local = np.unique(cracked.tets[tets], return_inverse=True)
    mesh = quadratic_mesh(cracked.nodes[used], indices(local.reshape(-1, 4)))
    mu, lam = body.material.lame_moduli
    solid = ElasticSolid(mesh, mu, lam, body.material.density, body.fill[tets])
    own = PlacedForces(indices(np.searchsorted(tets, forces.tet)), forces.weights, forces.force)
    load = balanced_load(solid, piece_mass(cracked, tets), own)
    start = None
    if guess is not None:
        start = np.zeros_like(mesh.nodes)
        start[mesh.tets] = guess
    found = equilibrium_solver(solid).solve(load, tolerance, start)
    return PieceStress(cracked, tets, solid, found.displacements, load, found.relative_residual)
