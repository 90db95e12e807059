# SPDX-License-Identifier: GPL-3.0-or-later
"""The share of the mass and of the stiffness of a tet that each of its copies has after a cut.

It is the share of the volume that the copy holds, for both: with all of the stiffness in each copy the elastic energy
of a tet would double, and nodes that only slivers have would be far stiffer than heavy, which raises the condition
number of a step. No copy has less than `MIN_SHARE`, so that nodes of slivers keep a weight that single precision and
the tolerance of a solve can tell from nothing; what slivers get beyond their volume is taken from the other copies of
their tet. So the shares of the copies of a tet always add up to what it had, and neither mass nor energy is lost or
gained.
"""

from __future__ import annotations

import numpy as np

from ...runtime.arrays import Floats, Indices, floats

# Of a tet as it was built. A jelly of 320 tets in eight pieces that touch each other took as many iterations in 16
# frames, within 10 %, with any of 1e-5, 1e-3, 0.01, 0.03 and 0.1.
MIN_SHARE = 1.0e-3


def copy_shares(whole: Floats, parent: Indices, filled: Floats) -> Floats:
    """Returns the shares of mass and stiffness of copies of tets, (k,).

    Args:
        whole: Of the tets before the cut, (m,).
        parent: The tet of which each is a copy, rising, (k,).
        filled: Share of the volume of its tet that each copy holds, (k,).
    """
    count = len(whole)
    held, copies = np.bincount(parent, filled, minlength=count), np.bincount(parent, minlength=count)
    found = whole[parent] * (filled / held[parent])
    least = np.minimum(MIN_SHARE, whole / copies)
    is_small = found < least[parent]
    has_small = np.bincount(parent, is_small, minlength=count)[parent] > 0
    above = np.where(is_small, 0.0, found - least[parent])
    room = np.bincount(parent, above, minlength=count)[parent]
    left = (whole - copies * least)[parent]
    raised = least[parent] + above * np.divide(left, room, out=np.zeros(len(room)), where=room > 0.0)
    return floats(np.where(has_small, raised, found))
