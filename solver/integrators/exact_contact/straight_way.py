# SPDX-License-Identifier: GPL-3.0-or-later
"""A straight way of nodes and colliders, as one iteration of a step with Exact contact may take it."""

from __future__ import annotations

from typing import NamedTuple

from ...contact.exact.contact_potential import PairStencils
from ...runtime.arrays import Floats


class StraightWay(NamedTuple):
    """A straight way of nodes and colliders.

    Attributes:
        nodes, collider: How far they go [m], (n, 3) and (v, 3).
        prescribed: How far nodes go where only what is told to move does [m], (n, 3).
        groups: All pairs that may come close on it.
        limit: The share of it that none lets them exceed.
        share: Of the direction that it stands for.
        length: The longest of any vertex or node [m].
    """

    nodes: Floats
    collider: Floats
    prescribed: Floats
    groups: tuple[PairStencils, PairStencils]
    limit: float
    share: float
    length: float
