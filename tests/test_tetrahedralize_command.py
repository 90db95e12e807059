# SPDX-License-Identifier: GPL-3.0-or-later
"""`sinew tetrahedralize`: its report, its files, its exit codes."""

from __future__ import annotations

import json

import pytest

from fixtures.closed_surfaces import sphere
from sinew.solver.__main__ import main
from sinew.solver.mesh.formats.tet_files import read_tets
from test_unmeshed_parts import box, together


@pytest.fixture
def ball(tmp_path):
    vertices, triangles = sphere(8)
    lines = [f"v {x} {y} {z}" for x, y, z in vertices] + [f"f {a} {b} {c}" for a, b, c in triangles + 1]
    path = tmp_path / "ball.obj"
    path.write_text("\n".join(lines))
    return path


@pytest.mark.parametrize("ending", ["vtu", "msh"])
@pytest.mark.parametrize("options", [[], ["--method", "robust", "--divisions", "6"], ["--tet-size", "0.3"]])
def test_the_report_is_one_json_line_and_the_file_holds_its_tets(ball, tmp_path, capfd, ending, options):
    out = tmp_path / f"ball.{ending}"
    assert main(["tetrahedralize", str(ball), str(out), "--json", *options]) == 0
    (line,) = capfd.readouterr().out.splitlines()
    told = json.loads(line)
    assert {
        "tets", "nodes", "min_dihedral", "max_dihedral", "volume_ratio", "lost_parts", "seconds",
    } <= told.keys()  # fmt: skip
    found = read_tets(out)
    assert (len(found.tets), len(found.nodes)) == (told["tets"], told["nodes"])
    assert found.flipped == found.degenerate == 0
    assert told["volume_ratio"] == pytest.approx(1.0, abs=0.05)
    if "0.3" in options:
        assert told["tet_size"] == pytest.approx(0.3)
    if "robust" in options:
        assert told["min_dihedral"] == pytest.approx(60.0) and told["max_dihedral"] == pytest.approx(90.0)


def test_without_json_it_is_said_in_words(ball, tmp_path, capfd):
    assert main(["tetrahedralize", str(ball), str(tmp_path / "ball.vtu"), "--divisions", "6"]) == 0
    said = capfd.readouterr().out
    assert "tets" in said and "dihedral" in said and "volume" in said


def test_tets_are_taken_repaired_and_written(ball, tmp_path, capfd):
    main(["tetrahedralize", str(ball), str(tmp_path / "a.vtu"), "--divisions", "6"])
    capfd.readouterr()
    assert main(["tetrahedralize", str(tmp_path / "a.vtu"), str(tmp_path / "b.msh"), "--json"]) == 0
    told = json.loads(capfd.readouterr().out)
    assert told["turned_tets"] == 0 and told["volume_ratio"] == 1.0
    assert len(read_tets(tmp_path / "b.msh").tets) == told["tets"]


@pytest.mark.parametrize(
    ("arguments", "kind"),
    [
        (["missing.obj", "o.vtu"], "file-unreadable"),
        (["ball.obj", "o.stl"], "file-format"),
        (["ball.obj", "nowhere/o.vtu"], "file-unwritable"),
        (["ball.obj", "o.vtu", "--tet-size", "100"], "tet-size-too-large"),
        (["ball.obj", "o.vtu", "--tet-size", "1e-5"], "too-many-tets"),
        (["ball.obj", "o.vtu", "--tet-size", "-1"], "setting-out-of-range"),
        (["ball.obj", "o.vtu", "--divisions", "0"], "setting-out-of-range"),
    ],
)
def test_bad_input_is_one_sentence_one_json_line_and_exit_code_2(ball, monkeypatch, capfd, arguments, kind):
    monkeypatch.chdir(ball.parent)
    assert main(["tetrahedralize", *arguments, "--json"]) == 2
    captured = capfd.readouterr()
    assert json.loads(captured.out)["kind"] == kind
    assert len(captured.err.strip().splitlines()) == 1
    assert not (ball.parent / "o.vtu").exists()


def test_what_is_lost_is_warned_of_with_options_as_the_next_step(tmp_path, capfd):
    """Of a plate with thin legs most gets no tets: a warning, beside the numbers."""
    points, faces = box([0, 0, 0], [1, 1, 0.2])
    legs = [box([0.3 * i, 0, 0.5], [0.3 * i + 0.01, 0.01, 3.0], n=2) for i in range(3)]
    surface = together((points, faces), *legs)
    lines = [f"v {x} {y} {z}" for x, y, z in surface.vertices] + [f"f {a} {b} {c}" for a, b, c in surface.triangles + 1]
    (tmp_path / "table.obj").write_text("\n".join(lines))
    command = ["tetrahedralize", str(tmp_path / "table.obj"), str(tmp_path / "o.vtu"), "--divisions", "15"]
    assert main([*command, "--json"]) == 0
    *warnings, report = (json.loads(line) for line in capfd.readouterr().out.splitlines())
    kinds = [warning["kind"] for warning in warnings]
    assert "parts-lost" in kinds and all(warning["event"] == "warning" for warning in warnings)
    assert [warning["kind"] for warning in report["warnings"]] == kinds
    assert all("--" in warning["next_step"] and "Robust under" not in warning["next_step"] for warning in warnings)
    assert main(command) == 0
    assert "warning: " in capfd.readouterr().out
