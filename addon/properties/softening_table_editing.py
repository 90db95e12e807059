# SPDX-License-Identifier: GPL-3.0-or-later
"""Reads and writes the rows of a body's softening table."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...solver.runtime.arrays import Floats
from .table_editing import add_row, remove_row

ROW_PROPERTIES = ("temperature", "stiffness", "yield_strain", "flow")


def table_rows(table: Any) -> Floats:
    """Returns the rows of a softening table: temperature [°C] and factors on stiffness, yield and flow, (k, 4)."""
    return np.array([[getattr(row, name) for name in ROW_PROPERTIES] for row in table], np.float64).reshape(-1, 4)


def default_softening(cold: float, melting_point: float) -> Floats:
    """Returns a first curve, (4, 4): factors 1 at the temperature `cold`, liquid at the melting point [°C]."""
    shares = np.array([0.0, 0.6, 0.9, 1.0])
    span = melting_point - cold if melting_point > cold else 1.0
    factors = np.array([[1.0, 1.0, 1.0], [0.5, 0.5, 2.0], [0.05, 0.1, 10.0], [0.001, 0.01, 50.0]])
    return np.column_stack([melting_point - span * (1.0 - shares), factors])


def write_rows(table: Any, rows: Floats) -> None:
    """Makes a softening table have `rows` (k, 4)."""
    if same_rows(table_rows(table), rows):
        return
    while len(table) > len(rows) and remove_row(table, len(table) - 1):
        pass
    while len(table) < len(rows):
        add_row(table)
    for row, values in zip(table, extend_rows(rows, len(table)), strict=True):
        for name, value in zip(ROW_PROPERTIES, values, strict=True):
            setattr(row, name, value)


def extend_rows(rows: Floats, count: int) -> Floats:
    """Returns `rows` (k, 4) with the last one repeated at rising temperatures up to `count` rows, (count, 4).

    It changes nothing, and is for rows of a linked object that an override cannot remove.
    """
    last = rows[-1] if len(rows) else np.array([0.0, 1.0, 1.0, 1.0])
    more = [last + [1.0 + i, 0.0, 0.0, 0.0] for i in range(count - len(rows))]
    return np.array([*rows, *more]).reshape(-1, 4)


def same_rows(a: Floats, b: Floats) -> bool:
    """Whether rows `a` equal rows `b`, to the precision that Blender stores."""
    return len(a) >= len(b) and bool(np.allclose(a, extend_rows(b, len(a)), rtol=1e-6, atol=0.0))
