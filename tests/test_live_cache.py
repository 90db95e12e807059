# SPDX-License-Identifier: GPL-3.0-or-later
"""Live runs in a cache folder: samples that another process reads, what was done, and the same run again."""

from __future__ import annotations

import json
import os
import signal
import time as clock
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Any

import numpy as np
import pytest

from fixtures.child_process_bakes import child, ended, failure, listen
from fixtures.tiny_bakes import tiny_scene, write_scene
from sinew.solver.bake.cache import CacheLock, CacheMetadata, CacheReader, is_locked, layout
from sinew.solver.bake.cache.pc2 import read_samples
from sinew.solver.live import live_loop
from sinew.solver.live.keep import keep
from sinew.solver.live.live_loop import LiveOptions, replay, run_live
from sinew.solver.live.pacing import MAX_LATE_STEPS, NoPace, Pace
from sinew.solver.live.recording import read_controls, read_inputs
from sinew.solver.live.sample_files import SLOTS, SampleReader, SampleWriter
from sinew.solver.runtime.errors import BadInput, Cancelled, SinewError, StorageFailed

TAKE = {"command": "grab", "grab": 1, "body": "falls", "place": [0.5, 0.5, 1.0], "radius": 0.0}
MOVE = {"command": "move", "grab": 1, "place": [0.7, 0.5, 1.2]}
# of a run that has ended
FILES = {"falls.pc2", "hangs.pc2", "head.bin", "inputs.jsonl", "falls.start", "hangs.start", "starts.json"}


def never() -> bool:
    """Stops nothing."""
    return False


def cache_of(folder: Path, **settings: Any) -> Path:
    cache = folder / "Take 1.sinew"
    write_scene(cache, tiny_scene(**settings))
    return cache


