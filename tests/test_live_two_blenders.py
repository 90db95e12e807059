# SPDX-License-Identifier: GPL-3.0-or-later
"""Live in two Blenders at once: neither touches the other's folder, and a closed or killed one leaves no child."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

bpy = pytest.importorskip("bpy", reason="needs Blender's module")

from fixtures.live_in_blender import ended as ended  # a fixture
from fixtures.live_in_blender import jelly, run_steps, started
from sinew.addon.live import run_control

pytestmark = [pytest.mark.slow, pytest.mark.skipif(sys.platform == "win32", reason="signals are POSIX")]
SECONDS = 120.0

# another Blender: runs live, says where and in which process, goes on until its input ends, and then as it is told
OTHER = """
import sys, threading
sys.path.insert(0, sys.argv[1])
from fixtures.live_in_blender import jelly, run_steps, started
from sinew.addon.baking.addon_session import session
from sinew.addon.live import run_control
jelly()
run = started()
run_steps(run, 5)
print(run.folder, run.driver._child.pid, flush=True)
lines = []
threading.Thread(target=lambda: lines.extend(sys.stdin), daemon=True).start()
import time
while session.live is run and not lines:
    run_control.poll()
    time.sleep(0.005)
print("steps", run.step, flush=True)
"""


@contextlib.contextmanager
def other_blender() -> Iterator[tuple[subprocess.Popen[str], Path, int]]:
    """Starts another Blender that runs live; yields it, the folder of its run, and the process of its solver."""
    command = [sys.executable, "-c", OTHER, str(Path(__file__).parent)]
    other = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        assert other.stdout is not None
        line = next(line for line in other.stdout if ".sinew" in line)
        folder, _, pid = line.strip().rpartition(" ")
        yield other, Path(folder), int(pid)
    finally:
        other.kill()
        other.communicate()


def comes_true(what: Callable[[], bool]) -> bool:
    end = time.monotonic() + SECONDS
    while not what() and time.monotonic() < end:
        time.sleep(0.02)
    return what()


def is_alive(pid: int) -> bool:
    try:
        status = Path(f"/proc/{pid}/stat").read_text()
    except FileNotFoundError:
        return False
    return status.rpartition(")")[2].split()[0] != "Z"


def test_two_run_at_once_and_one_that_closes_leaves_nothing() -> None:
    with other_blender() as (other, folder, pid):
        jelly()
        run = started()
        run_steps(run, 10)
        assert folder.is_dir() and folder != run.folder and is_alive(pid), "the other goes on"
        run_control.end()
        again = started()
        run_steps(again, 10)
        assert folder.is_dir() and is_alive(pid), "a second run here leaves it alone, too"
        said, _ = other.communicate("close\n", timeout=SECONDS)
        assert other.returncode == 0 and int(said.split()[-1]) > 5
        assert comes_true(lambda: not is_alive(pid)) and not folder.parent.exists()
        run_steps(again, again.step + 10)
        assert again.folder.is_dir()


def test_the_solver_of_a_killed_one_ends_and_the_next_run_deletes_its_folder() -> None:
    jelly()
    run = started()
    run_steps(run, 5)
    with other_blender() as (other, folder, pid):
        os.kill(other.pid, signal.SIGKILL)
        other.wait()
        assert comes_true(lambda: not is_alive(pid)), "its input has ended"
        assert folder.is_dir()
        run_steps(run, run.step + 5)
        run_control.end()
        following = started()
        run_steps(following, 5)
        assert not folder.exists()
