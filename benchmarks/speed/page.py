# SPDX-License-Identifier: GPL-3.0-or-later
"""Writes docs/performance.md from the stored results of the last run of every benchmark.

What did not run in this clone stays as the page has it, with its date.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from harness import result_store
from harness.page_section import page_section
from harness.result_store import ROOT
from harness.text_wrap import wrap
from sinew.solver.runtime.atomic_files import write_file
from speed import benchmark as table
from speed import targets, versions
from speed.benchmark import Benchmark, Row
from speed.catalogue import load, names
from speed.rejected_ideas import REJECTED_IDEAS

STORE = ROOT / "build" / "speed"  # NAME.json and NAME.png of the last run
PAGE = ROOT / "docs" / "performance.md"
TABLE = ROOT / "docs" / "performance.json"  # all rows and values, for programs
PICTURES = "images/performance"

INTRO = """\
# Performance

`make bench` runs all benchmarks, prints these tables and writes this page and [performance.json](performance.json).
`make bench ARGS="NAME …"` runs some of them, `make bench ARGS=--list` lists them. Each benchmark runs in its own
process, alone on the machine. Compared programs take turns in the same run. Times are medians of at least five. Compare
ratios between machines, not milliseconds.

{machine}
"""


def load_stored(name: str) -> dict[str, Any] | None:
    """Returns the result of the last run of a benchmark in this clone, else that of the page; None: it never ran."""
    return result_store.load_result(STORE, name, Row) or load_published(name)


def load_published(name: str) -> dict[str, Any] | None:
    """Returns the result of a benchmark that the page tells, or None if it tells none."""
    if not TABLE.is_file():
        return None
    kept = json.loads(TABLE.read_text(encoding="utf-8"))["benchmarks"].get(name)
    return kept and {**kept, "rows": [Row(**row) for row in kept["rows"]]}


def load_all_stored() -> dict[str, dict[str, Any]]:
    """Returns the stored results of all benchmarks that ran."""
    return {name: kept for name in names() if (kept := load_stored(name)) is not None}


def rows_of(found: dict[str, dict[str, Any]]) -> list[Row]:
    """Returns the rows of all benchmarks."""
    return [row for kept in found.values() for row in kept["rows"]]


def write() -> list[str]:
    """Writes the page, its JSON and its pictures from the stored results; returns the benchmarks that never ran."""
    found = load_all_stored()
    missing = [name for name in names() if name not in found]
    if missing:
        return missing
    result_store.copy_pictures(STORE, found, PAGE.parent / PICTURES)
    write_file(PAGE, text(found).encode())
    write_file(TABLE, (json.dumps(json_values(found), indent=1, ensure_ascii=False) + "\n").encode())
    return []


def json_values(found: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """Returns the page's numbers for programs."""
    return {
        "machine": machine_of(found),
        "versions": versions.installed_versions(),
        "lines": {str(line): verdict for line, verdict in targets.verdicts(rows_of(found)).items()},
        "benchmarks": {name: {**kept, "rows": [vars(row) for row in kept["rows"]]} for name, kept in found.items()},
    }


def text(found: dict[str, dict[str, Any]]) -> str:
    """Returns the whole page for the stored results."""
    rows = rows_of(found)
    parts = [
        INTRO.format(machine=wrap(measured_on(found))),
        "## Targets\n",
        "\n".join(targets.markdown(rows)) + "\n",
        *shortfall_section(rows),
        *rejected_section(),
        *(section_of(name, load(name), kept) for name, kept in found.items()),
    ]
    return "\n".join(parts)


def shortfall_section(rows: Iterable[Row]) -> list[str]:
    """Returns the section of the rows that miss their targets."""
    missed = [row for row in rows if row.reached is False]
    if not missed:
        return ["## Where Sinew is behind\n", "No row misses its target.\n"]
    said = [wrap(f"- {row.quantity}: target {row.wanted}, measured {row.ours}. {row.remark}", "  ") for row in missed]
    return ["## Where Sinew is behind\n", "\n".join(said) + "\n"]


def rejected_section() -> list[str]:
    """Returns the section of rejected ideas."""
    said = [wrap(f"- {each}", "  ") for each in REJECTED_IDEAS]
    return ["## Rejected ideas\n", "\n".join(said) + "\n"] if said else []


def section_of(name: str, benchmark: Benchmark, kept: dict[str, Any]) -> str:
    """Returns the section of one benchmark."""
    return page_section(
        name,
        f"## {benchmark.title}",
        benchmark.what,
        table.markdown(kept["rows"]),
        kept,
        said_of=[row for row in kept["rows"] if row.reached is not False],
        pictures=PICTURES,
        command=f"`make bench ARGS={name}`, {kept['seconds']:.0f} s on {kept['date']}",
    )


def machine_of(found: dict[str, dict[str, Any]]) -> str:
    """Returns the machine that the benchmarks ran on, or all machines if there were several."""
    return "; ".join(sorted({kept["machine"] for kept in found.values()}))


def measured_on(found: dict[str, dict[str, Any]]) -> str:
    """Returns the dates, the machine and the versions of the measurements."""
    days = sorted({kept["date"] for kept in found.values()})
    when = days[0] if len(days) == 1 else f"{days[0]} to {days[-1]}"
    minutes = sum(kept["seconds"] for kept in found.values()) / 60.0
    peers = ", ".join(f"{name} {version}" for name, version in versions.installed_versions().items())
    return f"Measured on {when} in {minutes:.0f} minutes: {machine_of(found)}; {peers}."
