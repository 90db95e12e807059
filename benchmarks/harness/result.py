# SPDX-License-Identifier: GPL-3.0-or-later
"""What comes out of an experiment or a benchmark: rows of a table, pictures, named values, notes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any


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
    """What came out.

    Attributes:
        rows: Its table; each is a dataclass with `quantity` and `remark`.
        pictures: In order.
        values: Plain numbers by name: tests and the pages read them.
        notes: Sentences below the table.
    """

    rows: Sequence[Any]
    pictures: Sequence[Picture] = ()
    values: dict[str, float] = field(default_factory=dict)
    notes: Sequence[str] = ()
