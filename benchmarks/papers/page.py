# SPDX-License-Identifier: GPL-3.0-or-later
"""docs/papers.md: what every experiment found, put together from what was stored of each."""

from __future__ import annotations

import json
import os
import platform
import shutil
from pathlib import Path
from typing import Any

import numba
import numpy as np

from papers import closing
from papers.catalogue import NAMES, PAPERS, load
from papers.table import Experiment, Result, Row, markdown, remarks
from papers.words import filled

ROOT = Path(__file__).resolve().parent.parent.parent
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


def store(name: str, result: Result, seconds: float) -> None:
    """Keeps what an experiment found; its pictures were saved beside it."""
    STORE.mkdir(parents=True, exist_ok=True)
    kept = {
        "rows": [vars(row) for row in result.rows],
        "captions": [picture.caption for picture in result.pictures],
        "values": {key: float(value) for key, value in result.values.items()},
        "notes": list(result.notes),
        "seconds": seconds,
    }
    (STORE / f"{name}.json").write_text(json.dumps(kept, indent=1, ensure_ascii=False), encoding="utf-8")


def stored(name: str) -> dict[str, Any] | None:
    """Returns what was kept of an experiment, or None where it was never run."""
    path = STORE / f"{name}.json"
    if not path.is_file():
        return None
    kept = json.loads(path.read_text(encoding="utf-8"))
    kept["rows"] = [Row(**row) for row in kept["rows"]]
    return kept


def picture_name(name: str, number: int) -> str:
    """Returns the file name of a picture of an experiment."""
    return f"{name}.png" if number == 0 else f"{name}_{number + 1}.png"


def write() -> list[str]:
    """Writes the page and its pictures out of what is stored; returns the experiments that were never run."""
    found = {name: stored(name) for name in NAMES}
    missing = [name for name, kept in found.items() if kept is None]
    if missing:
        return missing
    pictures = PAGE.parent / PICTURES
    shutil.rmtree(pictures, ignore_errors=True)
    pictures.mkdir(parents=True)
    for name, kept in found.items():
        for number in range(len(kept["captions"])):
            file = picture_name(name, number)
            shutil.copyfile(STORE / file, pictures / file)
    PAGE.write_text(text(found), encoding="utf-8")
    return []


def text(found: dict[str, dict[str, Any]]) -> str:
    """Returns the whole page for what is stored of each experiment."""
    parts = [INTRO.format(none="—", machine=filled(machine(sum(kept["seconds"] for kept in found.values()))))]
    for paper, title in PAPERS.items():
        loaded = {name: load(name) for name in found}
        own = [name for name, experiment in loaded.items() if experiment.paper == paper]
        if own:
            parts.append(f"## {paper}\n\n{title}\n")
            parts += [section(name, loaded[name], found[name]) for name in own]
    parts.append(closing.text({name: kept["values"] for name, kept in found.items()}))
    return "\n".join(part for part in parts if part)


def section(name: str, experiment: Experiment, kept: dict[str, Any]) -> str:
    """Returns what the page says of one experiment."""
    lines = [f"### {experiment.title}", "", filled(experiment.what), "", *markdown(kept["rows"]), ""]
    said = [filled(line, "  ") for line in remarks(kept["rows"])]
    lines += [*said, ""] if said else []
    for note in kept["notes"]:
        lines += [filled(note), ""]
    for number, caption in enumerate(kept["captions"]):
        lines += [f"![{caption}]({PICTURES}/{picture_name(name, number)})", "", filled(caption), ""]
    lines += [f"`make papers ARGS={name}`, {kept['seconds']:.0f} s", ""]
    return "\n".join(lines)


def machine(seconds: float) -> str:
    """Returns what the numbers were measured on."""
    return (
        f"Measured on {processor()}, {os.cpu_count()} cores, {platform.system()}, Python {platform.python_version()}, "
        f"NumPy {np.__version__}, Numba {numba.__version__}; the experiments took {seconds / 60.0:.0f} minutes of "
        "work in all."
    )


def processor() -> str:
    """Returns the processor's name, as far as the system tells it."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
        return next(line.split(":", 1)[1].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor() or platform.machine()
