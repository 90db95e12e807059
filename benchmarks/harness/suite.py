# SPDX-License-Identifier: GPL-3.0-or-later
"""The command line of a suite of experiments or benchmarks: options, runs, and its page."""

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
        """Writes the page, or returns the names that never ran and writes nothing."""


@dataclass(frozen=True)
class Suite:
    """A suite of experiments or benchmarks.

    Attributes:
        command: The command that calls it, "make bench".
        what: A sentence that says what it does.
        things: The word for its members, "benchmarks".
        names: Names of the members.
        load: Returns a member by its name.
        heading: Returns the heading above a member's table.
        entry: Returns a member's text for --list.
        plain: Returns the table of rows for a terminal.
        run_all: Runs some members, reduced or not, each in a process; returns those that failed.
        page: The module that writes its page.
        kept: Returns further data to store with each result.
        conclusion: Returns the lines printed at the end.
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
        """Runs the command line; returns the exit code: 1 after a failure, 130 after an interrupt."""
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
        """Returns the parsed command line."""
        wanted = argparse.ArgumentParser(prog=f"{self.command} ARGS=…", description=self.what)
        wanted.add_argument("names", nargs="*", metavar="NAME", help=f"{self.things} to run; none: all")
        wanted.add_argument("--list", action="store_true", help=f"name the {self.things}")
        wanted.add_argument("--quick", action="store_true", help="take some seconds each, and write nothing")
        wanted.add_argument("--page", action="store_true", help="write the page from the last results")
        wanted.add_argument("--one", action="store_true", help=argparse.SUPPRESS)
        asked = wanted.parse_args()
        unknown = sorted(set(asked.names) - set(self.names))
        if unknown:
            wanted.error(f"there is no {', '.join(unknown)}; --list names what there is")
        return asked

    def run_here(self, name: str, quick: bool) -> None:
        """Runs one, prints its table and stores its result."""
        thing, began = self.load(name), time.perf_counter()
        result = thing.run(quick)
        seconds = time.perf_counter() - began
        print(f"\n{self.heading(thing)} ({name}, {seconds:.0f} s)")
        print("\n".join(f"    {line}" for line in [*self.plain(result.rows), *result.notes]))
        if not quick:
            result_store.store_result(self.page.STORE, name, result, seconds, **self.kept())

    def run_timed(self, names: Sequence[str], quick: bool) -> list[str]:
        """Runs some and prints the duration; returns those that failed."""
        began = time.perf_counter()
        failed = self.run_all(names, quick)
        print(f"{len(names)} {self.things} in {(time.perf_counter() - began) / 60.0:.1f} minutes")
        return failed

    def write_page(self) -> None:
        """Writes the page if every member has a stored result."""
        path, missing = self.page.PAGE.relative_to(ROOT), self.page.write()
        print(f"{path} stays as it is: {', '.join(missing)} never ran here" if missing else f"wrote {path}")


def succeeded(name: str, ended: CompletedProcess[str]) -> bool:
    """Prints the output of a process of `child_process.run`; returns whether it succeeded."""
    print(ended.stdout, end="", flush=True)
    if ended.returncode:
        print(f"{name} failed:\n{ended.stderr}", flush=True)
    return not ended.returncode
