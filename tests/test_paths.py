# SPDX-License-Identifier: GPL-3.0-or-later
"""Paths as people have them: with spaces, other letters, other separators, and longer than 260 characters."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from sinew.solver.__main__ import main
from sinew.solver.bake.cache import CacheReader
from sinew.solver.bake.cache.pc2 import read_header

CUBE = "".join(f"v {x} {y} {z}\n" for x in (0, 1) for y in (0, 1) for z in (0, 1)) + (
    "f 1 2 4 3\nf 5 7 8 6\nf 1 5 6 2\nf 3 4 8 7\nf 1 3 7 5\nf 2 6 8 4\n"
)


@pytest.fixture(autouse=True)
def own_signals() -> Iterator[None]:
    """Gives back the answers to signals that a command takes for itself."""
    taken = {name: signal.getsignal(getattr(signal, name)) for name in ("SIGINT", "SIGTERM")}
    yield
    for name, answer in taken.items():
        signal.signal(getattr(signal, name), answer)


def drop(mesh: Path, out: str) -> int:
    return main(["drop", str(mesh), "--out", out, "--seconds", "0.1", "--divisions", "2"])


@pytest.mark.parametrize("name", ["with two  spaces", "Übung ß 雪 'of' & %TEMP%", "a.b,c;d=e [f] (g) ~1"])
def test_a_bake_in_a_folder_of_any_name_is_resumed(tmp_path: Path, name: str) -> None:
    folder = tmp_path / name
    folder.mkdir()
    mesh = folder / f"{name}.obj"
    mesh.write_bytes(CUBE.encode())
    assert drop(mesh, str(folder / "out")) == 0
    cache = folder / "out" / f"{name}.sinew"
    assert read_header(folder / "out" / f"{name}.pc2").samples == 3 and CacheReader(cache).is_done()
    assert main(["simulate", str(cache), "--resume"]) == 0
    assert main(["info", str(cache)]) == 0


def test_separators_may_be_mixed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("cube.obj").write_bytes(CUBE.encode())
    out = os.path.join("one", "two") + "/three"
    assert drop(Path("cube.obj"), out) == 0
    assert sorted(path.name for path in Path("one", "two", "three").iterdir()) == [
        "cube.pc2", "cube.sinew", "report.json"
    ]  # fmt: skip


def test_a_path_of_more_than_260_characters_is_baked_into_or_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    mesh = tmp_path / "cube.obj"
    mesh.write_bytes(CUBE.encode())
    out = tmp_path.joinpath(*(letter * 60 for letter in "abcde"))
    code = drop(mesh, str(out))
    if code == 0:
        assert CacheReader(out / "cube.sinew").is_done()
    else:  # a Windows that was not told to allow them
        told = capsys.readouterr().err
        assert os.name == "nt" and code == 3 and "longer than Windows allows" in told and "aaa" in told
