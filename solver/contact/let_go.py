# SPDX-License-Identifier: GPL-3.0-or-later
"""Points of colliders that are let go of in a body that is crushed, so that it can come out of what crushes it.

A body between plates that close altogether is turned inside out, and then one point of a plate would push it up and the
next one down, for ever. What the points of the body itself feel brings it out.
"""

from __future__ import annotations

import numpy as np

from ..arrays import Bools, Floats
from ..skins.skin import Met, Skins

DEEP = 0.03  # depth from which it is let go of where corners of the triangle feel its collider, in sizes of tets


def let_go(skins: Skins, met: Met, x: Floats, is_told: Bools) -> Bools:
    """Returns which contacts are let go of, (k,).

    Args:
        skins, met: What has met.
        x: Nodes at the start of the step [m], (n, 3).
        is_told: Which vertices of the skins are those of colliders, (v,).
    """
    gone = is_told[met.point]
    which = np.flatnonzero(gone)
    if not len(which):
        return gone
    corners, skin = skins.triangles[met.triangle[which]], skins.skin_of[met.point[which]]
    depth = -(met.gap[which] + skins.thickness[met.skin[which]] + skins.thickness[skin])
    size = skins.size[corners[:, 0]]
    feels = np.zeros((skins.vertex_count, len(skins)), bool)
    feels[met.point[~gone], met.skin[~gone]] = True
    is_crowded = feels[corners, skin[:, None]].any(axis=1)
    a, b, c, d = np.moveaxis(x[skins.nodes[corners]], 2, 0)
    is_turned = (np.einsum("kci,kci->kc", np.cross(b - a, c - a), d - a) <= 0.0).any(axis=1)
    gone[which] = is_turned | (is_crowded & (depth > DEEP * size))
    return gone
