# SPDX-License-Identifier: GPL-3.0-or-later
"""Adds and removes the rows of lists and tables, also on library overrides."""

from __future__ import annotations

from typing import Any


def add_row(table: Any) -> Any:
    """Adds a row at the end of a list, with a name of its own for library overrides, and returns it."""
    taken = {row.name for row in table}
    row = table.add()
    row.name = next(name for name in map(str, range(1, len(taken) + 2)) if name not in taken)
    return row


def remove_row(table: Any, index: int) -> bool:
    """Removes a row of a list and returns whether it could: library overrides keep linked rows."""
    try:
        table.remove(index)
    except TypeError:
        return False
    return True
