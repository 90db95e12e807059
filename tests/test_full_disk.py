# SPDX-License-Identifier: GPL-3.0-or-later
"""Every command on a disk that is full: the files that were there stay, whole, and nothing is left beside them."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path

import meshio
import numpy as np
import pytest

from fixtures import quasistatic_scenes
from fixtures.closed_surfaces import sphere
from fixtures.small_cache import content
from fixtures.small_drives import FILLER, clear, fill, small_drive
from fixtures.tiny_bakes import tiny_scene, write_scene
from sinew.solver.__main__ import main
from sinew.solver.bake.cache import CacheReader
from sinew.solver.runtime import atomic_files


@pytest.fixture
def drive(tmp_path: Path) -> Iterator[Path]:
    """A drive of its own, 1 MB; needs to be root on Linux."""
    with small_drive(tmp_path / "drive", kilobytes=1024) as place:
        yield place


@pytest.fixture
def ball(tmp_path: Path) -> Path:
    """A surface that is read from elsewhere."""
    vertices, triangles = sphere(8)
    lines = [f"v {x} {y} {z}" for x, y, z in vertices] + [f"f {a} {b} {c}" for a, b, c in triangles + 1]
    path = tmp_path / "ball.obj"
    path.write_text("\n".join(lines))
    return path


def files_on(drive: Path) -> dict[str, bytes]:
    return {name: data for name, data in content(drive).items() if name != FILLER and Path(name).name != "lock"}


@pytest.mark.parametrize("ending", ["vtu", "msh"])
@pytest.mark.parametrize("room", [0, 8])
def test_tetrahedralize(drive: Path, ball: Path, ending: str, room: int, capfd: pytest.CaptureFixture[str]) -> None:
    out = drive / f"ball.{ending}"
    assert main(["tetrahedralize", str(ball), str(out), "--divisions", "6"]) == 0
    before = files_on(drive)
    fill(drive, but_kilobytes=room)
    assert main(["tetrahedralize", str(ball), str(out), "--divisions", "8"]) == 2
    assert files_on(drive) == before and "No space left" in capfd.readouterr().err
    clear(drive)
    assert main(["tetrahedralize", str(ball), str(out), "--divisions", "8"]) == 0
    assert files_on(drive).keys() == before.keys() and files_on(drive) != before


def test_equilibrium(drive: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    X, tets = quasistatic_scenes.meshes.bar((6, 2, 2), (3.0, 1.0, 1.0))
    held = quasistatic_scenes.ends(X, stretch=0.1)
    meshio.vtu.write(tmp_path / "bar.vtu", meshio.Mesh(X, [("tetra", tets)]))
    np.savez(tmp_path / "pins.npz", nodes=held.nodes, positions=held.positions)
    words = ["equilibrium", str(tmp_path / "bar.vtu"), "--pins", str(tmp_path / "pins.npz"), "--out"]
    assert main([*words, str(drive / "out.vtu")]) == 0
    before = files_on(drive)
    fill(drive)
    assert main([*words, str(drive / "out.vtu"), "--youngs-modulus", "1e4", "--poisson-ratio", "0.3"]) == 2
    assert files_on(drive) == before and "No space left" in capfd.readouterr().err


def drop(ball: Path, out: Path, *more: str) -> int:
    words = ["drop", str(ball), "--out", str(out), "--divisions", "5", "--seconds", "0.2", "--elastic", *more]
    return main([*words, "--json"])


def test_drop(drive: Path, ball: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    out = drive / "out"
    assert drop(ball, out) == 0
    before = files_on(drive)
    fill(drive)
    assert drop(ball, out, "--height", "0.1") == 3
    assert files_on(drive) == before
    assert json.loads(capfd.readouterr().out.splitlines()[-1])["kind"] == "disk-full"
    clear(drive)
    # full when all is baked
    replaced = atomic_files.atomic_replacement
    monkeypatch.setattr(atomic_files, "atomic_replacement", lambda path: (fill(drive), replaced(path))[1])
    assert drop(ball, out, "--height", "0.1") == 3
    for name in ("out/ball.pc2", "out/report.json"):
        assert files_on(drive)[name] == before[name]
    assert not [name for name in files_on(drive) if name.endswith(atomic_files.PART_SUFFIX)]


def test_simulate(drive: Path, capfd: pytest.CaptureFixture[str]) -> None:
    cache = drive / "c"
    write_scene(cache, tiny_scene(12))
    fill(drive, but_kilobytes=90)
    assert main(["simulate", str(cache), "--json"]) == 3
    told = [json.loads(line) for line in capfd.readouterr().out.splitlines()]
    assert told[-1]["kind"] == "disk-full"
    frames = [event["frame"] for event in told if event["event"] == "frame"]
    reader = CacheReader(cache)
    assert reader.last_frame() == frames[-1] < 12 and reader.verify().problems == ()
    clear(drive)
    assert main(["simulate", str(cache), "--resume"]) == 0
    assert CacheReader(cache).is_done() and CacheReader(cache).verify().problems == ()


def test_a_scene_and_its_tracks(drive: Path) -> None:
    cache = drive / "c"
    write_scene(cache, tiny_scene(12))
    before = files_on(drive)
    fill(drive)
    with pytest.raises(OSError, match="No space left"):
        tiny_scene(8).save(cache / "scene")
    assert files_on(drive) == before


def test_pages_of_benchmarks(drive: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("matplotlib", reason="pages have pictures")
    from papers import page

    monkeypatch.setattr(page, "PAGE", drive / "papers.md")
    page.PAGE.write_text("what was measured before")
    monkeypatch.setattr(page, "NAMES", [])
    monkeypatch.setattr(page, "text", lambda found: "x" * 100_000)
    monkeypatch.setattr(page.result_store, "copy_pictures", lambda *_: None)
    fill(drive)
    with pytest.raises(OSError, match="No space left"):
        page.write()
    assert files_on(drive) == {"papers.md": b"what was measured before"}
    clear(drive)
    page.write()
    assert len(page.PAGE.read_text()) == 100_000


def test_a_read_only_file_and_a_folder_are_refused_before_the_work(
    tmp_path: Path, ball: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(
        "sinew.solver.cli.commands.tetrahedralize.read_or_fill", lambda *_: pytest.fail("it began to work")
    )
    (tmp_path / "folder.vtu").mkdir()
    assert main(["tetrahedralize", str(ball), str(tmp_path / "folder.vtu")]) == 2
    assert "it is a folder" in capfd.readouterr().err
    if os.name == "posix" and os.geteuid() != 0:
        (tmp_path / "kept.vtu").touch(0o444)
        assert main(["tetrahedralize", str(ball), str(tmp_path / "kept.vtu")]) == 2


def test_a_link_stays_a_link_and_a_file_keeps_its_permissions(tmp_path: Path) -> None:
    target, link = tmp_path / "target", tmp_path / "link"
    target.touch(0o640)
    mode = target.stat().st_mode & 0o777  # Windows knows only whether a file may be written
    assert mode == 0o640 or os.name == "nt"
    try:
        link.symlink_to(target)
    except OSError:
        pytest.skip("links need a privilege here")
    if not link.is_symlink():
        pytest.skip("links do not show as links here")  # Wine
    atomic_files.write_file(link, b"new")
    assert link.is_symlink() and target.read_bytes() == b"new" and target.stat().st_mode & 0o777 == mode
    assert sorted(path.name for path in tmp_path.iterdir()) == ["link", "target"]


def test_files_are_synced_before_they_are_renamed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A power cut leaves no file of no bytes: scenes, tracks, what `--out` names."""
    asked: list[str] = []
    replace, sync = os.replace, os.fsync
    monkeypatch.setattr(os, "replace", lambda a, b: (asked.append(f"replace {Path(b).name}"), replace(a, b))[1])
    monkeypatch.setattr(os, "fsync", lambda file: (asked.append("fsync"), sync(file))[1])
    write_scene(tmp_path / "c", tiny_scene(4))
    atomic_files.write_file(tmp_path / "out", b"abc")
    renamed = [place for place, call in enumerate(asked) if call.startswith("replace")]
    names = {asked[place].split()[1] for place in renamed}
    assert {"arrays.npz", "scene.json", "track.json", "000000.npz", "complete", "out"} == names
    assert all(asked[place - 1] == "fsync" for place in renamed)
    if os.name != "nt":  # no folder can be synced there
        assert all(asked[place + 1] == "fsync" for place in renamed)
