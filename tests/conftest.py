# SPDX-License-Identifier: GPL-3.0-or-later
"""What every test may ask for."""

from __future__ import annotations

import ctypes
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, replace
from pathlib import Path

import hypothesis
import pytest

from sinew.solver.runtime.reproducible_library_environment import fix_numeric_environment

fix_numeric_environment()  # before a test loads NumPy: what is baked here has the bytes of a child's bake

from fixtures import claim_table as reach_table
from fixtures import intersection_tally

ROOT = Path(__file__).resolve().parent.parent
ROW_PROPERTY, STEPS_PROPERTY = "row of the table", "steps looked at for intersections"

# the same examples each time, and no limit that a busy machine would break
hypothesis.settings.register_profile("sinew", deadline=None, derandomize=True)
hypothesis.settings.load_profile("sinew")


def pytest_addoption(parser: pytest.Parser) -> None:
    """Says which options the long checks have."""
    parser.addoption("--scatter-seed", type=int, default=0, help="the first of ten seeds of random scatters")
    parser.addoption("--fuzz-seed", type=int, default=1, help="of the cases with damaged files (1)")
    parser.addoption("--fuzz-cases", type=int, default=2000, help="how many there are (2000)")


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of development data beside the clone; a user's clone has none, and the test is skipped."""
    folder = ROOT.parent / "shared"
    if not (folder / "testdata").is_dir():
        pytest.skip("no ../shared/testdata here")
    return folder


@pytest.fixture
def reach() -> Callable[..., bool]:
    """Adds a row to the table of what was measured (tests/fixtures/claim_table.py)."""
    return reach_table.reach


@pytest.fixture(autouse=True)
def rows_hold(request: pytest.FixtureRequest) -> Iterator[None]:
    """Puts the rows that a test adds into its report, and fails it, when it is over, if one of them does not hold."""
    before, looked_before, began = len(reach_table.ROWS), len(intersection_tally.LOOKED_AT), time.process_time()
    yield
    added, seconds = reach_table.ROWS[before:], time.process_time() - began
    for looked in intersection_tally.LOOKED_AT[looked_before:]:
        request.node.user_properties.append((STEPS_PROPERTY, asdict(replace(looked, seconds=seconds))))
        seconds = 0.0  # once for all that a test looked at
    # reports come back from the processes that `make validate` shares its tests among; rows of modules do not
    request.node.user_properties += [(ROW_PROPERTY, asdict(row)) for row in added]
    missed = reach_table.broken(added)
    assert not missed, "\n".join(missed)


def rows_of_run(terminalreporter: pytest.TerminalReporter) -> list[reach_table.Row]:
    """Returns the rows of all files in the order of the tests, then those that sum them up."""
    ended = [
        report
        for reports in terminalreporter.stats.values()
        for report in reports
        if isinstance(report, pytest.TestReport) and report.when == "teardown"
    ]
    told = [
        (report.nodeid, *each)
        for report in sorted(ended, key=lambda one: one.nodeid)
        for each in report.user_properties
    ]
    rows = [reach_table.Row(**row) for _, name, row in told if name == ROW_PROPERTY]
    looked = [
        (test.split("::")[0], intersection_tally.LookedAt(**steps))
        for test, name, steps in told
        if name == STEPS_PROPERTY
    ]
    return rows + intersection_tally.total_rows(looked, ROOT / "tests")


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Fails a run whose tests pass one by one, but not what they sum up to."""
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    if reporter is not None and session.exitstatus == pytest.ExitCode.OK and reach_table.broken(rows_of_run(reporter)):
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Prints the rows of all files in one table."""
    rows = rows_of_run(terminalreporter)
    if rows:
        terminalreporter.section("what was measured, and what it has to keep")
        for line in reach_table.table(rows):
            terminalreporter.write_line(line)


@pytest.hookimpl(trylast=True)
def pytest_runtest_call(item: pytest.Item) -> None:
    """Lets what Blender's own code printed be captured with its test, instead of coming out when Python ends."""
    if "bpy" in sys.modules and sys.platform != "win32":
        ctypes.CDLL(None).fflush(None)
