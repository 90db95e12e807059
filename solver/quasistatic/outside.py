# SPDX-License-Identifier: GPL-3.0-or-later
"""What acts on a body at rest besides constant loads: springs, contacts, anything that depends on where nodes are."""

from __future__ import annotations

from typing import Protocol

from ..arrays import Floats


class Acting(Protocol):
    """Something outside that has an energy of node positions."""

    def energy(self, x: Floats) -> float:
        """Returns its energy at x [m], (n, 3), in joules; infinite where it has none."""

    def add(self, x: Floats, values: Floats, force: Floats) -> float:
        """Adds its forces at x to `force` [N], (n, 3), and blocks of K = −∂f/∂x to `values` [N/m], (b, 9).

        What is added to K is symmetric positive semi-definite, and in blocks that the model's pattern has. May look
        anew for what touches what. Returns the energy at x [J].
        """
