# SPDX-License-Identifier: GPL-3.0-or-later
"""A brittle body and its pieces, each of which moves as the tet with the mass, centre and inertia of its own tets."""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass, replace

import numpy as np

from ...brittle.bisected_body import BisectedBody
from ...brittle.brittle_body import BrittleBody
from ...brittle.cracked_mesh import CrackedMesh
from ...brittle.hertz_contact import hertz_stiffness, reduced_modulus
from ...brittle.piece_stress import piece_mass
from ...brittle.rigid_mass import RigidMass
from ...mesh.embedding import Binding, barycentric_weights
from ...mesh.equimomental_tet import equimomental_corners
from ...mesh.tet_mesh import MeshReport, TetMesh
from ...mesh.tet_quality import dihedral_range
from ...runtime.arrays import Bools, Floats, Indices, floats, indices

SAFE_BENDING_SHARE = 2.0 / 3.0  # of a beam in balance with its own inertia; pressed at its end,
SAFE_CANTILEVER_SHARE = 1.0 / 6.0  # of one that is held at the other


@dataclass(frozen=True, eq=False)
class BodyInPieces:
    """A brittle body at a moment: a function of the whole body and of the faces across which its tets have parted.

    Attributes:
        number: Of the scene's bodies.
        key, name: As in the scene.
        report: Of its tets.
        cracked: The body while it was whole, and its cracks: those within pieces, too.
        bisected: Its tets and those that they are halves of; None: they are coarse.
    """

    number: int
    key: str
    name: str
    report: MeshReport
    cracked: CrackedMesh
    bisected: BisectedBody | None = None

    @property
    def body(self) -> BrittleBody:
        """It, while it was whole."""
        return self.cracked.body

    @property
    def piece_of_tet(self) -> Indices:
        """The piece of each of its tets, (m,), by the order of their first tets."""
        return self.cracked.piece

    @functools.cached_property
    def released(self) -> BodyInPieces:
        """It where its pins hold nothing."""
        free = replace(self.body, is_held=np.zeros(len(self.body.tets), bool))
        bisected = self.bisected and self.bisected.released
        return replace(self, cracked=CrackedMesh(free, self.cracked.is_parted), bisected=bisected)

    @functools.cached_property
    def is_apart(self) -> Bools:
        """Across which faces of its tets other pieces lie, (m, 4): cracks within a piece do not open."""
        across = self.body.neighbours.tet
        other = self.piece_of_tet[np.maximum(across, 0)]
        return np.asarray((across >= 0) & (other != self.piece_of_tet[:, None]))

    @functools.cached_property
    def tets_of_pieces(self) -> list[Indices]:
        """The tets of each of its k pieces, rising."""
        order = np.argsort(self.piece_of_tet, kind="stable")
        ends = np.cumsum(np.bincount(self.piece_of_tet), dtype=np.int64)
        return [indices(part) for part in np.split(order, ends[:-1])]

    @functools.cached_property
    def dust_count(self) -> int:
        """How many of its pieces are dust."""
        return sum(self.body.is_dust(tets) for tets in self.tets_of_pieces)

    @functools.cached_property
    def masses(self) -> list[RigidMass]:
        """Of its pieces, at rest."""
        return [piece_mass(self.cracked, tets) for tets in self.tets_of_pieces]

    @functools.cached_property
    def safe_forces(self) -> Floats:
        """Below which no piece breaks, wherever hits press [N], (k,): see `piece_hits.py`."""
        return floats([safe_force(self.body, tets) for tets in self.tets_of_pieces])

    @functools.cached_property
    def has_crack_tip(self) -> Bools:
        """In which of its pieces cracks end, (k,): these go on under any load that lasts long enough to be one."""
        is_tip = self.cracked.is_tip[self.cracked.tets].any(axis=1)
        return np.bincount(self.piece_of_tet[is_tip], minlength=self.cracked.piece_count) > 0

    @functools.cached_property
    def stiffest_contacts(self) -> Floats:
        """K of pieces that are flat where a rigid plane hits them, the largest of all [N m^(−3/2)], (k,)."""
        material = self.body.material
        modulus = reduced_modulus(material.youngs_modulus, material.poisson_ratio, math.inf, 0.0)
        return floats([hertz_stiffness(modulus, extent(self.body, tets)) for tets in self.tets_of_pieces])

    @functools.cached_property
    def corners(self) -> Floats:
        """Of the tets that stand for its pieces, at rest [m], (k, 4, 3)."""
        made = [equimomental_corners(each.centre, _second_moments(each)) for each in self.masses]
        return floats(np.stack(made))

    @functools.cached_property
    def mesh(self) -> TetMesh:
        """These tets, with a fill by which they have the masses of the pieces."""
        nodes = floats(self.corners.reshape(-1, 3))
        tets = indices(np.arange(len(nodes), dtype=np.int32).reshape(-1, 4), -1, 4)
        volume = np.linalg.det(self.corners[:, 1:] - self.corners[:, :1]) / 6.0
        filled = np.array([each.mass for each in self.masses]) / self.body.material.density
        low, high = dihedral_range(nodes, tets)
        report = MeshReport(self.report.tet_size, low, high, float(filled.sum()), self.report.volume_ratio)
        return TetMesh(nodes, tets, floats(filled / volume), report)

    @functools.cached_property
    def corner_weights(self) -> Floats:
        """Barycentric weights of the corners of its tets in the tets of their pieces, (m, 4, 4)."""
        piece = np.repeat(self.piece_of_tet, 4)
        at = floats(self.body.nodes[self.body.tets].reshape(-1, 3))
        found = barycentric_weights(self.mesh.nodes, self.mesh.tets, at, indices(piece))
        return floats(found.reshape(-1, 4, 4))

    def piece_binding(self, bound: Binding) -> Binding:
        """Returns points in its tets as points in those of their pieces."""
        weights = np.einsum("ka,kab->kb", bound.weights, self.corner_weights[bound.tet])
        return Binding(indices(self.piece_of_tet[bound.tet]), floats(weights, -1, 4))

    def node_positions(self, corner: Indices, x: Floats) -> Floats:
        """Returns where nodes of its tets are [m], (n, 3).

        Args:
            corner: A corner 4 · tet + c at each node, (n,).
            x: Of the tets of its pieces [m], (4 k, 3).
        """
        at = x.reshape(-1, 4, 3)[self.piece_of_tet[corner >> 2]]
        return floats(np.einsum("na,nai->ni", self.corner_weights.reshape(-1, 4)[corner], at))


