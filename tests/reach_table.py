# SPDX-License-Identifier: GPL-3.0-or-later
"""What the long checks measured: one row per claim, with its value and its bound, printed as one table at the end.

    from reach_table import reach          # or the fixture of the same name

    reach("Fracture", "bar in uniform tension breaks at its strength", f"{off:.2%}", "2 %", off <= 0.02)

A row that does not hold fails its test when the test is over, so that its other rows are still measured, and
with it the whole run. conftest.py prints the table.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Row:
    """One claim.

    Attributes:
        section: What it is about, "Heat and melting".
        line: The claim, in short words.
        value: What was measured, with its unit.
        bound: What it has to keep, with its unit.
        holds: Whether it does.
    """

    section: str
    line: str
    value: str
    bound: str
    holds: bool


ROWS: list[Row] = []


def reach(section: str, line: str, value: object, bound: object, holds: bool) -> bool:
    """Adds a row and returns whether it holds; numbers are written with four digits."""
    ROWS.append(Row(section, line, _text(value), _text(bound), bool(holds)))
    return bool(holds)


def broken(rows: list[Row]) -> list[str]:
    """Returns one sentence per row that does not hold."""
    return [f"{row.section}: {row.line}: {row.value}, bound {row.bound}" for row in rows if not row.holds]


def table(rows: list[Row]) -> list[str]:
    """Returns the lines of the table: sections in the order in which they first came, their rows below them."""
    wide = [max(len(getattr(row, name)) for row in rows) for name in ("line", "value", "bound")]
    lines = []
    for section in dict.fromkeys(row.section for row in rows):
        lines.append(section)
        for row in rows:
            if row.section == section:
                cells = f"{row.line:{wide[0]}}  {row.value:>{wide[1]}}  {row.bound:>{wide[2]}}"
                lines.append(f"    {cells}  {'holds' if row.holds else 'DOES NOT HOLD'}")
    missed = len(broken(rows))
    lines.append(f"{len(rows)} lines, " + (f"{missed} of them do not hold" if missed else "all hold"))
    return lines


def _text(value: object) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)
