# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs the papers' experiments, prints their tables and writes docs/papers.md: make papers [ARGS="NAME …"].

Each experiment runs in its own process. Experiments that measure times run alone; of the others one runs per core, on
one thread, which changes no number (`jit.py`).
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

HERE = Path(__file__).resolve().parent
# modules are imported from benchmarks/, not from this folder
sys.path[:] = [str(HERE.parent), *(p for p in sys.path if Path(p or ".") != HERE)]

from harness import child_process  # noqa: E402
from harness.suite import Suite, succeeded  # noqa: E402
from papers import experiment as table  # noqa: E402
from papers import page  # noqa: E402
from papers.catalogue import NAMES, load  # noqa: E402


def run_all(names: Sequence[str], quick: bool) -> list[str]:
    """Runs experiments, each in its own process; returns those that failed."""
    alone = [name for name in names if load(name).is_timed]
    beside = [name for name in names if name not in alone]
    failed = []
    for group, at_once, threads in ((beside, os.cpu_count() or 1, "1"), (alone, 1, None)):
        with ThreadPoolExecutor(at_once) as pool:
            done = pool.map(partial(child_process.run, HERE, quick=quick, threads=threads), group)
            failed += [name for name, ended in zip(group, done, strict=True) if not succeeded(name, ended)]
    return failed


SUITE = Suite(
    command="make papers",
    what=str(__doc__).splitlines()[0],
    things="experiments",
    names=NAMES,
    load=load,
    heading=lambda experiment: f"{experiment.paper}: {experiment.title}",
    entry=lambda experiment: f"{experiment.paper}: {experiment.title}",
    plain=table.plain,
    run_all=run_all,
    page=page,
)

if __name__ == "__main__":
    sys.exit(SUITE.main())
