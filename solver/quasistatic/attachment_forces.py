# SPDX-License-Identifier: GPL-3.0-or-later
"""Attachments between surfaces, as they act on bodies at rest.

The closest places move with every evaluation, of the energy too, so a line search sees the energy whose slope the
forces are. A point that is pressed into a crease, where two faces are as close, would go to and fro between them, in
steps that get shorter and shorter. So closest places stay as planes once nodes hardly move between two tangents of a
solve, and after `MAX_MOVING_EVALUATIONS` of these in any case. These are many: a muscle that slides along creases gets
to its rest slowly, and planes kept on the way there lead elsewhere, up to 0.6 % of its thickness off.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..constraints.attachments.attachment_potential import (
    ActiveLinks,
    AttachmentPotential,
    forces_on_points,
    tied_nodes,
)
from ..constraints.attachments.surface_links import LinkForces
from ..linalg.point_stiffness_assembly import add_point_terms
from ..mechanics.model import Model
from ..runtime.arrays import Bools, Floats
from .contact.linearised_contacts import MAX_NODES_PER_CONTACT, add_coupling_forces, fill_couplings
from .contact_stiffness_blocks import NodeCouplings
from .sums_by_body import SumsByBody

MIN_MOVING_EVALUATIONS, MAX_MOVING_EVALUATIONS = 8, 120
STALLED_MOVE = 1.0e-4  # of the reach: what nodes have to move between two tangents, or closest places stay


class AttachmentForces:
    """The attachments of bodies; a `CouplingForce`.

    Attributes:
        waits_for_untangling: They do not act while inverted tets are untangled: surfaces have no sides then.
        tied_nodes: Those that are fixed to another body, (n,); None: none are.
    """

    waits_for_untangling = True

    def __init__(self, model: Model, potential: AttachmentPotential) -> None:
        """Takes the attachments of the tets of a model."""
        self.model, self.moving, self.sums = model, potential, SumsByBody(model)
        self._bodies = [self._bodies_of(each) for each in potential.active]
        self._is_moved: Bools | None = None
        self._least_move = STALLED_MOVE * min((each.links.reach for each in potential.active), default=0.0)
        self.tied_nodes = tied_nodes([potential], model.node_count)
        self.begin()

    def begin(self) -> None:
        """Begins a solve, in which closest places move."""
        self.potential, self.evaluations, self._is_moved = self.moving, 0, None
        self._last: Floats | None = None  # where nodes were at the last tangent
        self._couplings: NodeCouplings | None = None
        self._found: tuple[Floats, AttachmentPotential, list[LinkForces]] | None = None

    def energies(self, x: Floats) -> Floats:
        """Returns the energy in each body at x [m], (n, 3), in joules, (b,)."""
        return self._energies(self._link_forces(x))

    def add(self, x: Floats, values: Floats, force: Floats) -> Floats:
        """Adds forces and stiffness at x; returns the energies [J]. See `PotentialForce`; `couplings` has the rest."""
        self.evaluations += 1
        if self.potential is self.moving and (self.evaluations >= MAX_MOVING_EVALUATIONS or self._has_stalled(x)):
            self.potential = self.moving.frozen(x)
        self._last = x.copy()
        found, couplings = self._link_forces(x), []
        for each in found:
            has_other = (each.attachment.tet[:, 1:] >= 0).any(axis=1)
            self._add_points(each, values, force)
            if has_other.any():
                couplings.append(self._add_couplings(each, np.flatnonzero(has_other), force))
        self._couplings = NodeCouplings.concatenate(couplings) if couplings else None
        return self._energies(found)

    def restrict_to(self, bodies: Bools | None) -> None:
        """Leaves out links that move none of these bodies, (b,); see `CouplingForce`."""
        self._is_moved, self._found = bodies, None

    def _link_forces(self, x: Floats) -> list[LinkForces]:
        """Returns what links do at x [m], (n, 3), found once for a step's energy and for the forces at its end."""
        if self._found is None or self._found[0] is not x or self._found[1] is not self.potential:
            self._found = x, self.potential, self._moving_links().link_forces(x)
        return self._found[2]

    def _moving_links(self) -> AttachmentPotential:
        """Returns the attachments that move one of the bodies that a solve moves now."""
        is_moved = self._is_moved
        if is_moved is None:
            return self.potential
        links = zip(self.potential.active, self._bodies, strict=True)
        return replace(self.potential, active=tuple(each for each, own in links if is_moved[own].any()))

    def _bodies_of(self, active: ActiveLinks) -> np.ndarray:
        """Returns the numbers of the bodies that links move, one or two."""
        links = active.links
        ends = [] if links.animated is not None else [links.tet[:1]]
        if links.target.body is not None:
            ends.append(links.anchor_tet[:1] if len(links.anchor_tet) else links.target.tet[:1])
        return np.unique(self.sums.bodies_of_tets(np.concatenate([np.zeros(0, np.int32), *ends])))

    def _has_stalled(self, x: Floats) -> bool:
        """Whether nodes hardly moved to x [m], (n, 3), since the last tangent, and a solve had time to come near."""
        if self._last is None or self.evaluations <= MIN_MOVING_EVALUATIONS:
            return False
        return float(np.abs(x - self._last).max(initial=0.0)) < self._least_move

    def couplings(self) -> NodeCouplings | None:
        """Returns the part of the tangent that joins bodies, at the last x; see `CouplingForce`."""
        return self._couplings

    def _energies(self, found: list[LinkForces]) -> Floats:
        """Returns the energies of attachments, each in the body that has it, or that a collider has it to."""
        acting = [each for each in found if len(each.force)]
        tets = [self._counting_tet(each.attachment.tet[0]) for each in acting]
        return self.sums.of_tets(np.array([each.energy for each in acting]), np.array(tets, np.int64))

    def _counting_tet(self, ends: np.ndarray) -> int:
        """Returns a tet of the body for which the energy of links counts, of those at the ends of one, −1 for none."""
        tets = ends[ends >= 0]
        if self._is_moved is not None:
            tets = tets[self._is_moved[self.sums.bodies_of_tets(tets)]]
        return int(tets[0])

    def _add_points(self, found: LinkForces, values: Floats, force: Floats) -> None:
        """Adds forces and stiffness of the links to what is animated."""
        points, model = forces_on_points(found), self.model
        if len(points):
            add_point_terms(
                1.0, points.tet, points.weights, points.stiffness, points.damping, points.force, model.tets,
                model.pattern.corner_block, values, force,
            )  # fmt: skip

    def _add_couplings(self, found: LinkForces, which: np.ndarray, force: Floats) -> NodeCouplings:
        """Adds the forces of some links, and returns their couplings along all directions of stiffness."""
        count = len(which)
        nodes, coefficients = (
            np.empty((count, MAX_NODES_PER_CONTACT), np.int32),
            np.empty((count, MAX_NODES_PER_CONTACT)),
        )
        counts = np.empty(count, np.int64)
        attachment = type(found.attachment)(*(values[which] for values in found.attachment))
        fill_couplings(self.model.tets, attachment, nodes, coefficients, counts)
        is_used = np.arange(MAX_NODES_PER_CONTACT, dtype=np.int64) < counts[:, None]
        start = np.concatenate([[0], np.cumsum(counts, dtype=np.int64)])
        own = NodeCouplings(start, nodes[is_used], coefficients[is_used], found.force[which])
        add_coupling_forces(own.arrays, np.ones(count), force)
        directions = found.directions[which]
        link, axis = np.nonzero(np.einsum("kji,kji->kj", directions, directions) > 0.0)
        along = own.select(link)
        return NodeCouplings(along.start, along.nodes, along.coefficients, directions[link, axis])
