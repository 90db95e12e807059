# SPDX-License-Identifier: GPL-3.0-or-later
"""Interface of external forces with a potential in an equilibrium: springs, contacts, all that depends on positions."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

from ..runtime.arrays import Bools, Floats
from .contact_stiffness_blocks import NodeCouplings


class PotentialForce(Protocol):
    """Something outside that has an energy of node positions."""

    def energies(self, x: Floats) -> Floats:
        """Returns its energy in each of b bodies at x [m], (n, 3), in joules, (b,); infinite where it has none.

        That between two bodies counts for either of them.
        """

    def add(self, x: Floats, values: Floats, force: Floats) -> Floats:
        """Adds its forces at x to `force` [N], (n, 3), and blocks of K = −∂f/∂x to `values` [N/m], (b, 9).

        What is added to K is symmetric positive semi-definite, and in blocks that the model's pattern has. May look
        anew for what touches what. Returns the energies at x [J], (b,).
        """


@runtime_checkable
class ChordForce(PotentialForce, Protocol):
    """Something whose K is that of chords, from x to where the linear solve before expected it to be in the end.

    At rest there is K = −∂f/∂x.
    """

    def begin_step(self) -> None:
        """Is told that a linear solve begins, with what was added last."""


@runtime_checkable
class ExpectingForce(ChordForce, Protocol):
    """Something one-sided that a linear solve may expect to act where it ends, though it does not where it begins.

    Its stiffness is in what `add` adds then.
    """

    def expected_forces(self) -> Floats | None:
        """Returns the forces that come with that stiffness at the last positions [N], (n, 3); None: there are none.

        They are on the right-hand side of a linear solve alone.
        """


@runtime_checkable
class CouplingForce(PotentialForce, Protocol):
    """Something whose tangent has blocks that the model's pattern has not.

    Attributes:
        waits_for_untangling: Whether it does not act while tets that are inside out are led back.
        tied_nodes: Which nodes it ties to other bodies by springs that are far stiffer than these, (n,); None: none.
    """

    waits_for_untangling: bool
    tied_nodes: Bools | None

    def begin(self) -> None:
        """Forgets what it knows of earlier positions: a solve begins, where held nodes are where they are held."""

    def couplings(self) -> NodeCouplings | None:
        """Returns the part of the tangent that `add` has not added, at the last x; None: there is none."""

    def restrict_to(self, bodies: Bools | None) -> None:
        """Leaves out what moves none of these bodies, (b,), from now on; None: all counts again.

        The energy between one of them and another body counts for that one.
        """
