# SPDX-License-Identifier: GPL-3.0-or-later
"""The frame of `make bench`: benchmarks say what they do, tables tell what was missed, the page is put together."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("matplotlib", reason="make bench draws with it")

from frame import figures, store
from frame.result import Picture, Result
from speed import catalogue, lines, page, table, timing
from speed.table import NONE, Benchmark, Row

ROOT = Path(__file__).resolve().parent.parent
ROWS = [
    Row("step [ms]", "≤ 12", "10", True, line=2),
    Row("step of 400K [ms]", "≤ 72", "80", False, "bound by memory", line=2),
    Row("triad [GB/s]", NONE, "12.5", remark="a number to read"),
    Row("product", "80 %", "82 %", True, line=6),
]


@pytest.mark.parametrize("name", catalogue.names())
def test_benchmarks_say_what_they_do(name):
    benchmark = catalogue.load(name)
    assert isinstance(benchmark, Benchmark) and benchmark.title and len(benchmark.what) > 80
    assert set(benchmark.lines) <= set(lines.LINES)


def test_a_row_that_was_not_reached_says_why():
    with pytest.raises(ValueError, match="say why"):
        Row("cost", "2", "3", False)
    with pytest.raises(ValueError, match="names"):
        Row("cost", "", "3")


def test_lines_are_judged_by_their_rows():
    told = lines.judged(ROWS)
    assert list(told) == list(range(1, 13))
    assert told[2] == "not reached: 1 of 2" and told[6] == "reached" and told[1] == lines.NOT_MEASURED
    assert lines.judged([ROWS[1]])[2] == "not reached"


def test_tables_tell_what_was_not_reached():
    assert table.markdown(ROWS)[2:4] == [
        "| step [ms] | ≤ 12 | 10 | reached |",
        "| step of 400K [ms] | ≤ 72 | 80 | not reached |",
    ]
    assert table.plain(ROWS)[-2] == "- step of 400K [ms]: bound by memory"
    assert any("not reached: 1 of 2" in line and line.strip().startswith("2") for line in lines.plain(ROWS))


def test_the_page_tells_all_of_it(tmp_path, monkeypatch):
    """With a benchmark that does not exist in the folder: what is stored is put together, pictures and JSON beside."""
    made = Benchmark((2, 6), "A step", "What is done. " * 8, lambda quick: Result([]))
    monkeypatch.setattr(page, "names", lambda: ("some",))
    monkeypatch.setattr(page, "load", lambda name: made)
    for name, place in {"STORE": "store", "PAGE": "docs/performance.md", "TABLE": "docs/performance.json"}.items():
        monkeypatch.setattr(page, name, tmp_path / place)
    assert page.write() == ["some"] and not page.PAGE.exists()
    figure, ax = figures.plot("tets", "ms")
    ax.plot([1, 2], [1, 2])
    result = Result(ROWS, [Picture("A line.", figure)], {"ms": 10.0}, ["So it is."])
    store.store(page.STORE, "some", result, 3.0, date="2026-11-22")
    assert page.write() == []
    text = " ".join(page.PAGE.read_text(encoding="utf-8").split())
    assert "step of 400K [ms]: wanted ≤ 72, is 80. bound by memory" in text and "So it is." in text
    assert "2026-11-22" in text and "`make bench ARGS=some`, 3 s" in text
    assert (tmp_path / "docs" / page.PICTURES / "some.png").is_file() and f"({page.PICTURES}/some.png)" in text
    told = json.loads(page.TABLE.read_text(encoding="utf-8"))
    assert told["lines"]["2"] == "not reached: 1 of 2" and told["benchmarks"]["some"]["values"] == {"ms": 10.0}
    assert [Row(**row) for row in told["benchmarks"]["some"]["rows"]] == ROWS


def test_who_is_compared_takes_turns():
    called = []
    taken = timing.in_turns({"a": lambda: called.append("a"), "b": lambda: called.append("b")}, rounds=3, first=1)
    assert called == ["a", "b", *["a", "b"] * 3] and {name: len(times) for name, times in taken.items()} == {
        "a": 3,
        "b": 3,
    }
    assert timing.medians({"a": [3.0, 1.0, 2.0]}) == {"a": 2.0}


def test_every_benchmark_runs_in_a_process_of_its_own():
    """The command line, with the benchmark that compiles least; nothing is written."""
    command = [sys.executable, str(ROOT / "benchmarks" / "speed"), "roofline", "--quick"]
    ended = subprocess.run(command, capture_output=True, text=True, encoding="utf-8", timeout=300)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert "triad over 10 MB" in ended.stdout and "1 benchmarks in" in ended.stdout
    unknown = subprocess.run([*command[:2], "none"], capture_output=True, text=True, encoding="utf-8", timeout=300)
    assert unknown.returncode == 2 and "there is no none" in unknown.stderr
