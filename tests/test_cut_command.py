# SPDX-License-Identifier: GPL-3.0-or-later
"""`sinew cut`: its report, its file, and what it says of bad input."""

from __future__ import annotations

import json

import numpy as np
import pytest

from fixtures.cutters import square
from fixtures.tet_meshes import kuhn_bar
from sinew.solver.__main__ import main
from sinew.solver.cli.commands import cut as cut_command
from sinew.solver.mesh.cut_cells.insert_triangles import NotConvex
from sinew.solver.mesh.formats.tet_files import read_tets, write_tets
from sinew.solver.mesh.shapes import sphere
from sinew.solver.mesh.tet_mesh import FilledTets


def write_surface(path, vertices, triangles):
    lines = [f"v {x} {y} {z}" for x, y, z in vertices] + [f"f {a} {b} {c}" for a, b, c in triangles + 1]
    path.write_text("\n".join(lines))
    return str(path)


@pytest.fixture
def block(tmp_path):
    nodes, tets = kuhn_bar((3, 3, 3), (1.0, 1.0, 1.0))
    path = tmp_path / "block.vtu"
    write_tets(path, FilledTets(nodes, tets, np.ones(len(tets))))
    return str(path)


@pytest.fixture
def blade(tmp_path):
    return write_surface(tmp_path / "blade.obj", *square((0, 0, 1), (0.5, 0.5, 0.4), 4.0))


def report_of(words, capfd):
    assert main(["cut", *words, "--json"]) == 0
    (line,) = capfd.readouterr().out.splitlines()
    return json.loads(line)


def test_a_block_is_cut_in_two(block, blade, tmp_path, capfd):
    out = tmp_path / "cut.vtu"
    told = report_of([block, "--with", blade, "--out", str(out)], capfd)
    assert (told["pieces"], told["closed"]) == (2, True)
    assert sorted(told["volumes"]) == pytest.approx([0.4, 0.6], abs=1e-12)
    assert told["enclosed_volumes"] == pytest.approx(told["volumes"], abs=1e-12)
    found = read_tets(out)
    assert (len(found.tets), len(found.nodes)) == (told["tets"], told["nodes"])
    assert (told["tets_before"], told["nodes_before"]) == (162, 64)


def test_a_body_is_carved_out_of_its_tets_and_cut(block, blade, tmp_path, capfd):
    vertices, triangles = sphere(0.4, 6)
    surface = write_surface(tmp_path / "ball.obj", vertices + 0.5, triangles)
    told = report_of([block, "--surface", surface, "--with", blade, "--out", str(tmp_path / "cut.msh")], capfd)
    corner = vertices[triangles]
    volume = np.einsum("ti,ti->", corner[:, 0], np.cross(corner[:, 1], corner[:, 2])) / 6
    assert (told["pieces"], told["closed"]) == (2, True)
    assert sum(told["volumes"]) == pytest.approx(volume, abs=1e-12)


def test_without_json_it_is_said_in_words(block, blade, tmp_path, capfd):
    assert main(["cut", block, "--with", blade, blade, "--out", str(tmp_path / "cut.vtu")]) == 0
    assert "2 pieces, 162 tets before" in capfd.readouterr().out


@pytest.mark.parametrize("case", ["no faces", "open surface", "surface outside", "bad ending"])
def test_bad_input_is_named_before_anything_is_written(case, block, blade, tmp_path, capfd):
    vertices, triangles = sphere(0.4, 6)
    out = tmp_path / ("cut.txt" if case == "bad ending" else "cut.vtu")
    words = ["cut", block, "--with", blade, "--out", str(out)]
    if case == "no faces":
        (tmp_path / "points.obj").write_text("v 0 0 0\nv 1 0 0\n")
        words[3] = str(tmp_path / "points.obj")
    elif case == "open surface":
        words += ["--surface", write_surface(tmp_path / "open.obj", vertices + 0.5, triangles[1:])]
    elif case == "surface outside":
        words += ["--surface", write_surface(tmp_path / "far.obj", vertices + 0.9, triangles)]
    assert main(words) != 0
    said = capfd.readouterr().err
    name = {"no faces": "points.obj", "open surface": "open", "surface outside": "far", "bad ending": "cut.txt"}[case]
    assert name in said
    assert not out.exists()


def test_a_defect_is_told_with_the_name_of_the_tets(block, blade, tmp_path, capfd, monkeypatch):
    def fails(*arrays):
        raise NotConvex

    monkeypatch.setattr(cut_command, "carve_tets", fails)
    out = tmp_path / "cut.vtu"
    assert main(["cut", block, "--with", blade, "--out", str(out)]) == 3
    assert '"block"' in capfd.readouterr().err
    assert not out.exists()
