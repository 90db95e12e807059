# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs the benchmarks, prints their tables and writes docs/performance.md: make bench [ARGS="NAME …"].

Each runs in a process of its own and has the machine for itself, as far as other programs leave it.
"""

from __future__ import annotations

import argparse
import sys
import time
from datetime import date
from pathlib import Path

HERE = Path(__file__).resolve().parent
# tests/ has the meshes and scenes; this folder is not a place to import from
sys.path[:] = [str(HERE.parent), str(HERE.parent.parent / "tests"), *(p for p in sys.path if Path(p or ".") != HERE)]

from frame import process, store  # noqa: E402
from frame.machine import machine  # noqa: E402
from speed import lines, page, table  # noqa: E402
from speed.catalogue import load, names  # noqa: E402


def main() -> int:
    """Runs what is asked for; returns the exit code: 1 where a benchmark failed."""
    wanted = argparse.ArgumentParser(prog="make bench ARGS=…", description=__doc__.splitlines()[0])
    wanted.add_argument("names", nargs="*", metavar="NAME", help="benchmarks to run; none: all")
    wanted.add_argument("--list", action="store_true", help="name the benchmarks")
    wanted.add_argument("--quick", action="store_true", help="reduced to some seconds each; nothing is written")
    wanted.add_argument("--page", action="store_true", help="write the page out of what was run last")
    wanted.add_argument("--one", action="store_true", help=argparse.SUPPRESS)
    asked = wanted.parse_args()
    unknown = sorted(set(asked.names) - set(names()))
    if unknown:
        wanted.error(f"there is no {', '.join(unknown)}; --list names what there is")
    if asked.list:
        print("\n".join(f"{name:20}{', '.join(map(str, load(name).lines)):8}{load(name).title}" for name in names()))
        return 0
    if asked.one:
        run_here(asked.names[0], asked.quick)
        return 0
    failed = [] if asked.page else run_all(asked.names or list(names()), asked.quick)
    if asked.quick:
        return 1 if failed else 0
    print("\n".join(["", *lines.plain(page.rows_of(page.all_stored()))]))
    if failed:
        print(f"failed: {', '.join(failed)}")
        return 1
    return write_page()


def run_all(chosen: list[str], quick: bool) -> list[str]:
    """Runs benchmarks one after the other, each in a process of its own; returns those that failed."""
    began = time.perf_counter()
    failed = []
    for name in chosen:
        ended = process.run(HERE, name, quick)
        print(ended.stdout, end="", flush=True)
        if ended.returncode:
            failed.append(name)
            print(f"{name} failed:\n{ended.stderr}", flush=True)
    print(f"{len(chosen)} benchmarks in {(time.perf_counter() - began) / 60.0:.1f} minutes")
    return failed


def run_here(name: str, quick: bool) -> None:
    """Runs one benchmark, prints its table and stores what it found."""
    benchmark = load(name)
    began = time.perf_counter()
    result = benchmark.run(quick)
    seconds = time.perf_counter() - began
    print(f"\n{benchmark.title} ({name}, {seconds:.0f} s)")
    print("\n".join(f"    {line}" for line in [*table.plain(result.rows), *result.notes]))
    if not quick:
        store.store(page.STORE, name, result, seconds, date=date.today().isoformat(), machine=machine())


def write_page() -> int:
    """Writes the page where every benchmark has been run; returns the exit code."""
    missing = page.write()
    if missing:
        print(f"docs/performance.md stays as it is: never run here were {', '.join(missing)}")
    else:
        print(f"wrote {page.PAGE.relative_to(HERE.parent.parent)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
