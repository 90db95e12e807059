# SPDX-License-Identifier: GPL-3.0-or-later
"""`sinew COMMAND`: exit codes, one sentence on standard error, JSON lines on standard output."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fixtures.tiny_bakes import tiny_scene, write_scene
from sinew.solver.bake.cache import CacheReader
from sinew.solver.bake.cache.pc2 import read_header
from sinew.solver.runtime.event_stream import json_value
from sinew.solver.scene.material_presets import MATERIAL_PRESETS, NEARLY_INCOMPRESSIBLE

pytestmark = pytest.mark.slow


def sinew(*words: str | Path, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "sinew", *map(str, words)]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, cwd=cwd)


def lines(ended: subprocess.CompletedProcess[str]) -> list[dict[str, Any]]:
    return [json.loads(line) for line in ended.stdout.splitlines()]


def one_sentence(ended: subprocess.CompletedProcess[str], code: int) -> str:
    assert ended.returncode == code, ended.stderr
    assert ended.stdout == "" or ended.stdout.startswith("{")
    (line,) = ended.stderr.splitlines()
    assert line.startswith("sinew")
    return line


def test_help_names_every_command() -> None:
    ended = sinew("--help")
    assert ended.returncode == 0
    for name in ("simulate", "drop", "info", "tetrahedralize", "bake", "attach", "warm-up"):
        assert name in ended.stdout


def test_light_commands_load_nothing_heavy() -> None:
    for words in (["simulate", "--help"], ["info", "--help"]):
        heavy = "{'numba', 'scipy', 'bpy'}"
        code = f"import sys; from sinew.__main__ import main; main({words}); print({heavy} & {{*sys.modules}})"
        told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
        assert told.endswith("set()\n")


@pytest.mark.parametrize("words", [[], ["bakes"], ["info"], ["drop", "a.obj"], ["simulate", "c", "--threads", "two"]])
def test_wrong_words_are_bad_input(words: list[str]) -> None:
    one_sentence(sinew(*words), 2)


def test_blender_commands_say_what_they_need() -> None:
    code = (
        "import importlib.util, sys; found = importlib.util.find_spec\n"
        "importlib.util.find_spec = lambda name, *more: None if name == 'bpy' else found(name, *more)\n"
        "from sinew.__main__ import main; sys.exit(main(['bake', 'a.blend']))"
    )
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert "needs the bpy wheel" in one_sentence(ended, 2)


def test_simulate_and_info(tmp_path: Path) -> None:
    cache = tmp_path / "Take 1.sinew"
    write_scene(cache, tiny_scene(40))
    ended = sinew("simulate", cache, "--frame-end", "7")
    assert ended.returncode == 0, ended.stderr
    assert "frame 7 of 7" in ended.stdout and ended.stdout.splitlines()[-1].startswith("7 frames in")
    (told,) = lines(sinew("info", cache, "--json"))
    assert told["last_frame"] == 7 and told["frame_end"] == 7 and told["resume_frame"] == 7
    assert told["problems"] == [] and not told["is_being_written"] and told["bytes"] > 1000
    ended = sinew("info", cache)
    assert ended.returncode == 0 and '"Falling Cube" (27 vertices)' in ended.stdout and "frames: 1 to 7" in ended.stdout
    (cache / "frames" / "000003.npz").write_bytes(b"no")
    assert "frame 3" in one_sentence(sinew("info", cache, "--json"), 3)


def test_failures_have_their_code_and_event(tmp_path: Path) -> None:
    ended = sinew("info", tmp_path, "--json")
    one_sentence(ended, 3)
    (event,) = lines(ended)
    assert event["kind"] == "cache-missing" and event["exit_code"] == 3
    ended = sinew("simulate", tmp_path / "none", "--json")
    assert "cannot read" in one_sentence(ended, 3)
    assert [event["event"] for event in lines(ended)] == ["started", "error"]


def test_plain_json() -> None:
    told = json_value(
        {"a": np.float32(0.5), "b": [np.int64(3), float("nan")], "c": (True, None, Path("x")), 1: np.ones(2)}
    )
    assert json.loads(json.dumps(told)) == {"a": 0.5, "b": [3, None], "c": [True, None, "x"], "1": [1.0, 1.0]}


def test_presets_are_within_their_ranges() -> None:
    for key, preset in MATERIAL_PRESETS.items():
        material = preset.material
        assert key == preset.key == key.upper() and preset.label and preset.description and preset.source
        assert material.youngs_modulus > 0.0 and 0.0 <= material.poisson_ratio <= NEARLY_INCOMPRESSIBLE
        assert 10.0 < material.density < 20_000.0 and material.stiffness_damping >= 0.0


def write_cube(path: Path) -> None:
    corners = [(x, y, z) for x in (0, 2) for y in (0, 2) for z in (5, 7)]
    faces = [(1, 2, 4, 3), (5, 7, 8, 6), (1, 5, 6, 2), (3, 4, 8, 7), (1, 3, 7, 5), (2, 6, 8, 4)]
    path.write_text(
        "".join(f"v {x} {y} {z}\n" for x, y, z in corners) + "".join(f"f {a} {b} {c} {d}\n" for a, b, c, d in faces)
    )


def test_drop(tmp_path: Path) -> None:
    write_cube(tmp_path / "Cube.obj")
    ended = sinew(
        "drop",
        "Cube.obj",
        "--out",
        "o",
        "--seconds",
        "1",
        "--divisions",
        "4",
        "--preset",
        "foam",
        "--height",
        "0.5",
        "--json",
        cwd=tmp_path,
    )
    assert ended.returncode == 0, ended.stderr
    told = lines(ended)[-1]
    assert told == {"event": "report", **json.loads((tmp_path / "o" / "report.json").read_text())}
    assert (
        told["preset"] == "FOAM" and told["frames"] == 25 and told["steps"] == 96 and told["steps_not_converged"] == 0
    )
    assert told["inverted_tets_max"] == 0 and told["residual_max"] <= 1.0e-4 and len(told["residuals"]) == 24
    assert -0.02 < told["lowest_point"] < 0.01 and 0.6 < told["volume_ratio_min"] <= told["volume_ratio_max"] < 1.3
    assert read_header(tmp_path / "o" / "Cube.pc2").samples == 25
    reader = CacheReader(tmp_path / "o" / "Cube.sinew")
    assert reader.is_done()
    heights = [reader.read_samples("body", i)[0, :, 2].min() for i in range(8)]
    assert heights[0] == pytest.approx(0.5)
    fall = 0.5 * 9.81 * (5 / 24) * (5 / 24 + 1 / 96)  # implicit Euler: ½ g t (t + Δt)
    assert heights[5] == pytest.approx(0.5 - fall, abs=1.0e-4)


def test_drop_says_that_jelly_is_too_soft_and_which_options_let_it_stand(tmp_path: Path) -> None:
    write_cube(tmp_path / "Cube.obj")
    words = ("drop", "Cube.obj", "--out", "o", "--seconds", "0.1", "--divisions", "2", "--preset", "jelly")
    ended = sinew(*words, cwd=tmp_path)
    (line,) = [line for line in ended.stdout.splitlines() if line.startswith("warning: ")]
    assert '"Cube" is too soft' in line and "--youngs-modulus 200000" in line and "--simulated-scale 0.025" in line
    (told,) = json.loads((tmp_path / "o" / "report.json").read_text())["warnings"]
    assert told["kind"] == "collapses"
    assert line == f"warning: {told['sentence']} {told['measured']}. {told['next_step']}"

    said = [lines(sinew(*words, *cure, "--json", cwd=tmp_path)) for cure in ((), ("--youngs-modulus", "200000"))]
    for events, wanted in zip(said, ([told], []), strict=True):
        (built,) = [event for event in events if event["event"] == "built"]
        assert built["bodies"][0]["warnings"] == wanted == events[-1]["warnings"]


def test_drop_breaks_or_dents_what_falls(tmp_path: Path) -> None:
    write_cube(tmp_path / "Cube.obj")
    common = ("drop", "Cube.obj", "--out", "o", "--seconds", "0.5", "--divisions", "4", "--height", "0.4", "--json")
    broken = lines(sinew(*common, "--preset", "rubber", "--breaking-stress", "2e4", cwd=tmp_path))[-1]
    (made,) = broken["results"]
    assert broken["body"]["pieces"] == made["pieces"] > 1 and broken["body"]["largest_stress"] > 1.0e4
    assert 0.6 < broken["volume_ratio_min"] <= broken["volume_ratio_max"] < 1.3
    dented = lines(sinew(*common, "--preset", "foam", "--yield-strain", "0.001", "--flow", "50", cwd=tmp_path))[-1]
    assert dented["body"]["largest_plastic_strain"] > 0.01 and dented["results"] == []
    told = sinew("drop", "Cube.obj", "--out", "o", "--breaking-stress", "-1", cwd=tmp_path)
    assert "Breaking Stress" in one_sentence(told, 2)


def test_drop_takes_the_tets_of_a_file_and_turns_them(tmp_path: Path) -> None:
    (tmp_path / "two.veg").write_text(
        "*VERTICES\n5 3 0 0\n0 0 0 0\n1 1 0 0\n2 0 1 0\n3 0 0 1\n4 1 1 1\n*ELEMENTS\nTET\n2 4 0\n0 0 2 1 3\n1 1 2 3 4\n"
    )
    ended = sinew("drop", "two.veg", "--out", "o", "--seconds", "0.5", "--json", cwd=tmp_path)
    assert ended.returncode == 0, ended.stderr
    told = lines(ended)
    assert "tets-turned" in [event.get("kind") for event in told]
    report = told[-1]
    assert (report["tets"], report["nodes"], report["frames"], report["mesh"]) == (2, 5, 13, "two.veg")
    body = CacheReader(tmp_path / "o" / "two.sinew").metadata.bodies[0]
    assert body.vertices == 5
    assert -0.05 < report["lowest_point"] < 0.01 and report["inverted_tets_max"] == 0
    assert "cannot read files of" in one_sentence(sinew("drop", tmp_path / "two.xyz", "--out", tmp_path / "o"), 2)


def test_drop_refuses_bad_input(tmp_path: Path) -> None:
    write_cube(tmp_path / "Cube.obj")
    mesh, out = tmp_path / "Cube.obj", tmp_path / "o"
    assert '"chewing gum"' in one_sentence(sinew("drop", mesh, "--out", out, "--preset", "chewing gum"), 2)
    assert "above 0" in one_sentence(sinew("drop", mesh, "--out", out, "--seconds", "-1"), 2)
    assert "0 or more" in one_sentence(sinew("drop", mesh, "--out", out, "--height", "nan"), 2)
    assert "Divisions" in one_sentence(sinew("drop", mesh, "--out", out, "--divisions", "0"), 2)
    one_sentence(sinew("drop", tmp_path / "none.obj", "--out", out), 2)
    (tmp_path / "empty.obj").write_text("v 0 0 0\n")
    assert '"empty' in one_sentence(sinew("drop", tmp_path / "empty.obj", "--out", out), 2)
