# SPDX-License-Identifier: GPL-3.0-or-later
"""Files that another program holds, that are read-only or whose paths are too long, as Windows has them."""

from __future__ import annotations

import ctypes
import errno
import os
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from sinew.solver.runtime import locked_file_retries
from sinew.solver.runtime.atomic_files import replace, write_atomic
from sinew.solver.runtime.errors import StorageFailed
from sinew.solver.runtime.locked_file_retries import remove_file, remove_folder
from sinew.solver.runtime.storage_errors import named_errors

ON_WINDOWS = pytest.mark.skipif(os.name != "nt", reason="open files stay on Windows only")
# Wine replaces files that are read-only, and renames folders with open files in them
IS_WINE = os.name == "nt" and hasattr(ctypes.windll.ntdll, "wine_get_version")  # type: ignore[attr-defined]
NOT_ON_WINE = pytest.mark.skipif(os.name != "nt" or IS_WINE, reason="Windows does this, Wine does not")


class Clock:
    """Time that passes only while somebody sleeps."""

    def __init__(self) -> None:
        self.now = 0.0

    def monotonic(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """Lets open files stay as on Windows, and time pass at once."""
    passing = Clock()
    monkeypatch.setattr(locked_file_retries, "OPEN_FILES_ARE_LOCKED", True)
    monkeypatch.setattr(locked_file_retries, "clock", passing)
    return passing


def held(monkeypatch: pytest.MonkeyPatch, name: str, clock: Clock, seconds: float) -> None:
    """Lets a call of the operating system be refused for some seconds, as while another program has the file open."""
    call = getattr(os, name)

    def refuse(*arguments: object, **named: object) -> object:
        if clock.now < seconds:
            raise PermissionError(errno.EACCES, "The process cannot access the file", str(arguments[0]))
        return call(*arguments, **named)

    monkeypatch.setattr(os, name, refuse)


@pytest.mark.parametrize("name", ["replace", "unlink", "open"])
@pytest.mark.parametrize("seconds", [0.4, 9.0, 11.0])
def test_a_held_file_is_tried_again_and_then_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, clock: Clock, name: str, seconds: float
) -> None:
    path = tmp_path / "a.bin"
    path.write_bytes(b"old")
    (tmp_path / "a.bin.part").write_bytes(b"left by a crash")
    act: Callable[[], None] = (lambda: remove_file(path)) if name == "unlink" else (lambda: write_atomic(path, b"new"))
    with monkeypatch.context() as patch:
        held(patch, name, clock, seconds)
        if seconds < locked_file_retries.MAX_LOCK_WAIT_SECONDS:
            act()
        else:
            with pytest.raises(StorageFailed) as refused, named_errors(tmp_path):
                act()
            assert refused.value.kind == "file-held" and "a.bin" in refused.value.sentence
    assert (
        min(seconds, locked_file_retries.MAX_LOCK_WAIT_SECONDS)
        <= clock.now
        <= locked_file_retries.MAX_LOCK_WAIT_SECONDS + 1.0
    )
    if seconds > locked_file_retries.MAX_LOCK_WAIT_SECONDS:
        assert path.read_bytes() == b"old"
    else:
        assert not path.exists() if name == "unlink" else path.read_bytes() == b"new"


def test_what_is_not_held_is_told_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, clock: Clock) -> None:
    with monkeypatch.context() as patch:
        held(patch, "open", clock, 1e9)
        with pytest.raises(StorageFailed) as refused, named_errors(tmp_path):
            write_atomic(tmp_path / "new.bin", b"new")
    assert refused.value.kind == "folder-not-allowed" and clock.now == 0.0


def test_a_read_only_file_is_named_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, clock: Clock) -> None:
    path = tmp_path / "a.bin"
    path.write_bytes(b"old")
    with monkeypatch.context() as patch:
        held(patch, "replace", clock, 1e9)
        patch.setattr(os, "access", lambda asked, mode: Path(asked) != path)
        with pytest.raises(StorageFailed) as refused, named_errors(tmp_path):
            write_atomic(path, b"new")
    assert refused.value.kind == "file-read-only" and "a.bin" in refused.value.sentence and clock.now == 0.0
    assert path.read_bytes() == b"old" and list(tmp_path.iterdir()) == [path]


