# SPDX-License-Identifier: GPL-3.0-or-later
"""What an experiment is and what comes out of it: rows of the paper's number and ours, pictures, named values."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

NONE = "—"  # the paper gives no number


@dataclass(frozen=True)
class Row:
    """One quantity, as the paper has it and as it is here.

    Attributes:
        quantity: What is compared, with its unit.
        paper: The paper's number or claim; `NONE` where it gives none.
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


def claim(quantity: str, paper: str, ours: str, holds: bool, otherwise: str) -> Row:
    """Returns a row of something that the paper claims, with a sentence only where it does not hold."""
    return Row(quantity, paper, ours, bool(holds), "" if holds else otherwise)


@dataclass(frozen=True)
class Picture:
    """A plot or a drawing.

    Attributes:
        caption: What is seen, a sentence.
        figure: Of matplotlib.
    """

    caption: str
    figure: Any


@dataclass(frozen=True)
class Result:
    """What came out of an experiment.

    Attributes:
        rows: Its table.
        pictures: In order.
        values: Plain numbers by name: tests and the end of the page read them.
        notes: Sentences below the table.
    """

    rows: Sequence[Row]
    pictures: Sequence[Picture] = ()
    values: dict[str, float] = field(default_factory=dict)
    notes: Sequence[str] = ()


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
    lines = ["| " + " | ".join(HEAD) + " |", "|---|---|---|"]
    for row in rows:
        ours = f"{row.ours} (differs)" if row.agrees is False else row.ours
        lines.append("| " + " | ".join(_cell(text) for text in (row.quantity, row.paper, ours)) + " |")
    return lines


def remarks(rows: Iterable[Row]) -> list[str]:
    """Returns what rows have to say beyond their numbers, one line of a Markdown list each."""
    return [f"- {row.quantity}: {row.remark}" for row in rows if row.remark]


def plain(rows: Sequence[Row]) -> list[str]:
    """Returns the same table for a terminal."""
    cells = [HEAD, *((row.quantity, row.paper, row.ours) for row in rows)]
    wide = [max(len(line[column]) for line in cells) for column in range(3)]
    lines = ["  ".join(text.ljust(w) for text, w in zip(line, wide, strict=True)).rstrip() for line in cells]
    return [f"{lines[0]}", *(f"{line}{_mark(row)}" for line, row in zip(lines[1:], rows, strict=True))]


def _mark(row: Row) -> str:
    return "" if row.agrees is None else "  as the paper" if row.agrees else f"  DIFFERS: {row.remark}"


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")
