# SPDX-License-Identifier: GPL-3.0-or-later
"""Compiling ahead, and the process that waits for a bake with everything loaded."""

from __future__ import annotations

import json
import subprocess
import sys
import time as clock
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest

from fixtures.tiny_bakes import baked, tiny_scene, write_scene
from sinew.addon.baking.child_process import child_command
from sinew.addon.baking.solver_warm_up import COMPILE_ARGUMENTS, WarmSolver
from sinew.solver.bake.run_bake import run_bake

# stands for the compiler until its input ends or the file SYS.ARGV[1] is there
COMPILER = "import pathlib, sys, time\nwhile not pathlib.Path(sys.argv[1]).exists(): time.sleep(0.01)"
# says that it is ready, and what it was asked for
WAITER = """
import sys
print('{"event": "ready"}', flush=True)
line = sys.stdin.readline().strip()
print('{"event": "asked", "line": %s}' % line, flush=True)
"""


@pytest.fixture
def run(tmp_path: Path) -> Iterator[Callable[..., WarmSolver]]:
    """Returns a maker of an Ahead whose processes are the ones above."""
    made = []

    def make(waiter: str = WAITER) -> WarmSolver:
        def command(arguments: Sequence[str]) -> list[str]:
            code = COMPILER if tuple(arguments) == COMPILE_ARGUMENTS else waiter
            return [sys.executable, "-c", code, str(tmp_path / "compiled")]

        made.append(WarmSolver(command))
        return made[-1]

    yield make
    for each in made:
        each.close()


def until(holds: Callable[[], bool], seconds: float = 120.0) -> None:
    end = clock.monotonic() + seconds
    while not holds():
        assert clock.monotonic() < end
        clock.sleep(0.01)


def looks(ahead: WarmSolver, compiles: bool = True, waits: bool = True) -> bool:
    ahead.update(compiles, waits)
    return ahead.is_ready


def test_a_process_waits_once_all_is_compiled_and_does_what_is_asked(run, tmp_path: Path) -> None:
    ahead = run()
    ahead.update(True, True)
    assert ahead.is_compiling and not ahead.is_ready
    assert ahead.take_over(["simulate", "x"], tmp_path / "log") is None  # nothing waits yet, and compiling ends
    assert not ahead.is_compiling
    (tmp_path / "compiled").touch()
    until(lambda: looks(ahead))
    assert ahead.is_compiled and not ahead.is_compiling
    child = ahead.take_over(["simulate", "x", "--child"], tmp_path / "log")
    assert child is not None and not ahead.is_ready
    heard = []
    until(lambda: bool(heard.extend(child.events()) or heard))
    (asked,) = heard
    assert asked["line"] == {"command": "simulate", "arguments": ["x", "--child"], "log": str(tmp_path / "log")}
    child.close()
    until(lambda: looks(ahead))  # the next one


def test_nothing_runs_that_is_not_wanted(run, tmp_path: Path) -> None:
    ahead = run()
    ahead.update(False, False)
    assert not ahead.is_compiling and not ahead.is_ready
    ahead.compile()  # by hand
    ahead.update(False, False)
    assert ahead.is_compiling
    ahead.take_over(["simulate"], tmp_path / "log")
    ahead.update(True, True)
    assert ahead.is_compiling
    ahead.update(False, False)
    assert not ahead.is_compiling
    until(lambda: looks(ahead, compiles=False))  # the rest is compiled by the bake
    ahead.update(False, False)
    assert not ahead.is_ready


def test_one_that_dies_is_not_started_again_and_again(run, tmp_path: Path) -> None:
    (tmp_path / "compiled").touch()
    ahead = run("raise SystemExit(1)")
    until(lambda: bool(looks(ahead) or ahead._has_failed))
    ahead.update(True, True)
    assert ahead._waiting is None and ahead.take_over(["simulate"], tmp_path / "log") is None


@pytest.mark.slow
def test_what_waited_bakes_the_same_bytes_and_writes_its_log(tmp_path: Path) -> None:
    plain, waited = tmp_path / "plain", tmp_path / "waited"
    for cache in (plain, waited):
        write_scene(cache, tiny_scene(4))
    run_bake(plain, lambda event: None)
    ahead = WarmSolver()
    until(lambda: looks(ahead, compiles=False), 300.0)
    child = ahead.take_over(["simulate", str(waited), "--child", "--json"], waited / "log.txt")
    assert child is not None
    until(lambda: child.exit_code() is not None, 300.0)
    events = child.events()
    assert child.exit_code() == 0 and [events[0]["event"], events[-1]["event"]] == ["started", "done"]
    assert baked(waited) == baked(plain)
    assert (waited / "log.txt").exists()


@pytest.mark.slow
def test_what_waited_runs_live_and_hears_commands(tmp_path: Path) -> None:
    write_scene(tmp_path, tiny_scene(4))
    words = {"command": "live", "arguments": [str(tmp_path), "--child", "--json"]}
    lines = [json.dumps(each).encode() + b"\n" for each in (words, {"command": "jump"})]
    with subprocess.Popen(
        child_command(["wait", "--json"]), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as child:
        assert child.stdin is not None and child.stdout is not None
        child.stdin.write(b"".join(lines))
        child.stdin.flush()
        events = []
        for line in child.stdout:
            events.append(json.loads(line))
            if events[-1].get("kind") == "live-command-invalid":
                child.stdin.write(json.dumps({"command": "cancel"}).encode() + b"\n")
                child.stdin.flush()
    assert child.returncode == 0 and events[0]["event"] == "ready" and events[-1]["event"] == "done"


@pytest.mark.slow
def test_waiting_ends_with_standard_input_and_minds_no_other_line() -> None:
    words = b"no\n[1]\n" + json.dumps({"command": "cancel"}).encode() + b"\n"
    ended = subprocess.run(child_command(["wait", "--json"]), input=words, capture_output=True, timeout=120)
    assert ended.returncode == 0, ended.stderr
    assert [json.loads(line)["event"] for line in ended.stdout.splitlines()] == ["ready"]