def test_the_first_failure_is_told_where_the_file_beside_it_is_held_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:

        def refuse(*_: object) -> None:
            raise OSError(errno.ENOSPC, "No space left on device")

        patch.setattr(os, "fsync", refuse)
        held(patch, "unlink", Clock(), 1e9)
        with pytest.raises(StorageFailed) as refused, named_errors(tmp_path):
            write_atomic(tmp_path / "a.bin", b"new")
    assert refused.value.kind == "disk-full"


def test_other_systems_do_not_wait(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, clock: Clock) -> None:
    monkeypatch.setattr(locked_file_retries, "OPEN_FILES_ARE_LOCKED", False)
    path = tmp_path / "a.bin"
    path.write_bytes(b"old")
    with monkeypatch.context() as patch:
        held(patch, "replace", clock, 1e9)
        with pytest.raises(StorageFailed) as refused, named_errors(tmp_path):
            write_atomic(path, b"new")
    assert refused.value.kind == "folder-not-allowed" and clock.now == 0.0


def test_a_path_that_is_too_long_is_told_as_that(tmp_path: Path, clock: Clock) -> None:
    for length, kind in ((300, "path-too-long"), (100, "folder-gone")):
        path = str(tmp_path / "x").ljust(length, "x")
        with pytest.raises(StorageFailed) as refused, named_errors(tmp_path):
            raise FileNotFoundError(errno.ENOENT, "The system cannot find the path specified", path)
        assert refused.value.kind == kind and (kind == "folder-gone" or path in refused.value.sentence)


def test_a_folder_goes_with_all_that_is_in_it(tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    (folder / "in").mkdir(parents=True)
    (folder / "in" / "a.bin").write_bytes(b"a")
    remove_folder(folder)
    remove_folder(folder)
    assert not folder.exists()


@ON_WINDOWS
@pytest.mark.parametrize("act", ["replace", "remove", pytest.param("rename the folder", marks=NOT_ON_WINE)])
def test_another_program_has_it_open_for_a_moment(tmp_path: Path, act: str) -> None:
    """The other one lets go when it has seen that this one tries: the part beside the file is there."""
    folder = tmp_path / "folder"
    folder.mkdir()
    path = folder / "a.bin"
    path.write_bytes(b"old")
    code = "import sys; file = open(sys.argv[1], 'rb'); print('open', flush=True); sys.stdin.read()"
    with subprocess.Popen(
        [sys.executable, "-c", code, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as other:
        assert other.stdout is not None and other.stdin is not None and other.stdout.readline().strip() == b"open"
        tries: list[float] = []

        class LetGo:
            monotonic = staticmethod(locked_file_retries.clock.monotonic)

            @staticmethod
            def sleep(seconds: float) -> None:
                tries.append(seconds)
                if len(tries) == 3:
                    assert other.stdin is not None
                    other.stdin.close()
                    other.wait()

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(locked_file_retries, "clock", LetGo)
            if act == "replace":
                write_atomic(path, b"new")
            elif act == "remove":
                remove_file(path)
            else:
                replace(folder, tmp_path / "moved")
    assert len(tries) == 3
    if act == "replace":
        assert path.read_bytes() == b"new"
    else:
        assert not path.exists()


@NOT_ON_WINE
def test_a_read_only_file_stays(tmp_path: Path) -> None:
    path = tmp_path / "a.bin"
    path.write_bytes(b"old")
    path.chmod(stat.S_IREAD)
    try:
        for act in (lambda: write_atomic(path, b"new"), lambda: remove_file(path)):
            with pytest.raises(StorageFailed) as refused, named_errors(tmp_path):
                act()
            assert refused.value.kind == "file-read-only" and "a.bin" in refused.value.sentence
    finally:
        path.chmod(stat.S_IWRITE | stat.S_IREAD)
    assert path.read_bytes() == b"old"
