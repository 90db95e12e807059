# SPDX-License-Identifier: GPL-3.0-or-later
"""What every test may ask for."""

from __future__ import annotations

import ctypes
import signal
import sys
import traceback
from collections.abc import Callable, Generator, Iterator
from pathlib import Path

import hypothesis
import pytest

import reach_table

ROOT = Path(__file__).resolve().parent.parent

# the same examples each time, and no limit that a busy machine would break
hypothesis.settings.register_profile("sinew", deadline=None, derandomize=True)
hypothesis.settings.load_profile("sinew")


def pytest_addoption(parser: pytest.Parser) -> None:
    """Says which options the long checks have."""
    parser.addoption("--scatter-seed", type=int, default=0, help="the first of ten seeds of random scatters")
    parser.addoption("--fuzz-seed", type=int, default=1, help="of the cases with damaged files (1)")
    parser.addoption("--fuzz-cases", type=int, default=2000, help="how many there are (2000)")
    words = "stop each test after so long, and run each with its first parameters only: what fails by then is broken"
    parser.addoption("--first-seconds", type=float, metavar="S", help=words)


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of development data beside the clone; a user's clone has none, and the test is skipped."""
    folder = ROOT.parent / "shared"
    if not (folder / "testdata").is_dir():
        pytest.skip("no ../shared/testdata here")
    return folder


@pytest.fixture
def reach() -> Callable[..., bool]:
    """Adds a row to the table of what was measured (reach_table.py)."""
    return reach_table.reach


@pytest.fixture(autouse=True)
def rows_hold(pytestconfig: pytest.Config) -> Iterator[None]:
    """Fails a test, when it is over, that added a row which does not hold."""
    before = len(reach_table.ROWS)
    yield
    if pytestconfig.getoption("--first-seconds"):
        return
    missed = reach_table.broken(reach_table.ROWS[before:])
    assert not missed, "\n".join(missed)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leaves out all but the first parameters of each test, where only its first seconds are asked for.

    Files that load Blender are imported only: it does not survive to be stopped anywhere.
    """
    if config.getoption("--first-seconds"):
        first = {item.nodeid.split("[")[0]: item for item in reversed(items)}
        with_blender = {path for path in {item.path for item in items} if "bpy" in path.read_text(encoding="utf-8")}
        items[:] = [first[name] for name in reversed(first) if first[name].path not in with_blender]


# what a check raises that asks for what is gone
BROKEN = (AttributeError, NameError, TypeError, ImportError)


class FirstSecondsOver(BaseException):
    """A test has run for as long as it was asked to."""


@pytest.hookimpl(wrapper=True)
def pytest_runtest_setup(item: pytest.Item) -> Generator[None, None, None]:
    """Stops what a test sets up, and skips it then."""
    return (yield from _stopped_in_time(item))


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, None, None]:
    """Stops a test; lets what Blender's own code printed be captured with it, instead of coming out at the end."""
    try:
        return (yield from _stopped_in_time(item))
    finally:
        if "bpy" in sys.modules and sys.platform != "win32":
            ctypes.CDLL(None).fflush(None)


def _stopped_in_time(item: pytest.Item) -> Generator[None, None, None]:
    """Skips what takes longer than the first seconds; fails where until then a name or an argument did not fit.

    Numbers are not judged, and compiling that was stopped half-way may raise anything later: from outside this tree.
    """
    seconds, stopped = item.config.getoption("--first-seconds"), []
    if not seconds:
        return (yield)

    def stop(*_: object) -> None:
        stopped.append(True)
        raise FirstSecondsOver

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds, seconds)
    try:
        return (yield)
    except pytest.skip.Exception:
        raise
    except BaseException as problem:
        if not stopped and isinstance(problem, BROKEN) and _is_of_this_tree(problem):
            raise
        pytest.skip(f"not run to its end: {type(problem).__name__}")
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)


def _is_of_this_tree(problem: BaseException) -> bool:
    """Whether an exception was raised by the tests or by what they test."""
    frames = [Path(frame.f_code.co_filename) for frame, _ in traceback.walk_tb(problem.__traceback__)]
    return bool(frames) and "site-packages" not in frames[-1].parts


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Prints the rows of all files in one table."""
    if reach_table.ROWS:
        terminalreporter.section("what was measured, and what it has to keep")
        for line in reach_table.table(reach_table.ROWS):
            terminalreporter.write_line(line)
