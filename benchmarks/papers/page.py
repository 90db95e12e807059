# SPDX-License-Identifier: GPL-3.0-or-later
"""docs/papers.md: what every experiment found, put together from what was stored of each."""

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

STORE = ROOT / "build" / "papers"  # NAME.json and NAME.png of what was run last
PAGE = ROOT / "docs" / "papers.md"
PICTURES = "images/papers"

INTRO = """\
# The papers' experiments, done again

Sinew's bodies resist by the formulations of four papers (see "Methods" in the [README](../README.md)). Here is what
these papers report, beside what Sinew measures with the kernels that it bakes with. `make papers` runs all of it,
prints these tables and writes this page; `make papers ARGS="NAME …"` runs some, `make papers ARGS=--list` names them.

Nothing is tuned for a row: where a paper says what it took, the same is taken here, and what it leaves open is written
above the table. Times are of this machine, so only ratios can be compared with those of the papers' machines of 2002 to
2005. A line marked "differs" is followed by a sentence that says why. "{none}" means that the paper gives no number.
Of HS04 the digits of the tables are lost in the text that we have: only order and trend are compared.

{machine}
"""


def load_stored(name: str) -> dict[str, Any] | None:
    """Returns what was kept of an experiment, or None where it was never run."""
    return result_store.load_result(STORE, name, Row)


def write() -> list[str]:
    """Writes the page and its pictures out of what is stored; returns the experiments that were never run."""
    found = {name: load_stored(name) for name in NAMES}
    missing = [name for name, kept in found.items() if kept is None]
    if missing:
        return missing
    result_store.copy_pictures(STORE, found, PAGE.parent / PICTURES)
    write_file(PAGE, text(found).encode())
    return []


def text(found: dict[str, dict[str, Any]]) -> str:
    """Returns the whole page for what is stored of each experiment."""
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
    """Returns what the page says of one experiment."""
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
    """Returns what the numbers were measured on."""
    return f"Measured on {machine_description()}; the experiments took {seconds / 60.0:.0f} minutes of work in all."
