# SPDX-License-Identifier: GPL-3.0-or-later
"""Topologies and fields of frames with wrong numbers, types or sizes end in one sentence when a cache is finished."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from fixtures.finished_fracture_bakes import KEY, nothing
from fixtures.finished_fracture_bakes import through as through
from sinew.solver.bake.cache import CacheLock, CacheReader
from sinew.solver.bake.postprocess.finish_cache import postprocess_cache
from sinew.solver.runtime.checksums import npz_bytes
from sinew.solver.runtime.errors import StorageFailed

Change = Callable[[np.ndarray], np.ndarray]


def _one_is(value: int) -> Change:
    def change(array: np.ndarray) -> np.ndarray:
        array = array.copy()
        array.flat[-5] = value
        return array

    return change


def _finish(cache: Path) -> None:
    lock = CacheLock(cache)
    try:
        postprocess_cache(cache, nothing)
    finally:
        lock.release()


def _spoilt(through: Path, folder: Path, file: str, name: str, change: Change) -> Path:
    cache = Path(shutil.copytree(through, folder / "c.sinew"))
    with np.load(cache / file) as stored:
        arrays = dict(stored)
    (cache / file).write_bytes(npz_bytes({**arrays, name: change(arrays[name])}))
    return cache


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("tets", _one_is(1073741824)),
        ("tets", _one_is(-1)),
        ("tets", _one_is(0)),  # in range, and not of this tet
        ("tets", lambda tets: tets[:-1]),
        ("tets", lambda tets: tets.ravel()),
        ("tets", lambda tets: tets.astype(float)),
        ("origin", _one_is(1073741824)),
        ("origin", lambda origin: origin[:-1]),
        ("origin", lambda origin: origin[:, None]),
    ],
)
def test_a_damaged_topology_is_named(through: Path, tmp_path: Path, name: str, change: Change) -> None:
    file = f"topology/{CacheReader(through).topologies()[-1]:06d}.npz"
    cache = _spoilt(through, tmp_path, file, name, change)
    with pytest.raises(StorageFailed) as caught:
        _finish(cache)
    assert caught.value.kind == "cache-damaged" and file in caught.value.text and "\n" not in caught.value.text


@pytest.mark.parametrize(
    "name", [f"nodes.{KEY}.1", f"missed.{KEY}.0", f"attribute.{KEY}.stress", f"attribute.{KEY}.velocity"]
)
@pytest.mark.parametrize(
    "change",
    [lambda rows: rows[:-1], lambda rows: rows.ravel()[None], lambda rows: rows.astype(str), lambda rows: rows.sum()],
)
def test_a_damaged_field_of_a_frame_is_named(through: Path, tmp_path: Path, name: str, change: Change) -> None:
    file = "frames/000004.npz"
    cache = _spoilt(through, tmp_path, file, name, change)
    with pytest.raises(StorageFailed) as caught:
        _finish(cache)
    assert caught.value.kind == "cache-damaged" and file in caught.value.text and name in caught.value.text
