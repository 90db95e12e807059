# SPDX-License-Identifier: GPL-3.0-or-later
"""docs/performance.md: all benchmarks and lines are there, what was missed says why, and the JSON says the same."""

from __future__ import annotations

import json
import re

import pytest

pytest.importorskip("matplotlib", reason="make bench draws with it")

from harness import plots
from speed import benchmark, catalogue, page, targets
from speed.benchmark import Row


@pytest.fixture(scope="module")
def text() -> str:
    return page.PAGE.read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def told() -> dict:
    return json.loads(page.TABLE.read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def rows(told) -> list[Row]:
    return [Row(**row) for kept in told["benchmarks"].values() for row in kept["rows"]]


def test_the_page_has_every_benchmark(text, told):
    assert set(told["benchmarks"]) == set(catalogue.names())
    for name in catalogue.names():
        assert f"## {catalogue.load(name).title}\n" in text and f"`make bench ARGS={name}`" in text, name


def test_the_page_says_of_every_line_whether_it_was_reached(text, told, rows):
    verdicts = targets.verdicts(rows)
    assert told["lines"] == {str(line): verdict for line, verdict in verdicts.items()}
    for line, verdict in verdicts.items():
        assert f"| {line} | {targets.TARGETS[line]} | {verdict} |" in text
        assert verdict != targets.NOT_MEASURED, f"no benchmark has judged line {line}"


def test_what_was_not_reached_says_why(text, rows):
    joined = " ".join(text.split())
    for row in rows:
        if row.reached is False:
            said = f"- {row.quantity}: target {row.wanted}, measured {row.ours}. {row.remark}"
            assert row.remark and " ".join(said.split()) in joined, row.quantity


def test_every_row_is_in_a_table(text, rows):
    for line in benchmark.markdown(rows)[2:]:
        assert line in text


def test_it_names_machine_date_and_versions(text, told):
    assert all(re.fullmatch(r"\d{4}-\d\d-\d\d", kept["date"]) for kept in told["benchmarks"].values())
    joined = " ".join(text.split())
    assert told["machine"] in joined and {"Sinew", "SciPy", "MuJoCo", "felupe"} <= set(told["versions"])
    assert all(f"{name} {version}" in joined for name, version in told["versions"].items())


def test_its_pictures_are_there_and_small(text):
    named = {name.rpartition("/")[2] for name in re.findall(r"\((images/performance/[^)]+)\)", text)}
    kept = {path.name: path.stat().st_size for path in (page.PAGE.parent / page.PICTURES).glob("*")}
    assert named == set(kept) and len(kept) > 0 and max(kept.values()) <= plots.MAX_IMAGE_BYTES


def test_the_readme_links_to_it():
    assert "docs/performance.md" in (page.ROOT / "README.md").read_text(encoding="utf-8")
