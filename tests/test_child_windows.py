# SPDX-License-Identifier: GPL-3.0-or-later
"""What children must do so that they also run on Windows: leave standard input to commands, and open no window."""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from fixtures.source_trees import nodes_of
from sinew.addon.baking.child_process import ChildProcess

ROOT = Path(__file__).resolve().parent.parent
LISTENING = """
import os, sys, threading
from sinew.solver.runtime.event_stream import EventStream
from sinew.solver.runtime.cancellation import CancellationToken
threading.Thread(target=lambda: __import__("time").sleep(60) or os._exit(9), daemon=True).start()
events, stop = EventStream(), CancellationToken()
stop.listen_to_input(lambda: None)
"""


def test_whoever_else_reads_standard_input_finds_it_empty_while_commands_arrive() -> None:
    """While a thread reads from a stream, Windows tells nobody what stream it is, and libraries ask when they load."""
    code = (
        LISTENING
        + """
import subprocess
import numpy
own = os.read(0, 1)
other = subprocess.run([sys.executable, "-c", "import sys; print(len(sys.stdin.read()))"], capture_output=True)
events.emit({"event": "started", "own": len(own), "other": int(other.stdout)})
while not stop(): pass
events.emit({"event": "stopped"})
"""
    )
    with subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as child:
        assert child.stdin is not None and child.stdout is not None
        assert json.loads(child.stdout.readline() or "{}") == {"event": "started", "own": 0, "other": 0}
        child.stdin.write(b'{"command": "cancel"}\n')
        child.stdin.flush()
        assert json.loads(child.stdout.readline()) == {"event": "stopped"}


def test_a_child_without_standard_input_stops_as_when_its_parent_is_gone() -> None:
    code = "import os; os.close(0)\n" + LISTENING + "while not stop(): pass\nos._exit(5)"
    assert subprocess.run([sys.executable, "-c", code], timeout=100).returncode == 5


def starts_a_process(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and ast.unparse(node.func) in {
        "subprocess.Popen", "subprocess.run", "subprocess.call", "subprocess.check_call", "subprocess.check_output",
        "os.system", "os.popen", "os.spawnv", "os.startfile",
    }  # fmt: skip


def test_every_function_that_starts_a_process_opens_no_window() -> None:
    starting = []
    for folder in ("solver", "addon"):
        for path in sorted((ROOT / folder).rglob("*.py")):
            for function in nodes_of(path):
                if isinstance(function, ast.FunctionDef) and any(map(starts_a_process, ast.walk(function))):
                    starting.append((path.relative_to(ROOT).as_posix(), "CREATE_NO_WINDOW" in ast.unparse(function)))
    assert starting and all(is_quiet for _, is_quiet in starting), starting


@pytest.mark.skipif(os.name != "nt", reason="there are console windows on Windows only")
def test_children_have_no_console_window(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    flags: list[int] = []
    popen = subprocess.Popen

    def start(*arguments: object, **options: object) -> subprocess.Popen:
        flags.append(int(options.get("creationflags", 0)))  # type: ignore[call-overload]
        return popen(*arguments, **options)  # type: ignore[call-overload, no-any-return]

    monkeypatch.setattr(subprocess, "Popen", start)
    code = "import ctypes, json; k = ctypes.windll.kernel32; print(json.dumps({'event': str(k.GetConsoleWindow())}))"
    child = ChildProcess([sys.executable, "-c", code], tmp_path / "log.txt")
    child._process.wait(60)
    told = []
    while child.exit_code() is None or not told:
        told += child.events()
    child.close()
    assert [event["event"] for event in told] == ["0"]
    assert flags and set(flags) == {subprocess.CREATE_NO_WINDOW}  # type: ignore[attr-defined]
