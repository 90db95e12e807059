# SPDX-License-Identifier: GPL-3.0-or-later
"""Writes docs/papers.md from the stored results of every experiment."""

from __future__ import annotations

from typing import Any

from harness import result_store
from harness.machine import machine_description
from harness.page_section import page_section
from harness.result_store import ROOT
from harness.text_wrap import wrap
from papers import conclusions
from papers.catalogue import NAMES, PAPERS, load
from papers.experiment import Experiment, Row, markdown
from sinew.solver.runtime.atomic_files import write_file

STORE = ROOT / "build" / "papers"  # NAME.json and NAME.png of the last run
PAGE = ROOT / "docs" / "papers.md"
PICTURES = "images/papers"

INTRO = """\
# The papers' experiments, repeated

Sinew's formulations come from four papers (see "Methods" in the [README](../README.md)). This page compares the results
that these papers report with what Sinew's kernels measure. `make papers` runs all experiments, prints these tables and
writes this page; `make papers ARGS="NAME …"` runs some of them, `make papers ARGS=--list` lists them.

Nothing is tuned for a row: Sinew uses a paper's settings where the paper gives them, and the text above each table
names the others. The papers' machines date from 2002 to 2005, so compare ratios of times only. A row marked "differs"
has a note that says why. "{none}" means that the paper gives no number. The digits of HS04's tables are missing in the
available text, so only order and trend are compared.

{machine}
"""


def load_stored(name: str) -> dict[str, Any] | None:
    """Returns the stored result of an experiment, or None if it never ran."""
    return result_store.load_result(STORE, name, Row)


def write() -> list[str]:
    """Writes the page and its pictures from the stored results; returns the experiments that never ran."""
    found = {name: load_stored(name) for name in NAMES}
    missing = [name for name, kept in found.items() if kept is None]
    if missing:
        return missing
    result_store.copy_pictures(STORE, found, PAGE.parent / PICTURES)
    write_file(PAGE, text(found).encode())
    return []


def text(found: dict[str, dict[str, Any]]) -> str:
    """Returns the whole page for the stored results."""
    parts = [INTRO.format(none="—", machine=wrap(measured_on(sum(kept["seconds"] for kept in found.values()))))]
    for paper, title in PAPERS.items():
        loaded = {name: load(name) for name in found}
        own = [name for name, experiment in loaded.items() if experiment.paper == paper]
        if own:
            parts.append(f"## {paper}\n\n{title}\n")
            parts += [section_of(name, loaded[name], found[name]) for name in own]
    parts.append(conclusions.conclusions_section({name: kept["values"] for name, kept in found.items()}))
    return "\n".join(part for part in parts if part)


def section_of(name: str, experiment: Experiment, kept: dict[str, Any]) -> str:
    """Returns the section of one experiment."""
    return page_section(
        name,
        f"### {experiment.title}",
        experiment.what,
        markdown(kept["rows"]),
        kept,
        said_of=kept["rows"],
        pictures=PICTURES,
        command=f"`make papers ARGS={name}`, {kept['seconds']:.0f} s",
    )


def measured_on(seconds: float) -> str:
    """Returns the machine and the total time."""
    return f"Measured on {machine_description()}; the experiments took {seconds / 60.0:.0f} minutes in all."
