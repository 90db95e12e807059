# SPDX-License-Identifier: GPL-3.0-or-later
"""A minute of a restless hand, repeated to the bit, and what is left when a process of a live run is killed."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time as clock
from pathlib import Path

import pytest

from fixtures.child_process_bakes import child, ended, listen
from fixtures.live_sessions import MAX_GROWTH, is_bounded, run_session
from fixtures.tiny_bakes import tiny_scene, write_scene
from sinew.addon.baking.child_process import child_command
from sinew.solver.bake.cache import is_locked, layout

PARENT = """
import subprocess, sys, time
child = subprocess.Popen({command!r}, stdin=subprocess.PIPE, stdout=open({events!r}, "wb"))
print(child.pid, flush=True)
time.sleep(600.0)
"""


def wait_until(is_so, seconds: float = 60.0) -> None:
    end = clock.monotonic() + seconds
    while not is_so():
        assert clock.monotonic() < end
        clock.sleep(0.02)


@pytest.mark.slow
@pytest.mark.parametrize("seconds", [8, pytest.param(60, marks=pytest.mark.long)])
def test_grabs_pulls_and_settings_are_bounded_and_repeat_themselves(tmp_path: Path, seconds: int) -> None:
    story = run_session(tmp_path / "Take 1.sinew", seconds, seed=3)
    assert is_bounded(story), vars(story)
    assert story.compared == seconds + 6 and story.warnings > seconds // 6
    assert seconds < 60 or story.memory_growth < MAX_GROWTH, "what is taken in the first seconds is not counted"
    samples, starts = ["jelly.pc2", "rubber.pc2"], ["jelly.start", "rubber.start", "starts.json"]
    restarts = {name for name in story.files if name.endswith(".restart")}
    assert set(story.files) - restarts == {"controls.json", "head.bin", "inputs.jsonl", *samples, *starts}
    assert 3 < len(restarts) < 24


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="there is no such signal here")
def test_a_child_whose_parent_is_killed_ends_and_lets_the_cache_go(tmp_path: Path) -> None:
    cache, events = tmp_path / "Take 1.sinew", tmp_path / "events"
    write_scene(cache, tiny_scene())
    program = PARENT.format(command=child_command(["live", str(cache), "--child", "--json"]), events=str(events))
    parent = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True)
    assert parent.stdout is not None
    pid = int(parent.stdout.readline())
    wait_until(lambda: b'"live"' in events.read_bytes())
    assert is_locked(cache)
    parent.kill()
    parent.wait()
    parent.stdout.close()
    wait_until(lambda: not _is_alive(pid), 10.0)
    told = [json.loads(line) for line in events.read_text(encoding="utf-8").splitlines()]
    assert told[-1]["event"] == "done" and not is_locked(cache)
    assert listen(child(cache, "--replay", command="live"), ended)[-1]["steps"] == told[-1]["steps"]


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="there is no such signal here")
def test_files_of_a_killed_child_are_deleted_by_the_next(tmp_path: Path) -> None:
    cache = tmp_path / "Take 1.sinew"
    write_scene(cache, tiny_scene())
    process = child(cache, command="live")
    listen(process, lambda event: event["event"] == "live")
    os.kill(process.pid, signal.SIGKILL)
    listen(process, ended)
    left = cache / layout.LIVE_FOLDER / "gone.pc2"
    left.write_bytes(b"")  # of a body that is no more
    assert not is_locked(cache)
    assert listen(child(cache, "--steps", "3", command="live"), ended)[-1]["event"] == "done"
    names = {path.name for path in left.parent.iterdir()}
    starts = {"falls.start", "hangs.start", "starts.json"}
    assert names == {"falls.pc2", "hangs.pc2", "head.bin", "inputs.jsonl", *starts}


def _is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    stat = Path(f"/proc/{pid}/stat")
    return not stat.is_file() or stat.read_text(encoding="utf-8").rpartition(")")[2].split()[0] != "Z"
