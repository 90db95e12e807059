# SPDX-License-Identifier: GPL-3.0-or-later
"""The cache on disks that fail, fill up or vanish, and what is synced before it counts."""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import sinew.solver.runtime.atomic_files as disk
from fixtures.crashing_process import Dead, Mortal
from fixtures.small_cache import HEAD, attributes_of, bake, content, frame_of, start
from fixtures.small_cache import calls as calls
from fixtures.small_drives import fill, small_drive
from sinew.solver.bake.cache import CacheLock, CacheReader, CacheWriter, is_locked
from sinew.solver.bake.cache.pc2 import Pc2Writer
from sinew.solver.runtime import locked_file_retries
from sinew.solver.runtime.errors import StorageFailed


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


def bake_or_resume(folder: Path, told: list[int], last: int) -> None:
    """Bakes, or goes on from the last checkpoint; notes every frame that counts."""
    with CacheWriter(folder) as writer:
        resume = CacheReader(folder).resume_frame() if (folder / "cache.json").exists() else None
        if resume is None:
            writer.start_over(HEAD)
            for body in HEAD.bodies:
                writer.write_model(body.key, {"nodes": np.zeros((4, 3))})
        else:
            writer.resume(HEAD, resume)
        for number in range(HEAD.frame_start if resume is None else resume + 1, last + 1):
            bake(writer, number, number)
            told.append(number)


@pytest.mark.slow
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
                assert reader.integrity_problems() == [] and reader.verify().problems == (), (die_at, second)
                if second == die_at:
                    assert not told or reader.last_frame() >= told[-1]
        bake_or_resume(folder, told, last)
        assert content(folder) == expected, die_at
        shutil.rmtree(folder)


def test_only_one_writer_and_none_after_a_kill(tmp_path: Path) -> None:
    code = (
        "import sys, time; from pathlib import Path; from sinew.solver.bake.cache import CacheWriter\n"
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

    if os.name == "nt" and (number, call) == (errno.EACCES, "replace"):
        kind = "file-held"  # the file is there, so it takes another program to refuse this
    with monkeypatch.context() as patch:
        patch.setattr(disk.os, call, refuse)
        patch.setattr(locked_file_retries, "MAX_LOCK_WAIT_SECONDS", 0.0)
        with pytest.raises(StorageFailed) as caught:
            writer.write_frame(*frame_of(12))
    assert caught.value.kind == kind
    assert (
        CacheReader(tmp_path / "cut").baked_range() == (5, 11)
        and CacheReader(tmp_path / "cut").integrity_problems() == []
    )
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
        patch.setattr(Pc2Writer, "commit", refuse)
        with pytest.raises(StorageFailed, match="full"):
            writer.write_frame(*frame_of(12))
    assert {path: path.stat().st_size for path in tmp_path.rglob("*") if path.is_file()} == before
    writer.close()


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A drive of its own, 256 KB; needs to be root on Linux."""
    with small_drive(tmp_path / "drive", kilobytes=256) as place:
        yield place


def test_a_really_full_disk(small_disk: Path) -> None:
    writer = start(small_disk / "c", 9)
    fill(small_disk)
    with pytest.raises(StorageFailed) as caught:
        for number in range(10, 30):
            writer.write_frame(*frame_of(number))
    assert caught.value.kind == "disk-full"
    last = CacheReader(small_disk / "c").last_frame()
    assert last is not None and last >= 9 and CacheReader(small_disk / "c").integrity_problems() == []
    (small_disk / "filler").unlink()
    bake(writer, last + 1, 12)
    writer.close()
    assert (
        CacheReader(small_disk / "c").baked_range() == (5, 12)
        and CacheReader(small_disk / "c").integrity_problems() == []
    )


def test_a_really_read_only_drive(small_disk: Path) -> None:
    start(small_disk / "c", 9).close()
    subprocess.run(["mount", "-o", "remount,ro", str(small_disk)], check=True)
    reader = CacheReader(small_disk / "c")
    assert reader.baked_range() == (5, 9)
    with pytest.raises(StorageFailed) as caught:
        CacheWriter(small_disk / "c")
    assert caught.value.kind == "folder-read-only"
    with pytest.raises(StorageFailed) as caught:
        CacheWriter(small_disk / "new")
    assert caught.value.kind == "folder-read-only"


def test_a_folder_that_never_was_has_not_gone(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    kinds = {tmp_path / "file" / "c": "folder-is-file", tmp_path / "file": "folder-is-file"}
    kinds |= {Path("/proc/x"): "folder-not-made"} if sys.platform == "linux" else {}
    for place, kind in kinds.items():
        with pytest.raises(StorageFailed) as caught:
            CacheWriter(place)
        assert caught.value.kind == kind and "again" not in caught.value.text, caught.value.text
        assert str(place) in caught.value.text and "Choose another folder" in caught.value.text


@pytest.mark.parametrize("name", ["resume", "contacts", "frames"])
def test_a_file_where_a_folder_belongs_is_named_before_anything_is_deleted(tmp_path: Path, name: str) -> None:
    start(tmp_path / "c", 8).close()
    if (tmp_path / "c" / name).is_dir():
        shutil.rmtree(tmp_path / "c" / name)
    (tmp_path / "c" / name).write_text("not a folder")
    before = content(tmp_path / "c")
    writer = CacheWriter(tmp_path / "c")
    with pytest.raises(StorageFailed) as failed:
        writer.start_over(HEAD)
    writer.close()
    assert failed.value.kind == "folder-is-file" and str(tmp_path / "c" / name) in failed.value.text
    assert content(tmp_path / "c") == before


def test_a_vanished_drive(tmp_path: Path) -> None:
    writer = start(tmp_path / "c", 9)
    (tmp_path / "c").rename(tmp_path / "elsewhere")
    with pytest.raises(StorageFailed) as caught:
        writer.write_frame(*frame_of(10))
    assert caught.value.kind == "folder-gone"
    writer.close()
    assert CacheReader(tmp_path / "elsewhere").baked_range() == (5, 9)


def test_a_file_that_cannot_be_synced_leaves_none_open(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Windows neither replaces nor deletes what is open."""
    writer = start(tmp_path, 8)
    files = [play._file for play in writer._play.values()]
    with monkeypatch.context() as patch:

        def refuse(_: int) -> None:
            raise OSError(errno.EIO, "Input/output error")

        patch.setattr(disk.os, "fsync", refuse)
        with pytest.raises((StorageFailed, OSError)):
            writer.close()
    assert len(files) == 2
    for file in files:
        with pytest.raises(OSError):  # each system says it in other words
            os.fstat(file)
