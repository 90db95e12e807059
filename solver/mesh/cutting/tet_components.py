# SPDX-License-Identifier: GPL-3.0-or-later
"""Which tets hold together by material."""

from __future__ import annotations

import numpy.typing as npt

from ...runtime.arrays import Bools, Indices
from ..geometry.connected_components import connected_components
from .intersections import Intersections
from .tet_complex import TetComplex


def material_components(
    whole: TetComplex, crossings: Intersections, windings: Indices, is_parted: Bools
) -> npt.NDArray:
    """Returns the number of the piece of each tet, (m,): tets hold together across faces with material in them."""
    has_material = (windings[whole.face_nodes] != 0).any(axis=1)
    has_material[crossings.face] = True
    a, b = whole.face_tets[whole.is_inner & has_material & ~is_parted].T
    return connected_components(a, b, len(whole.tets))
