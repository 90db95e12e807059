# SPDX-License-Identifier: GPL-3.0-or-later
"""The cache: what counts is whole, whatever happens to the process or the disk."""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import sinew.solver.disk as disk
from mortal import Dead, Mortal
from sinew.solver.cache import (
    CachedBody,
    CacheHead,
    CacheLock,
    CacheReader,
    CacheWriter,
    Frame,
    delete_cache,
    is_locked,
)
from sinew.solver.cache.tally import Tally
from sinew.solver.errors import BadInput, StorageFailed
from sinew.solver.pc2 import Pc2Writer

HEAD = CacheHead("s" * 64, "t" * 64, (CachedBody("a", "A", 7), CachedBody("b", "Bé", 3)), 5, 30, 24.0, 2)


@pytest.fixture(autouse=True)
def calls(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Says what the disk was asked to do; syncing itself is left out, since it takes most of the time."""
    asked: list[str] = []
    replace, write = os.replace, os.write
    monkeypatch.setattr(os, "fsync", lambda file: asked.append("fsync"))
    monkeypatch.setattr(os, "replace", lambda *paths: (asked.append("replace"), replace(*paths)))
    monkeypatch.setattr(os, "write", lambda file, data: (asked.append(f"write {len(data)}"), write(file, data))[1])
    return asked


def test_everything_is_synced_before_it_counts(tmp_path: Path, calls: list[str]) -> None:
    writer = start(tmp_path, 8)
    calls.clear()
    writer.write_frame(*frame_of(9))
    frame_file = (tmp_path / "frames" / "000009.npz").stat().st_size
    frame = [f"write {frame_file}", "fsync", "replace"] + ["fsync"] * (os.name != "nt")
    samples = [f"write {2 * 7 * 12}", "fsync", f"write {2 * 3 * 12}", "fsync"]
    ply = [f"write {len(attributes_of(9))}", *frame[1:]]
    assert calls == [*ply, *frame, *samples, "write 4", "write 4"]
    calls.clear()
    writer.write_frame(*frame_of(10))
    topology = [(tmp_path / "topology" / f"{number:06d}.npz").stat().st_size for number in (9, 10)]
    assert [f"write {size}" for size in topology] == [call for call in calls if call.startswith("write")][:2]
    writer.close()


def frame_of(number: int) -> tuple:
    """Returns the arguments of `write_frame`; in every fifth frame both samples have a topology of their own."""
    random = np.random.default_rng(number + 100)
    count = 1 if number == HEAD.frame_start else HEAD.samples_per_frame
    samples = {body.key: random.normal(size=(count, body.vertices, 3)) for body in HEAD.bodies}
    fields = {"node.warmth": random.normal(size=4).astype(np.float32)}
    parted = number % 5 == 0 and number > HEAD.frame_start
    first = HEAD.sample_count(number) - 2
    topologies = {first + part: {"tets": np.full((1, 4), number + part)} for part in range(2 * parted)}
    since = max((number // 5) * 5, HEAD.frame_start)
    present = HEAD.sample_count(since) - 1 if since > HEAD.frame_start else 0
    frame = Frame(number, random.normal(size=(4, 3)).astype(np.float32), present, fields)
    return frame, samples, {"frame": number}, topologies, {"a": attributes_of(number)}


def attributes_of(number: int) -> bytes:
    return b"ply of frame %d" % number


def bake(writer: CacheWriter, first: int, last: int, interval: int = 3) -> None:
    for number in range(first, last + 1):
        writer.write_frame(*frame_of(number))
        if (number - HEAD.frame_start) % interval == 0:
            writer.write_resume(number, {"x": np.arange(number, dtype=float)}, interval)


def start(folder: Path, last: int) -> CacheWriter:
    writer = CacheWriter(folder)
    writer.start_over(HEAD)
    writer.write_model("a", {"nodes": np.zeros((4, 3))})
    bake(writer, HEAD.frame_start, last)
    return writer


def content(folder: Path) -> dict[str, bytes]:
    return {p.relative_to(folder).as_posix(): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


def test_frames_and_samples_come_back(tmp_path: Path) -> None:
    start(tmp_path / "c", 12).close()
    reader = CacheReader(tmp_path / "c")
    assert reader.head == HEAD
    assert reader.baked() == (5, 12) and not reader.is_done() and reader.integrity() == []
    frame, samples, *_ = frame_of(9)
    read = reader.read_frame(9)
    np.testing.assert_array_equal(read.x, frame.x)
    np.testing.assert_array_equal(read.fields["node.warmth"], frame.fields["node.warmth"])
    np.testing.assert_array_equal(reader.read_samples("b", HEAD.sample_count(8), 2), samples["b"].astype(np.float32))
    assert reader.resume_frames() == [5, 8, 11] and reader.resume_frame(10) == 8
    assert len(reader.read_resume(8)["x"]) == 8
    assert [line["frame"] for line in reader.report()] == list(range(5, 13))
    assert list(reader.read_model("a")) == ["nodes"]
    assert reader.topologies() == [9, 10] and reader.read_frame(9).topology == 0
    assert reader.read_frame(10).topology == 10 == reader.read_topology(10)["tets"][0, 0] - 1
    assert (tmp_path / "c" / "attributes" / "a" / "000012.ply").read_bytes() == attributes_of(12)


def test_reading_while_writing(tmp_path: Path) -> None:
    writer = start(tmp_path, 6)
    reader = CacheReader(tmp_path)
    assert reader.baked() == (5, 6) and reader.is_being_written()
    bake(writer, 7, 7)
    assert reader.baked() == (5, 7) and reader.read_frame(7).frame == 7
    writer.close()
    assert not reader.is_being_written()


def test_interrupted_and_resumed_has_the_same_bytes(tmp_path: Path) -> None:
    start(tmp_path / "through", 25).close()
    writer = start(tmp_path / "cut", 16)
    writer.write_resume(16, {"x": np.arange(16.0)}, 3)  # at cancel, off the regular frames
    writer.close()
    assert CacheReader(tmp_path / "cut").resume_frames() == [8, 11, 14, 16]
    with CacheWriter(tmp_path / "cut") as writer:
        writer.go_on(HEAD, 14)
        bake(writer, 15, 25)
    assert content(tmp_path / "cut") == content(tmp_path / "through")


# What a crash may leave behind frame 12, by the place where it happens.
CRASHES = {
    "part of a frame": lambda c: (c / "frames" / "000013.npz.part").write_bytes(b"abc"),
    "frame without samples": lambda c: (c / "frames" / "000013.npz").write_bytes(b"abc"),
    "samples not counted": lambda c: append(c / "play" / "a.pc2", b"\1" * 2 * 7 * 12),
    "half a sample": lambda c: append(c / "play" / "a.pc2", b"\1" * 50),
    "one head counts": lambda c: (
        append(c / "play" / "a.pc2", b"\1" * 2 * 7 * 12),
        raise_count(c / "play" / "a.pc2", 17),
    ),
    "head without its samples": lambda c: raise_count(c / "play" / "b.pc2", 17),
    "part of a resume point": lambda c: (c / "resume" / "000013.npz.part").write_bytes(b""),
    "topologies of a frame that is not there": lambda c: (
        (c / "topology" / "000017.npz").write_bytes(b"abc"),
        (c / "topology" / "000018.npz.part").write_bytes(b"abc"),
    ),
    "attributes of a frame that is not there": lambda c: (c / "attributes" / "a" / "000013.ply").write_bytes(b"abc"),
    "contacts of a frame that is not there": lambda c: (
        (c / "contacts").mkdir(),
        (c / "contacts" / "000013.npz").write_bytes(b"abc"),
    ),
    "half a report line": lambda c: append(c / "report.jsonl", b'{"frame": 1'),
}


def append(path: Path, data: bytes) -> None:
    with open(path, "ab") as file:
        file.write(data)


def raise_count(path: Path, count: int) -> None:
    data = bytearray(path.read_bytes())
    data[28:32] = count.to_bytes(4, "little")
    path.write_bytes(data)


@pytest.mark.parametrize("crash", CRASHES)
def test_what_a_crash_leaves_is_recovered(tmp_path: Path, crash: str) -> None:
    start(tmp_path / "through", 20).close()
    start(tmp_path / "cut", 12).close()
    CRASHES[crash](tmp_path / "cut")
    reader = CacheReader(tmp_path / "cut")
    assert reader.baked() == (5, 12)
    resume = reader.resume_frame()
    assert resume == 11
    with CacheWriter(tmp_path / "cut") as writer:
        writer.go_on(HEAD, resume)
        bake(writer, resume + 1, 20)
    assert content(tmp_path / "cut") == content(tmp_path / "through")


def bake_or_resume(folder: Path, told: list[int], last: int) -> None:
    """Bakes, or goes on from the last resume point; notes every frame that counts."""
    with CacheWriter(folder) as writer:
        resume = CacheReader(folder).resume_frame() if (folder / "cache.json").exists() else None
        if resume is None:
            writer.start_over(HEAD)
            writer.write_model("a", {"nodes": np.zeros((4, 3))})
        else:
            writer.go_on(HEAD, resume)
        for number in range(HEAD.frame_start if resume is None else resume + 1, last + 1):
            bake(writer, number, number)
            told.append(number)


def test_death_in_any_disk_operation(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    last = 12
    with monkeypatch.context() as patch:
        counter = Mortal(patch, 10**9)
        bake_or_resume(tmp_path / "through", [], last)
    expected = content(tmp_path / "through")
    assert counter.count > 100
    for die_at in range(1, counter.count, 2):
        folder, told = tmp_path / f"c{die_at}", []
        for second in (die_at, die_at // 3 + 1):  # dies again while it recovers
            with monkeypatch.context() as patch:
                Mortal(patch, second)
                with contextlib.suppress(Dead):
                    bake_or_resume(folder, told, last)
            if (folder / "cache.json").exists():
                reader = CacheReader(folder)
                assert reader.integrity() == []
                if second == die_at:
                    assert not told or reader.last_frame() >= told[-1]
        bake_or_resume(folder, told, last)
        assert content(folder) == expected, die_at
        shutil.rmtree(folder)


def test_a_missing_frame_file_ends_what_is_whole(tmp_path: Path) -> None:
    start(tmp_path, 12).close()
    (tmp_path / "frames" / "000012.npz").unlink()
    assert CacheReader(tmp_path).last_frame() == 11
    (tmp_path / "frames" / "000008.npz").write_bytes(b"damaged")
    assert "frame 8" in CacheReader(tmp_path).integrity()[0]
    with pytest.raises(StorageFailed) as caught:
        CacheReader(tmp_path).read_frame(8)
    assert caught.value.kind == "cache-damaged" and "frames/000008.npz" in caught.value.text


def test_a_missing_topology_is_told(tmp_path: Path) -> None:
    start(tmp_path, 12).close()
    (tmp_path / "topology" / "000010.npz").unlink()
    assert "topology" in CacheReader(tmp_path).integrity()[0]


def result_of(folder: Path, key: str) -> tuple[Path, Path]:
    (folder / "result").mkdir(exist_ok=True)
    paths = folder / "result" / f"{key}.npz", folder / "result" / f"{key}.pc2"
    for path in paths:
        path.write_bytes(b"abc")
    return paths


def test_going_on_drops_what_the_finishing_pass_made(tmp_path: Path) -> None:
    start(tmp_path, 12).close()
    paths = result_of(tmp_path, "b")
    (tmp_path / "attributes" / "b").mkdir()
    for folder, name in (("a", "000009.ply"), ("b", "000009.ply"), ("b", "notes.txt")):
        (tmp_path / "attributes" / folder / name).write_bytes(b"abc")
    with CacheWriter(tmp_path) as writer:
        writer.go_on(HEAD, 11, ["b"])
    assert not any(path.exists() for path in paths)
    assert not (tmp_path / "attributes" / "b" / "000009.ply").exists(), "written by the finishing pass"
    assert (tmp_path / "attributes" / "a" / "000009.ply").exists(), "written while baking"
    assert (tmp_path / "attributes" / "b" / "notes.txt").exists(), "somebody else's"
    result_of(tmp_path, "b")
    with CacheWriter(tmp_path) as writer:
        writer.start_over(HEAD)
    left = {path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*") if path.is_file()}
    assert left == {"attributes/b/notes.txt", "cache.json", "lock", "play/a.pc2", "play/b.pc2"}


def test_only_one_writer_and_none_after_a_kill(tmp_path: Path) -> None:
    code = (
        "import sys, time; from pathlib import Path; from sinew.solver.cache import CacheWriter\n"
        "w = CacheWriter(Path(sys.argv[1])); print('held', flush=True); time.sleep(60)"
    )
    child = subprocess.Popen([sys.executable, "-c", code, str(tmp_path)], stdout=subprocess.PIPE, text=True)
    try:
        assert child.stdout is not None and child.stdout.readline() == "held\n"
        assert is_locked(tmp_path)
        with pytest.raises(StorageFailed) as caught:
            CacheLock(tmp_path, patience=0.05)
        assert caught.value.kind == "cache-locked"
    finally:
        child.kill()
        child.wait()
    assert not is_locked(tmp_path)
    CacheWriter(tmp_path).close()


def test_starting_over_leaves_nothing_of_the_last_bake(tmp_path: Path) -> None:
    start(tmp_path, 12).close()
    with CacheWriter(tmp_path) as writer:
        writer.start_over(HEAD)
        assert CacheReader(tmp_path).baked() is None and CacheReader(tmp_path).report() == []
        bake(writer, 5, 5)
    assert CacheReader(tmp_path).baked() == (5, 5)


def test_the_tally_sums_up_what_the_steps_said() -> None:
    told = [
        {"frame": 1, "residual": 0.0, "not_converged": 0, "unsettled": 0, "inverted_tets": 0},
        {"frame": 2, "residual": 0.2, "not_converged": 3, "unsettled": 1, "inverted_tets": 5},
        {"frame": 3, "residual": 0.1, "not_converged": 1, "unsettled": 2, "inverted_tets": 4},
    ]
    assert Tally.of(told) == Tally(0.2, 2, 4, 3, 5)
    assert Tally.of([*told, {"frame": 4, "residual": None}]).worst_frame == 4, "what is no number is the worst"
    assert Tally.of([]) == Tally()


def test_another_shape_is_not_resumed(tmp_path: Path) -> None:
    start(tmp_path, 12).close()
    other = CacheHead("s" * 64, "", (HEAD.bodies[0],), 5, 30, 24.0, 2)
    with CacheWriter(tmp_path) as writer:
        with pytest.raises(StorageFailed) as caught:
            writer.go_on(other, 11)
        assert caught.value.kind == "cache-other-shape"
        with pytest.raises(StorageFailed) as caught:
            writer.go_on(HEAD, 13)
        assert caught.value.kind == "cache-frame-missing"
    assert CacheReader(tmp_path).baked() == (5, 12)


def test_no_cache_and_other_formats_are_named(tmp_path: Path) -> None:
    for text, kind in [(None, "cache-missing"), ("{", "cache-unreadable"), ('{"format": 99}', "cache-format")]:
        if text is not None:
            (tmp_path / "cache.json").write_text(text)
        with pytest.raises(StorageFailed) as caught:
            CacheReader(tmp_path)
        assert caught.value.kind == kind


def test_delete_takes_only_its_own(tmp_path: Path) -> None:
    folder = tmp_path / "c"
    start(folder, 10).close()
    tracks = folder / "scene" / "tracks" / "gravity"
    tracks.mkdir(parents=True)
    for name in ("track.json", "000000.npz", "000001.part"):
        (tracks / name).touch()
    (folder / "scene" / "scene.json").touch()
    result_of(folder, "b")
    mine = [
        folder / "topology" / "x.npz",
        folder / "result" / "b.obj",
        folder / "attributes" / "a" / "1.txt",
        folder / "frames" / "notes.txt",
        folder / "wine.npz",
        folder / "play" / "other.abc",
    ]
    for path in mine:
        path.touch()
    assert sorted(delete_cache(folder)) == sorted(mine)
    assert sorted(p for p in folder.rglob("*") if p.is_file()) == sorted(mine)
    with pytest.raises(BadInput) as caught:
        delete_cache(folder)
    assert caught.value.kind == "not-a-cache"
    start(tmp_path / "d", 8).close()
    assert delete_cache(tmp_path / "d") == [] and not (tmp_path / "d").exists()


def test_delete_refuses_while_somebody_writes(tmp_path: Path) -> None:
    writer = start(tmp_path, 8)
    before = content(tmp_path)
    with pytest.raises(StorageFailed) as caught:
        delete_cache(tmp_path)
    assert caught.value.kind == "cache-locked" and content(tmp_path) == before
    writer.close()


def test_a_moved_cache_is_the_same(tmp_path: Path) -> None:
    start(tmp_path / "c", 12).close()
    (tmp_path / "c").rename(tmp_path / "ñ d")
    with CacheWriter(tmp_path / "ñ d") as writer:
        writer.go_on(HEAD, 11)
        bake(writer, 12, 14)
    assert CacheReader(tmp_path / "ñ d").baked() == (5, 14)


@pytest.mark.parametrize(
    ("number", "kind"),
    [
        (errno.ENOSPC, "disk-full"),
        (errno.EDQUOT, "disk-full"),
        (errno.EROFS, "folder-read-only"),
        (errno.EACCES, "folder-not-allowed"),
        (errno.EIO, "folder-gone"),
        (errno.EBADF, "disk-failed"),
    ],
)
@pytest.mark.parametrize("call", ["write", "fsync", "open", "replace"])
def test_a_failing_disk_is_named_and_loses_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int, kind: str, call: str
) -> None:
    start(tmp_path / "through", 14).close()
    writer = start(tmp_path / "cut", 11)

    def refuse(*_: object, **__: object) -> None:
        raise OSError(number, os.strerror(number))

    with monkeypatch.context() as patch:
        patch.setattr(disk.os, call, refuse)
        with pytest.raises(StorageFailed) as caught:
            writer.write_frame(*frame_of(12))
    assert caught.value.kind == kind
    assert CacheReader(tmp_path / "cut").baked() == (5, 11) and CacheReader(tmp_path / "cut").integrity() == []
    bake(writer, 12, 14)  # the space came back: the same writer goes on
    writer.close()
    assert content(tmp_path / "cut") == content(tmp_path / "through")


def test_a_frame_that_could_not_be_finished_gives_its_space_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    writer = start(tmp_path, 11)
    before = {path: path.stat().st_size for path in tmp_path.rglob("*") if path.is_file()}

    def refuse(_: Pc2Writer) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(Pc2Writer, "count", refuse)
        with pytest.raises(StorageFailed, match="full"):
            writer.write_frame(*frame_of(12))
    assert {path: path.stat().st_size for path in tmp_path.rglob("*") if path.is_file()} == before
    writer.close()


@pytest.fixture
def small_disk(tmp_path: Path):
    """A drive of its own, 256 KB; needs to be root on Linux."""
    place = tmp_path / "drive"
    place.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=256k", "tmpfs", str(place)]
    if sys.platform != "linux" or os.geteuid() != 0 or subprocess.run(mount, capture_output=True).returncode:
        pytest.skip("cannot mount a small drive here")
    yield place
    subprocess.run(["umount", "-l", str(place)], check=True)


def test_a_really_full_disk(small_disk: Path) -> None:
    writer = start(small_disk / "c", 9)
    (small_disk / "filler").write_bytes(b"\0" * os.statvfs(small_disk).f_bavail * 4096)
    with pytest.raises(StorageFailed) as caught:
        for number in range(10, 30):
            writer.write_frame(*frame_of(number))
    assert caught.value.kind == "disk-full"
    last = CacheReader(small_disk / "c").last_frame()
    assert last is not None and last >= 9 and CacheReader(small_disk / "c").integrity() == []
    (small_disk / "filler").unlink()
    bake(writer, last + 1, 12)
    writer.close()
    assert CacheReader(small_disk / "c").baked() == (5, 12) and CacheReader(small_disk / "c").integrity() == []


def test_a_really_read_only_drive(small_disk: Path) -> None:
    start(small_disk / "c", 9).close()
    subprocess.run(["mount", "-o", "remount,ro", str(small_disk)], check=True)
    reader = CacheReader(small_disk / "c")
    assert reader.baked() == (5, 9)
    with pytest.raises(StorageFailed) as caught:
        CacheWriter(small_disk / "c")
    assert caught.value.kind == "folder-read-only"
    with pytest.raises(StorageFailed) as caught:
        CacheWriter(small_disk / "new")
    assert caught.value.kind == "folder-read-only"


def test_a_vanished_drive(tmp_path: Path) -> None:
    writer = start(tmp_path / "c", 9)
    (tmp_path / "c").rename(tmp_path / "elsewhere")
    with pytest.raises(StorageFailed) as caught:
        writer.write_frame(*frame_of(10))
    assert caught.value.kind == "folder-gone"
    writer.close()
    assert CacheReader(tmp_path / "elsewhere").baked() == (5, 9)


def test_negative_frames(tmp_path: Path) -> None:
    head = CacheHead("", "", (CachedBody("a", "A", 2),), -3, 2, 24.0, 1)
    with CacheWriter(tmp_path) as writer:
        writer.start_over(head)
        for number in range(-3, 3):
            writer.write_frame(Frame(number, np.zeros((4, 3))), {"a": np.zeros((1, 2, 3))}, {"frame": number})
            writer.write_resume(number, {"x": np.zeros(2)}, 1)
    reader = CacheReader(tmp_path)
    assert reader.baked() == (-3, 2) and reader.is_done() and reader.resume_frames() == [0, 1, 2]
    assert delete_cache(tmp_path) == []


def test_keys_that_cannot_name_files_are_refused() -> None:
    from sinew.solver.scene import Body, Scene

    for keys in (["../evil"], ["a", "a"], [""]):
        bodies = tuple(Body(key, "N", np.zeros((3, 3)), np.array([[0, 1, 2]], np.int32)) for key in keys)
        with pytest.raises(BadInput) as caught:
            CacheHead.of(Scene(bodies), "")
        assert caught.value.kind == "body-key"


def test_importing_it_loads_neither_numba_nor_scipy() -> None:
    code = "import sys; import sinew.solver.cache, sinew.solver.presets; print({'numba', 'scipy'} & set(sys.modules))"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert out == "set()\n"
