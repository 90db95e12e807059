# SPDX-License-Identifier: GPL-3.0-or-later
"""No split leaves a crumb: a piece smaller than the lattice that it is made of can show.

What is smaller than half a cell of the lattice has no shape of its own, no surface that others could lie on, and its
stress is that of a contact or two. So a split after which a piece would hold less material than that is not made; the
crack goes on at another node of the tet, or at another tet.
"""

from __future__ import annotations

import numpy as np

from ...runtime.arrays import Bools, Floats, Indices
from ...runtime.jit import kernel

MIN_FRAGMENT_CELLS = 0.5  # material of a piece, in cells of the lattice, each of twelve tets
MAX_FRAGMENT_SHARE = 0.02  # and at most this share of the whole body, however few its tets are
MAX_COUNTED_TETS = 256  # tets that are counted; so many of them are no crumb, however little is in them


def min_fragment_volume(size: Floats, material: Floats) -> float:
    """Returns how much material a piece of a body has at least [m³].

    Args:
        size: h of its tets [m], (m,).
        material: Volume of each that is filled [m³], (m,).
    """
    return min(MIN_FRAGMENT_CELLS * float(np.median(size)) ** 3, MAX_FRAGMENT_SHARE * float(material.sum()))


def leaves_small_fragment(tets: Indices, across: Indices, is_parted: Bools, material: Floats, least: float) -> bool:
    """Returns whether one of some tets is in a piece with less material than `least` [m³].

    Args:
        tets: Those beside the faces that have just parted, (k,).
        across: The tet across each face, −1 where there is none, (m, 4).
        is_parted: Across which faces tets have parted, (m, 4).
        material: Volume of each tet that is filled [m³], (m,).
        least: [m³].
    """
    return bool(has_small_fragment(tets, across, is_parted, material, least, np.empty(MAX_COUNTED_TETS, np.int32)))


@kernel()
def has_small_fragment(tets, across, is_parted, material, least, found):
    """Returns whether a tet is in a crumb, see `leaves_small_fragment`; `found`, (r,), is room for tets that hang
    together.
    """
    for k in range(len(tets)):
        found[0], count, seen, held = tets[k], 1, 0, 0.0
        while seen < count and held < least and count + 4 <= len(found):
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
        if seen == count and held < least:
            return True
    return False
