# SPDX-License-Identifier: GPL-3.0-or-later
"""What flesh touches at one time, as something that acts in the quasistatic solve."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ...arrays import Floats

if TYPE_CHECKING:
    from .flesh_contact import FleshContact


class Touching:
    """The penalty ½ k φ² of all points that are inside something.

    Attributes:
        deepest: How deep a point was at the last look, in sizes of its tets.
    """

    def __init__(self, contact: FleshContact, poses: Sequence[Floats], x: Floats) -> None:
        self.contact, self.poses = contact, tuple(poses)
        self.deepest = 0.0

    def energy(self, x: Floats) -> float:
        """Returns the energy at x [m], (n, 3), in joules."""
        return 0.0

    def add(self, x: Floats, values: Floats, force: Floats) -> float:
        """Adds forces and tangent at x; returns the energy [J]. See `outside.Acting`."""
        return 0.0
