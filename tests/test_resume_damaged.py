# SPDX-License-Identifier: GPL-3.0-or-later
"""A bake of which files are missing or damaged: resumed with every whole frame, or refused, never begun again."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fixtures.child_process_bakes import FRAMES, change, failure, nothing
from fixtures.child_process_bakes import through as through
from fixtures.tiny_bakes import baked, tiny_scene, write_scene
from sinew.solver import __main__ as command_line
from sinew.solver.bake.cache import CacheReader, CacheWriter
from sinew.solver.bake.run_bake import BakeOptions, run_bake
from sinew.solver.runtime.errors import StorageFailed

pytestmark = pytest.mark.slow

STOPPED = 18  # no regular checkpoint: the bake was stopped there


@pytest.fixture(scope="module")
def stopped(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A bake of the same scene that ended earlier."""
    cache = tmp_path_factory.mktemp("stopped") / "c"
    write_scene(cache, tiny_scene(FRAMES))
    run_bake(cache, nothing, options=BakeOptions(frame_end=STOPPED))
    return cache


@pytest.fixture
def cache(stopped: Path, tmp_path: Path) -> Path:
    """A copy that may be damaged."""
    return shutil.copytree(stopped, tmp_path / "c")


def resume(cache: Path, **options: Any) -> list[dict[str, Any]]:
    """Resumes; returns the events."""
    events: list[dict[str, Any]] = []
    run_bake(cache, lambda event: events.append(dict(event)), options=BakeOptions(resume=True, **options))
    return events


def warnings_of(events: list[dict[str, Any]]) -> list[str]:
    return [event["kind"] for event in events if event["event"] == "warning"]


def frames_of(events: list[dict[str, Any]]) -> list[int]:
    return [event["frame"] for event in events if event["event"] == "frame"]


def change_byte(path: Path, place: int) -> None:
    data = bytearray(path.read_bytes())
    data[place] ^= 0x10
    path.write_bytes(data)


def remove_heads(cache: Path) -> None:
    for name in ("cache.json", "model/cache.json"):
        (cache / name).unlink()


HEADS = {
    "cache.json lost": lambda c: (c / "cache.json").unlink(),
    "cache.json of no bytes": lambda c: (c / "cache.json").write_bytes(b""),
    "cache.json changed": lambda c: change_byte(c / "cache.json", 12),
    "list of checkpoints lost": lambda c: (c / "resume" / "points.json").unlink(),
    "count raised": lambda c: raise_count(c, "falls", 1 << 30),
    "signature changed": lambda c: change_byte(c / "play" / "hangs.pc2", 3),
    "vertices changed": lambda c: change_byte(c / "play" / "hangs.pc2", 16),
    "first frame changed": lambda c: change_byte(c / "play" / "falls.pc2", 22),
}


def raise_count(cache: Path, key: str, by: int) -> None:
    path = cache / "play" / f"{key}.pc2"
    data = bytearray(path.read_bytes())
    data[28:32] = (int.from_bytes(data[28:32], "little") + by).to_bytes(4, "little")
    path.write_bytes(data)


@pytest.mark.parametrize("damage", HEADS)
def test_a_damaged_head_costs_no_frame_and_no_byte(cache: Path, through: Path, damage: str) -> None:
    HEADS[damage](cache)
    events = resume(cache)
    assert frames_of(events) == list(range(STOPPED + 1, FRAMES + 1))
    assert baked(cache) == baked(through)
    assert CacheReader(cache).verify().problems == ()


@pytest.mark.parametrize("damage", HEADS)
def test_resuming_a_bake_at_its_end_mends_it(cache: Path, stopped: Path, damage: str) -> None:
    HEADS[damage](cache)
    assert frames_of(resume(cache, frame_end=STOPPED)) == []
    assert baked(cache) == baked(stopped) and CacheReader(cache).verify().problems == ()


