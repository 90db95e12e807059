# SPDX-License-Identifier: GPL-3.0-or-later
"""A child that is killed, cancelled, or left alone, and what the next one makes of it."""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time as clock
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from fixtures.child_process_bakes import FRAMES, at_frame, change, child, failure, listen, nothing
from fixtures.child_process_bakes import through as through
from fixtures.tiny_bakes import baked, tiny_scene, write_scene
from sinew.addon.baking.child_process import child_command
from sinew.solver.bake.cache import CacheReader, is_locked
from sinew.solver.bake.run_bake import BakeOptions, run_bake
from sinew.solver.runtime.cancellation import CancellationToken
from sinew.solver.runtime.errors import Cancelled, SolveFailed, StorageFailed

pytestmark = pytest.mark.slow


def at_frame_or_done(number: int) -> Callable[[dict[str, Any]], bool]:
    return lambda event: event["event"] == "done" or at_frame(number)(event)


def test_killed_at_any_moment_and_resumed(through: Path, tmp_path: Path) -> None:
    expected = baked(through)
    chance = random.Random(4)
    for number in range(4):
        cache = tmp_path / f"c{number}"
        shutil.copytree(through / "scene", cache / "scene")
        for _ in range(2):
            process = child(cache, "--resume")
            stop_at = chance.randrange(1, FRAMES)
            # the one before may have been so fast that it was done before it was killed
            listen(process, at_frame_or_done(stop_at))
            clock.sleep(chance.random() * 0.03)
            process.kill()
            listen(process)
            process.close()
            reader = CacheReader(cache)
            last = reader.last_frame()
            assert reader.integrity_problems() == [] and last is not None and not is_locked(cache)
            assert last >= min(stop_at, FRAMES)
        run_bake(cache, nothing, options=BakeOptions(resume=True))
        assert baked(cache) == expected


def test_cancelled_and_resumed(tmp_path: Path) -> None:
    # so many frames that it cannot be done before it hears of it
    frames, cache, through = 400, tmp_path / "c", tmp_path / "through"
    for folder in (cache, through):
        write_scene(folder, tiny_scene(frames))
    run_bake(through, nothing)
    process = child(cache)
    listen(process, at_frame(6))
    begin = clock.monotonic()
    process.send({"command": "cancel"})
    events = listen(process)
    assert process.exit_code() == 130 and events[-1]["kind"] == "cancelled"
    assert clock.monotonic() - begin < 5.0  # the machine may be busy
    reader = CacheReader(cache)
    assert reader.last_frame() == reader.resume_frame() and reader.last_frame() in range(6, frames)
    run_bake(cache, nothing, options=BakeOptions(resume=True))
    assert baked(cache) == baked(through)


def test_it_ends_when_nobody_listens(through: Path, tmp_path: Path) -> None:
    cache = tmp_path / "c"
    write_scene(cache, tiny_scene(100_000))
    process = child(cache)
    listen(process, at_frame(2))
    process.close(timeout=6.0)
    assert process._process.returncode == 130


def test_killed_between_the_last_frame_and_its_checkpoint(through: Path, tmp_path: Path) -> None:
    cache = tmp_path / "c"
    shutil.copytree(through, cache)
    (cache / "resume" / f"{FRAMES:06d}.npz").rename(cache / "resume" / f"{FRAMES:06d}.npz.part")
    run_bake(cache, nothing, options=BakeOptions(resume=True))
    assert baked(cache) == baked(through)


@pytest.mark.skipif(os.name == "nt", reason="no such signal")
def test_a_terminal_or_farm_stops_it(tmp_path: Path) -> None:
    cache = tmp_path / "c"
    write_scene(cache, tiny_scene(100_000))
    for number in (signal.SIGTERM, signal.SIGINT):
        command = child_command(["simulate", str(cache), "--json"])
        with subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL
        ) as farm:
            assert farm.stdout is not None
            for line in farm.stdout:
                if json.loads(line).get("frame") == 3:
                    farm.send_signal(number)
                    break
            _, errors = farm.communicate(timeout=60)
        assert farm.returncode == 130
        assert errors.decode().strip() == (
            "sinew: Cancelled. The baked frames stay. To continue, run sinew simulate with --resume."
        )
        assert (CacheReader(cache).resume_frame() or 0) >= 3


def test_stopped_in_the_middle_of_a_frame(through: Path, tmp_path: Path) -> None:
    cache = tmp_path / "c"
    shutil.copytree(through / "scene", cache / "scene")
    asked = iter([False] * 9 + [True])
    with pytest.raises(Cancelled):
        run_bake(cache, nothing, lambda: next(asked))
    last = CacheReader(cache).last_frame()
    assert last is not None and CacheReader(cache).resume_frame() == last < 9
    run_bake(cache, nothing, options=BakeOptions(resume=True))
    assert baked(cache) == baked(through)


