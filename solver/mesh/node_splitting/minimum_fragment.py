# SPDX-License-Identifier: GPL-3.0-or-later
"""The minimum size of a fragment: refuses splits that would leave a fragment smaller than half a cell of the lattice.

Such a fragment has no shape of its own and no surface on which others could lie, and few contacts decide its stress.
So no split that leaves one is made; the crack goes on at another node of the tet, or at another tet.
"""

from __future__ import annotations

import numpy as np

from ...runtime.arrays import Bools, Floats, Indices
from ...runtime.jit import kernel

MIN_FRAGMENT_CELLS = 0.5  # material of a piece, in cells of the lattice, each of twelve tets
MAX_THRESHOLD_SHARE = 0.02  # and at most this share of the whole body, however few its tets are
MAX_COUNTED_TETS = 256  # tets that are counted; so many of them are no crumb, however little is in them


def min_fragment_volume(size: Floats, material: Floats) -> float:
    """Returns the least volume of material in a fragment [m³].

    Args:
        size: h of its tets [m], (m,).
        material: Volume of each that is filled [m³], (m,).
    """
    return min(MIN_FRAGMENT_CELLS * float(np.median(size)) ** 3, MAX_THRESHOLD_SHARE * float(material.sum()))


def leaves_small_fragment(
    tets: Indices, across: Indices, is_parted: Bools, material: Floats, min_volume: float
) -> bool:
    """Returns whether one of some tets is in a piece with less material than `min_volume` [m³].

    Args:
        tets: Those beside the faces that have just parted, (k,).
        across: The tet across each face, −1 where there is none, (m, 4).
        is_parted: Across which faces tets have parted, (m, 4).
        material: Volume of each tet that is filled [m³], (m,).
        min_volume: [m³].
    """
    return bool(
        _leaves_small_fragment_kernel(
            tets, across, is_parted, material, min_volume, np.empty(MAX_COUNTED_TETS, np.int32)
        )
    )


@kernel()
def _leaves_small_fragment_kernel(tets, across, is_parted, material, min_volume, found):
    """Returns what `leaves_small_fragment` does; `found`, (r,), is work space for connected tets."""
    for k in range(len(tets)):
        found[0], count, seen, held = tets[k], 1, 0, 0.0
        while seen < count and held < min_volume and count + 4 <= len(found):
            tet = found[seen]
            seen += 1
            held += material[tet]
            for face in range(4):
                other = across[tet, face]
                if other < 0 or is_parted[tet, face]:
                    continue
                is_new = True
                for n in range(count):
                    is_new = is_new and found[n] != other
                if is_new:
                    found[count] = other
                    count += 1
        if seen == count and held < min_volume:
            return True
    return False