PLAY = {
    "both lost": lambda c: [path.unlink() for path in (c / "play").iterdir()],
    "folder lost": lambda c: shutil.rmtree(c / "play"),
    "one lost": lambda c: (c / "play" / "hangs.pc2").unlink(),
    "of no bytes": lambda c: (c / "play" / "falls.pc2").write_bytes(b""),
    "two frames short": lambda c: cut(c / "play" / "hangs.pc2", 2 * 27 * 12),
    "cut off in a sample": lambda c: cut(c / "play" / "falls.pc2", 5000),
}


def cut(path: Path, count: int) -> None:
    path.write_bytes(path.read_bytes()[:-count])


@pytest.mark.parametrize("damage", PLAY)
def test_motion_is_drawn_again_from_frames(cache: Path, through: Path, damage: str) -> None:
    PLAY[damage](cache)
    events = resume(cache)
    assert frames_of(events) == list(range(STOPPED + 1, FRAMES + 1)), "no frame was lost"
    assert set(warnings_of(events)) == {"cache-play-drawn"}
    reader, expected = CacheReader(cache), CacheReader(through)
    assert reader.is_done() and reader.verify().problems == ()
    for key in ("falls", "hangs"):
        samples, wanted = reader.read_samples(key, 0, FRAMES), expected.read_samples(key, 0, FRAMES)
        np.testing.assert_allclose(samples, wanted, atol=2e-6)
        assert (samples[STOPPED:] == wanted[STOPPED:]).all(), "what comes after is the same to the last bit"


def test_what_is_whole_is_kept_to_the_last_bit(cache: Path, through: Path) -> None:
    """Of a file whose head is damaged and whose end is cut off, the checksums in the frames tell which samples are."""
    path = cache / "play" / "hangs.pc2"
    cut(path, 27 * 12)
    change_byte(path, 3)
    change_byte(path, 32 + 9 * 27 * 12)  # of frame 10
    resume(cache)
    samples = CacheReader(cache).read_samples("hangs", 0, FRAMES)
    wanted = CacheReader(through).read_samples("hangs", 0, FRAMES)
    kept = [frame for frame in range(1, FRAMES + 1) if (samples[frame - 1] == wanted[frame - 1]).all()]
    assert set(range(1, FRAMES + 1)) - set(kept) <= {10, STOPPED}
    np.testing.assert_allclose(samples, wanted, atol=2e-6)


def test_samples_between_frames_cannot_be_drawn_again(tmp_path: Path) -> None:
    cache = tmp_path / "c"
    write_scene(cache, tiny_scene(36, samples_per_frame=2))
    run_bake(cache, nothing, options=BakeOptions(frame_end=12))
    whole = baked(cache)
    path = cache / "play" / "falls.pc2"
    change_byte(path, 31)  # the highest bits of the count
    resume(cache, frame_end=12)
    assert baked(cache) == whole, "the checksums in the frames say that all samples are there"
    path.unlink()
    events = resume(cache, frame_end=12)
    assert warnings_of(events) == ["cache-frames-again", "cache-play-drawn"] and frames_of(events) == list(range(2, 13))
    assert CacheReader(cache).verify().problems == ()
    resume(cache)
    path.unlink()
    before = baked(cache)
    assert failure_of(cache) == "cache-part-lost" and baked(cache) == before


def failure_of(cache: Path, **options: Any) -> str:
    return failure(StorageFailed, cache, resume=True, **options)


def test_a_damaged_checkpoint_is_skipped_and_told(cache: Path, through: Path) -> None:
    change_byte(cache / "resume" / f"{STOPPED:06d}.npz", 100)
    events = resume(cache)
    assert warnings_of(events) == ["cache-point-damaged"]
    assert frames_of(events) == list(range(12, FRAMES + 1))
    assert baked(cache) == baked(through)


def test_a_damaged_frame_is_made_again_from_the_point_before_it(cache: Path, through: Path) -> None:
    cut(cache / "frames" / f"{STOPPED:06d}.npz", 10)
    events = resume(cache)
    assert frames_of(events) == list(range(12, FRAMES + 1)) and baked(cache) == baked(through)


def test_a_gap_in_the_frames_is_named(cache: Path) -> None:
    for frame in (4, 5):
        (cache / "frames" / f"{frame:06d}.npz").unlink()
    events = resume(cache)
    (told,) = (event for event in events if event["event"] == "warning")
    assert told["kind"] == "cache-frames-missing" and "4 to 5" in told["sentence"]
    assert CacheReader(cache).is_done()


