# SPDX-License-Identifier: GPL-3.0-or-later
"""The frame of `make bench`: benchmarks say what they do, tables tell what was missed, the page is put together."""

from __future__ import annotations

import importlib
import json
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

pytest.importorskip("matplotlib", reason="make bench draws with it")

from harness import child_process, plots, result_store
from harness.result import Picture, Result
from speed import benchmark as table
from speed import catalogue, page, targets, timing
from speed.benchmark import NO_TARGET, Benchmark, Row

ROOT = Path(__file__).resolve().parent.parent
ROWS = [
    Row("step [ms]", "≤ 12", "10", True, line=2),
    Row("step of 400K [ms]", "≤ 72", "80", False, "bound by memory", line=2),
    Row("triad [GB/s]", NO_TARGET, "12.5", remark="a number to read"),
    Row("product", "80 %", "82 %", True, line=6),
]


@pytest.mark.parametrize("name", catalogue.names())
def test_benchmarks_say_what_they_do(name):
    benchmark = catalogue.load(name)
    assert isinstance(benchmark, Benchmark) and benchmark.title and len(benchmark.what) > 80
    assert set(benchmark.lines) <= set(targets.TARGETS)


def test_a_row_that_was_not_reached_says_why():
    with pytest.raises(ValueError, match="say why"):
        Row("cost", "2", "3", False)
    with pytest.raises(ValueError, match="names"):
        Row("cost", "", "3")


def test_lines_are_judged_by_their_rows():
    told = targets.verdicts(ROWS)
    assert list(told) == list(range(1, 18))
    assert told[2] == "not reached: 1 of 2 rows pass" and told[6] == "reached" and told[1] == targets.NOT_MEASURED
    assert targets.verdicts([ROWS[1]])[2] == "not reached"
    unjudged = [Row("a", "1", "2", True, line=5), Row("b", "1", "2", line=5)]
    assert targets.verdicts(unjudged)[5] == "reached; 1 not judged"


def test_tables_tell_what_was_not_reached():
    assert table.markdown(ROWS)[2:4] == [
        "| step [ms] | ≤ 12 | 10 | reached |",
        "| step of 400K [ms] | ≤ 72 | 80 | not reached |",
    ]
    assert table.plain(ROWS)[-2] == "- step of 400K [ms]: bound by memory"
    assert any("not reached: 1 of 2 rows pass" in line and line.strip().startswith("2") for line in targets.plain(ROWS))


def test_the_page_tells_all_of_it(tmp_path, monkeypatch):
    """With a benchmark that does not exist in the folder: what is stored is put together, pictures and JSON beside."""
    made = Benchmark((2, 6), "A step", "What is done. " * 8, lambda quick: Result([]))
    monkeypatch.setattr(page, "names", lambda: ("some",))
    monkeypatch.setattr(page, "load", lambda name: made)
    for name, place in {"STORE": "store", "PAGE": "docs/performance.md", "TABLE": "docs/performance.json"}.items():
        monkeypatch.setattr(page, name, tmp_path / place)
    assert page.write() == ["some"] and not page.PAGE.exists()
    figure, ax = plots.plot("tets", "ms")
    ax.plot([1, 2], [1, 2])
    result = Result(ROWS, [Picture("A line.", figure)], {"ms": 10.0}, ["So it is."])
    result_store.store_result(page.STORE, "some", result, 3.0, date="2026-11-22", machine="a machine")
    assert page.write() == []
    text = " ".join(page.PAGE.read_text(encoding="utf-8").split())
    assert "step of 400K [ms]: target ≤ 72, measured 80. bound by memory" in text and "So it is." in text
    assert "on 2026-11-22 in 0 minutes: a machine; " in text and "`make bench ARGS=some`, 3 s" in text
    assert (tmp_path / "docs" / page.PICTURES / "some.png").is_file() and f"({page.PICTURES}/some.png)" in text
    told = json.loads(page.TABLE.read_text(encoding="utf-8"))
    assert told["lines"]["2"] == "not reached: 1 of 2 rows pass"
    assert told["benchmarks"]["some"]["values"] == {"ms": 10.0}
    assert [Row(**row) for row in told["benchmarks"]["some"]["rows"]] == ROWS

    monkeypatch.setattr(page, "names", lambda: ("some", "other"))
    monkeypatch.setattr(page, "STORE", tmp_path / "another clone")
    assert page.write() == ["other"]
    result_store.store_result(page.STORE, "other", Result([]), 60.0, date="2026-11-29", machine="a machine")
    assert page.write() == []
    both = page.PAGE.read_text(encoding="utf-8")
    assert "`make bench ARGS=some`, 3 s on 2026-11-22" in both and "`make bench ARGS=other`, 60 s on 2026-11-29" in both
    assert (tmp_path / "docs" / page.PICTURES / "some.png").is_file()


def test_who_is_compared_takes_turns():
    called = []
    taken = timing.interleaved_times(
        {"a": lambda: called.append("a"), "b": lambda: called.append("b")}, rounds=3, first=1
    )
    assert called == ["a", "b", *["a", "b"] * 3] and {name: len(times) for name, times in taken.items()} == {
        "a": 3,
        "b": 3,
    }
    assert timing.medians({"a": [3.0, 1.0, 2.0]}) == {"a": 2.0}


def test_a_benchmark_is_run_and_stored(tmp_path, monkeypatch, capsys):
    """What a process of its own does; a reduced run leaves nothing."""
    suite = importlib.import_module("speed.__main__").SUITE
    made = Benchmark((2,), "A step", "What is done.", lambda quick: Result(ROWS, values={"quick": float(quick)}))
    suite = replace(suite, load=lambda name: made)
    monkeypatch.setattr(page, "STORE", tmp_path)
    suite.run_here("some", True)
    assert "step [ms]" in capsys.readouterr().out and page.load_stored("some") is None
    suite.run_here("some", False)
    kept = page.load_stored("some")
    assert kept["values"] == {"quick": 0.0} and kept["rows"] == ROWS and re.fullmatch(r"\d{4}-\d\d-\d\d", kept["date"])


def test_it_runs_in_a_process_of_its_own(tmp_path):
    (tmp_path / "__main__.py").write_text("import os, sys; print(*sys.argv[1:], os.environ.get('NUMBA_NUM_THREADS'))")
    ended = child_process.run(tmp_path, "some", True, "1")
    assert ended.returncode == 0 and ended.stdout.split() == ["some", "--one", "--quick", "1"]
    (tmp_path / "__main__.py").write_text("raise SystemExit('it broke')")
    ended = child_process.run(tmp_path, "some", False)
    assert ended.returncode == 1 and "it broke" in ended.stderr


def test_the_command_line_names_what_there_is(monkeypatch, capsys):
    command = [sys.executable, str(ROOT / "benchmarks" / "speed"), "--list"]
    listed = subprocess.run(command, capture_output=True, text=True, encoding="utf-8", timeout=300)
    assert listed.returncode == 0 and [line.split()[0] for line in listed.stdout.splitlines()] == [*catalogue.names()]
    suite = importlib.import_module("speed.__main__").SUITE
    monkeypatch.setattr(sys, "argv", ["speed", "none"])
    with pytest.raises(SystemExit) as ended:
        suite.main()
    assert ended.value.code == 2 and "there is no none" in capsys.readouterr().err
