# SPDX-License-Identifier: GPL-3.0-or-later
"""A benchmark and the rows of its table: targets beside measurements."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from harness import text_table
from harness.result import Result

NO_TARGET = "—"  # the row has no target


@dataclass(frozen=True)
class Row:
    """One quantity, its target and its measurement.

    Attributes:
        quantity: The measured quantity, with its unit.
        wanted: The target; `NO_TARGET` if there is none.
        ours: Sinew's measurement.
        reached: Whether ours meets the target; None if the row is not judged.
        remark: Why Sinew misses the target and what limits it, or another note.
        line: The line of `targets.py` that the row judges.

    Raises:
        ValueError: The row misses its target and does not say why, or lacks a text.
    """

    quantity: str
    wanted: str
    ours: str
    reached: bool | None = None
    remark: str = ""
    line: int | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        if not (self.quantity and self.wanted and self.ours):
            raise ValueError(f"{self}: a row names its quantity, its target (or NO_TARGET) and ours")
        if self.reached is not None:  # NumPy's own truth values cannot be stored
            object.__setattr__(self, "reached", bool(self.reached))
        if self.reached is False and not self.remark:
            raise ValueError(f"{self.quantity}: {self.ours} is not {self.wanted}: say why")


def bound_row(quantity: str, wanted: str, ours: str, holds: bool, otherwise: str, line: int | None = None) -> Row:
    """Returns a judged row; it has the remark `otherwise` only if it misses its target."""
    return Row(quantity, wanted, ours, bool(holds), "" if holds else otherwise, line=line)


def missing_peer_row(quantity: str, wanted: str, peer: str, line: int | None = None) -> Row:
    """Returns the row of a comparison with a peer that is not installed; it is not judged."""
    return Row(quantity, wanted, f"{peer} is not installed", line=line)


@dataclass(frozen=True)
class Benchmark:
    """One benchmark. `catalogue.py` finds the files of this folder that define one as BENCHMARK.

    Attributes:
        lines: The lines of `targets.py` that its rows judge.
        title: Heading.
        what: Description of the set-up, complete enough to repeat it.
        run: Runs it, alone on the machine, in its own process. With True it takes a few seconds, for tests, and its
            times mean nothing.
    """

    lines: tuple[int, ...]
    title: str
    what: str
    run: Callable[[bool], Result]


HEAD = ("", "target", "Sinew", "")


def cells(row: Row) -> tuple[str, str, str, str]:
    """Returns the texts of a row."""
    return row.quantity, row.wanted, row.ours, "" if row.reached is None else verdict(row.reached)


def verdict(reached: bool) -> str:
    """Returns the word for a verdict."""
    return "reached" if reached else "not reached"


def markdown(rows: Iterable[Row]) -> list[str]:
    """Returns the lines of a table in Markdown, without the remarks."""
    return text_table.markdown(HEAD, map(cells, rows))


def plain(rows: Sequence[Row]) -> list[str]:
    """Returns the same table for a terminal, with the remarks."""
    return [*text_table.plain(HEAD, map(cells, rows)), *text_table.remark_lines(rows)]
