# SPDX-License-Identifier: GPL-3.0-or-later
"""The result of an experiment or a benchmark: rows of a table, pictures, named values, notes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Picture:
    """A plot or a drawing.

    Attributes:
        caption: A sentence about its content.
        figure: A figure of matplotlib.
    """

    caption: str
    figure: Any


@dataclass(frozen=True)
class Result:
    """The result of a run.

    Attributes:
        rows: The table; each row is a dataclass with `quantity` and `remark`.
        pictures: In order.
        values: Numbers by name, for tests and pages.
        notes: Sentences below the table.
    """

    rows: Sequence[Any]
    pictures: Sequence[Picture] = ()
    values: dict[str, float] = field(default_factory=dict)
    notes: Sequence[str] = ()
