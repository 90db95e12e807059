# SPDX-License-Identifier: GPL-3.0-or-later
"""Connected components of tets, joined across unparted faces that contain material."""

from __future__ import annotations

import numpy.typing as npt

from ...runtime.arrays import Bools, Indices
from ..geometry.connected_components import connected_components
from .surface_tet_intersections import Intersections
from .tet_complex import TetComplex


def material_components(
    whole: TetComplex, crossings: Intersections, windings: Indices, is_parted: Bools
) -> npt.NDArray:
    """Returns the number of each tet's component, (m,): tets are joined across unparted faces that contain material."""
    has_material = (windings[whole.face_nodes] != 0).any(axis=1)
    has_material[crossings.face] = True
    a, b = whole.face_tets[whole.is_inner & has_material & ~is_parted].T
    return connected_components(a, b, len(whole.tets))
