# SPDX-License-Identifier: GPL-3.0-or-later
"""How much of a tet is filled, where the surface passes through it.

Mass and stiffness of a tet are multiplied by this fraction, so that a body weighs what its volume weighs and a tet that
holds a sliver of it is as soft as that sliver. It is measured at `SAMPLES_PER_TET` points spread over the tet, other
ones in every tet: walls that happen to lie along the lattice are then met as often as others, and over many tets the
errors cancel. The winding number is computed at one point of a tet and followed from there.

Two cases need a floor, since a node may not be without mass:
- None of the points is inside, but the surface touches the tet: a quarter of a point is.
- A sheet without inside (cloth, leaves, loose faces) has no volume at all. The tets that it passes through get at
  least `SHEET_FILLED_FRACTION`: such tets are 0.827 a thick on average (a = tet size), so the sheet weighs as much as a
  shell of 0.827 · 0.15 a = a/8. How it sags under its own weight does not depend on that number, because mass and
  stiffness scale alike; only how it pushes others does.
"""

from __future__ import annotations

import numpy as np

from ...runtime.arrays import Bools, Floats, Indices
from ..geometry.triangle_bvh import Bvh
from ..geometry.winding_number import winding_numbers
from ..geometry.winding_propagation import propagate_winding_numbers, winding_numbers_in_tets
from .inside_classification import INSIDE_WINDING

SAMPLES_PER_TET = 16
# Where tets at the surface are filled by less than this on average, the body is thinner than they are.
THIN_FILLED_FRACTION = 0.2
THIN_SAMPLES_PER_TET = 96
# Where stress decides, of bodies that break: forces at the surface balance only as well as fractions are known.
FRACTURE_SAMPLES_PER_TET = 256
SHEET_FILLED_FRACTION = 0.15
# A face with a winding number of less than this just below it bounds nothing: a flat sheet comes close to 0.5.
MIN_INSIDE_WINDING = 0.6
# Three steps that fill the unit cube evenly. Source: Roberts (2018), the R-sequence: powers of 1 / 1.2207440846.
R_SEQUENCE_STEPS = np.array([0.8191725133961645, 0.6710436067037893, 0.5497004779019703])


def filled_fractions(
    corners: Floats, numbers: Indices, is_sheet: Bools, bvh: Bvh, samples: int = SAMPLES_PER_TET
) -> Floats:
    """Returns the filled fractions of tets in (0, 1], (k,).

    Args:
        corners: Corners of the tets [m], (k, 4, 3).
        numbers: Numbers of the tets, which decide where their points lie, (k,).
        is_sheet: Whether a face without inside touches each, (k,).
        bvh: The surface.
        samples: Points in each tet.
    """
    least = np.where(is_sheet, MIN_INSIDE_WINDING, INSIDE_WINDING)
    start, winding = winding_numbers_in_tets(bvh, corners)
    while True:
        count = np.zeros(len(corners))
        for sample in range(samples):
            weights = low_discrepancy_barycentric(numbers * samples + sample)
            count += propagate_winding_numbers(bvh, start, winding, np.einsum("kj,kji->ki", weights, corners)) > least
        fraction = count / samples
        # Decided for all tets at once: more points for those that came out low would favour those that did not.
        if samples >= THIN_SAMPLES_PER_TET or is_sheet.all() or fraction[~is_sheet].mean() > THIN_FILLED_FRACTION:
            break
        samples = THIN_SAMPLES_PER_TET
    # with less in them, pieces of bodies that broke turn inside out and stay so
    least_fill = 1.0 / (4 * (SAMPLES_PER_TET if samples == FRACTURE_SAMPLES_PER_TET else samples))
    return np.maximum(fraction, np.where(is_sheet, SHEET_FILLED_FRACTION, least_fill))


def low_discrepancy_barycentric(numbers: np.ndarray) -> Floats:
    """Returns barycentric coordinates of the points of given numbers, evenly spread over a tet, (k, 4).

    A point of the unit cube is folded into the tet.
    Source: Rocchini & Cignoni (2000), Generating Random Points in a Tetrahedron.
    """
    s, t, u = np.modf(0.5 + (numbers[:, None] + 1.0) * R_SEQUENCE_STEPS)[0].T
    fold = s + t > 1.0
    s, t = np.where(fold, 1.0 - s, s), np.where(fold, 1.0 - t, t)
    above = t + u > 1.0
    within = ~above & (s + t + u > 1.0)
    s, t, u = (
        np.where(within, 1.0 - t - u, s),
        np.where(above, 1.0 - u, t),
        np.where(above, 1.0 - s - t, np.where(within, s + t + u - 1.0, u)),
    )
    return np.stack([1.0 - s - t - u, s, t, u], axis=1)


def sheet_faces(bvh: Bvh, is_closed: bool) -> Bools:
    """Returns which faces bound no inside, in the order of the tree, (t,)."""
    if is_closed:
        return np.zeros(len(bvh.corners), np.bool_)
    a, b, c = np.moveaxis(bvh.corners.reshape(-1, 3, 3), 1, 0)
    normals = np.cross(b - a, c - a)
    lengths = np.linalg.norm(normals, axis=1, keepdims=True)
    step = 1.0e-6 * np.sqrt(lengths)  # of the face's own size
    below = (a + b + c) / 3.0 - step * normals / np.where(lengths > 0.0, lengths, 1.0)
    return winding_numbers(bvh, below) < MIN_INSIDE_WINDING
