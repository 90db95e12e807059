# SPDX-License-Identifier: GPL-3.0-or-later
"""Smooth tets: their boundary follows the surface."""

from __future__ import annotations

import numpy as np

from ...runtime.errors import BadInput
from ...scene.scene import Meshing
from ..geometry.orient_outward import OrientedSurface
from ..geometry.triangle_bvh import Bvh
from ..geometry.winding_number import winding_numbers
from ..tet_mesh import FilledTets
from .bcc_lattice import lattice_around, lattice_tets
from .inside_classification import INSIDE_WINDING, lattice_winding
from .isosurface_stuffing import cut_lattice
from .nonmanifold_edges import close_nonmanifold_edges
from .octree_grading import graded_tets, leaf_levels
from .small_components import remove_small_components
from .tet_size import tet_size
from .volume_preserving_offset import correct_volume

# A surface whose median winding number is less (a cap of a quarter of a sphere's area or less) has no inside.
MIN_MEDIAN_WINDING = 0.2
WINDING_SAMPLES = 512


def fill_by_stuffing(outward: OrientedSurface, bvh: Bvh, meshing: Meshing, name: str, enclosed: float) -> FilledTets:
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
    if lacks_inside(outward, bvh):
        raise BadInput("no-inside", name=name)
    lattice = lattice_around(*outward.surface.bounds, tet_size(outward.surface, meshing), meshing.interior_size)
    coordinates = lattice.coordinates()
    winding = lattice_winding(lattice, coordinates, bvh, outward.is_closed)
    is_inside = winding > INSIDE_WINDING
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
    return remove_small_components(
        close_nonmanifold_edges(correct_volume(cut, enclosed, lattice.cell)), outward, bvh, lattice.cell
    )


def lacks_inside(outward: OrientedSurface, bvh: Bvh) -> bool:
    """Whether a surface, with its tree, is too open to have an inside."""
    return not outward.is_closed and median_winding(bvh) < MIN_MEDIAN_WINDING


def median_winding(bvh: Bvh) -> float:
    """Returns the median winding number on a surface itself: 0.5 on a closed one, 0 on a sheet or a soup."""
    a, b, c = np.moveaxis(bvh.corners.reshape(-1, 3, 3), 1, 0)
    areas = np.cumsum(np.linalg.norm(np.cross(b - a, c - a), axis=1), dtype=np.float64)
    faces = np.searchsorted(areas, areas[-1] * (np.arange(WINDING_SAMPLES, dtype=np.int64) + 0.5) / WINDING_SAMPLES)
    return float(np.median(winding_numbers(bvh, ((a + b + c) / 3)[np.minimum(faces, len(areas) - 1)])))
