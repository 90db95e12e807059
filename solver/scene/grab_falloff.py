# SPDX-License-Identifier: GPL-3.0-or-later
"""How the pull of a grab falls off around the place that is grabbed, in the solver and in the vertex group of Keep."""

from __future__ import annotations

from ..runtime.arrays import Floats


def grab_shares(distance: Floats, radius: float) -> Floats:
    """Returns (1 − (d / r)²)² for distances d below r from the grabbed place, both in the same unit, (n,)."""
    return (1.0 - (distance / radius) ** 2) ** 2
