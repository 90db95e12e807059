# SPDX-License-Identifier: GPL-3.0-or-later
"""Regions of cells and what is deep in them, beside SciPy's ndimage."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.ndimage

from sinew.solver.mesh.tetrahedralize.morphology import erode, erode_by_faces, label_regions

AROUND = np.ones((3, 3, 3), bool)
SHAPES = [(1, 1, 1), (1, 4, 3), (7, 1, 2), (2, 9, 1), (12, 10, 11), (24, 5, 30)]


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("share", [0.0, 0.2, 0.31, 0.6, 0.97, 1.0])
def test_regions_are_those_of_ndimage(shape: tuple[int, int, int], share: float) -> None:
    is_in = np.random.default_rng(3).random(shape) < share
    wanted, count = scipy.ndimage.label(is_in)
    found, found_count = label_regions(is_in)
    assert found_count == count and found.dtype == np.int32
    assert np.array_equal(found, wanted)


def test_a_region_that_winds_is_one() -> None:
    is_in = np.zeros((9, 9, 9), bool)
    is_in[::2, 4, :] = is_in[1::4, 4, 0] = is_in[3::4, 4, 8] = True
    assert label_regions(is_in)[1] == 1


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("share", [0.5, 0.9, 0.99, 1.0])
def test_what_is_deep_is_that_of_ndimage(shape: tuple[int, int, int], share: float) -> None:
    is_in = np.random.default_rng(5).random(shape) < share
    assert np.array_equal(erode_by_faces(is_in), scipy.ndimage.binary_erosion(is_in))
    for times in (1, 2, 4):
        assert np.array_equal(erode(is_in, times), scipy.ndimage.binary_erosion(is_in, AROUND, iterations=times))
