# SPDX-License-Identifier: GPL-3.0-or-later
"""Smooth tets: their boundary follows the surface."""

from __future__ import annotations

import numpy as np

from ..errors import BadInput
from ..geometry.bvh import Bvh
from ..geometry.outward import Outward
from ..geometry.winding import winding_numbers
from ..scene import Meshing
from .grading import graded_tets, leaf_levels
from .hinges import without_hinges
from .islands import without_specks
from .keep_volume import keep_volume
from .lattice import lattice_around, lattice_tets
from .level_set import INSIDE, lattice_winding
from .size import tet_size
from .stuffing import cut_lattice
from .tet_mesh import Filling

# A surface whose median winding number is less (a cap of a quarter of a sphere's area or less) has no inside.
LEAST_SHARE = 0.2
SHARE_SAMPLES = 512


def make_smooth(outward: Outward, bvh: Bvh, meshing: Meshing, name: str, enclosed: float) -> Filling:
    """Fills a surface with tets by isosurface stuffing; there are none where no lattice point is inside.

    Args:
        outward: The surface.
        bvh: Its tree.
        meshing: Tet size and how much larger the tets deep inside may be.
        name: What the object is called, for the sentence of a failure.
        enclosed: The volume that the surface encloses [m³].

    Raises:
        BadInput: "no-inside" where the surface is too open to have one.
    """
    if not outward.is_closed and wrapped_share(bvh) < LEAST_SHARE:
        raise BadInput("no-inside", name=name)
    lattice = lattice_around(*outward.surface.bounds, tet_size(outward.surface, meshing), meshing.interior_size)
    coordinates = lattice.coordinates()
    winding = lattice_winding(lattice, coordinates, bvh, outward.is_closed)
    is_inside = winding > INSIDE
    if meshing.interior_size > 1:
        level = leaf_levels(lattice, is_inside, meshing.interior_size.bit_length() - 1)
        tets = graded_tets(lattice, level, is_inside)
    else:
        tets = lattice_tets(lattice, is_inside)
    used = np.unique(tets)
    number = np.zeros(lattice.point_count, np.int32)
    number[used] = np.arange(len(used), dtype=np.int32)
    coordinates = coordinates[used]
    cut = cut_lattice(lattice.positions(coordinates), coordinates, number[tets], winding[used], bvh)
    return without_specks(without_hinges(keep_volume(cut, enclosed, lattice.cell)), outward, bvh, lattice.cell)


def wrapped_share(bvh: Bvh) -> float:
    """Returns the median winding number on a surface itself: 0.5 on a closed one, 0 on a sheet or a soup."""
    a, b, c = np.moveaxis(bvh.corners.reshape(-1, 3, 3), 1, 0)
    areas = np.cumsum(np.linalg.norm(np.cross(b - a, c - a), axis=1), dtype=np.float64)
    faces = np.searchsorted(areas, areas[-1] * (np.arange(SHARE_SAMPLES, dtype=np.int64) + 0.5) / SHARE_SAMPLES)
    return float(np.median(winding_numbers(bvh, ((a + b + c) / 3)[np.minimum(faces, len(areas) - 1)])))