def live(cache: Path, steps: int, *commands: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Runs a cache whose commands have all come before the first step, and returns its events."""
    queue, events = SimpleQueue[Mapping[str, Any]](), list[Mapping[str, Any]]()
    for command in commands:
        queue.put(command)
    run_live(cache, tiny_scene(), queue, never, events.append, LiveOptions(steps, NoPace))
    return events


@pytest.mark.slow
def test_a_run_is_written_down_and_repeats_to_the_bit(tmp_path: Path) -> None:
    cache = cache_of(tmp_path)
    events = live(cache, 130, TAKE, MOVE)
    assert events[-1] == {"event": "done", "steps": 130, "not_converged": 0, "unsettled": 0}
    recorded = read_inputs(cache)
    assert recorded.commands == {0: [TAKE, MOVE]} and recorded.steps == 130 and set(recorded.digests) == {60, 120, 130}
    told: list[Mapping[str, Any]] = []
    replay(cache, tiny_scene(), never, told.append)
    assert told[-1] == {"event": "done", "steps": 130, "compared": 3}


def test_another_scene_does_not_repeat_it(tmp_path: Path) -> None:
    cache = cache_of(tmp_path)
    live(cache, 60, TAKE, MOVE)
    with pytest.raises(SinewError) as caught:
        replay(cache, replace(tiny_scene(), colliders=()), never, lambda event: None)
    assert caught.value.kind == "live-replay-differs" and "step 60" in caught.value.sentence


def test_a_repetition_can_be_cancelled(tmp_path: Path) -> None:
    cache = cache_of(tmp_path)
    live(cache, 10, TAKE)
    with pytest.raises(Cancelled):
        replay(cache, tiny_scene(), lambda: True, lambda event: None)


@pytest.mark.slow
def test_a_repetition_tells_how_far_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cache = cache_of(tmp_path)
    live(cache, 130, TAKE)
    monkeypatch.setattr(live_loop, "EVENT_SECONDS", 0.0)
    told: list[Mapping[str, Any]] = []
    replay(cache, tiny_scene(), never, told.append)
    progress = [event for event in told if event["event"] == "replaying"]
    assert [event["step"] for event in progress] == list(range(131)) and all(e["steps"] == 130 for e in progress)
    assert [progress[step]["compared"] for step in (60, 61, 121)] == [0, 1, 2]


@pytest.mark.slow
def test_a_bake_in_the_same_folder_is_kept_away_and_the_other_way_round(tmp_path: Path) -> None:
    cache = cache_of(tmp_path)
    seen = list[str]()

    def try_to_bake(event: Mapping[str, Any]) -> None:
        if event["event"] == "live":
            seen.append(failure(StorageFailed, cache))

    run_live(cache, tiny_scene(), SimpleQueue(), never, try_to_bake, LiveOptions(1, NoPace))
    assert set(seen) == {"cache-locked"} and not is_locked(cache)
    lock = CacheLock(cache)
    with pytest.raises(StorageFailed, match="runs live"):
        live(cache, 1)
    lock.release()
    live(cache, 1)


def test_samples_of_a_killed_run_are_deleted_by_the_next(tmp_path: Path) -> None:
    cache = cache_of(tmp_path)
    live(cache, 1)
    folder = cache / layout.LIVE_FOLDER
    for name in ("gone.pc2", "notes.txt", "my file.pc2"):
        (folder / name).write_bytes(b"left")
    live(cache, 1)
    names = {path.name for path in folder.iterdir()}
    assert names == {*FILES, "notes.txt", "my file.pc2"}


def test_what_cannot_be_done_is_told_and_not_written_down(tmp_path: Path) -> None:
    cache = cache_of(tmp_path)
    events = live(cache, 2, MOVE, {"command": "jump"}, TAKE)
    assert [e["kind"] for e in events if e["event"] == "warning"] == ["live-no-such-grab", "live-command-invalid"]
    assert read_inputs(cache).commands == {0: [TAKE]}


def test_controls_are_read_from_the_cache(tmp_path: Path) -> None:
    cache = cache_of(tmp_path)
    assert read_controls(cache) == {}
    path = cache / layout.LIVE_FOLDER / "controls.json"
    path.parent.mkdir()
    path.write_text(json.dumps({"gravity": [0.0, 0.0, 0.0]}), encoding="utf-8")
    live(cache, 6)
    reader = SampleReader(cache / layout.LIVE_FOLDER)
    head = reader.newest()
    assert head is not None and head.step == 6
    falls = reader.positions("falls", head)
    assert falls is not None and falls[:, 2].min() == pytest.approx(0.05, abs=1e-6)
    path.write_text(json.dumps({"gravity": "down"}), encoding="utf-8")
    with pytest.raises(BadInput, match="gravity"):
        live(cache, 1)
    path.write_text("{", encoding="utf-8")
    with pytest.raises(BadInput, match=r"controls\.json"):
        live(cache, 1)


def test_samples_are_as_their_objects_play_them(tmp_path: Path) -> None:
    """An object that is moved while it runs shows its body where it was."""
    cache = cache_of(tmp_path)
    matrix = np.diag([2.0, 2.0, 2.0, 1.0])
    matrix[0, 3] = 5.0
    path = cache / layout.LIVE_FOLDER / "controls.json"
    path.parent.mkdir()
    controls = {"gravity": [0.0, 0.0, 0.0], "body.falls.matrix": matrix.tolist()}
    path.write_text(json.dumps(controls), encoding="utf-8")
    live(cache, 1)
    reader = SampleReader(cache / layout.LIVE_FOLDER)
    head = reader.newest()
    assert head is not None
    world = tiny_scene().bodies[0].vertices
    assert reader.positions("falls", head) == pytest.approx((world - [5.0, 0.0, 0.0]) / 2.0, abs=1e-6)


@pytest.mark.slow
def test_what_was_seen_is_kept_as_a_bake_to_the_bit(tmp_path: Path) -> None:
    cache = cache_of(tmp_path)
    live(cache, 131, TAKE, MOVE)  # three steps a frame: two steps are left over
    reader = SampleReader(cache / layout.LIVE_FOLDER)
    wanted = {step: reader.positions("falls", replace(reader.newest(), step=step)) for step in (126, 128, 129)}
    events = list[Mapping[str, Any]]()
    keep(cache, tiny_scene(), never, events.append)
    assert events[-1]["event"] == "done" and events[-1]["frames"] == 44
    head = CacheMetadata.load(cache)
    assert (head.frame_start, head.frame_end, head.samples_per_frame) == (1, 44, 3)
    for step, seen in wanted.items():
        assert np.array_equal(read_samples(layout.play_path(cache, "falls"), step, 1)[0], seen)
    assert CacheReader(cache).last_frame() == 44
    assert read_inputs(cache).steps == 131, "it can be kept again"


def test_too_short_a_run_is_not_kept(tmp_path: Path) -> None:
    cache = cache_of(tmp_path)
    live(cache, 2, TAKE)
    with pytest.raises(BadInput) as caught:
        keep(cache, tiny_scene(), never, lambda event: None)
    assert caught.value.kind == "live-nothing-to-keep" and not (cache / layout.METADATA_FILE).exists()


class Hand(SimpleQueue[Mapping[str, Any]]):
    """Says the next word whenever the run waits for one."""

    def __init__(self, words: list[str], on_wait: Callable[[], None]) -> None:
        self.words, self.on_wait = words, on_wait

    def get(self, block: bool = True, timeout: float | None = None) -> Mapping[str, Any]:
        """Says a word."""
        self.on_wait()
        if not self.words:
            raise Empty
        return {"command": self.words.pop(0)}

    def get_nowait(self) -> Mapping[str, Any]:
        """Says nothing unless the run waits."""
        raise Empty


def test_a_run_pauses_and_steps_and_the_result_is_the_same(tmp_path: Path) -> None:
    plain, held = cache_of(tmp_path / "a"), cache_of(tmp_path / "b")
    live(plain, 6)
    taken, taken_at_words = 0, list[int]()

    class HeldPace(NoPace):
        """Is paused at first, and counts steps."""

        def __init__(self, step_seconds: float) -> None:
            super().__init__(step_seconds)
            self.pause()

        def wait(self, await_command: Callable[[float], object] | None = None) -> None:
            """Counts one."""
            nonlocal taken
            taken += 1
            super().wait()

    words, events = ["step", "step", "pause", "pause", "step", "resume"], list[Mapping[str, Any]]()
    hand = Hand(words, lambda: taken_at_words.append(taken))
    run_live(held, tiny_scene(), hand, never, events.append, LiveOptions(6, HeldPace))
    assert words == [] and taken_at_words == [0, 1, 2, 2, 2, 3]
    assert [e["step"] for e in events if e["event"] == "paused"] == [0, 1, 2, 3]
    assert events[-1]["steps"] == 6 and read_inputs(held).commands == {}
    assert read_inputs(held).digests[6] == read_inputs(plain).digests[6]


def test_slow_motion_is_no_part_of_the_result(tmp_path: Path) -> None:
    cache = cache_of(tmp_path)
    paces = list[Pace]()

    def make_pace(seconds: float) -> Pace:
        paces.append(NoPace(seconds))
        return paces[-1]

    commands, events = SimpleQueue[Mapping[str, Any]](), list[Mapping[str, Any]]()
    for rate in (0.25, 0, "slow"):
        commands.put({"command": "rate", "rate": rate})
    run_live(cache, tiny_scene(), commands, never, events.append, LiveOptions(2, make_pace))
    assert paces[0].rate == 0.25 and read_inputs(cache).commands == {}
    assert [e["kind"] for e in events if e["event"] == "warning"] == ["live-command-invalid"] * 2


@pytest.mark.parametrize(
    "content",
    ["", "{}\n", '{"version": 2, "controls": {}}\n', '{"version": 1, "controls": {}}\n{"command": 1}\n', "[\n"],
)
def test_damaged_inputs_are_named(tmp_path: Path, content: str) -> None:
    cache = cache_of(tmp_path)
    path = cache / layout.LIVE_FOLDER / "inputs.jsonl"
    path.parent.mkdir()
    path.write_text(content, encoding="utf-8")
    with pytest.raises(StorageFailed) as caught:
        replay(cache, tiny_scene(), never, lambda event: None)
    assert caught.value.kind == "live-inputs-unreadable"


def test_a_line_that_was_cut_off_does_not_count(tmp_path: Path) -> None:
    cache = cache_of(tmp_path)
    live(cache, 60, TAKE)
    path = cache / layout.LIVE_FOLDER / "inputs.jsonl"
    text = path.read_text(encoding="utf-8")
    path.write_text(text[:-5], encoding="utf-8")
    assert read_inputs(cache).steps == 60 and read_inputs(cache).commands == {0: [TAKE]}


def test_all_files_have_names_of_sinew(tmp_path: Path) -> None:
    cache = cache_of(tmp_path)
    live(cache, 1)
    files = [path.relative_to(cache) for path in (cache / layout.LIVE_FOLDER).iterdir()]
    assert {path.name for path in files} == FILES and all(layout.is_sinew_file(path) for path in files)
    assert not layout.is_sinew_file(Path("live/notes.txt"))


def test_a_reader_sees_whole_samples_or_none(tmp_path: Path) -> None:
    def positions(step: int) -> dict[str, np.ndarray]:
        return {"a": np.full((5, 3), float(step)), "empty": np.zeros((0, 3))}

    writer = SampleWriter(tmp_path, positions(0))
    reader = SampleReader(tmp_path)
    for step in range(1, 3 * SLOTS):
        writer.write(step, 2 * step, step / 60.0, positions(step))
        head = reader.newest()
        assert head is not None and (head.step, head.commands, head.time) == (step, 2 * step, step / 60.0)
        found = reader.positions("a", head)
        assert found is not None and (found == step).all()
    assert reader.positions("empty", head).shape == (0, 3)
    early = head
    for step in range(3 * SLOTS, 4 * SLOTS):
        writer.write(step, 0, 0.0, positions(step))
    assert reader.positions("a", early) is None  # the writer has come round
    writer.close()
    reader.close()


def test_a_head_that_is_being_written_is_none(tmp_path: Path) -> None:
    writer = SampleWriter(tmp_path, {"a": np.zeros((1, 3))})
    data = bytearray((tmp_path / "head.bin").read_bytes())
    data[8] += 1
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "head.bin").write_bytes(data)
    assert SampleReader(tmp_path / "other").newest() is None and SampleReader(tmp_path).newest() is not None
    writer.close()


class Clock:
    """A clock that passes only where somebody sleeps or works."""

    def __init__(self) -> None:
        self.now, self.slept = 0.0, 0.0

    def sleep(self, seconds: float) -> None:
        self.now, self.slept = self.now + seconds, self.slept + seconds

    def pace(self, rate: float = 1.0) -> Pace:
        return Pace(0.01, rate, lambda: self.now, self.sleep)


@pytest.mark.parametrize(("rate", "work", "seconds"), [(1.0, 0.002, 1.0), (0.5, 0.002, 2.0), (1.0, 0.03, 3.0)])
def test_a_run_keeps_to_the_clock_or_slows_down(rate: float, work: float, seconds: float) -> None:
    time = Clock()
    pace = time.pace(rate)
    for _ in range(100):
        pace.wait()
        time.now += work
    assert time.now == pytest.approx(seconds, abs=0.03)
    assert pace.ratio == pytest.approx(min(rate, 0.01 / work), rel=0.05)
    assert pace.load == pytest.approx(work / 0.01, rel=0.05)


def test_a_command_begins_its_step_at_once_but_at_most_one_step_early() -> None:
    time = Clock()
    pace = time.pace()
    pace.wait()
    begun = list[float]()
    for work in (0.002, 0.002, 0.002, 0.012):
        time.now += work
        pace.wait(lambda seconds: time.sleep(min(seconds, 0.001)))  # a command comes every millisecond
        begun.append(time.now)
    assert begun == pytest.approx([0.003, 0.011, 0.021, 0.034])
    time.now += 0.002
    pace.wait(time.sleep)  # none comes
    assert time.now == pytest.approx(0.05)


def test_a_pause_is_not_made_up_for() -> None:
    time = Clock()
    pace = time.pace()
    pace.wait()
    pace.pause()
    assert pace.holds
    time.now += 10.0
    pace.ask_for_step()
    assert not pace.holds
    pace.wait()
    assert pace.holds and time.slept == 0.0
    pace.resume()
    slept = time.slept
    for _ in range(4):
        pace.wait()
    assert not pace.holds and time.slept - slept == pytest.approx(0.03)


def test_a_late_step_is_made_up_for_but_a_long_break_is_not() -> None:
    time = Clock()
    pace = time.pace()
    pace.wait()
    time.now += 0.5 * MAX_LATE_STEPS * 0.01 + 0.01
    for _ in range(3):
        pace.wait()
    assert time.now == pytest.approx(0.03)
    time.now += 10.0
    slept = time.slept
    for _ in range(4):
        pace.wait()
    assert time.slept - slept == pytest.approx(0.03)


def reader_of(cache: Path) -> SampleReader:
    end = clock.monotonic() + 120.0
    while clock.monotonic() < end:
        try:
            return SampleReader(cache / layout.LIVE_FOLDER)
        except (OSError, ValueError):
            clock.sleep(0.01)
    raise AssertionError("no samples")


def wait_for(reader: SampleReader, commands: int) -> int:
    """Returns the step of the first sample that has so many commands in it."""
    end = clock.monotonic() + 120.0
    while clock.monotonic() < end:
        head = reader.newest()
        if head is not None and head.commands >= commands:
            return head.step
        clock.sleep(0.001)
    raise AssertionError(f"{commands} commands were not taken")


@pytest.mark.slow
def test_a_child_is_driven_by_commands_and_repeats_itself(tmp_path: Path) -> None:
    cache = cache_of(tmp_path)
    process = child(cache, command="live")
    began = listen(process, lambda event: event["event"] == "live")[-1]
    assert began["step"] == 0 and began["tets"] > 0
    reader = reader_of(cache)
    process.send(TAKE)
    first = wait_for(reader, 1)
    process.send(MOVE)
    assert wait_for(reader, 2) >= first
    process.send({"command": "cancel"})
    events = listen(process, ended)
    assert events[-1]["event"] == "done" and process.exit_code() == 0
    again = listen(child(cache, "--replay", command="live"), ended)
    assert again[-1] == {"event": "done", "steps": events[-1]["steps"], "compared": again[-1]["compared"]}
    assert again[-1]["compared"] >= 1


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="there is no such signal here")
def test_what_a_killed_child_did_can_be_repeated(tmp_path: Path) -> None:
    cache = cache_of(tmp_path)
    process = child(cache, "--unpaced", command="live")
    listen(process, lambda event: event["event"] == "live")
    process.send(TAKE)
    reader = reader_of(cache)
    wait_for(reader, 1)
    end = clock.monotonic() + 120.0
    while not read_inputs(cache).digests:
        assert clock.monotonic() < end
        clock.sleep(0.01)
    os.kill(process.pid, signal.SIGKILL)
    listen(process, ended)
    told: list[Mapping[str, Any]] = []
    replay(cache, tiny_scene(), never, told.append)
    assert told[-1]["compared"] >= 1
