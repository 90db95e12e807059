# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs the benchmarks, prints their tables and writes docs/performance.md: make bench [ARGS="NAME …"].

Each benchmark runs in its own process, one at a time.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from datetime import date
from pathlib import Path

HERE = Path(__file__).resolve().parent
# modules are imported from benchmarks/, not from this folder
sys.path[:] = [str(HERE.parent), *(p for p in sys.path if Path(p or ".") != HERE)]

from harness import child_process  # noqa: E402
from harness.machine import machine_description  # noqa: E402
from harness.suite import Suite, succeeded  # noqa: E402
from speed import benchmark as table  # noqa: E402
from speed import page, targets  # noqa: E402
from speed.catalogue import load, names  # noqa: E402


def run_all(chosen: Sequence[str], quick: bool) -> list[str]:
    """Runs benchmarks one after the other, each in its own process; returns those that failed."""
    return [name for name in chosen if not succeeded(name, child_process.run(HERE, name, quick))]


SUITE = Suite(
    command="make bench",
    what=str(__doc__).splitlines()[0],
    things="benchmarks",
    names=names(),
    load=load,
    heading=lambda benchmark: benchmark.title,
    entry=lambda benchmark: f"{', '.join(map(str, benchmark.lines)):8}{benchmark.title}",
    plain=table.plain,
    run_all=run_all,
    page=page,
    kept=lambda: {"date": date.today().isoformat(), "machine": machine_description()},
    conclusion=lambda: ["", *targets.plain(page.rows_of(page.load_all_stored()))],
)

if __name__ == "__main__":
    sys.exit(SUITE.main())
