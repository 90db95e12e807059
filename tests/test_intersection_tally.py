# SPDX-License-Identifier: GPL-3.0-or-later
"""What is said of all steps with Exact contact together, and when it does not hold."""

from __future__ import annotations

from pathlib import Path

import pytest

from fixtures.claim_table import Row
from fixtures.intersection_tally import LEAST_STEPS, MOST_MINUTES, LookedAt, total_rows

FILES = ("validate_exact_a.py", "validate_exact_b.py", "validate_other.py")


def rows(folder: Path, *found: tuple[str, LookedAt]) -> list[Row]:
    for name in FILES:
        (folder / name).touch()
    return total_rows([(f"tests/{name}", each) for name, each in found], folder)


def test_steps_and_intersections_of_all_files_with_exact_contact_are_added(tmp_path: Path) -> None:
    one, other = LookedAt(LEAST_STEPS - 100, 0, 60.0), LookedAt(100, 0, 30.0)
    table = rows(tmp_path, (FILES[0], one), (FILES[1], other), (FILES[2], LookedAt(7, 1, 1e9)))
    assert [row.value for row in table] == [str(LEAST_STEPS), "0", "1.5 min"]
    assert all(row.holds for row in table)


@pytest.mark.parametrize(
    ("last", "broken"),
    [
        (LookedAt(99, 0), [True, False, False]),
        (LookedAt(100, 1), [False, True, False]),
        (LookedAt(100, 0, 60.0 * MOST_MINUTES + 1.0), [False, False, True]),
    ],
)
def test_too_few_steps_an_intersection_and_too_much_time_do_not_hold(tmp_path: Path, last, broken) -> None:
    table = rows(tmp_path, (FILES[0], LookedAt(LEAST_STEPS - 100, 0)), (FILES[1], last))
    assert [not row.holds for row in table] == broken


def test_one_file_alone_need_not_have_all_steps(tmp_path: Path) -> None:
    assert all(row.holds for row in rows(tmp_path, (FILES[0], LookedAt(3, 0))))
    assert rows(tmp_path, (FILES[2], LookedAt(3, 0))) == []
