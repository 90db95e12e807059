# SPDX-License-Identifier: GPL-3.0-or-later
"""Restart points of live runs, and the last seconds that are kept from them: the same bytes as in the run."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from queue import SimpleQueue
from typing import Any

import numpy as np
import pytest

from fixtures.live_runs import drive
from fixtures.live_sessions import STEPS_PER_SECOND, RestlessHand, session_controls, session_scene
from sinew.solver.bake.bake_loop import RESUME_INTERVAL_FRAMES
from sinew.solver.bake.cache import CacheMetadata, CacheReader, layout
from sinew.solver.bake.cache.pc2 import read_samples
from sinew.solver.bake.run_bake import BakeOptions, run_bake
from sinew.solver.live import restart_points
from sinew.solver.live.collider_shapes import ColliderShapesWriter
from sinew.solver.live.commands import parse_command
from sinew.solver.live.keep import keep
from sinew.solver.live.live_loop import LiveOptions, run_live
from sinew.solver.live.live_run import LiveRun
from sinew.solver.live.live_steps import KeptFrames, kept_frames
from sinew.solver.live.pacing import NoPace
from sinew.solver.live.recording import read_inputs
from sinew.solver.live.restart_points import MAX_GAP_SHARE, go_on_from, read_restart, useful_points
from sinew.solver.runtime.errors import BadInput, Cancelled, SinewError, StorageFailed
from sinew.solver.scene.material import Heat
from sinew.solver.scene.scene import Scene
from sinew.solver.scene.tracks import TrackReader, TrackWriter
from test_live_brushes import brush, scene_of
from test_live_colliders import bent, deforming_tracks, on_a_table
from test_live_tears import LONG, WIDE
from test_live_tears import scene as scene_that_tears

Given = Mapping[str, Any]
SECONDS = 8


def never() -> bool:
    """Stops nothing."""
    return False


def ran(
    cache: Path,
    scene: Scene,
    steps: int,
    hand: Callable[[int], list[Any]],
    controls: Mapping[str, Any] | None = None,
) -> list[Given]:
    """Runs a scene in a cache folder, with a hand that is asked before every step, and returns its events."""
    scene.save(cache / layout.SCENE_FOLDER)
    TrackWriter(cache / layout.SCENE_FOLDER).close()
    path = cache / layout.LIVE_FOLDER / layout.LIVE_CONTROLS_FILE
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(controls or {}), encoding="utf-8")
    queue, events, taken = SimpleQueue[Given](), list[Given](), 0

    def before_step() -> bool:
        nonlocal taken
        for given in hand(taken):
            queue.put(given)
        taken += 1
        return False

    run_live(cache, scene, queue, before_step, events.append, LiveOptions(steps, NoPace))
    return events


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Returns the cache of some seconds under a hand that grabs, pulls, pushes with a wall and turns settings."""
    cache, steps = tmp_path_factory.mktemp("session") / "Take 1.sinew", SECONDS * STEPS_PER_SECOND + 1
    ran(cache, session_scene(), steps, RestlessHand(3, steps + 1).commands, session_controls())
    return cache


def copied(cache: Path, folder: Path) -> Path:
    return Path(shutil.copytree(cache, folder / cache.name))


def fresh_run(cache: Path, scene: Scene) -> LiveRun:
    return LiveRun(scene, TrackReader(cache / layout.SCENE_FOLDER), read_inputs(cache).controls, cache=cache)


def kept(cache: Path, scene: Scene, seconds: float | None) -> list[Given]:
    events = list[Given]()
    keep(cache, scene, never, events.append, seconds)
    assert events[-1]["event"] == "done"
    return events


