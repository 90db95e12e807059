# SPDX-License-Identifier: GPL-3.0-or-later
"""The finishing pass of bakes that were stopped, resumed, changed or damaged."""

from __future__ import annotations

import contextlib
import dataclasses
import errno
import os
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fixtures.crashing_process import Dead, Mortal
from fixtures.finished_fracture_bakes import KEY, nothing, surface_of
from fixtures.finished_fracture_bakes import through as through
from fixtures.fracture_bake import FRAMES
from fixtures.tiny_bakes import baked
from sinew.solver.bake.cache import CacheReader, delete_cache
from sinew.solver.bake.cache.pc2 import read_header, read_samples
from sinew.solver.bake.postprocess.finish_cache import postprocess_cache
from sinew.solver.bake.run_bake import BakeOptions, run_bake
from sinew.solver.runtime.cancellation import CancellationToken
from sinew.solver.runtime.errors import Cancelled, SolveFailed, StorageFailed
from sinew.solver.scene.scene import Fracture, Scene

pytestmark = pytest.mark.slow


def last_told(events: Sequence[Mapping[str, Any]]) -> int:
    """Returns the last frame told of. A bake that a person stops at one ends there or,

    where a frame's write takes longer than the next one's steps, up to two frames later.
    """
    return int([event["frame"] for event in events if event["event"] == "frame"][-1])


@pytest.mark.parametrize("last", [2, 4, 9])
def test_a_bake_that_is_made_longer_has_the_same_bytes(through: Path, tmp_path: Path, last: int) -> None:
    cache = tmp_path / "c"
    shutil.copytree(through / "scene", cache / "scene")
    run_bake(cache, nothing, options=BakeOptions(frame_end=last))
    made = CacheReader(cache).read_result(KEY)
    assert (made is None) == (last == 2)
    assert made is None or int(made["last_frame"]) == last
    run_bake(cache, nothing, options=BakeOptions(resume=True))
    assert baked(cache) == baked(through)


def test_stopped_it_is_finished_as_far_as_it_went(through: Path, tmp_path: Path) -> None:
    cache, stop, told = tmp_path / "c", CancellationToken(), []
    shutil.copytree(through / "scene", cache / "scene")

    def hear(event: Mapping[str, Any]) -> None:
        told.append(event)
        if event["event"] == "frame" and event["frame"] == 7:
            stop.set()

    with pytest.raises(Cancelled):
        run_bake(cache, hear, stop, on_stopped=stop.acknowledge)
    names = [event["event"] for event in told]
    assert names[-1] == "finished" and "done" not in names
    last = last_told(told)
    made = CacheReader(cache).read_result(KEY)
    assert made is not None and int(made["last_frame"]) == last
    assert read_header(cache / "result" / f"{KEY}.pc2").samples == CacheReader(cache).metadata.sample_count(last)
    run_bake(cache, nothing, options=BakeOptions(resume=True))
    assert baked(cache) == baked(through)


def test_a_second_wish_leaves_the_finishing_too(through: Path, tmp_path: Path) -> None:
    cache, stop, told = tmp_path / "c", CancellationToken(), []
    shutil.copytree(through / "scene", cache / "scene")

    def hear(event: Mapping[str, Any]) -> None:
        told.append(event)
        if event["event"] == "frame" and event["frame"] == 7 or event.get("fraction", 0.0) > 0.6:
            stop.set()

    with pytest.raises(Cancelled):
        run_bake(cache, hear, stop, on_stopped=stop.acknowledge)
    reader = CacheReader(cache)
    assert reader.last_frame() == reader.resume_frame() == last_told(told) and reader.results() == []
    assert not [path for path in cache.rglob("*") if path.name.endswith(".part")]
    postprocess_cache(cache, nothing)
    assert reader.results()


def test_finishing_again_gives_the_same_bytes(through: Path, tmp_path: Path) -> None:
    cache = tmp_path / "c"
    shutil.copytree(through, cache)
    (cache / "result" / f"{KEY}.npz").unlink()
    (cache / "attributes" / KEY / "000003.ply").write_bytes(b"damaged")
    told: list[Mapping[str, Any]] = []
    run_bake(cache, told.append, options=BakeOptions(resume=True))  # all frames are there, the result is not
    assert [event["event"] for event in told if event["event"] != "finishing"] == ["finished", "done"]
    assert told[-1]["results"] == CacheReader(through).results()
    assert baked(cache) == baked(through)
    told.clear()
    run_bake(cache, told.append, options=BakeOptions(resume=True))
    assert [event["event"] for event in told] == ["done"] and told[0]["results"] == CacheReader(through).results()


