# SPDX-License-Identifier: GPL-3.0-or-later
"""Reads a column of numbers over time from a .csv file, or from a .sto or .mot file of OpenSim.

A .csv file has a line of names, then rows; commas, semicolons or tabs divide them, and where semicolons do, numbers may
have a decimal comma. A .sto or .mot file has a header that ends with the line "endheader", then the same with tabs or
spaces. Empty lines and lines that begin with # count nothing.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from ...runtime.arrays import Floats
from ...runtime.errors import BadInput

OPENSIM_SUFFIXES = {".sto", ".mot"}
END_OF_HEADER = "endheader"
TIME_NAME = "time"
SHOWN_NAMES = 8  # of the columns that a file has, in a message

Line = tuple[int, list[str]]  # its number, from 1, and its cells


def read_data_column(path: Path, column: str) -> tuple[Floats, Floats]:
    """Returns the times [s], not falling, and the values of a column, (k,) each.

    The times are in the column "time", in any case of letters, or else in the first one.

    Raises:
        BadInput: The file cannot be read, has no such column or no rows; a row has other cells than there are names, or
            one that is no number; a time is before the one above it. The line is named.
    """
    lines = _cells(path)
    names = next(lines, (0, []))[1]
    at = _place_of(path, names, column)
    time_at = next((i for i, name in enumerate(names) if name.lower() == TIME_NAME), 0)
    times: list[float] = []
    values: list[float] = []
    for number, cells in lines:
        if len(cells) != len(names):
            raise BadInput("data-row", path=str(path), line=number, count=len(cells), wanted=len(names))
        time, value = (_number(path, number, cells[i]) for i in (time_at, at))
        if times and time < times[-1]:
            raise BadInput(
                "data-time-falls", path=str(path), line=number, at=f"{time:.3g} s", before=f"{times[-1]:.3g} s"
            )
        times.append(time)
        values.append(value)
    if not times:
        raise BadInput("data-no-rows", path=str(path))
    return np.array(times), np.array(values)


def rows_and_moments(times: Floats, at: Floats, values: Floats) -> tuple[Floats, Floats]:
    """Returns the rows of a column from the first to the last of some moments [s], and those moments between rows.

    Args:
        times: The moments, rising, (k,).
        at, values: The rows, which jump where two have one time; before the first and after the last, these hold.

    Returns:
        Times [s], not falling, and values there, (m,) each.
    """
    is_inside = (at >= times[0]) & (at <= times[-1])
    between = times[~np.isin(times, at)]
    found = np.concatenate([at[is_inside], between])
    order = np.argsort(found, kind="stable")
    return found[order], np.concatenate([values[is_inside], np.interp(between, at, values)])[order]


def column_names(path: Path) -> list[str]:
    """Returns the names of the columns that a file has, but not that of the times; raises as `read_data_column`."""
    names = next(_cells(path), (0, []))[1]
    time_at = next((i for i, name in enumerate(names) if name.lower() == TIME_NAME), 0)
    return [name for i, name in enumerate(names) if i != time_at]


def _place_of(path: Path, names: list[str], column: str) -> int:
    if column not in names:
        shown = ", ".join(names[:SHOWN_NAMES]) + (" …" if len(names) > SHOWN_NAMES else "")
        raise BadInput("data-column", path=str(path), column=column, columns=shown or "no columns")
    return names.index(column)


def _cells(path: Path) -> Iterator[Line]:
    """Yields the cells of the lines that count, the names first."""
    try:
        lines = path.read_text(encoding="utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError) as problem:
        reason = problem.strerror if isinstance(problem, OSError) else "it is no text"
        raise BadInput("data-file", path=str(path), problem=reason or "it cannot be read") from problem
    numbered = list(enumerate(lines, 1))
    if path.suffix.lower() in OPENSIM_SUFFIXES:
        end = next((i for i, line in numbered if line.strip().lower() == END_OF_HEADER), None)
        if end is None:
            raise BadInput("data-header", path=str(path))
        yield from ((i, line.split()) for i, line in numbered[end:] if line.strip())
        return
    counting = [(i, line) for i, line in numbered if line.strip() and not line.lstrip().startswith("#")]
    divider = next((each for each in ";\t" if counting and each in counting[0][1]), ",")
    for i, line in counting:
        cells = [cell.strip().strip('"').strip() for cell in line.split(divider)]
        yield i, [cell.replace(",", ".") for cell in cells] if divider == ";" and i != counting[0][0] else cells


def _number(path: Path, line: int, cell: str) -> float:
    try:
        value = float(cell)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise BadInput("data-cell", path=str(path), line=line, cell=cell)
    return value