@pytest.mark.slow
def test_the_last_seconds_are_the_same_bytes_as_in_the_whole_run(session: Path, tmp_path: Path) -> None:
    whole, last = copied(session, tmp_path / "whole"), copied(session, tmp_path / "last")
    kept(whole, session_scene(), None)
    events = kept(last, session_scene(), 2.5)
    head, frames = CacheMetadata.load(last), round(2.5 * session_scene().settings.fps)
    assert (head.frame_start, head.frame_end) == (1, 1 + frames) and CacheReader(last).last_frame() == 1 + frames
    assert [event["frame"] for event in events if event["event"] == "frame"] == list(range(1, 2 + frames))
    before = SECONDS * 30 - frames
    for key in ("jelly", "rubber"):
        wanted = read_samples(layout.play_path(whole, key), 2 * before, 2 * frames + 1)
        assert len(wanted) == 2 * frames + 1 and np.ptp(wanted, axis=0).max() > 0.02, "it moves"
        assert np.array_equal(read_samples(layout.play_path(last, key), 0, 2 * frames + 1), wanted)
    for frame in (1, frames, 1 + frames):
        assert np.array_equal(CacheReader(last).read_frame(frame).x, CacheReader(whole).read_frame(before + frame).x)


@pytest.mark.slow
def test_only_what_follows_the_restart_point_is_repeated(session: Path, tmp_path: Path) -> None:
    cache = copied(session, tmp_path)
    steps = layout.live_restart_steps(cache)
    assert steps == [120, 240, 360, 480]
    path = cache / layout.LIVE_FOLDER / layout.LIVE_INPUTS_FILE
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    for line in lines:
        if line.get("step") in (60, 120, 180, 240, 300):
            line["digest"] = "of another run" if "digest" in line else None
    text = "".join(json.dumps({k: v for k, v in line.items() if v is not None}) + "\n" for line in lines)
    path.write_text(text, encoding="utf-8")
    kept(cache, session_scene(), 1.9)  # from 360, where it is compared as at 420 and 480
    with pytest.raises(SinewError) as caught:
        keep(cache, session_scene(), never, lambda event: None, 2.1)
    assert caught.value.kind == "live-replay-differs" and caught.value.details["step"] == 240


@pytest.mark.slow
@pytest.mark.parametrize("step", [120, 360])
def test_a_run_that_goes_on_from_a_point_reads_all_that_the_first_one_read(session: Path, step: int) -> None:
    recorded, scene = read_inputs(session), session_scene()
    run = fresh_run(session, scene)
    go_on_from(run, read_restart(session, step), recorded.commands)
    assert run.digest() == recorded.digests[step] and run.step == step
    repeated = fresh_run(session, scene)
    drive(repeated, step, lambda now: recorded.commands.get(now, []) if now < step else [])
    assert repeated.digest() == run.digest() and run.hands.until == repeated.hands.until
    samples, others = run.tracks.handled_samples(), repeated.tracks.handled_samples()
    assert samples.keys() == others.keys() and all(
        np.array_equal(one, other) for name in samples for one, other in zip(samples[name], others[name], strict=True)
    )


@pytest.mark.slow
def test_a_resumed_bake_goes_on_after_the_kept_seconds(session: Path, tmp_path: Path) -> None:
    cache = copied(session, tmp_path)
    kept(cache, session_scene(), 1.0)
    events = list[Given]()
    options = BakeOptions(resume=True, accept_changes=True, frame_end=31 + RESUME_INTERVAL_FRAMES)
    scene = Scene.load(cache / layout.SCENE_FOLDER)
    steps = CacheMetadata.load(cache).samples_per_frame
    live = replace(scene, settings=replace(scene.settings, samples_per_frame=steps, substeps=steps))
    live.save(cache / layout.SCENE_FOLDER)
    run_bake(cache, events.append, options=options)
    frames = [event["frame"] for event in events if event["event"] == "frame"]
    assert frames == list(range(32, 42))
    x = [CacheReader(cache).read_frame(frame).x for frame in (31, 32)]
    assert 0.0 < np.abs(x[1] - x[0]).max() < 0.2