def test_a_failed_step_can_be_resumed_from(through: Path, tmp_path: Path) -> None:
    cache = tmp_path / "c"
    shutil.copytree(through / "scene", cache / "scene")
    change(cache, max_iterations=1, tolerance=1e-9)
    assert failure(SolveFailed, cache, strict=True) == "step-not-converged"
    last = CacheReader(cache).last_frame()
    assert last is not None and CacheReader(cache).resume_frame() == last
    change(cache, max_iterations=400, tolerance=1e-4)
    run_bake(cache, nothing, options=BakeOptions(resume=True, accept_changes=True))
    assert CacheReader(cache).is_done()


def test_a_step_that_takes_forever_is_left(tmp_path: Path) -> None:
    code = """
import sys, time
from sinew.solver.runtime.event_stream import EventStream
from sinew.solver.runtime.cancellation import CancellationToken
events, stop = EventStream(), CancellationToken()
stop.listen_to_input(lambda: events.emit({"event": "error", "kind": "cancelled"}))
print("printed by some library")
events.emit({"event": "started"})
time.sleep(60)
"""
    with subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as deaf:
        assert deaf.stdin is not None and deaf.stdout is not None
        assert json.loads(deaf.stdout.readline()) == {"event": "started"}
        begin = clock.monotonic()
        deaf.stdin.write(b'nonsense\n[]\n{"command": "cancel"}\n')
        deaf.stdin.flush()
        assert json.loads(deaf.stdout.readline())["kind"] == "cancelled"
        assert deaf.wait(30) == 130 and 0.5 < clock.monotonic() - begin < 10.0


def test_what_follows_a_stop_in_time_may_take_longer(tmp_path: Path) -> None:
    code = """
import sys, time
from sinew.solver.runtime.event_stream import EventStream
from sinew.solver.runtime.cancellation import HARD_STOP_SECONDS, CancellationToken
events, stop = EventStream(), CancellationToken()
stop.listen_to_input(lambda: events.emit({"event": "hard"}))
events.emit({"event": "started"})
while not stop(): time.sleep(0.01)
stop.acknowledge()
events.emit({"event": "finishing", "stop": stop()})
time.sleep(HARD_STOP_SECONDS + 0.5)
events.emit({"event": "still here", "stop": stop()})
while not stop(): time.sleep(0.01)
events.emit({"event": "asked again"})
time.sleep(60)
"""
    with subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as slow:
        assert slow.stdin is not None and slow.stdout is not None

        def heard() -> dict[str, Any]:
            assert slow.stdout is not None
            return dict(json.loads(slow.stdout.readline()))

        assert heard() == {"event": "started"}
        slow.stdin.write(b'{"command": "cancel"}\n')
        slow.stdin.flush()
        assert heard() == {"event": "finishing", "stop": False}
        assert heard() == {"event": "still here", "stop": False}
        slow.stdin.write(b'{"command": "cancel"}\n')
        slow.stdin.flush()
        assert heard() == {"event": "asked again"} and heard() == {"event": "hard"}
        assert slow.wait(30) == 130


def test_wishes_to_stop_are_counted() -> None:
    stop = CancellationToken()
    stop.acknowledge()
    assert not stop()
    stop.set()
    stop.set()
    stop.acknowledge()
    assert stop(), "whoever asked twice wants no finishing"
    stop.acknowledge()
    assert not stop()


def test_a_disk_that_fills_up_while_baking(through: Path, tmp_path: Path) -> None:
    drive = tmp_path / "drive"
    drive.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=500k", "tmpfs", str(drive)]
    if sys.platform != "linux" or os.geteuid() != 0 or subprocess.run(mount, capture_output=True).returncode:
        pytest.skip("cannot mount a small drive here")
    try:
        cache = drive / "c"
        shutil.copytree(through / "scene", cache / "scene")
        filler = drive / "filler"
        filler.write_bytes(bytes(os.statvfs(drive).f_bavail * 4096 - 130_000))
        assert failure(StorageFailed, cache) == "disk-full"
        last = CacheReader(cache).last_frame()
        assert last is not None and 3 < last < FRAMES and CacheReader(cache).integrity_problems() == []
        filler.unlink()
        run_bake(cache, nothing, options=BakeOptions(resume=True))
        assert baked(cache) == baked(through)
    finally:
        subprocess.run(["umount", "-l", str(drive)], check=True)
