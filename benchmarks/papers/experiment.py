# SPDX-License-Identifier: GPL-3.0-or-later
"""An experiment and the rows of its table: the paper's number beside Sinew's."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from harness import text_table
from harness.result import Result

NO_PAPER_VALUE = "—"  # the paper gives no number


@dataclass(frozen=True)
class Row:
    """One quantity in the paper and in Sinew.

    Attributes:
        quantity: The compared quantity, with its unit.
        paper: The paper's number or claim; `NO_PAPER_VALUE` if it gives none.
        ours: Sinew's measurement.
        agrees: Whether ours agrees with the paper; None if the paper gives nothing, or only an order of magnitude.
        remark: Why it differs, or another note.

    Raises:
        ValueError: The row differs and does not say why, or lacks a text.
    """

    quantity: str
    paper: str
    ours: str
    agrees: bool | None = None
    remark: str = ""

    def __post_init__(self) -> None:
        if not (self.quantity and self.paper and self.ours):
            raise ValueError(f"{self}: a row names its quantity, the paper's number (or NO_PAPER_VALUE) and ours")
        if self.agrees is not None:  # NumPy's own truth values cannot be stored
            object.__setattr__(self, "agrees", bool(self.agrees))
        if self.agrees is False and not self.remark:
            raise ValueError(f"{self.quantity}: {self.ours} is not the paper's {self.paper}: say why")


def claim_row(quantity: str, paper: str, ours: str, holds: bool, otherwise: str) -> Row:
    """Returns the row of a claim; it has the remark `otherwise` only if the claim does not hold."""
    return Row(quantity, paper, ours, bool(holds), "" if holds else otherwise)


@dataclass(frozen=True)
class Experiment:
    """One experiment; a file of this folder holds one as EXPERIMENT, and `catalogue.py` names the file.

    Attributes:
        paper: Short name of the paper, "MDMJC02".
        title: Heading.
        what: Description of the set-up, complete enough to repeat it.
        run: Runs it. With True it takes a few seconds, for tests; its claims still have to hold.
        is_timed: Whether it measures times; if so, nothing else runs beside it.
    """

    paper: str
    title: str
    what: str
    run: Callable[[bool], Result]
    is_timed: bool = False


HEAD = ("", "paper", "Sinew")


def markdown(rows: Iterable[Row]) -> list[str]:
    """Returns the lines of a table in Markdown, with differing rows marked and without the remarks."""
    return text_table.markdown(HEAD, ((row.quantity, row.paper, row.ours + _differs(row)) for row in rows))


def plain(rows: Sequence[Row]) -> list[str]:
    """Returns the same table for a terminal."""
    head, *lines = text_table.plain(HEAD, ((row.quantity, row.paper, row.ours) for row in rows))
    return [head, *(f"{line}{_mark(row)}" for line, row in zip(lines, rows, strict=True))]


def _differs(row: Row) -> str:
    return " (differs)" if row.agrees is False else ""


def _mark(row: Row) -> str:
    return "" if row.agrees is None else "  as the paper" if row.agrees else f"  DIFFERS: {row.remark}"
