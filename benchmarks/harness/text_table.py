# SPDX-License-Identifier: GPL-3.0-or-later
"""Tables of texts, in Markdown and for a terminal."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any


def markdown(head: Sequence[str], lines: Iterable[Sequence[str]]) -> list[str]:
    """Returns the lines of a table in Markdown."""
    first = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return [*first, *("| " + " | ".join(_cell(text) for text in line) + " |" for line in lines)]


def plain(head: Sequence[str], lines: Iterable[Sequence[str]]) -> list[str]:
    """Returns the same table for a terminal."""
    cells = [tuple(head), *(tuple(line) for line in lines)]
    wide = [max(len(line[column]) for line in cells) for column in range(len(head))]
    return ["  ".join(text.ljust(w) for text, w in zip(line, wide, strict=True)).rstrip() for line in cells]


def remark_lines(rows: Iterable[Any]) -> list[str]:
    """Returns the remarks of rows, as lines of a Markdown list."""
    return [f"- {row.quantity}: {row.remark}" for row in rows if row.remark]


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")
