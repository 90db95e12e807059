# SPDX-License-Identifier: GPL-3.0-or-later
"""Writes in a thread of their own: their order, what is told, and what a failed one, a stop or a kill leaves."""

from __future__ import annotations

import contextlib
import errno
import os
import threading
import time as clock
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import sinew.solver.runtime.atomic_files as disk
from fixtures.child_process_bakes import at_frame, child, listen, nothing
from fixtures.crashing_process import Dead, Mortal
from fixtures.tiny_bakes import baked, tiny_scene, write_scene
from sinew.solver.bake.cache import BackgroundWriter, CacheReader, is_locked
from sinew.solver.bake.run_bake import BakeOptions, run_bake
from sinew.solver.runtime.errors import Cancelled, StorageFailed

pytestmark = pytest.mark.slow

FRAMES = 12


@pytest.fixture(scope="module")
def through(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A bake whose every write was done before the next frame was begun."""
    cache = tmp_path_factory.mktemp("through") / "c.sinew"
    write_scene(cache, tiny_scene(FRAMES))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(BackgroundWriter, "submit", at_once)
        run_bake(cache, nothing)
    return cache


def at_once(self: BackgroundWriter, write: Callable[[], None], then: Callable[[], None]) -> None:
    """Writes in the thread that asks for it."""
    write()
    then()


def fresh(folder: Path) -> Path:
    write_scene(folder, tiny_scene(FRAMES))
    return folder


def test_writes_are_done_and_told_in_order_and_never_more_than_there_is_room_for() -> None:
    done: list[int] = []
    told: list[int] = []
    may_go_on = threading.Event()

    def write(number: int) -> None:
        may_go_on.wait(10.0)
        done.append(number)

    threading.Timer(0.2, may_go_on.set).start()
    with BackgroundWriter(room=3) as behind:
        for number in range(20):
            behind.submit(lambda n=number: write(n), lambda n=number: told.append(n))
            assert number - len(done) <= 3 and told == sorted(told) and len(told) <= len(done)
            if number == 2:
                assert not done and not told, "nobody waited for a write"
        behind.finish()
        assert told == done == list(range(20))


def test_what_follows_is_called_by_who_asked() -> None:
    threads: list[str] = []

    def note() -> None:
        threads.append(threading.current_thread().name)

    with BackgroundWriter() as behind:
        behind.submit(note, note)
        behind.finish()
    assert threads[0].startswith("writes") and threads[1] == threading.current_thread().name


def test_after_a_write_that_failed_there_are_no_others() -> None:
    done: list[int] = []
    told: list[int] = []

    def write(number: int) -> None:
        clock.sleep(0.02)
        if number == 1:
            raise StorageFailed("disk-full", path="c", problem="full")
        done.append(number)

    with BackgroundWriter(room=5) as behind:
        with pytest.raises(StorageFailed):
            for number in range(5):
                behind.submit(lambda n=number: write(n), lambda n=number: told.append(n))
            behind.finish()
        with pytest.raises(StorageFailed):
            behind.submit(lambda: done.append(9), lambda: told.append(9))
            behind.finish()
    assert done == told == [0]


def test_what_is_under_way_is_written_whatever_ends_the_bake() -> None:
    done: list[int] = []
    with contextlib.suppress(KeyboardInterrupt), BackgroundWriter() as behind:
        for number in range(2):
            behind.submit(lambda n=number: (clock.sleep(0.05), done.append(n))[1], lambda: None)
        raise KeyboardInterrupt
    assert done == [0, 1]


def test_the_same_bytes_and_events_as_without_a_thread(through: Path, tmp_path: Path, monkeypatch) -> None:
    """Also where the disk is slower than the solver, so that every frame waits for room."""
    told: list[Any] = []
    run_bake(fresh(tmp_path / "c"), told.append)
    assert baked(tmp_path / "c") == baked(through)
    frames = [event["frame"] for event in told if event["event"] == "frame"]
    assert frames == list(range(1, FRAMES + 1))

    whole = disk.write_atomic

    def slowly(path: Path, *more: Any) -> None:
        clock.sleep(0.03)
        whole(path, *more)

    monkeypatch.setattr("sinew.solver.bake.cache.writer.write_atomic", slowly)
    run_bake(fresh(tmp_path / "slow"), nothing)
    assert baked(tmp_path / "slow") == baked(through)


def test_a_frame_counts_when_it_is_told_and_its_checkpoint_is_there(tmp_path: Path) -> None:
    cache = fresh(tmp_path / "c")

    def hear(event: Any) -> None:
        if event["event"] == "frame":
            reader = CacheReader(cache)
            assert reader.last_frame() >= event["frame"]
            assert (event["frame"] - 1) % 10 or event["frame"] in reader.resume_frames()

    run_bake(cache, hear)


def test_a_disk_that_fails_in_the_thread(through: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The failure has its name, all frames that were told of count, and the bake goes on from there."""
    cache, told, write = fresh(tmp_path / "c"), [], os.write
    main = threading.current_thread()

    def full(file: int, data: Any) -> int:
        if threading.current_thread() is not main and len(told) > 4:
            raise OSError(errno.ENOSPC, "no space")
        return write(file, data)

    def hear(event: Any) -> None:
        if event["event"] == "frame":
            told.append(event["frame"])

    with monkeypatch.context() as patch:
        patch.setattr(os, "write", full)
        with pytest.raises(StorageFailed) as caught:
            run_bake(cache, hear)
    assert caught.value.kind == "disk-full"
    reader = CacheReader(cache)
    assert told == list(range(1, len(told) + 1)) and reader.integrity_problems() == [] and not is_locked(cache)
    assert reader.last_frame() in (told[-1], told[-1] + 1)
    run_bake(cache, nothing, options=BakeOptions(resume=True))
    assert baked(cache) == baked(through)


def test_a_full_disk_counts_for_more_than_a_stop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A frame that was under way when a person stopped the bake is not silently lost."""
    cache, whole, do = fresh(tmp_path / "c"), disk.write_atomic, BackgroundWriter.submit
    asked_for: list[Callable[[], None]] = []
    is_stopped = threading.Event()

    def fails(path: Path, *more: Any) -> None:
        if path.name == "000004.npz" and path.parent.name == "frames":
            assert is_stopped.wait(60.0), "nobody stopped the bake while the frame was under way"
            raise OSError(errno.ENOSPC, "no space")
        whole(path, *more)

    def note(self: BackgroundWriter, write: Callable[[], None], then: Callable[[], None]) -> None:
        do(self, write, then)
        asked_for.append(write)

    def stop() -> bool:
        if len(asked_for) == 3:  # frames 2, 3 and 4; whether their thread has come to the last does not matter
            is_stopped.set()
        return is_stopped.is_set()

    monkeypatch.setattr(BackgroundWriter, "submit", note)
    monkeypatch.setattr("sinew.solver.bake.cache.writer.write_atomic", fails)
    with pytest.raises(StorageFailed):
        run_bake(cache, nothing, stop)
    assert is_stopped.is_set()
    reader = CacheReader(cache)
    assert reader.last_frame() == 3 and reader.integrity_problems() == [] and reader.resume_frames() == [1]


def test_stopped_while_frames_are_under_way(through: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """All that was computed is written and told before the bake ends, with a checkpoint at the last frame."""
    cache, told, whole = fresh(tmp_path / "c"), [], disk.write_atomic

    def slowly(path: Path, *more: Any) -> None:
        clock.sleep(0.05)
        whole(path, *more)

    def hear(event: Any) -> None:
        if event["event"] == "frame":
            told.append(event["frame"])

    asked = iter([False] * 14 + [True])
    monkeypatch.setattr("sinew.solver.bake.cache.writer.write_atomic", slowly)
    with pytest.raises(Cancelled):
        run_bake(cache, hear, lambda: next(asked))
    last = CacheReader(cache).last_frame()
    assert last is not None and told == list(range(1, last + 1)) and CacheReader(cache).resume_frame() == last
    monkeypatch.undo()
    run_bake(cache, nothing, options=BakeOptions(resume=True))
    assert baked(cache) == baked(through)


def test_death_in_disk_operations_of_the_thread(through: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        counter = Mortal(patch, 10**9)
        run_bake(fresh(tmp_path / "counted"), nothing)
    assert counter.count > 100
    for die_at in range(30, counter.count, 41):
        cache, told = fresh(tmp_path / f"c{die_at}"), []
        with monkeypatch.context() as patch:
            Mortal(patch, die_at)
            with contextlib.suppress(Dead):
                run_bake(cache, told.append)
        frames = [event["frame"] for event in told if event["event"] == "frame"]
        reader = CacheReader(cache)
        assert reader.integrity_problems() == [] and (reader.last_frame() or 0) >= max(frames, default=0)
        run_bake(cache, nothing, options=BakeOptions(resume=True))
        assert baked(cache) == baked(through), die_at


def test_killed_in_the_middle(tmp_path: Path) -> None:
    cache = tmp_path / "c"
    write_scene(cache, tiny_scene(400))
    process = child(cache)
    events = listen(process, at_frame(8))
    process.kill()
    listen(process)
    process.close()
    last = max(event["frame"] for event in events if event["event"] == "frame")
    reader = CacheReader(cache)
    assert reader.integrity_problems() == [] and reader.last_frame() >= last and not is_locked(cache)
    run_bake(cache, nothing, options=BakeOptions(resume=True, frame_end=reader.last_frame() + 5))
    assert CacheReader(cache).integrity_problems() == []
