# SPDX-License-Identifier: GPL-3.0-or-later
"""Ends of a solve along straight lines, of bodies that were turned after it.

Contacts are measured there. Measured where a rigid body has turned to, they would be off by ω² Δt² / 2 times their
lever arm, which the next solve would take away again: they would push and pull in turn.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..runtime.arrays import Bools, Floats


class ChordEnds(NamedTuple):
    """Where a solve moved nodes along straight lines.

    Attributes:
        is_turned: Nodes that have been turned since, (n,).
        x: Ends of straight lines [m], (n, 3); others than these nodes' are not read.
    """

    is_turned: Bools
    x: Floats

    def ends(self, x: Floats) -> Floats:
        """Returns the positions x [m], (n, 3), with what has turned where the solve had it."""
        return np.where(self.is_turned[:, None], self.x, x)
