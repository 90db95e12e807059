# SPDX-License-Identifier: GPL-3.0-or-later
"""`sinew equilibrium`: its report, its file, and what it says to input that has no meaning."""

from __future__ import annotations

import json
from pathlib import Path

import meshio
import numpy as np
import pytest

from fixtures import quasistatic_scenes as scenes
from sinew.solver.__main__ import main
from sinew.solver.cli.commands.equilibrium import OUTCOME_TEXTS
from sinew.solver.mechanics.hyperelastic.law_numbers import LAWS
from sinew.solver.quasistatic import initial_guesses, outcome_classification


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path, Path]:
    """A bar of tets with a first point that no tet uses, pins that stretch it, and a place for the result."""
    X, tets = scenes.meshes.bar((6, 2, 2), (3.0, 1.0, 1.0))
    held = scenes.ends(X, stretch=0.1)
    meshio.vtu.write(tmp_path / "bar.vtu", meshio.Mesh(np.vstack([[9.0, 9.0, 9.0], X]), [("tetra", tets + 1)]))
    np.savez(tmp_path / "pins.npz", nodes=held.nodes + 1, positions=held.positions)
    return tmp_path / "bar.vtu", tmp_path / "pins.npz", tmp_path / "out.vtu"


def run(files: tuple[Path, Path, Path], *options: str) -> int:
    mesh, pins, out = files
    return main(["equilibrium", str(mesh), "--pins", str(pins), "--out", str(out), *options])


@pytest.mark.parametrize("material", LAWS)
def test_the_report_is_one_line_and_the_file_holds_the_shape(files, capfd, material: str):
    assert run(files, "--material", material, "--tolerance", "1e-8", "--json") == 0
    said = capfd.readouterr()
    report = json.loads(said.out)
    assert said.err == "" and said.out.count("\n") == 1
    named = {"newton_iterations", "cg_iterations", "residual", "energy", "inverted_tets", "seconds"}
    assert named <= set(report) and report["residual"] <= 1e-8 and report["inverted_tets"] == 0
    assert report["energy"] > 0.0 and report["converged"] and report["ended"] == "at rest"
    found = meshio.read(files[2])
    rest = found.points - found.point_data["displacement"]
    pins = np.load(files[1])
    place = {number: node for node, number in enumerate(found.point_data["number"].tolist())}
    held = [place[number] for number in pins["nodes"].tolist()]
    assert np.array_equal(found.points[held], pins["positions"])
    assert np.allclose(rest.max(axis=0), [3.0, 1.0, 1.0]) and len(found.cells_dict["tetra"]) == report["tets"]


def test_a_scatter_ends_where_a_start_at_rest_does(files, capfd):
    assert run(files, "--json", "--tolerance", "1e-9") == 0
    usual = meshio.read(files[2]).points
    assert run(files, "--json", "--start", "scatter:10", "--seed", "3", "--tolerance", "1e-9") == 0
    first, second = map(json.loads, capfd.readouterr().out.splitlines())
    assert np.abs(meshio.read(files[2]).points - usual).max() < 1e-7
    assert second["ended"] == "at rest" and second["distance"] < 1e-7
    assert second["energy"] == pytest.approx(first["energy"])


def test_a_start_that_was_replaced_is_called_so(files, capfd):
    assert run(files, "--json", "--start", "scatter:10") == 0
    assert json.loads(capfd.readouterr().out)["start_replaced"]
    assert run(files, "--start", "scatter:10") == 0
    assert "a harmonic (Laplace) solve replaced the start" in capfd.readouterr().out


def test_a_start_that_is_kept_is_solved_from(files, capfd):
    reports = []
    for seed in "12":
        assert run(files, "--json", "--start", "scatter:10", "--seed", seed, "--keep-start") == 0
        reports.append(json.loads(capfd.readouterr().out))
    assert all(report["ended"] == "at rest" and not report["start_replaced"] for report in reports)
    assert reports[0]["residual"] != reports[1]["residual"]
    assert run(files, "--start", "scatter:10", "--keep-start") == 0
    assert "Laplace" not in capfd.readouterr().out


def test_a_twisted_end_is_told(tmp_path, capfd, monkeypatch):
    model = scenes.bar_model((24, 2, 2), (6.0, 0.5, 0.5))
    held, files = scenes.ends(model.X), (tmp_path / "bar.vtu", tmp_path / "pins.npz", tmp_path / "out.vtu")
    meshio.vtu.write(files[0], meshio.Mesh(model.X, [("tetra", model.tets)]))
    np.savez(files[1], nodes=held.nodes, positions=held.positions)
    monkeypatch.setattr(initial_guesses, "scattered", lambda X, *rest: scenes.turned_about(X, 2.0 * np.pi))
    assert run(files, "--start", "scatter:10", "--keep-start", "--json") == 0
    report = json.loads(capfd.readouterr().out)
    assert report["ended"] == "elsewhere" and report["distance"] > 0.01 and report["converged"]
    assert run(files, "--start", "scatter:10", "--keep-start") == 0
    said = capfd.readouterr().out
    assert "twisted or folded" in said and "--start rest" in said and "of the longest side" in said


