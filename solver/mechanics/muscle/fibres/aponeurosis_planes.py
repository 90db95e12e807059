# SPDX-License-Identifier: GPL-3.0-or-later
"""How an aponeurosis lies: a sheet of tendon in the belly of a muscle, painted as tets.

Planes are fitted to its tets around a place, so how ragged these are hardly matters.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ....mesh.geometry.nearest_points import nearest_points
from ....runtime.arrays import Bools, Floats
from .direction_tensors import align
from .muscle_region import MuscleRegion

APONEUROSIS_SHARE = 0.5  # of painted tendon, from which a tet belongs to the aponeurosis
PATCH_TETS = 256  # to which a plane is fitted: of a sheet of two layers of cells, a patch of three by three
PATCHES_AT_A_TIME = 5_000
MAX_FLAT_VARIANCE_RATIO = 0.2  # third over second variance of a patch, above which it is a cord and not a sheet


@dataclass(frozen=True, eq=False)
class SheetPlanes:
    """The planes of an aponeurosis next to the k tets of a muscle.

    Attributes:
        normal: Unit normals, towards the aponeurosis, of any sign within it, (k, 3).
        is_flat: Where it is a sheet rather than a cord, (k,).
    """

    normal: Floats
    is_flat: Bools


def sheet_planes(region: MuscleRegion, is_aponeurosis: Bools) -> SheetPlanes:
    """Returns the planes of the tets that an aponeurosis consists of, (k,), at least one.

    Other tets have the plane of the nearest of these.
    """
    places, sheet = region.centroids, region.centroids[is_aponeurosis]
    middle, normal, is_flat = _fitted_planes(sheet)
    nearest = nearest_points(sheet, places, 1)[1][:, 0]
    return SheetPlanes(align(normal[nearest], middle[nearest] - places), is_flat[nearest])


def _fitted_planes(sheet: Floats) -> tuple[Floats, Floats, Bools]:
    """Returns middles [m] and normals of the patches around points [m], (s, 3) each, and which are flat, (s,)."""
    middle, normal, is_flat = np.empty_like(sheet), np.empty_like(sheet), np.empty(len(sheet), np.bool_)
    for begin in range(0, len(sheet), PATCHES_AT_A_TIME):
        own = slice(begin, begin + PATCHES_AT_A_TIME)
        near = sheet[nearest_points(sheet, sheet[own], min(PATCH_TETS, len(sheet)))[1]]
        middle[own] = near.mean(axis=1)
        near -= middle[own, None]
        variance, axes = np.linalg.eigh(np.einsum("kpi,kpj->kij", near, near))
        normal[own] = axes[:, :, 0]
        is_flat[own] = variance[:, 0] < MAX_FLAT_VARIANCE_RATIO * variance[:, 1]
    return middle, normal, is_flat


def lay_in_sheet(direction: Floats, planes: SheetPlanes, is_aponeurosis: Bools) -> Floats:
    """Returns directions, (k, 3), of which those in a sheet are projected onto its plane: tendon runs along it."""
    along = direction - np.einsum("ki,ki->k", direction, planes.normal)[:, None] * planes.normal
    size = np.linalg.norm(along, axis=1)
    lies = is_aponeurosis & planes.is_flat & (size > 0.0)
    return np.where(lies[:, None], along / np.where(lies, size, 1.0)[:, None], direction)
