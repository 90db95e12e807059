# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs the papers' experiments, prints their tables and writes docs/papers.md: make papers [ARGS="NAME …"].

Each experiment runs in a process of its own. Those that measure times have the machine for themselves; of the others
one runs per core, on one thread, which changes no number (`jit.py`).
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

HERE = Path(__file__).resolve().parent
# tests/ has the meshes and scenes; this folder is not a place to import from
sys.path[:] = [str(HERE.parent), str(HERE.parent.parent / "tests"), *(p for p in sys.path if Path(p or ".") != HERE)]

from frame import process  # noqa: E402
from papers.catalogue import NAMES, load  # noqa: E402


def main() -> int:
    """Runs what is asked for; returns the exit code: 1 where an experiment failed."""
    wanted = argparse.ArgumentParser(prog="make papers ARGS=…", description=__doc__.splitlines()[0])
    wanted.add_argument("names", nargs="*", metavar="NAME", help="experiments to run; none: all")
    wanted.add_argument("--list", action="store_true", help="name the experiments")
    wanted.add_argument("--quick", action="store_true", help="reduced to some seconds each; nothing is written")
    wanted.add_argument("--page", action="store_true", help="write the page out of what was run last")
    wanted.add_argument("--one", action="store_true", help=argparse.SUPPRESS)
    asked = wanted.parse_args()
    unknown = sorted(set(asked.names) - set(NAMES))
    if unknown:
        wanted.error(f"there is no {', '.join(unknown)}; --list names what there is")
    if asked.list:
        print("\n".join(f"{name:32}{load(name).paper}: {load(name).title}" for name in NAMES))
        return 0
    if asked.one:
        run_here(asked.names[0], asked.quick)
        return 0
    failed = [] if asked.page else run_all(asked.names or list(NAMES), asked.quick)
    if failed:
        print(f"failed: {', '.join(failed)}")
        return 1
    return 0 if asked.quick else write_page()


def run_all(names: list[str], quick: bool) -> list[str]:
    """Runs experiments, each in a process of its own; returns those that failed."""
    began = time.perf_counter()
    alone = [name for name in names if load(name).is_timed]
    beside = [name for name in names if name not in alone]
    failed = []
    for group, at_once, threads in ((beside, os.cpu_count() or 1, "1"), (alone, 1, None)):
        with ThreadPoolExecutor(at_once) as pool:
            done = pool.map(partial(process.run, HERE, quick=quick, threads=threads), group)
            for name, ended in zip(group, done, strict=True):
                print(ended.stdout, end="", flush=True)
                if ended.returncode:
                    failed.append(name)
                    print(f"{name} failed:\n{ended.stderr}", flush=True)
    print(f"{len(names)} experiments in {(time.perf_counter() - began) / 60.0:.1f} minutes")
    return failed


def run_here(name: str, quick: bool) -> None:
    """Runs one experiment, prints its table and stores what it found."""
    from frame import store
    from papers import page, table

    experiment = load(name)
    began = time.perf_counter()
    result = experiment.run(quick)
    seconds = time.perf_counter() - began
    print(f"\n{experiment.paper}: {experiment.title} ({name}, {seconds:.0f} s)")
    print("\n".join(f"    {line}" for line in [*table.plain(result.rows), *result.notes]))
    if not quick:
        store.store(page.STORE, name, result, seconds)


def write_page() -> int:
    """Writes the page where every experiment has been run; returns the exit code."""
    from papers import page

    missing = page.write()
    if missing:
        print(f"docs/papers.md stays as it is: never run here were {', '.join(missing)}")
    else:
        print(f"wrote {page.PAGE.relative_to(HERE.parent.parent)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
