# SPDX-License-Identifier: GPL-3.0-or-later
"""Adds, removes and copies rows of the tables of an object, also on library overrides."""

from __future__ import annotations

from typing import Any


def add_row(table: Any) -> Any:
    """Adds a row at the end of a table, with a name of its own for library overrides, and returns it."""
    taken = {row.name for row in table}
    row = table.add()
    row.name = next(name for name in map(str, range(1, len(taken) + 2)) if name not in taken)
    return row


def remove_row(table: Any, index: int) -> bool:
    """Removes a row of a table and returns whether it could: library overrides keep linked rows."""
    try:
        table.remove(index)
    except TypeError:
        return False
    return True


def copy_rows(source: Any, target: Any) -> None:
    """Makes one table have the rows of another, tables inside them included; linked rows of an override stay.

    A row that would name the object that it is in names none.
    """
    while len(target) > len(source) and remove_row(target, len(target) - 1):
        pass
    while len(target) < len(source):
        add_row(target)
    for row, other in zip(source, target, strict=False):
        for rna in row.bl_rna.properties:
            if rna.type == "COLLECTION":
                copy_rows(getattr(row, rna.identifier), getattr(other, rna.identifier))
            elif not rna.is_readonly:
                value = getattr(row, rna.identifier)
                setattr(other, rna.identifier, None if value == other.id_data else value)