def test_death_in_any_disk_operation(through: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cache = tmp_path / "c"
    shutil.copytree(through, cache)
    with monkeypatch.context() as patch:
        counter = Mortal(patch, 10**9)
        postprocess_cache(cache, nothing)
    assert counter.count > 60 and baked(cache) == baked(through)
    for die_at in (*range(1, 20, 3), *range(20, counter.count, 13), *range(counter.count - 8, counter.count + 1)):
        with monkeypatch.context() as patch:
            Mortal(patch, die_at)
            with contextlib.suppress(Dead):
                postprocess_cache(cache, nothing)
        reader = CacheReader(cache)
        made = reader.read_result(KEY)  # whole or not there
        assert made is None or baked(cache) == baked(through)
        for path in (cache / "attributes" / KEY).glob("*.ply"):
            assert path.read_bytes() == (through / "attributes" / KEY / path.name).read_bytes()
        assert reader.is_done() and reader.integrity_problems() == []
    postprocess_cache(cache, nothing)
    assert baked(cache) == baked(through)
    assert delete_cache(cache) == [] and not cache.exists()


def test_a_full_disk_is_named_and_costs_no_frame(
    through: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache = tmp_path / "c"
    shutil.copytree(through, cache)

    def refuse(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    for name in ("fsync", "replace"):
        with monkeypatch.context() as patch:
            patch.setattr(os, name, refuse)
            with pytest.raises(StorageFailed) as caught:
                postprocess_cache(cache, nothing)
        assert caught.value.kind == "disk-full"
        assert CacheReader(cache).is_done() and CacheReader(cache).results() == []
        assert not [path for path in cache.rglob("*") if path.name.endswith(".part")]


def resaved(cache: Path, fracture: Fracture | None) -> None:
    scene = Scene.load(cache / "scene")
    cube, pulled = scene.bodies
    dataclasses.replace(scene, bodies=(cube, dataclasses.replace(pulled, fracture=fracture))).save(cache / "scene")


def test_fracture_is_turned_on_in_a_bake_that_is_there(through: Path, tmp_path: Path) -> None:
    cache = tmp_path / "c"
    shutil.copytree(through / "scene", cache / "scene")
    fracture = Scene.load(cache / "scene").bodies[1].fracture
    resaved(cache, None)
    run_bake(cache, nothing, options=BakeOptions(frame_end=3))
    resaved(cache, fracture)
    run_bake(cache, nothing, options=BakeOptions(resume=True, accept_changes=True))
    reader = CacheReader(cache)
    assert reader.is_done() and reader.results() == CacheReader(through).results()
    surface, _ = surface_of(cache)
    is_source = surface.source_vertex >= 0
    for number in range(5):
        shown = read_samples(cache / "result" / f"{KEY}.pc2", number, 1)[0, is_source]
        played = read_samples(cache / "play" / f"{KEY}.pc2", number, 1)[0, surface.source_vertex[is_source]]
        # between the frames that were kept it moves evenly
        assert np.abs(shown - played).max() < (5e-3 if number % 2 else 2e-6)


def test_fracture_is_turned_off_in_a_bake_that_broke(through: Path, tmp_path: Path) -> None:
    cache = tmp_path / "c"
    shutil.copytree(through, cache)
    resaved(cache, None)
    with pytest.raises(StorageFailed) as caught:
        run_bake(cache, nothing, options=BakeOptions(resume=True, from_frame=15, accept_changes=True))
    assert caught.value.kind == "cache-broken-body" and "Pulled Bar" in caught.value.text
    run_bake(cache, nothing, options=BakeOptions(resume=True, from_frame=3, accept_changes=True))
    assert CacheReader(cache).is_done() and not (cache / "result" / f"{KEY}.pc2").exists()


def test_a_step_that_fails_leaves_what_is_there_finished(through: Path, tmp_path: Path) -> None:
    cache = tmp_path / "c"
    shutil.copytree(through / "scene", cache / "scene")
    run_bake(cache, nothing, options=BakeOptions(frame_end=8))
    scene = Scene.load(cache / "scene")
    hard = dataclasses.replace(scene.settings, max_iterations=1, tolerance=1e-12, frame_end=FRAMES)
    dataclasses.replace(scene, settings=hard).save(cache / "scene")
    with pytest.raises(SolveFailed):
        run_bake(cache, nothing, options=BakeOptions(resume=True, accept_changes=True, strict=True))
    made = CacheReader(cache).read_result(KEY)
    assert made is not None and int(made["last_frame"]) == CacheReader(cache).last_frame() == 8


def test_a_damaged_result_is_told(through: Path, tmp_path: Path) -> None:
    cache = tmp_path / "c"
    shutil.copytree(through, cache)
    whole = (cache / "result" / f"{KEY}.pc2").read_bytes()
    for damaged in (b"", whole[:-100], whole[:28] + b"\1\0\0\0" + whole[32:]):
        (cache / "result" / f"{KEY}.pc2").write_bytes(damaged)
        assert KEY in CacheReader(cache).integrity_problems()[0]
    (cache / "result" / f"{KEY}.npz").write_bytes(b"abc")
    assert KEY in CacheReader(cache).integrity_problems()[0]
    postprocess_cache(cache, nothing)
    assert CacheReader(cache).integrity_problems() == [] and baked(cache) == baked(through)
