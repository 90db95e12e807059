# SPDX-License-Identifier: GPL-3.0-or-later
"""The stress in one piece of a body under forces that its inertia or its pins balance, and which tets are overloaded.

A tet cracks where the largest principal stress at one of its nodes, the mean over the tets there, is more than its
strength. At a crack tip stress has no limit, and a mean says nothing: there the mean over the tet itself counts,
against K_c / √h, as for soft bodies (`simulation/fracture/failure_criterion.py`). Where walls bend that are thinner
than a tet, its mean is none; half of its largest stress counts, which is the mean of a tet that has half of the wall.

Across the faces of crack guides, the stress along the normal of the guide counts, against the strength there.

Where pins hold a piece, they bear all of the load, and the nodes of their tets do not move. The mean at a node that
they share with others is that over the others: held tets have no stress.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from ..mechanics.elements.elastic_stress import principal_stresses
from ..mesh.node_splitting.face_adjacency import FACE_CORNERS
from ..runtime.arrays import Bools, Floats, Indices, floats, indices
from .cracked_mesh import CrackedMesh
from .dense_equilibrium import MAX_NODES, dense_equilibrium_solver
from .elastic_solid import ElasticSolid
from .element_tables import ElementTables
from .inertia_relief import PlacedForces, balanced_load
from .multifrontal_factor import Fronts, PieceNodes, corner_factor
from .quadratic_mesh import quadratic_mesh
from .rigid_mass import RigidMass, rigid_mass_of_tets
from .static_equilibrium import SHIFT, equilibrium_solver


@dataclass(frozen=True, eq=False)
class KnownStress:
    """What a solve begins with: that of the piece before a crack went on, or of one that this was a part of.

    Attributes:
        displacements: Of the ten nodes of each tet [m], (k, 10, 3).
        elements: Of these tets.
        fronts: See `multifrontal_factor.py`.
    """

    displacements: Floats
    elements: ElementTables
    fronts: Fronts | None


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
        energy: What the load has stored [J].
        fronts: Of the factor of displacements that are linear in every tet, for what becomes of the piece.
        strength_gain: Over the breaking stress where cracks begin: a short load may be larger (`static_fatigue.py`).
    """

    cracked: CrackedMesh
    tets: Indices
    solid: ElasticSolid
    displacements: Floats
    load: Floats
    relative_residual: float
    energy: float
    fronts: Fronts | None
    strength_gain: float = 1.0

    def known(self, rows: npt.NDArray[np.integer] | slice = slice(None)) -> KnownStress:
        """Returns what is known by it of the piece with more cracks, or of a part with some of its tets, (r,)."""
        elements = self.solid.elements if isinstance(rows, slice) else self.solid.elements.of_tets(rows)
        return KnownStress(self.displacements[self.solid.mesh.tets[rows]], elements, self.fronts)

    @functools.cached_property
    def corner_stress(self) -> Floats:
        """Of each tet at its corners, material or not [Pa], (k, 4, 6)."""
        return self.solid.corner_stress(self.displacements)

    @functools.cached_property
    def nodal(self) -> tuple[Floats, Floats]:
        """Principal stresses at the corners of the piece [Pa], (c, 3), rising, and their directions, (c, 3, 3)."""
        is_free = ~self.cracked.body.is_held[self.tets]
        return principal_stresses(self.solid.nodal_stress(self.corner_stress, is_free))

    @functools.cached_property
    def at_tips(self) -> tuple[Floats, Floats]:
        """The same of tets with crack tips, (k, 3) and (k, 3, 3), of their mean, or of half of their largest stress.

        Those of other tets are zero.
        """
        at = np.flatnonzero(self._has_tip)
        mean = self.solid.mean_stress(self.corner_stress)[at]
        values, directions = principal_stresses(mean)
        cut = np.flatnonzero(self.cracked.body.is_thin[self.tets[at]])
        if len(cut):
            each = self.solid.material_stress(self.corner_stress)[at[cut]]
            most = principal_stresses(each.reshape(-1, 6))[0][:, 2].reshape(-1, 4)
            halves = 0.5 * each[np.arange(len(cut), dtype=np.int64), most.argmax(axis=1)]
            is_bent = 0.5 * most.max(axis=1) > values[cut, 2]
            values[cut[is_bent]], directions[cut[is_bent]] = principal_stresses(halves[is_bent])
        out = np.zeros((len(self.tets), 3)), np.zeros((len(self.tets), 3, 3))
        out[0][at], out[1][at] = values, directions
        return out

    @functools.cached_property
    def is_tip(self) -> Bools:
        """Which corners of the tets are crack tips, (k, 4)."""
        return self.cracked.is_tip[self.cracked.tets[self.tets]]

    @functools.cached_property
    def overload(self) -> Floats:
        """Stress over strength where that is most, (k,); 0 of tets whose stress tells nothing."""
        return floats(np.maximum(self.unguided_overload, self.guided_overload.max(axis=1)))

    @functools.cached_property
    def unguided_overload(self) -> Floats:
        """The largest principal stress over strength, (k,)."""
        at_nodes = self.nodal[0][:, 2][self.solid.mesh.tets[:, :4]].max(axis=1)
        ratio = self._over_strength(np.where(self._has_tip, self.at_tips[0][:, 2], at_nodes))
        body, at = self.cracked.body, self.tets
        # slivers of thin walls hold nothing together where cracks have come to them
        is_last = self._has_tip & body.is_breakable[at] & ~body.is_held[at] & body.is_thin[at]
        return floats(np.where(body.is_stress_checked[at] | is_last, ratio, 0.0))

    @functools.cached_property
    def guided_overload(self) -> Floats:
        """Stress across the faces of crack guides over strength there, (k, 4); 0 of other faces, and of parted ones.

        Tets with little in them count as others do: those at the surface are the last that a guided crack parts.
        """
        body, at = self.cracked.body, self.tets
        out, guides = np.zeros((len(at), 4)), body.guides
        if guides is None:
            return out
        row, face = np.nonzero(guides.is_guided[at] & ~self.cracked.is_parted[at] & body.is_breakable[at, None])
        nodes = np.take_along_axis(self.solid.mesh.tets[row], FACE_CORNERS[face].astype(np.int32), axis=1)
        normal = guides.normal[at[row], face]
        at_nodes = normal_stress(self.nodal, nodes, normal[:, None]).max(axis=1)
        in_tet = normal_stress(self.at_tips, row, normal)
        stress = np.where(self._has_tip[row], in_tet, at_nodes)
        out[row, face] = self._over_strength(stress, row) / guides.strength_share[at[row]]
        return out

    @functools.cached_property
    def _has_tip(self) -> Bools:
        return np.asarray(self.is_tip.any(axis=1))

    def _over_strength(self, stress: Floats, rows: Indices | slice = slice(None)) -> Floats:
        """Returns stresses [Pa] over the strength of tets, (r,); 0 where they push."""
        body, at, has_tip = self.cracked.body, self.tets[rows], self._has_tip[rows]
        begins = self.strength_gain * body.material.breaking_stress
        strength = np.where(has_tip, body.material.toughness / np.sqrt(body.size[at]), begins)
        # in thin walls, stress is that of the material
        passed_on = np.where(body.is_thin[at], 1.0, body.load_share[at])
        return floats(np.maximum(passed_on * stress / (body.strength_share[at] * strength), 0.0))