@pytest.mark.slow
@pytest.mark.parametrize(
    "given",
    [brush("heat", watts=200.0), brush("cool", temperature=-50.0), brush("soften", strength=4.0), brush("push")],
)
def test_a_brush_that_is_held_goes_on_and_so_does_what_it_did(tmp_path: Path, given: Given) -> None:
    soft = Heat(temperature=20.0, softening=np.array([[20.0, 1.0, 1.0, 1.0], [40.0, 0.1, 1.0, 1.0]]))
    scene, cache = scene_of(soft, gravity=-9.81), tmp_path / "Take 1.sinew"
    ran(cache, scene, 190, lambda step: [given] if step == 0 else [])
    assert layout.live_restart_steps(cache) == [120]
    kept(cache, scene, 1.0)
    run = fresh_run(cache, scene)
    point = read_restart(cache, 120)
    go_on_from(run, point, {})  # without the brush it is another run
    with pytest.raises(BadInput, match="brush"):
        run.apply(parse_command({"command": "lift", "brush": 1}))


@pytest.mark.slow
def test_a_grab_that_is_held_goes_on(tmp_path: Path) -> None:
    scene, cache = scene_of(gravity=-9.81), tmp_path / "Take 1.sinew"
    top = {"place": [0.05, 0.05, 0.1], "radius": 0.05, "strength": 2.0}

    def hand(step: int) -> list[Given]:
        if step < 10:
            return []
        taken = {"command": "grab", "grab": 7, "body": "block", **top}
        return [taken if step == 10 else {"command": "move", "grab": 7, "place": [0.05, 0.05, 0.1 + 0.001 * step]}]

    ran(cache, scene, 190, hand)
    held = read_restart(cache, 120).grabs
    assert list(held) == [7] and held[7].strength == 2.0 and held[7].hand[2] == pytest.approx(0.1 + 0.119)
    kept(cache, scene, 1.0)


@pytest.mark.slow
def test_a_collider_that_bends_goes_on(tmp_path: Path) -> None:
    scene, cache = on_a_table(), tmp_path / "Take 1.sinew"
    writer = ColliderShapesWriter(cache / layout.LIVE_FOLDER)
    scene.save(cache / layout.SCENE_FOLDER)
    deforming_tracks(scene).save(cache / layout.SCENE_FOLDER)
    queue, taken = SimpleQueue[Given](), 0

    def before_step() -> bool:
        nonlocal taken
        if taken > 30:
            number = writer.append("table", bent(scene, 0.02 * np.sin(0.1 * taken)).astype(np.float32))
            queue.put({"command": "deform", "collider": "table", "sample": number})
        taken += 1
        return False

    events = list[Given]()
    run_live(cache, scene, queue, before_step, events.append, LiveOptions(200, NoPace))
    assert not [event for event in events if event["event"] == "warning"]
    kept(cache, scene, 1.0)


def torn_at(cache: Path, step: int, steps: int) -> None:
    """Pulls a bar slowly until, and then away by its own length in half a second."""
    end = [LONG, 0.5 * WIDE, 0.5 * WIDE]

    def hand(now: int) -> list[Given]:
        taken = [{"command": "grab", "grab": 1, "body": "bar", "place": end, "radius": 0.08}] if now == 0 else []
        far = LONG * (1.0 + min(max(now - step, 0), 30) / 30)
        return [*taken, {"command": "move", "grab": 1, "place": [far, *end[1:]]}]

    ran(cache, scene_that_tears(), steps, hand)


@pytest.mark.slow
def test_a_body_that_tears_within_the_seconds_is_kept_with_its_pieces(tmp_path: Path) -> None:
    cache = tmp_path / "Take 1.sinew"
    torn_at(cache, 160, 240)
    events = kept(cache, scene_that_tears(), 1.5)
    (result,) = events[-1]["results"]
    assert result["pieces"] > 1 and CacheReader(cache).last_frame() == 1 + 90


