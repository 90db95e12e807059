# SPDX-License-Identifier: GPL-3.0-or-later
"""Nothing that a command makes on its way outlives it: not after its end, an error, Ctrl-C or SIGTERM."""

from __future__ import annotations

import ast
import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from fixtures.closed_surfaces import sphere
from fixtures.tiny_bakes import box_of_tets
from sinew.solver.__main__ import main
from sinew.solver.scene.scene import Material
from sinew.solver.scene.tracks import NoTracks, TrackReader

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parent.parent
posix = pytest.mark.skipif(os.name != "posix", reason="Windows ends processes without telling them")


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where temporary folders are made."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    monkeypatch.setenv("TMPDIR", str(folder))
    return folder


def test_an_experiment_leaves_no_folder_while_it_runs(temporary: Path) -> None:
    pytest.importorskip("matplotlib", reason="make papers draws with it")
    from papers import simulation_setup

    nodes, tets, _ = box_of_tets()
    stiffness = ([0.0, 1.0], np.array([5.0, 7.0]))
    simulated = simulation_setup.make_simulation(
        simulation_setup.body(nodes, tets, Material()), 0.01, tracks={"body.body.flow": stiffness}
    )
    assert list(temporary.iterdir()) == []
    simulation_setup.take_step(simulated)
    assert simulated.tracks.sample("body.body.flow", 0.5) == pytest.approx(6.0)
    assert simulated.tracks.has("body.body.flow") and not simulated.tracks.has("body.body.yield_strain")


def test_no_tracks_have_the_digest_of_an_empty_folder(tmp_path: Path) -> None:
    assert NoTracks().final_digest(1.0) == TrackReader(tmp_path).final_digest(1.0)
    assert not NoTracks().has("gravity")


def test_temporary_folders_are_made_where_something_removes_them() -> None:
    """`mkdtemp` leaves that to whoever calls it."""
    wrong = []
    for folder in ("solver", "addon", "benchmarks", "demo_blends"):
        for path in sorted((ROOT / folder).rglob("*.py")):
            tree = ast.parse(path.read_bytes())
            names = [node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)]
            wrong += [path.relative_to(ROOT).as_posix()] * ({"mkdtemp", "mkstemp"} & {*names} != set())
    assert not wrong, wrong


@posix
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_takes_a_half_written_file_along(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: signal.Signals, capfd: pytest.CaptureFixture[str]
) -> None:
    import meshio

    vertices, triangles = sphere(6)
    lines = [f"v {x} {y} {z}" for x, y, z in vertices] + [f"f {a} {b} {c}" for a, b, c in triangles + 1]
    (tmp_path / "ball.obj").write_text("\n".join(lines))

    def interrupted(path: Path, _: object) -> None:
        path.write_bytes(b"half a file")
        os.kill(os.getpid(), number)

    monkeypatch.setattr(meshio.vtu, "write", interrupted)
    before = signal.getsignal(number)
    words = ["tetrahedralize", str(tmp_path / "ball.obj"), str(tmp_path / "out.vtu"), "--divisions", "4"]
    assert main(words) == 130
    assert [path.name for path in tmp_path.iterdir()] == ["ball.obj"] and signal.getsignal(number) is before
    assert "Cancelled" in capfd.readouterr().err


@posix
@pytest.mark.parametrize("ending", ["done", "error", "SIGTERM", "SIGINT"])
def test_a_bake_leaves_nothing(temporary: Path, tmp_path: Path, ending: str) -> None:
    bpy = pytest.importorskip("bpy")
    from fixtures.blender_scenes import add_box, fresh
    from sinew.addon.objects import roles

    scene = fresh()
    scene.frame_end = 2 if ending == "done" else 300
    box = add_box("Left", divisions=2)
    if ending != "error":
        roles.make_body(box)
        box.sinew.divisions = 2
    blend = tmp_path / "shot.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(blend))
    left = set(temporary.iterdir())  # of this process
    command = [sys.executable, "-m", "sinew", "bake", str(blend), "--json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        for line in process.stdout:
            if ending.startswith("SIG") and json.loads(line)["event"] == "frame":
                process.send_signal(getattr(signal, ending))
                ending = ""
    assert process.returncode in (0, 2, 130)
    assert set(temporary.iterdir()) == left


@posix
def test_a_bake_that_is_ended_while_it_opens_its_file_leaves_nothing(temporary: Path, tmp_path: Path) -> None:
    pytest.importorskip("bpy")
    from sinew.addon.command_line import commands

    (tmp_path / "shot.blend").write_bytes(b"BLENDER")

    def interrupted(path: Path) -> None:
        commands._temporary_folders.append(tempfile.TemporaryDirectory(prefix="sinew-blender-"))
        os.kill(os.getpid(), signal.SIGTERM)

    opened: Callable[[Path], None] = commands._open_blend
    commands._open_blend = interrupted
    try:
        assert commands.bake_main([str(tmp_path / "shot.blend")]) == 130
    finally:
        commands._open_blend = opened
        commands._temporary_folders.pop().cleanup()
    assert list(temporary.iterdir()) == []
