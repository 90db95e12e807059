# SPDX-License-Identifier: GPL-3.0-or-later
"""What a benchmark is, and the rows of its table: what is wanted beside what was measured."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from harness import text_table
from harness.result import Result

NO_TARGET = "—"  # nothing is wanted: a number to read


@dataclass(frozen=True)
class Row:
    """One quantity, as it should be and as it is.

    Attributes:
        quantity: What is measured, with its unit.
        wanted: The bound, or what a peer takes; `NO_TARGET` where there is neither.
        ours: What was measured here.
        reached: Whether ours is as wanted; None: nothing is judged.
        remark: Why it was not reached: what was tried, and what the limit is; or what else a reader has to know.
        line: Which line of `targets.py` it judges.

    Raises:
        ValueError: A row was not reached and does not say why, or lacks a text.
    """

    quantity: str
    wanted: str
    ours: str
    reached: bool | None = None
    remark: str = ""
    line: int | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        if not (self.quantity and self.wanted and self.ours):
            raise ValueError(f"{self}: a row names its quantity, what is wanted (or NONE) and ours")
        if self.reached is not None:  # NumPy's own truth values cannot be stored
            object.__setattr__(self, "reached", bool(self.reached))
        if self.reached is False and not self.remark:
            raise ValueError(f"{self.quantity}: {self.ours} is not {self.wanted}: say why")


def bound_row(quantity: str, wanted: str, ours: str, holds: bool, otherwise: str, line: int | None = None) -> Row:
    """Returns a row that is judged, with a sentence only where it does not hold."""
    return Row(quantity, wanted, ours, bool(holds), "" if holds else otherwise, line=line)


def missing_peer_row(quantity: str, wanted: str, peer: str, line: int | None = None) -> Row:
    """Returns the row of a comparison with a peer that is not installed: it is not judged."""
    return Row(quantity, wanted, f"{peer} is not installed", line=line)


@dataclass(frozen=True)
class Benchmark:
    """One benchmark; a file of this folder that holds one as BENCHMARK is found by `catalogue.py`.

    Attributes:
        lines: Which lines of `targets.py` it has rows for.
        title: Heading.
        what: What is done, with all that somebody needs who does it again.
        run: Does it, alone on the machine, in a process of its own. Called with True it is reduced to a few seconds,
            for tests, and its times mean nothing.
    """

    lines: tuple[int, ...]
    title: str
    what: str
    run: Callable[[bool], Result]


HEAD = ("", "wanted", "Sinew", "")


def cells(row: Row) -> tuple[str, str, str, str]:
    """Returns the texts of a row."""
    return row.quantity, row.wanted, row.ours, "" if row.reached is None else verdict(row.reached)


def verdict(reached: bool) -> str:
    """Returns how it is said."""
    return "reached" if reached else "not reached"


def markdown(rows: Iterable[Row]) -> list[str]:
    """Returns the lines of a table in Markdown; remarks are for below it."""
    return text_table.markdown(HEAD, map(cells, rows))


def plain(rows: Sequence[Row]) -> list[str]:
    """Returns the same table for a terminal, with the remarks."""
    return [*text_table.plain(HEAD, map(cells, rows)), *text_table.remark_lines(rows)]
