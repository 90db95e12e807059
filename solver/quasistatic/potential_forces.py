# SPDX-License-Identifier: GPL-3.0-or-later
"""The forces of a solve that have a potential, springs, attachments and contacts, evaluated once for each positions.

The search for contacts takes as long as a pass over all tets. A Newton iteration evaluates forces where a step may end,
and the tangent where it does end: contacts are searched once for both.

`PotentialForcesOnPart` is the same for a solve of some bodies, while the others stay where they are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..mechanics.submodel import Submodel
from ..runtime.arrays import Bools, Floats
from .contact_stiffness_blocks import NodeCouplings
from .force_interfaces import ChordForce, CouplingForce, ExpectingForce, PotentialForce


@dataclass(frozen=True, eq=False)
class _ForcesByKind:
    """Some forces, all of them and those of a kind: whether an object keeps a protocol takes Python 0.1 ms to find out.

    Attributes:
        all: All of them.
        coupling: Those that couple nodes that no tet joins.
        chord: Those whose stiffness is that of chords.
        expecting: Those that may be expected to act.
    """

    all: tuple[PotentialForce, ...]
    coupling: tuple[CouplingForce, ...]
    chord: tuple[ChordForce, ...]
    expecting: tuple[ExpectingForce, ...]

    @staticmethod
    def of(forces: Sequence[PotentialForce]) -> _ForcesByKind:
        """Returns them by kind."""
        return _ForcesByKind(
            tuple(forces),
            tuple(each for each in forces if isinstance(each, CouplingForce)),
            tuple(each for each in forces if isinstance(each, ChordForce)),
            tuple(each for each in forces if isinstance(each, ExpectingForce)),
        )


class PotentialForces:
    """All forces with a potential in one solve, and their sum at the last positions.

    Attributes:
        is_tangled: Whether tets that are inside out are led back, while some forces wait.
    """

    def __init__(self, forces: Sequence[PotentialForce], node_count: int, block_count: int, body_count: int) -> None:
        """Takes the forces, and the sizes of what they are added to."""
        self.is_tangled, self._every = False, _ForcesByKind.of(forces)
        self._while_tangled = _ForcesByKind.of(
            [each for each in forces if not (isinstance(each, CouplingForce) and each.waits_for_untangling)]
        )
        self._sizes = node_count, block_count
        self._force, self._values, self._energies = np.zeros((0, 3)), np.zeros((0, 9)), np.zeros(body_count)
        self._last: Floats | None = None  # positions at which the three above are

    @property
    def forces(self) -> tuple[PotentialForce, ...]:
        """All forces."""
        return self._every.all

    @property
    def active(self) -> tuple[PotentialForce, ...]:
        """The forces that are on now."""
        return self._active.all

    @property
    def body_energies(self) -> Floats:
        """Their energy in each body at the last positions [J], (b,)."""
        return self._energies

    @property
    def are_coupling(self) -> bool:
        """Whether one that is on couples nodes that no tet joins."""
        return bool(self._active.coupling)

    @property
    def _active(self) -> _ForcesByKind:
        return self._while_tangled if self.is_tangled else self._every

    def begin(self) -> None:
        """Lets forces forget the positions before nodes moved to where they are fixed."""
        self._last = None
        for each in self._every.coupling:
            each.begin()

    def restrict_to(self, bodies: Bools | None) -> None:
        """Leaves out couplings that move none of these bodies, (b,), from now on; None: all count again."""
        self._last = None
        for each in self._every.coupling:
            each.restrict_to(bodies)

    def begin_step(self) -> None:
        """Tells forces that a step begins at the last positions, by their stiffness there."""
        for each in self._active.chord:
            each.begin_step()

    def expected_forces(self) -> Floats | None:
        """Returns what linear solves add to the forces at the last positions [N], (n, 3); None: nothing."""
        found = [expected for each in self._active.expecting if (expected := each.expected_forces()) is not None]
        return sum(found[1:], found[0]) if found else None

    def expect_nothing(self) -> None:
        """Lets no linear solve expect anything from now on, also of the last positions."""
        self._last = None
        for each in self._active.expecting:
            each.begin_step()

    def set_tangled(self, is_tangled: bool) -> None:
        """Says whether tets that are inside out are led back."""
        if is_tangled != self.is_tangled:
            self.is_tangled, self._last = is_tangled, None

    def energies(self, x: Floats) -> Floats:
        """Returns the energy in each body at x [m], (n, 3), in joules, (b,), for the contacts last found."""
        return sum((each.energies(x) for each in self.active), np.zeros_like(self._energies))

    def add(self, x: Floats, force: Floats, values: Floats | None = None) -> Floats:
        """Adds the forces at x to `force` [N], (n, 3), and with `values` their blocks [N/m], (b, 9), to these.

        Finds what touches what, where these are not the positions x [m], (n, 3), that were asked for last; the caller
        does not write to them. Returns the energies [J], (b,).
        """
        if self.forces:
            found, blocks = self.evaluate(x)
            force += found
            if values is not None:
                values += blocks
        return self._energies

    def evaluate(self, x: Floats) -> tuple[Floats, Floats]:
        """Returns the forces [N], (n, 3), and their blocks [N/m], (b, 9), that `add` adds; nobody writes to them."""
        if x is not self._last:
            self._find(x)
        return self._force, self._values

    def couplings(self) -> NodeCouplings | None:
        """Returns the part of the tangent between nodes that no tet joins, at the last positions, or None."""
        found = [each.couplings() for each in self._active.coupling]
        ties = [tied for tied in found if tied is not None]
        return NodeCouplings.concatenate(ties) if ties else None

    def tied_nodes(self) -> Bools | None:
        """Returns which nodes are tied to other bodies by very stiff springs, (n,); None: none are."""
        masks = [each.tied_nodes for each in self._active.coupling]
        tied = [mask for mask in masks if mask is not None]
        return np.logical_or.reduce(tied) if tied else None

    def _find(self, x: Floats) -> None:
        nodes, blocks = self._sizes
        if not len(self._force):
            self._force, self._values = np.empty((nodes, 3)), np.empty((blocks, 9))
        self._force[:], self._values[:], self._last = 0.0, 0.0, x
        added = [each.add(x, self._values, self._force) for each in self.active]
        self._energies = sum(added, np.zeros_like(self._energies))


class PotentialForcesOnPart:
    """What `PotentialForces` of all bodies do to some of them, with all methods that a `NewtonIterate` asks for.

    Attributes:
        whole: The forces on all bodies, restricted to these.
        part: The bodies.
    """

    def __init__(self, whole: PotentialForces, part: Submodel, x: Floats) -> None:
        """Takes the forces and the bodies; all nodes are at x [m], (n, 3), where those of other bodies stay."""
        self.whole, self.part, self._rest_of_nodes = whole, part, x
        self._own: Floats | None = None  # the last positions of the bodies, and those of all nodes with them
        self._all = x
        is_own = np.zeros(len(whole.body_energies), bool)
        is_own[list(part.bodies)] = True
        whole.restrict_to(is_own)

    @property
    def is_tangled(self) -> bool:
        """Whether tets that are inside out are led back."""
        return self.whole.is_tangled

    @property
    def forces(self) -> tuple[PotentialForce, ...]:
        """All forces."""
        return self.whole.forces

    @property
    def active(self) -> tuple[PotentialForce, ...]:
        """The forces that are on now."""
        return self.whole.active

    @property
    def are_coupling(self) -> bool:
        """Whether one that is on couples nodes that no tet joins."""
        return self.whole.are_coupling

    def begin(self) -> None:
        """Lets forces forget the positions before nodes moved to where they are fixed."""
        self.whole.begin()

    def set_tangled(self, is_tangled: bool) -> None:
        """Says whether tets that are inside out are led back."""
        self.whole.set_tangled(is_tangled)

    def begin_step(self) -> None:
        """Tells forces that a step begins at the last positions, by their stiffness there."""
        self.whole.begin_step()

    def expected_forces(self) -> Floats | None:
        """Returns what linear solves add to the forces on the bodies at the last positions [N]; None: nothing."""
        expected = self.whole.expected_forces()
        return None if expected is None else expected[self.part.nodes]

    def expect_nothing(self) -> None:
        """Lets no linear solve expect anything from now on, also of the last positions."""
        self.whole.expect_nothing()

    def positions(self, x: Floats) -> Floats:
        """Returns the positions of all nodes for those of the bodies [m]; the same array for the same one."""
        if x is not self._own:
            self._own, self._all = x, self._rest_of_nodes.copy()
            self._all[self.part.nodes] = x
        return self._all

    def energies(self, x: Floats) -> Floats:
        """Returns the energy in each of the bodies [J]; see `PotentialForces.energies`."""
        return self.whole.energies(self.positions(x))[list(self.part.bodies)]

    def add(self, x: Floats, force: Floats, values: Floats | None = None) -> Floats:
        """Adds forces and blocks at positions x of the bodies [m] to theirs; see `PotentialForces.add`."""
        found, blocks = self.whole.evaluate(self.positions(x))
        force += found[self.part.nodes]
        if values is not None:
            values += blocks[self.part.blocks]
        return self.whole.body_energies[list(self.part.bodies)]

    def forces_on_others(self, x: Floats) -> Floats:
        """Returns the forces on all nodes [N], (n, 3), for positions x of the bodies; nobody writes to them."""
        return self.whole.evaluate(self.positions(x))[0]

    def couplings(self) -> NodeCouplings | None:
        """Returns the part of the tangent between nodes of the bodies that no tet joins, or None."""
        found = self.whole.couplings()
        return None if found is None else found.of_nodes(self.part.nodes, len(self._rest_of_nodes))

    def tied_nodes(self) -> Bools | None:
        """Returns which nodes of the bodies are tied to other bodies by very stiff springs; None: none are."""
        tied = self.whole.tied_nodes()
        return None if tied is None or not tied[self.part.nodes].any() else tied[self.part.nodes]