def normal_stress(principal: tuple[Floats, Floats], which: Indices, normal: Floats) -> Floats:
    """Returns nᵀ σ n [Pa], (…), of principal stresses and directions, (k, 3) and (k, 3, 3), for the rows `which`, (…).

    Args:
        principal: Values [Pa], and directions as columns.
        which: Rows.
        normal: n, unit vectors, (…, 3).
    """
    values, directions = principal[0][which], principal[1][which]
    return floats(np.einsum("...k,...k->...", values, np.einsum("...i,...ik->...k", normal, directions) ** 2))


def piece_mass(cracked: CrackedMesh, tets: Indices) -> RigidMass:
    """Returns the mass of a piece of these tets, (k,), which pins hold where they hold one of these."""
    body = cracked.body
    mass = rigid_mass_of_tets(body.nodes, body.tets[tets], body.tet_mass[tets], body.moments.of_tets(tets))
    return replace(mass, is_held=bool(body.is_held[tets].any()))


def piece_stress(
    cracked: CrackedMesh,
    tets: Indices,
    forces: PlacedForces,
    tolerance: float,
    known: KnownStress | None = None,
    mass: RigidMass | None = None,
) -> PieceStress:
    """Returns the stress of a piece.

    Args:
        cracked: The body.
        tets: The tets of the piece, rising, (k,).
        forces: What presses on it, in tets of the body.
        tolerance: Relative residual of the solve.
        known: What to begin with; None: nothing.
        mass: Of the piece; None: it is found.
    """
    body = cracked.body
    used, local = np.unique(cracked.tets[tets], return_inverse=True)
    elements = body.elements.of_tets(tets) if known is None else known.elements
    shapes = (elements.gradients, elements.volume)
    mesh = quadratic_mesh(cracked.nodes[used], indices(local.reshape(-1, 4)), shapes)
    mu, lam = body.material.lame_moduli
    solid = ElasticSolid(mesh, mu, lam, body.material.density, elements)
    own = PlacedForces(indices(np.searchsorted(tets, forces.tet)), forces.weights, forces.force)
    load = balanced_load(solid, piece_mass(cracked, tets) if mass is None else mass, own)
    is_held = np.zeros(len(mesh.nodes), bool)
    is_held[mesh.tets[body.is_held[tets]]] = True
    start, fronts = None, None if known is None else known.fronts
    if known is not None:
        start = np.zeros_like(mesh.nodes)
        start[mesh.tets] = known.displacements
    dense = dense_equilibrium_solver(solid, is_held) if len(mesh.nodes) <= MAX_NODES else None
    if dense is not None:
        found = dense.solve(load)
    else:
        factor = None
        if not solid.has_thin_walls:
            nodes = PieceNodes(body.tet_tree, tets, cracked.copies.corner[used])
            factor = corner_factor(solid, is_held[: mesh.corner_count], nodes, SHIFT, fronts)
            fronts = fronts if factor is None else factor.fronts
        found = equilibrium_solver(solid, is_held, factor).solve(load, tolerance, start)
    residual, energy = found.relative_residual, found.energy
    return PieceStress(cracked, tets, solid, found.displacements, load, residual, energy, fronts)