def test_without_json_it_is_told_in_words(files, capfd):
    assert run(files) == 0
    assert "at rest" in capfd.readouterr().out


def test_a_solve_that_does_not_arrive_is_no_success(files, capfd):
    assert run(files, "--iterations", "1", "--json") == 3
    said = capfd.readouterr()
    report = json.loads(said.out)
    assert not report["converged"] and report["ended"] == "not converged" and report["residual"] > 1e-6
    assert said.err.count("\n") == 1 and "not at rest" in said.err


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--poisson-ratio", "0.5"), "below 0.5"),
        (("--poisson-ratio", "nan"), "below 0.5"),
        (("--youngs-modulus", "0"), "1e-12 to 1e+30 Pa"),
        (("--youngs-modulus", "1e-300"), "1e-12 to 1e+30 Pa"),
        (("--youngs-modulus", "1e308"), "1e-12 to 1e+30 Pa"),
        (("--tolerance", "0"), "above 0"),
        (("--seed", "-1"), "0 or more"),
        (("--start", "anywhere"), '"anywhere"'),
        (("--start", "scatter:-1"), '"scatter:-1"'),
        (("--start", "scatter:x"), '"scatter:x"'),
        (("--material", "jelly"), "jelly"),
    ],
)
def test_settings_without_meaning_get_a_sentence(files, capfd, options: tuple[str, str], words: str):
    assert run(files, *options) == 2
    said = capfd.readouterr().err
    assert words in said and said.count("\n") == 1 and not files[2].exists()


@pytest.mark.parametrize(
    ("arrays", "words"),
    [
        ({}, "needs two arrays"),
        ({"nodes": np.zeros(0, int), "positions": np.zeros((0, 3))}, "fixes no node"),
        ({"nodes": np.array([1.5]), "positions": np.zeros((1, 3))}, "needs two arrays"),
        ({"nodes": np.array([1, 2]), "positions": np.zeros((3, 3))}, "needs two arrays"),
        ({"nodes": np.array([1000]), "positions": np.zeros((1, 3))}, "node 1000"),
        ({"nodes": np.array([-1]), "positions": np.zeros((1, 3))}, "node -1"),
        ({"nodes": np.array([1, 1]), "positions": np.zeros((2, 3))}, "more than once"),
        ({"nodes": np.array([1]), "positions": np.full((1, 3), np.nan)}, "not numbers"),
        ({"nodes": np.array([0]), "positions": np.zeros((1, 3))}, "no tet uses"),
        ({"nodes": np.array([object()]), "positions": np.zeros((1, 3))}, "cannot read"),
    ],
)
def test_pins_without_meaning_get_a_sentence(files, capfd, arrays: dict[str, np.ndarray], words: str):
    np.savez(files[1], **arrays)
    assert run(files) == 2
    said = capfd.readouterr().err
    assert words in said and said.count("\n") == 1


def test_files_that_are_none_get_a_sentence(files, capfd):
    mesh, pins, out = files
    for broken in ((mesh.with_name("no.msh"), pins, out), (mesh, pins.with_name("no.npz"), out), (mesh, mesh, out)):
        assert run(broken) == 2
        assert "cannot read" in capfd.readouterr().err
    assert run((mesh, pins, out.with_suffix(".txt"))) == 2
    assert run((mesh, pins, out.parent / "nowhere" / "out.vtu")) == 2
    capfd.readouterr()


def test_a_piece_that_nothing_holds_is_named(files, capfd):
    mesh, _, _ = files
    X, tets = scenes.meshes.bar((2, 2, 2), (1.0, 1.0, 1.0))
    both = np.vstack([X, X + [5.0, 0.0, 0.0]])
    meshio.vtu.write(mesh, meshio.Mesh(both, [("tetra", np.vstack([tets, tets + len(X)]))]))
    np.savez(files[1], nodes=np.array([0, 1, 2]), positions=X[:3])
    assert run(files) == 2
    assert "no fixed node" in capfd.readouterr().err


def test_names_are_those_of_the_solver():
    assert set(OUTCOME_TEXTS) == {
        outcome_classification.AT_REST,
        outcome_classification.OTHER_EQUILIBRIUM,
        outcome_classification.INVERTED,
        outcome_classification.NOT_CONVERGED,
    }