def extent(body: BrittleBody, tets: Indices) -> float:
    """Returns the diagonal of the box around some tets [m]."""
    return float(np.linalg.norm(np.ptp(body.nodes[body.tets[tets]].reshape(-1, 3), axis=0)))


def safe_force(body: BrittleBody, tets: Indices) -> float:
    """Returns the force below which no body of these tets breaks, even if it were as slender as its box [N].

    A beam one tet wide and L long breaks at 2 h / 3 L of σ h² in bending, and at h / 6 L where pins hold its end;
    infinite where no tet tells its stress, and of dust.
    """
    checked = tets[body.is_stress_checked[tets]]
    if not len(checked) or body.is_dust(tets):
        return math.inf
    size = float(body.size[tets].min())
    strength = body.material.breaking_stress * float(body.weakest_share[checked].min())
    share = SAFE_CANTILEVER_SHARE if body.is_held[tets].any() else SAFE_BENDING_SHARE
    return share * strength * size**3 / max(extent(body, tets), size)


def _second_moments(mass: RigidMass) -> Floats:
    """Returns ∫ (x − c)(x − c)ᵀ dm / m [m²], (3, 3): I = tr(S) 1 − S for the moments S."""
    return floats((0.5 * np.trace(mass.inertia) * np.eye(3) - mass.inertia) / mass.mass)
