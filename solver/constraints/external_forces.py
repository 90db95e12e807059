# SPDX-License-Identifier: GPL-3.0-or-later
"""What acts on the bodies from outside during one step: gravity, held nodes, springs, contacts."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from ..mechanics.linearised_tet_forces import TetForces
from ..runtime.arrays import Bools, Floats
from .pair_forces import PairForces
from .point_forces import PointForces

if TYPE_CHECKING:
    from .attachments.attachment_potential import AttachmentPotential
    from .bindings.soft_particles import SoftParticles


@dataclass
class ExternalForces:
    """All that acts from outside in one step of n nodes.

    Attributes:
        gravity: g [m/s²], (3,).
        is_fixed: Which nodes are held exactly, (n,); None: none.
        fixed_target: Where they are at the end of the step [m], (n, 3); rows of free nodes are not read. None:
            they go on with their velocity.
        node_force: Further constant forces on nodes [N], (n, 3); None: none.
        points: Springs and contacts.
        pairs: Attachments of bodies to each other, and contacts between bodies and of bodies with themselves.
        contact_count: How many of the points are contacts, the last ones.
        contact_normals: Which way these push, (contact_count, 3); only flesh by Newmark's scheme reads them, which
            without them takes contacts for springs that also pull.
        pair_normals: The same of all pairs, (k, 3): which way the point p of a contact is pushed, zero for springs.
        spring_pair_count: How many of the pairs are no contacts, the first ones.
        tets: Forces of potentials, linearised (`linearised_potentials.py`).
        relinearises_only: Whether contacts agree with the last solve, and only potentials are linearised again about
            its end.
        is_frozen: Which nodes keep the result of the previous solve, (n,): whole islands that no pair joins to others;
            None: none. Only linear steps read it, and only when they solve again.
        turns: The islands whose rotations have to follow the previous solve, (k,), at once; None: none. As above.
        tied_nodes: Which nodes pairs tie to other bodies by springs that are far stiffer than these, (n,); None: none.
        particles: Bound softly to tets; where they are is in the fields of the state; None: there are none.
        substep_potentials: What acts anew in every substep of Newmark's scheme, on tets of its bodies alone.
    """

    gravity: Floats = field(default_factory=lambda: np.zeros(3))
    is_fixed: Bools | None = None
    fixed_target: Floats | None = None
    node_force: Floats | None = None
    points: PointForces = field(default_factory=PointForces)
    pairs: PairForces = field(default_factory=PairForces)
    contact_count: int = 0
    contact_normals: Floats | None = None
    pair_normals: Floats | None = None
    spring_pair_count: int = 0
    tets: TetForces = field(default_factory=TetForces)
    relinearises_only: bool = False
    is_frozen: Bools | None = None
    turns: Bools | None = None
    tied_nodes: Bools | None = None
    particles: SoftParticles | None = None
    substep_potentials: tuple[AttachmentPotential, ...] = ()

    @property
    def all_contacts(self) -> int:
        """How many contacts there are, with colliders and between bodies."""
        return self.contact_count + len(self.pairs) - self.spring_pair_count
