# SPDX-License-Identifier: GPL-3.0-or-later
"""What commands are given that they cannot use: one sentence, with a next step that the command line has."""

from __future__ import annotations

import io
import os
import re
import sys
from pathlib import Path

import numpy as np
import pytest

from fixtures.closed_surfaces import sphere
from sinew.solver.__main__ import main
from sinew.solver.bake.cache import CacheMetadata
from sinew.solver.cli.drop_scene import drop_scene, results_origin
from sinew.solver.mesh.geometry.triangle_surface import Surface
from sinew.solver.runtime.error_messages import TEXTS
from sinew.solver.runtime.error_messages.command_line_next_steps import (
    CACHE_COMMAND_NEXT_STEPS,
    MESH_COMMAND_NEXT_STEPS,
)
from sinew.solver.runtime.errors import BadInput
from sinew.solver.runtime.event_stream import escape_unprintable_output
from sinew.solver.scene.material_presets import find_preset
from sinew.solver.scene.object_key_rule import is_key
from sinew.solver.scene.scene import Material, Meshing, Scene, Settings
from test_command_line import write_cube
from test_error_texts import fields, raised
from test_scene import small_scene


@pytest.fixture
def mesh(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    write_cube(tmp_path / "Cube.obj")
    return tmp_path / "Cube.obj"


@pytest.mark.parametrize(
    ("words", "code", "told"),
    [
        (["drop", "Cube.obj", "--out", "Cube.obj"], 3, "Cube.obj is a file"),
        (["drop", "Cube.obj", "--out", "Cube.obj/inside"], 3, "Cube.obj is a file"),
        (["drop", "Cube.obj", "--out", "o", "--fps", "1e308"], 2, "lower --fps"),
        (["drop", "Cube.obj", "--out", "o", "--fps", "2e9"], 2, "frames per second"),
        (["drop", "Cube.obj", "--out", "o", "--seconds", "1e308"], 2, "fewer --seconds"),
        (["drop", "Cube.obj", "--out", "o", "--substeps", "0"], 2, "Change the option"),
        (["drop", "Cube.obj", "--out", "o", "--substeps", "1000000"], 2, "from 1 to 100,000"),
        (["drop", "Cube.obj", "--out", "o", "--simulated-scale", "nan"], 2, "Simulated Size"),
        (["drop", "Cube.obj", "--out", "o", "--simulated-scale", "1e-300"], 2, "Simulated Size"),
        (["drop", "Cube.obj", "--out", "o", "--preset", "ruber"], 2, "Choose rubber."),
        (["drop", "Cube.obj", "--out", "o", "--preset", "soap"], 2, "Choose one of jelly"),
        (["simulate", "missing"], 3, "Check the path"),
        (["simulate", "."], 3, "there is none"),
        (["info", "missing"], 3, "sinew simulate"),
        (["finish", "missing"], 3, "sinew simulate"),
        (["tetrahedralize", "Cube.obj", "folder.vtu"], 2, "it is a folder"),
        (["tetrahedralize", "Cube.obj", "a.vtu", "--tet-size", "50"], 2, "smaller --tet-size"),
        (["tetrahedralize", "Cube.obj", "a.vtu", "--divisions", "100000"], 2, "fewer --divisions"),
    ],
)
def test_one_sentence_with_a_next_step_of_the_command_line(
    mesh: Path, words: list[str], code: int, told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (mesh.parent / "folder.vtu").mkdir()
    before = sorted(path.name for path in mesh.parent.rglob("*"))
    assert main(words) == code
    (line,) = capsys.readouterr().err.splitlines()
    assert told in line and "Press" not in line and "Choose Robust" not in line
    assert sorted(path.name for path in mesh.parent.rglob("*")) == before


def test_every_next_step_of_the_command_line_can_be_filled_in() -> None:
    known = [(kind, details) for _, kind, details in raised() if details is not None]
    for table in (MESH_COMMAND_NEXT_STEPS, CACHE_COMMAND_NEXT_STEPS):
        assert set(table) <= set(TEXTS)
        for kind, next_step in table.items():
            wanted = set(re.findall(r"{(\w+)", next_step))
            given = [details for of, details in known if of == kind]
            assert all(wanted <= details for details in given or [fields(kind)]), kind
            assert next_step[0].isupper() and next_step.endswith(".")


def test_the_window_keeps_its_own_next_steps(mesh: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main(["tetrahedralize", "Cube.obj", "a.vtu", "--tet-size", "50"])
    assert "--tet-size" in capsys.readouterr().err
    assert "--" not in BadInput("tet-size-too-large", name="Cube", size="1", longest="2").text


def test_presets_are_found_however_they_are_written() -> None:
    for name in ("TEARING_RUBBER", "tearing-rubber", "Tearing Rubber", "rubber that tears"):
        assert find_preset(name).key == "TEARING_RUBBER"
    with pytest.raises(BadInput, match="Choose glass"):
        find_preset("glas")


def test_terminals_that_know_few_letters_get_escapes(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(screen, encoding="ascii"))
    escape_unprintable_output()
    print("90° of Würfel\udcff")
    sys.stdout.flush()
    assert screen.getvalue().splitlines() == [b"90\\xb0 of W\\xfcrfel\\udcff"]


@pytest.mark.skipif(os.name == "nt", reason="names of files are text there")
def test_a_name_that_is_no_text_is_kept(tmp_path: Path) -> None:
    name = os.fsdecode(b"W\xfcrfel")
    scene = small_scene()
    named = Scene((scene.bodies[1].__class__(scene.bodies[0].vertices, scene.bodies[0].triangles, key="b", name=name),))
    named.save(tmp_path)
    assert Scene.load(tmp_path).bodies[0].name == name
    CacheMetadata.for_scene(named, "").save(tmp_path)
    assert CacheMetadata.load(tmp_path).bodies[0].name == name


def test_keys_never_leave_their_folder() -> None:
    assert is_key("Cube-1_b") and not any(map(is_key, ("", "..", "a/b", "a\\b", "a b", "ä", "a\0")))


def test_pins_that_announce_more_than_they_hold(tmp_path: Path) -> None:
    from sinew.solver.quasistatic.fixed_nodes import read_fixed_nodes

    path = tmp_path / "pins.npz"
    np.savez(path, nodes=np.arange(3), positions=np.zeros((3, 3)))
    data = path.read_bytes()
    for wrong in (data[:100], data.replace(b"(3, 3)", b"(3, 9)"), b"", b"PK\x03\x04"):
        path.write_bytes(wrong)
        with pytest.raises(BadInput) as caught:
            read_fixed_nodes(path, np.arange(3, dtype=np.int32))
        assert caught.value.kind == "file-unreadable" and "\n" not in caught.value.text


def test_what_is_dropped_far_away_keeps_its_shape() -> None:
    """At 100,000 km float32 has steps of 8 m."""
    vertices, triangles = sphere(8)
    far = Surface(vertices + [1.0e8, -2.0e8, 3.0e8], triangles)
    near = Surface(vertices, triangles)
    scenes = [drop_scene("Ball", each, Material(), Meshing(), None, Settings()) for each in (far, near)]
    shown, wanted = (scene.bodies[0].vertices.astype(np.float32) for scene in scenes)
    assert results_origin(far) == pytest.approx([1.0e8, -2.0e8, 0.0]) and not results_origin(near).any()
    assert shown == pytest.approx(wanted, abs=1.0e-6)
