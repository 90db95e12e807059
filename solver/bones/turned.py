# SPDX-License-Identifier: GPL-3.0-or-later
"""Tets that a bone alone turns inside out: it holds all their nodes, so no solve can help.

They pull at held nodes only, so the rest of the flesh is at rest as it should be, and only what is drawn there is
crumpled. A few of them are therefore told; where it is most of what a bone holds, its animation is broken.
"""

from __future__ import annotations

import numpy as np

from ..arrays import Floats, Indices
from ..errors import SolveFailed

MOST = 0.5  # share of the tets that a bone holds


def count_turned(places: Floats, tets: Indices) -> int:
    """Returns how many tets, (t, 4), with corners at places [m], (k, 3), are inside out or flat."""
    corners = places[tets]
    a, b, c = (corners[:, k] - corners[:, 0] for k in (1, 2, 3))
    return int((np.einsum("ti,ti->t", a, np.cross(b, c)) <= 0.0).sum())


def refuse_most(count: int, all_tets: int, bone: str, name: str, time: float) -> None:
    """Raises SolveFailed where a bone turns most of the tets that it holds of the flesh `name` at a time [s]."""
    if count > MOST * all_tets:
        raise SolveFailed("bone-crushes", bone=bone, name=name, count=count, all=all_tets, time=round(time, 3))
