# SPDX-License-Identifier: GPL-3.0-or-later
"""What the fibres of a muscle are, tet by tet."""

from __future__ import annotations

from dataclasses import dataclass

from ....runtime.arrays import Bools, Floats


@dataclass(frozen=True, eq=False)
class FibreField:
    """The fibres of the k tets of a muscle.

    Attributes:
        direction: Unit directions at rest, from origin to insertion where these are known, (k, 3).
        tendon: Share of tendon, 0 to 1, (k,).
        t: How far along the muscle a tet is, 0 at the origin, 1 at the insertion, (k,). Without attachments, along
            the axis of the lattice; or (0,) for curves.
        is_extrapolated: Where the source of the fibres says nothing, so that a tet has the direction of its
            surroundings, (k,).
    """

    direction: Floats
    tendon: Floats
    t: Floats
    is_extrapolated: Bools
