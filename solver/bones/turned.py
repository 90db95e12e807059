# SPDX-License-Identifier: GPL-3.0-or-later
"""Tets that a bone alone turns inside out: it holds all their nodes, so no solve can help.

They pull at held nodes only, so the rest of the flesh is at rest as it should be, and only what is drawn there is
crumpled. A few of them are therefore told; where it is most of what a bone holds, its animation is broken.
"""

from __future__ import annotations

import numpy as np

from ..arrays import Indices
from ..errors import SolveFailed
from ..tracks import TrackReader
from .motion import Motion

MOST = 0.5  # share of the tets that a bone holds


def check_turned(motion: Motion, tets: Indices, name: str, tracks: TrackReader, time: float) -> int:
    """Returns how many of the tets that a bone holds, (t, 4), it turns inside out or makes flat at a time [s].

    Raises:
        SolveFailed: They are most of the tets that it holds of the flesh `name`, or as `Motion.targets`.
    """
    if not motion.groups or motion.bone.stiffness is not None or not len(tets):
        return 0  # a matrix turns all or none, and has been looked at
    corners = motion.targets(tracks, time)[tets]
    a, b, c = (corners[:, k] - corners[:, 0] for k in (1, 2, 3))
    count = int((np.einsum("ti,ti->t", a, np.cross(b, c)) <= 0.0).sum())
    if count > MOST * len(tets):
        numbers = {"count": count, "all": len(tets), "time": round(time, 3)}
        raise SolveFailed("bone-crushes", bone=motion.bone.name, name=name, **numbers)
    return count
