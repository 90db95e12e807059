# SPDX-License-Identifier: GPL-3.0-or-later
"""What an experiment is, and the rows of its table: the paper's number beside ours."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from harness import text_table
from harness.result import Result

NO_PAPER_VALUE = "—"  # the paper gives no number


@dataclass(frozen=True)
class Row:
    """One quantity, as the paper has it and as it is here.

    Attributes:
        quantity: What is compared, with its unit.
        paper: The paper's number or claim; `NO_PAPER_VALUE` where it gives none.
        ours: What was measured here.
        agrees: Whether ours is what the paper says; None: there is nothing to agree with, or only an order of size.
        remark: Why it differs, or what else a reader has to know: a sentence.

    Raises:
        ValueError: A row differs and does not say why, or lacks a text.
    """

    quantity: str
    paper: str
    ours: str
    agrees: bool | None = None
    remark: str = ""

    def __post_init__(self) -> None:
        if not (self.quantity and self.paper and self.ours):
            raise ValueError(f"{self}: a row names its quantity, the paper's number (or NONE) and ours")
        if self.agrees is not None:  # NumPy's own truth values cannot be stored
            object.__setattr__(self, "agrees", bool(self.agrees))
        if self.agrees is False and not self.remark:
            raise ValueError(f"{self.quantity}: {self.ours} is not the paper's {self.paper}: say why")


def claim_row(quantity: str, paper: str, ours: str, holds: bool, otherwise: str) -> Row:
    """Returns a row of something that the paper claims, with a sentence only where it does not hold."""
    return Row(quantity, paper, ours, bool(holds), "" if holds else otherwise)


@dataclass(frozen=True)
class Experiment:
    """One experiment; a file of this folder holds one as EXPERIMENT, and `catalogue.py` names the file.

    Attributes:
        paper: Short name of the paper, "MDMJC02".
        title: Heading.
        what: What is done, with all that somebody needs who does it again.
        run: Does it. Called with True it is reduced to some seconds, for tests; its claims still have to hold.
        is_timed: Whether it measures times: nothing else runs beside it then.
    """

    paper: str
    title: str
    what: str
    run: Callable[[bool], Result]
    is_timed: bool = False


HEAD = ("", "paper", "Sinew")


def markdown(rows: Iterable[Row]) -> list[str]:
    """Returns the lines of a table in Markdown; what differs is marked, and its remark is for below the table."""
    return text_table.markdown(HEAD, ((row.quantity, row.paper, row.ours + _differs(row)) for row in rows))


def plain(rows: Sequence[Row]) -> list[str]:
    """Returns the same table for a terminal."""
    head, *lines = text_table.plain(HEAD, ((row.quantity, row.paper, row.ours) for row in rows))
    return [head, *(f"{line}{_mark(row)}" for line, row in zip(lines, rows, strict=True))]


def _differs(row: Row) -> str:
    return " (differs)" if row.agrees is False else ""


def _mark(row: Row) -> str:
    return "" if row.agrees is None else "  as the paper" if row.agrees else f"  DIFFERS: {row.remark}"
