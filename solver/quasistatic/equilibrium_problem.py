# SPDX-License-Identifier: GPL-3.0-or-later
"""The problem that a quasistatic solve is given: f(x) + load = 0, with some nodes fixed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..mechanics.hyperelastic.hyperelastic_bodies import Hyperelastic
from ..mechanics.model import Model
from ..runtime.arrays import Floats
from .fixed_nodes import FixedNodes
from .force_interfaces import PotentialForce


@dataclass(frozen=True, eq=False)
class EquilibriumProblem:
    """Bodies, their material, and what acts on them.

    Attributes:
        model: All bodies.
        law: Their material.
        fixed: Which nodes are fixed, and where.
        load: Constant forces [N], (n, 3); None: none.
        forces: Springs and contacts.
    """

    model: Model
    law: Hyperelastic
    fixed: FixedNodes
    load: Floats | None = None
    forces: Sequence[PotentialForce] = ()
