# SPDX-License-Identifier: GPL-3.0-or-later
"""The command line of a suite: what can be asked of it, running one thing of it, and writing its page."""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any, Protocol

from harness import child_process, result_store
from harness.result_store import ROOT
from sinew.solver.runtime.cancellation import sigterm_as_interrupt


class Page(Protocol):
    """The module that writes a suite's page."""

    STORE: Path
    PAGE: Path

    def write(self) -> list[str]:
        """Writes the page; returns what was never run, in which case nothing is written."""


@dataclass(frozen=True)
class Suite:
    """Experiments or benchmarks, each of which has a `run` and the rows of a table.

    Attributes:
        command: That calls it, "make bench".
        what: It does, a sentence.
        things: What it has, "benchmarks".
        names: Of these.
        load: Returns one by its name.
        heading: What is written above the table of one.
        entry: What --list says of one, behind its name.
        plain: The table of rows, for a terminal.
        run_all: Runs some, reduced or not, each in a process; returns those that failed.
        page: Where they are told of.
        kept: Returns what is stored of each beside what came out.
        conclusion: Returns what is printed after all.
    """

    command: str
    what: str
    things: str
    names: Sequence[str]
    load: Callable[[str], Any]
    heading: Callable[[Any], str]
    entry: Callable[[Any], str]
    plain: Callable[[Sequence[Any]], Iterable[str]]
    run_all: Callable[[Sequence[str], bool], list[str]]
    page: Page
    kept: Callable[[], dict[str, Any]] = dict
    conclusion: Callable[[], Iterable[str]] = tuple

    def main(self) -> int:
        """Does what is asked for; returns the exit code: 1 where something failed, 130 where it was interrupted."""
        try:
            with sigterm_as_interrupt(child_process.stop_all):
                return self._do(self.asked())
        except KeyboardInterrupt:
            return 130

    def _do(self, asked: argparse.Namespace) -> int:
        if asked.list:
            wide = 2 + max(map(len, self.names))
            print("\n".join(f"{name:{wide}}{self.entry(self.load(name))}" for name in self.names))
            return 0
        if asked.one:
            self.run_here(asked.names[0], asked.quick)
            return 0
        failed = [] if asked.page else self.run_timed(asked.names or self.names, asked.quick)
        if not asked.quick:
            print("\n".join(self.conclusion()))
        if failed:
            print(f"failed: {', '.join(failed)}")
        elif not asked.quick:
            self.write_page()
        return 1 if failed else 0

    def asked(self) -> argparse.Namespace:
        """Returns what the command line says."""
        wanted = argparse.ArgumentParser(prog=f"{self.command} ARGS=…", description=self.what)
        wanted.add_argument("names", nargs="*", metavar="NAME", help=f"{self.things} to run; none: all")
        wanted.add_argument("--list", action="store_true", help=f"name the {self.things}")
        wanted.add_argument("--quick", action="store_true", help="reduced to some seconds each; nothing is written")
        wanted.add_argument("--page", action="store_true", help="write the page out of what was run last")
        wanted.add_argument("--one", action="store_true", help=argparse.SUPPRESS)
        asked = wanted.parse_args()
        unknown = sorted(set(asked.names) - set(self.names))
        if unknown:
            wanted.error(f"there is no {', '.join(unknown)}; --list names what there is")
        return asked

    def run_here(self, name: str, quick: bool) -> None:
        """Runs one, prints its table and stores what came out."""
        thing, began = self.load(name), time.perf_counter()
        result = thing.run(quick)
        seconds = time.perf_counter() - began
        print(f"\n{self.heading(thing)} ({name}, {seconds:.0f} s)")
        print("\n".join(f"    {line}" for line in [*self.plain(result.rows), *result.notes]))
        if not quick:
            result_store.store_result(self.page.STORE, name, result, seconds, **self.kept())

    def run_timed(self, names: Sequence[str], quick: bool) -> list[str]:
        """Runs some, and says how long that took; returns those that failed."""
        began = time.perf_counter()
        failed = self.run_all(names, quick)
        print(f"{len(names)} {self.things} in {(time.perf_counter() - began) / 60.0:.1f} minutes")
        return failed

    def write_page(self) -> None:
        """Writes the page where everything has been run."""
        path, missing = self.page.PAGE.relative_to(ROOT), self.page.write()
        print(f"{path} stays as it is: never run here were {', '.join(missing)}" if missing else f"wrote {path}")


def succeeded(name: str, ended: CompletedProcess[str]) -> bool:
    """Returns whether a process of `process.run` did, after printing what it printed."""
    print(ended.stdout, end="", flush=True)
    if ended.returncode:
        print(f"{name} failed:\n{ended.stderr}", flush=True)
    return not ended.returncode
