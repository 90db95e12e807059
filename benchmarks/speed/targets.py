# SPDX-License-Identifier: GPL-3.0-or-later
"""The targets, and their verdicts from the rows of all benchmarks."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from harness import text_table
from speed.benchmark import Row, verdict

TARGETS = {
    1: "Dynamic step at equal error against MuJoCo's flex: 5 × faster at 10K tets (error 0.025), 10 × at 10K (5e-4), "
    "8 × at 100K (0.15)",
    2: "A whole step with 20 CG iterations in float64: at most 1.2 / 12 / 72 ms at 10K / 100K / 400K tets on the "
    "reference machine",
    3: "Multigrid: iterations to 1e-5 grow less than twofold from 10K to 400K tets at ν = 0.33, 0.45, 0.49; to 1e-6 "
    "7 × faster than block Jacobi at 100K, 15 × at 400K, set-up included",
    4: "Quasistatic bar against felupe with CHOLMOD, to 1e-6: 12 × faster at 10K tets, 10 × at 100K",
    5: "Random scatter with the start kept: 9 of 10 seeds return to rest, in at most 80 Newton iterations (median); "
    "50K tets in under 1.5 s (median of ten seeds), half a million in under 10 s",
    6: "Product of the block matrix at 400K tets in float64: 85 % of the triad on one thread, 80 % on two",
    7: "Meshing: 100K tets at least 15 × faster than fTetWild makes 30K",
    8: "First click: 15 s to the first step with cold caches (8 s while a second process compiled); with warm ones "
    "0.5 s in a waiting solver, 1 s in a new process; Sinew announces the compilation, keeps it off the window's "
    "thread and can do it ahead",
    9: "Overhead of a bake: at most 10 % of the solver's time at 100K tets and 200,000 render vertices",
    10: "Memory: at most 1.5 KB per tet at the peak of a dynamic bake; a million tets on 16 GB",
    11: "Scaling: at fixed iterations the cost of a step grows with an exponent below 1.1 over tets",
    12: "Contention: on a busy machine a step on two threads takes at most 1.2 × as long as on one; "
    "its bytes are the same",
    13: "Muscles: one of 10,000 tets at 25 frames a second; the twelve of an arm, 150,000 tets, at 2 s a frame",
    14: "Playing all passes of a character in layers, 100,000 render vertices: at most 25 ms of updates a frame",
    15: "Live, 20,000 tets and 50,000 render vertices on the ground with a grab: 60 samples a second with Jelly, 30 "
    "with Rubber; 30 at 5,000 tets with self collision and three colliders; 15 of 5,000 tets of flesh on moved bones; "
    "a command is seen after 40 ms (median), 80 ms (99th percentile)",
    16: "Rigid bodies: 200 boxes that fall in a pile at 30 steps a second",
    17: "Exact contact: faster than Newton's method around the IPC Toolkit at equal gap, Newton tolerance and step",
}
HEAD = ("line", "target", "")
NOT_MEASURED = "not measured"


def verdicts(rows: Iterable[Row]) -> dict[int, str]:
    """Returns the verdict of each line from its rows, with the number of rows that were not judged."""
    told: dict[int, list[bool]] = {}
    open_rows: dict[int, int] = {}
    for row in rows:
        if row.line is not None and row.reached is not None:
            told.setdefault(row.line, []).append(row.reached)
        elif row.line is not None:
            open_rows[row.line] = open_rows.get(row.line, 0) + 1
    return {line: _verdict(told.get(line, []), open_rows.get(line, 0)) for line in TARGETS}


def _verdict(reached: list[bool], open_rows: int) -> str:
    if not reached:
        return NOT_MEASURED
    if all(reached) and open_rows:
        return f"{verdict(True)}; {open_rows} not judged"
    if all(reached) or not any(reached):
        return verdict(all(reached))
    return f"{verdict(False)}: {sum(reached)} of {len(reached)} rows pass"


def _table_cells(found: Mapping[int, str]) -> list[tuple[str, str, str]]:
    return [(str(line), text, found[line]) for line, text in TARGETS.items()]


def markdown(rows: Iterable[Row]) -> list[str]:
    """Returns the table of all lines in Markdown."""
    return text_table.markdown(HEAD, _table_cells(verdicts(rows)))


def plain(rows: Iterable[Row]) -> list[str]:
    """Returns the table of all lines for a terminal, verdicts first."""
    return [f"{line:>3}  {told:<22}  {text}" for line, text, told in _table_cells(verdicts(rows))]
