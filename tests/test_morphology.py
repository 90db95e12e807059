# SPDX-License-Identifier: GPL-3.0-or-later
"""Regions of cells and what is deep in them, beside searches cell by cell."""

from __future__ import annotations

import numpy as np
import pytest

from sinew.solver.mesh.tetrahedralize.morphology import erode, erode_by_faces, label_regions

FACES = [offset for offset in np.ndindex(3, 3, 3) if sum(abs(o - 1) for o in offset) <= 1]
SHAPES = [(1, 1, 1), (1, 4, 3), (7, 1, 2), (2, 9, 1), (12, 10, 11), (16, 5, 20)]


def _all_around(is_in: np.ndarray, offsets: list[tuple[int, int, int]], far: int) -> np.ndarray:
    """Returns which cells have all cells in that lie by these offsets beside them; nothing outside is in."""
    padded = np.pad(is_in, far)
    found = np.ones_like(is_in)
    for x, y, z in offsets:
        found &= padded[x : x + is_in.shape[0], y : y + is_in.shape[1], z : z + is_in.shape[2]]
    return found


def _flooded(is_in: np.ndarray) -> tuple[np.ndarray, int]:
    """Returns the regions by flooding each from its first cell."""
    region, count = np.zeros(is_in.shape, np.int32), 0
    for cell in np.ndindex(is_in.shape):
        if not is_in[cell] or region[cell]:
            continue
        count += 1
        waiting = [cell]
        while waiting:
            at = waiting.pop()
            if all(0 <= i < n for i, n in zip(at, is_in.shape, strict=True)) and is_in[at] and not region[at]:
                region[at] = count
                waiting += [tuple(np.add(at, offset) - 1) for offset in FACES]
    return region, count


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("share", [0.0, 0.2, 0.31, 0.6, 0.97, 1.0])
def test_regions_are_what_a_flood_reaches(shape: tuple[int, int, int], share: float) -> None:
    is_in = np.random.default_rng(3).random(shape) < share
    wanted, count = _flooded(is_in)
    found, found_count = label_regions(is_in)
    assert found_count == count and found.dtype == np.int32
    assert np.array_equal(found, wanted)


def test_a_region_that_winds_is_one() -> None:
    is_in = np.zeros((9, 9, 9), bool)
    is_in[::2, 4, :] = is_in[1::4, 4, 0] = is_in[3::4, 4, 8] = True
    assert label_regions(is_in)[1] == 1


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("share", [0.5, 0.9, 0.99, 1.0])
def test_what_is_deep_has_all_cells_around_it_in(shape: tuple[int, int, int], share: float) -> None:
    is_in = np.random.default_rng(5).random(shape) < share
    assert np.array_equal(erode_by_faces(is_in), _all_around(is_in, FACES, 1))
    for times in (0, 1, 2, 4):
        offsets = list(np.ndindex(*3 * (2 * times + 1,)))
        assert np.array_equal(erode(is_in, times), _all_around(is_in, offsets, times))