LOST = {
    "resume lost": ("cache-part-lost", lambda c: shutil.rmtree(c / "resume")),
    "frames lost": ("cache-part-lost", lambda c: shutil.rmtree(c / "frames")),
    "model lost": ("cache-damaged", lambda c: (c / "model" / "falls.npz").unlink()),
    "model changed": ("cache-damaged", lambda c: change_byte(c / "model" / "hangs.npz", 200)),
    "both heads lost": ("cache-head-lost", remove_heads),
    "all points changed": (
        "cache-damaged",
        lambda c: [change_byte(path, 100) for path in (c / "resume").glob("*.npz")],
    ),
}


@pytest.mark.parametrize("lost", LOST)
def test_what_cannot_be_gone_on_with_is_refused_and_stays(cache: Path, through: Path, lost: str) -> None:
    kind, damage = LOST[lost]
    damage(cache)
    before = baked(cache)
    assert failure_of(cache) == kind
    assert baked(cache) == before
    assert command_line.main(["simulate", str(cache), "--start-over"]) == 0
    assert baked(cache) == baked(through)


def test_a_lost_head_is_made_again_where_changes_are_accepted(cache: Path, through: Path) -> None:
    remove_heads(cache)
    events = resume(cache, accept_changes=True)
    assert warnings_of(events) == ["cache-head-made"] and frames_of(events)[0] == STOPPED + 1
    assert baked(cache) == baked(through)


def test_many_frames_are_not_baked_again_unasked(tmp_path: Path) -> None:
    cache, early = tmp_path / "c", tmp_path / "early"
    for folder, last in ((cache, 36), (early, 1)):
        write_scene(folder, tiny_scene(36))
        run_bake(folder, nothing, options=BakeOptions(frame_end=last))
    whole = baked(cache)
    for path in (cache / "resume").glob("*.npz"):
        path.unlink()
    shutil.copy(early / "resume" / "000001.npz", cache / "resume")
    before = baked(cache)
    assert failure_of(cache) == "cache-resume-far" and baked(cache) == before
    resume(cache, from_frame=1)
    assert baked(cache) == whole


def test_resume_and_start_over_exclude_each_other(cache: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert command_line.main(["simulate", str(cache), "--resume", "--start-over"]) == 2
    assert "not allowed with" in capfd.readouterr().err


def test_a_bake_that_was_being_replaced_is_begun_again(cache: Path, through: Path) -> None:
    """A kill while `start_over` drops the bake before it: nobody wants that one back."""

    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(CacheWriter, "_begin", stop)
        with pytest.raises(KeyboardInterrupt):
            run_bake(cache, nothing)
    resume(cache)
    assert baked(cache) == baked(through)


def test_frames_that_a_killed_resume_was_dropping_do_not_come_back(cache: Path, tmp_path: Path) -> None:
    """They are of a scene that has changed since."""
    expected = shutil.copytree(cache, tmp_path / "expected")
    for folder in (cache, expected):
        change(folder, gravity=(0.0, 0.0, -3.0))
    with pytest.MonkeyPatch.context() as patch:

        def stop(*_: object) -> None:
            raise KeyboardInterrupt

        patch.setattr(CacheWriter, "_drop_after", stop)
        with pytest.raises(KeyboardInterrupt):
            resume(cache, from_frame=11, accept_changes=True)
    assert frames_of(resume(cache)) == list(range(12, FRAMES + 1))
    resume(expected, from_frame=11, accept_changes=True)
    assert baked(cache) == baked(expected)


def test_the_command_line_says_what_to_do(cache: Path, capfd: pytest.CaptureFixture[str]) -> None:
    shutil.rmtree(cache / "resume")
    assert command_line.main(["simulate", str(cache), "--resume", "--json"]) == 3
    out, err = capfd.readouterr()
    assert json.loads(out.splitlines()[-1])["kind"] == "cache-part-lost"
    assert "resume/ of the bake" in err and "--start-over" in err
