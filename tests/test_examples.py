# SPDX-License-Identifier: GPL-3.0-or-later
"""Every example runs as it stands, and what it says is so."""

from __future__ import annotations

import runpy
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parent.parent
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Runs an example by its number in an empty folder, and returns what it has defined."""
    monkeypatch.chdir(tmp_path)

    def run(number: int) -> dict[str, Any]:
        (path,) = [path for path in EXAMPLES if path.name.startswith(f"{number:02d}_")]
        return runpy.run_path(str(path), run_name="__main__")

    return run


def test_there_are_ten_and_each_has_its_test() -> None:
    assert [path.name[:3] for path in EXAMPLES] == [f"{number:02d}_" for number in range(1, 11)]
    tests = Path(__file__).read_text(encoding="utf-8")
    assert all(f"run({number})" in tests for number in range(1, 11))


def test_the_readme_shows_the_first() -> None:
    """All but its licence and what it is called."""
    code = EXAMPLES[0].read_text(encoding="utf-8").split('"""', 2)[2].strip()
    shown = "\n".join(f"    {line}".rstrip() for line in code.splitlines())
    assert shown in (ROOT / "README.md").read_text(encoding="utf-8")
    assert len([line for line in code.splitlines() if line]) <= 10


def test_a_jelly_drops(run: Any, capsys: pytest.CaptureFixture[str]) -> None:
    lowest = run(1)["lowest"]
    assert len(lowest) == 24 == len(capsys.readouterr().out.splitlines())
    assert lowest[0] == pytest.approx(0.1) and abs(lowest[-1]) < 2e-3


def test_a_law_of_ones_own_is_what_is_solved(run: Any) -> None:
    found = run(2)
    plain, own = found["results"].values()
    assert plain.converged and own.converged
    assert own.energy > 1.1 * plain.energy
    term = found["term"]
    stretches = np.array([[1.3, 0.9, 0.8], [1.0, 1.0, 1.0]])
    stress, tangent = term.stress_and_tangent(slice(0, 2), stretches, np.zeros((2, 3, 3)))
    h = 1e-6  # the stress is the derivative of the energy, and the tangent that of the stress
    for axis in range(3):
        step = h * np.eye(3)[axis]
        psi = [term.energy(slice(0, 2), stretches + sign * step, None) for sign in (1, -1)]
        P = [term.stress_and_tangent(slice(0, 2), stretches + sign * step, None)[0] for sign in (1, -1)]
        np.testing.assert_allclose(stress[:, 4 * axis], (psi[0] - psi[1]) / (2 * h), atol=1e-3)
        np.testing.assert_allclose(tangent[:, :, 4 * axis], (P[0] - P[1]) / (2 * h), atol=1e-2)


def test_a_ball_breaks(run: Any) -> None:
    pieces = run(3)["pieces"]
    assert pieces[0] == 1 < 3 < pieces[-1]


def test_an_equilibrium_is_found_from_anywhere(run: Any) -> None:
    found = run(4)
    assert found["found"].converged and found["untangled"].converged
    assert found["distance"] < 1e-4


def test_a_cache_is_written_and_read(run: Any) -> None:
    found = run(5)
    assert found["positions"].shape == (10, 512, 3) and (found["first"], found["last"]) == (1, 10)
    assert found["positions"][-1, :, 2].min() < found["positions"][0, :, 2].min() - 0.05


def test_a_picture_is_drawn(run: Any) -> None:
    pytest.importorskip("matplotlib", reason="the example draws with it")
    heights = run(6)["heights"]
    assert Path("swings.png").stat().st_size > 10_000
    swings = {damping: np.ptp(each[15:]) for damping, each in heights.items()}
    assert swings[0.0] > swings[0.05] > 0.0


def test_clay_keeps_its_dent_and_wax_gets_hot(run: Any) -> None:
    found = run(7)
    assert found["told"]["clay"]["largest_plastic_strain"] > 0.1
    assert found["temperatures"][-1] > 60.0 > found["temperatures"][0]
    assert found["told"]["wax"]["largest_plastic_strain"] > 0.1


def test_pins_follow_their_track(run: Any) -> None:
    found = run(8)
    assert max(found["missed"]) < 1e-9
    assert max(map(abs, found["lags"])) > 0.05


def test_a_ball_lies_on_a_box(run: Any) -> None:
    heights = run(9)["heights"]
    assert heights[0] == pytest.approx(0.15) and 0.08 < min(heights) < 0.105


def test_steps_are_the_same_by_both_solvers(run: Any) -> None:
    found = run(10)
    assert found["iterations"]["multigrid"] < found["iterations"]["jacobi"]
    assert found["lean"] > 1e-3