@pytest.mark.slow
def test_a_body_that_was_torn_before_is_named_and_nothing_is_written(tmp_path: Path) -> None:
    cache = tmp_path / "Take 1.sinew"
    torn_at(cache, 100, 240)
    for seconds in (0.5, 1.5):  # torn at the restart point, and between it and the first frame
        with pytest.raises(BadInput) as caught:
            keep(cache, scene_that_tears(), never, lambda event: None, seconds)
        assert caught.value.kind == "live-torn-before" and not (cache / layout.METADATA_FILE).exists()


@pytest.mark.slow
def test_a_damaged_point_is_named(session: Path, tmp_path: Path) -> None:
    cache = copied(session, tmp_path)
    path = layout.live_restart_path(cache, 360)
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)
    with pytest.raises(StorageFailed) as caught:
        keep(cache, session_scene(), never, lambda event: None, 1.9)
    assert caught.value.kind == "live-restart-unreadable" and path.name in caught.value.sentence


@pytest.mark.slow
def test_a_point_of_another_scene_is_named(session: Path, tmp_path: Path) -> None:
    cache = copied(session, tmp_path)
    scene = scene_of()
    run = LiveRun(scene, TrackReader(cache / layout.SCENE_FOLDER))
    with pytest.raises(StorageFailed) as caught:
        go_on_from(run, read_restart(cache, 120), {})
    assert caught.value.kind == "live-restart-unreadable"


@pytest.mark.slow
def test_a_repetition_of_the_seconds_before_can_be_cancelled_and_says_how_far_it_is(
    session: Path, tmp_path: Path
) -> None:
    cache = copied(session, tmp_path)
    for patience in (0, 10):  # asked before each body gets its tets, and before each step
        asked, told = 0, list[Given]()

        def has_enough() -> bool:
            nonlocal asked
            asked += 1
            return asked > patience  # noqa: B023 - called within this turn alone

        with pytest.raises(Cancelled):
            keep(cache, session_scene(), has_enough, told.append, 1.0)
        assert bool(told) == bool(patience)
    events = kept(cache, session_scene(), 1.0)
    fractions = [event["fraction"] for event in events if event["event"] == "preroll"]
    assert fractions[-1] == 1.0 and fractions == sorted(fractions)


@pytest.mark.slow
def test_a_full_disk_ends_the_points_and_not_the_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_args: object, **_named: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(restart_points, "write_atomic", full)
    cache = tmp_path / "Take 1.sinew"
    events = ran(cache, scene_of(gravity=-9.81), 400, lambda step: [])
    assert [event["kind"] for event in events if event["event"] == "warning"] == ["disk-full"]
    assert events[-1]["event"] == "done" and not layout.live_restart_steps(cache)
    kept(cache, scene_of(gravity=-9.81), 1.0)  # from the first step on


def test_few_points_stay_and_enough() -> None:
    """Of ten minutes with a point every two seconds."""
    points, most = list[int](), 0
    for step in range(120, 36_001, 120):
        points = useful_points([*points, step])
        most = max(most, len(points))
        for wanted in range(0, step - 119, 240):
            newest = max((point for point in points if point <= wanted), default=0)
            age = step - wanted
            assert wanted - newest <= max(MAX_GAP_SHARE / (1.0 - MAX_GAP_SHARE) * age, 240) + 120, (step, wanted)
    assert most <= 24


@pytest.mark.slow
def test_points_of_a_run_are_deleted_by_the_next(session: Path, tmp_path: Path) -> None:
    cache = copied(session, tmp_path)
    ran(cache, session_scene(), 3, lambda step: [], session_controls())
    assert not layout.live_restart_steps(cache)


@pytest.mark.parametrize(
    "steps,seconds,wanted",
    [(131, None, (0, 43)), (131, 1.0, (19, 24)), (131, 1.01, (18, 25)), (131, 99.0, (0, 43)), (2, 1.0, (0, 0))],
)
def test_which_frames_are_the_last_seconds(steps: int, seconds: float | None, wanted: tuple[int, int]) -> None:
    assert kept_frames(steps, 3, 24.0, seconds) == KeptFrames(*wanted)
