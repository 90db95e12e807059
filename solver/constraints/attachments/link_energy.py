# SPDX-License-Identifier: GPL-3.0-or-later
"""The energy of a link between two surfaces, as a function of how far it is from its length at rest.

With the reach r and the fade h, which falls from 1 at r / 2 to 0 at r,

    W'(s) = k s h(s)            s > 0, pulled apart: nothing is left from r on
    W'(s) = k s                 −r < s ≤ 0, pushed together
    W'(s) = −k r                below, so that what is deep is not shot out.

W'(s) / s takes the place of W'' as stiffness: it is never negative, and the parabola that it makes never lies below W.
"""

from __future__ import annotations

import numpy as np

from ...runtime.arrays import Floats

FULL_SHARE = 0.5  # share of the reach up to which links have their full strength


def fade(length: Floats, reach: Floats | float) -> Floats:
    """Returns the share of its strength that a link of a length ≥ 0 [m] has, with a reach [m]; arrays of one shape."""
    t = np.clip((length / reach - FULL_SHARE) / (1.0 - FULL_SHARE), 0.0, 1.0)
    return 1.0 - t * t * (3.0 - 2.0 * t)


def link_energy(s: Floats, k: Floats, reach: Floats | float) -> tuple[Floats, Floats]:
    """Returns W [J] and W'(s) / s [N/m] of links, (n,) each.

    Args:
        s: How far they are from their lengths at rest, above zero where they are drawn out [m], (n,).
        k: Their stiffness [N/m], (n,).
        reach: r [m], a number or (n,).
    """
    a, b = FULL_SHARE * reach, (1.0 - FULL_SHARE) * reach
    t = np.clip((s - a) / b, 0.0, 1.0)
    drawn = b * (a * (t - t**3 + 0.5 * t**4) + b * (0.5 * t**2 - 0.75 * t**4 + 0.4 * t**5))
    inner, deep = np.clip(s, -reach, a), np.where(s < -reach, reach * (-s - reach), 0.0)
    share = np.where(s > 0.0, fade(np.maximum(s, 0.0), reach), reach / np.maximum(-s, reach))
    return k * (0.5 * inner * inner + drawn + deep), k * share
