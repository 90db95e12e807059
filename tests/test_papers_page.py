# SPDX-License-Identifier: GPL-3.0-or-later
"""docs/papers.md: every experiment is there, every row names the paper's number, its end says what numbers bear out."""

from __future__ import annotations

import re

import pytest

pytest.importorskip("matplotlib", reason="make papers draws with it")

from harness import plots
from papers import catalogue, conclusions, page
from papers.experiment import NO_PAPER_VALUE


@pytest.fixture(scope="module")
def text() -> str:
    return page.PAGE.read_text(encoding="utf-8")


def test_the_page_has_every_experiment(text):
    for name in catalogue.NAMES:
        assert f"### {catalogue.load(name).title}\n" in text and f"`make papers ARGS={name}`" in text, name
    assert conclusions.HEADING in text and conclusions.DEFAULT_TEXT.split("**")[0] in text


def test_the_page_has_its_pictures_and_they_are_small(text):
    pictures = set(re.findall(r"\((images/papers/[^)]+)\)", text))
    assert pictures == {f"{page.PICTURES}/{path.name}" for path in (page.PAGE.parent / page.PICTURES).glob("*")}
    assert all((page.PAGE.parent / path).stat().st_size <= plots.MAX_IMAGE_BYTES for path in pictures)


def test_every_row_has_the_papers_number_or_says_that_there_is_none(text):
    rows = table_rows(text)
    assert len(rows) > 100
    for quantity, paper, ours in rows:
        assert quantity and ours, quantity
        assert paper == NO_PAPER_VALUE or re.search(r"\d|[a-z]{3}", paper), f"{quantity}: {paper}"
        assert re.search(r"\d|[a-z]{2}", ours), f"{quantity}: {ours}"


def test_what_differs_is_explained(text):
    """Below its table: the sentence begins with the row's quantity."""
    differing = [row[0] for row in table_rows(text) if row[2].endswith("(differs)")]
    joined = " ".join(text.split())
    assert differing
    for quantity in differing:
        assert f"- {quantity.replace(chr(92), '')}: " in joined, quantity


def test_its_numbers_parse(text):
    found = [number for row in table_rows(text) for number in re.findall(r"-?\d+(?:\.\d+)?(?:e[+-]?\d+)?", row[2])]
    assert len(found) > 200 and all(abs(float(number)) < 1e300 for number in found)


def test_the_readme_links_to_it():
    assert "docs/papers.md" in (page.ROOT / "README.md").read_text(encoding="utf-8")


def values(polar: float, warp: float) -> dict[str, dict[str, float]]:
    """Numbers as the experiments name them, of forces by polar and warp so far off those by Green's strain."""
    state, solved = "sheared and turned", conclusions.SOLVED_TEXT
    names = {"linear": 1.0, "polar": 1.1, "green": 4.0, "hybrid": 6.0}
    return {
        "mdmjc02_cost": {f"{name}, {solved}": cost for name, cost in names.items()},
        "mdmjc02_volume": {"change linear 450 tets": 0.8, "change polar 450 tets": 0.01},
        "hs04_forces": {
            f"{state} {name} whole": error
            for name, error in {"polar": polar, "hybrid": 0.2, "linear": 9.0, "warp, edge frames": warp}.items()
        },
        "mdmjc02_ghost_force": {"net force, rotation per tet (polar)": 1e-16, "net force, edge frames": 0.02},
        "mdmjc02_largest_step": {"polar, 1e+06": 64.0, "non-linear, one linearised step, 1e+05": 1.0},
        "npf05_crushed": {"recovers, polar, nearest rotation, 0": 1.0},
        "npf05_reversed": {"recovers, polar, nearest rotation": 1.0, "recovers, polar, Higham's iteration": 0.0},
        "npf05_cost": {"saved, polar, nearest rotation, whole": -0.2},
    }


def test_the_end_says_what_the_numbers_bear_out():
    end = conclusions.conclusions_section(values(polar=0.4, warp=0.5))
    assert (
        end.index("40% off") < end.index(conclusions.AGAINST_TEXT) and "50% at best" in end and "1 came back" not in end
    )
    assert "20% off instead of 40%" in end and "By QR" not in end


def test_the_end_says_what_they_do_not():
    end = conclusions.conclusions_section(values(polar=0.6, warp=0.5))
    assert " ".join(end.split()).index("are 60% off those") > " ".join(end.split()).index(conclusions.AGAINST_TEXT)


def table_rows(text: str) -> list[list[str]]:
    """Returns the cells of the tables' rows, their heads left out."""
    found = []
    for line in text.splitlines():
        if line.startswith("| ") and not line.startswith("|  | paper"):
            found.append([cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]])
    return found
