# SPDX-License-Identifier: GPL-3.0-or-later
"""The table of measured claims: one line each, and a claim that does not hold fails the run."""

import subprocess
import sys
from pathlib import Path

import pytest

from fixtures.claim_table import Row, broken, table

HERE = Path(__file__).resolve().parent
FILE = """
from fixtures.claim_table import reach

def test_one():
    reach("Heat", "order in space", 1.98, 1.9, True)
    reach("Heat", "heat kept", "{kept}", "1e-8", {holds})
    reach("Fracture", "bar breaks", "1.2 %", "2 %", True)

def test_two(reach):
    assert reach("Heat", "volume of the cow", "99 %", "97 %", True)
"""


def run(folder: Path, kept: str, holds: bool, *options: str) -> subprocess.CompletedProcess:
    (folder / "conftest.py").write_text((HERE / "conftest.py").read_text())
    (folder / "test_some.py").write_text(FILE.format(kept=kept, holds=holds))
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--import-mode=importlib"]
    places = ["-o", f"pythonpath={HERE.as_posix()}", "--rootdir", str(folder), str(folder)]
    return subprocess.run([*command, *options, *places], capture_output=True, text=True, timeout=120)


def test_rows_of_all_tests_come_in_one_table(tmp_path):
    done = run(tmp_path, "1e-12", True)
    assert done.returncode == 0, done.stdout + done.stderr
    text = done.stdout[done.stdout.index("what was measured") :].splitlines()
    assert [line.split("  ")[0].strip() or line.strip().split("  ")[0] for line in text[1:7]] == [
        "Heat",
        "order in space",
        "heat kept",
        "volume of the cow",
        "Fracture",
        "bar breaks",
    ]
    assert "4 lines, all hold" in done.stdout and "DOES NOT" not in done.stdout


@pytest.mark.slow
def test_rows_come_back_from_other_processes(tmp_path):
    done = run(tmp_path, "1e-3", False, "-n", "2")
    assert done.returncode != 0 and "4 lines, 1 of them do not hold" in done.stdout, done.stdout + done.stderr


def test_a_row_that_does_not_hold_fails_the_run_and_the_others_are_measured(tmp_path):
    done = run(tmp_path, "1e-3", False)
    assert done.returncode != 0
    assert "heat kept: 1e-3, bound 1e-8" in done.stdout
    assert "bar breaks" in done.stdout and "4 lines, 1 of them do not hold" in done.stdout


def test_columns_are_aligned():
    rows = [Row("A", "short", "1", "22", True), Row("A", "rather longer", "333", "4", False)]
    first, second = table(rows)[1:3]
    assert first.index("holds") == second.index("DOES") and len(broken(rows)) == 1
