# SPDX-License-Identifier: GPL-3.0-or-later
"""The child that bakes what breaks: stopped, killed or left alone while it finishes, it leaves a whole cache."""

from __future__ import annotations

import shutil
import time as clock
from pathlib import Path
from typing import Any

import pytest

from fixtures.child_process_bakes import at_frame, child, listen
from fixtures.fracture_bake import breaking_scene, write_breaking
from fixtures.tiny_bakes import baked
from sinew.solver.__main__ import main
from sinew.solver.bake.cache import CacheReader, CacheWriter, is_locked
from sinew.solver.bake.run_bake import BakeOptions, run_bake
from sinew.solver.cli.commands.info import describe

pytestmark = pytest.mark.slow

CANCEL = {"command": "cancel"}


@pytest.fixture(scope="module")
def through(tmp_path_factory: pytest.TempPathFactory) -> Path:
    cache = tmp_path_factory.mktemp("broken") / "c"
    write_breaking(cache, breaking_scene(attributes=("stress",), samples_per_frame=2))
    run_bake(cache, lambda event: None)
    return cache


@pytest.fixture
def cache(through: Path, tmp_path: Path) -> Path:
    """The same scene, not baked yet."""
    shutil.copytree(through / "scene", tmp_path / "c" / "scene")
    return tmp_path / "c"


def finishing(event: dict[str, Any]) -> bool:
    return event["event"] == "finishing"


def test_cancelled_it_finishes_what_is_there(through: Path, cache: Path) -> None:
    process = child(cache)
    listen(process, at_frame(8))
    process.send(CANCEL)
    events = listen(process)
    assert process.exit_code() == 130 and events[-1]["kind"] == "cancelled"
    names = [event["event"] for event in events]
    assert "finishing" in names and names[-2] == "finished" and events[-2]["results"][0]["key"] == "pulled"
    reader = CacheReader(cache)
    made = reader.read_result("pulled")
    assert made is not None and int(made["last_frame"]) == reader.last_frame() == reader.resume_frame()
    run_bake(cache, lambda event: None, options=BakeOptions(resume=True))
    assert baked(cache) == baked(through)


def test_cancelled_twice_it_hurries(through: Path, cache: Path) -> None:
    process = child(cache)
    listen(process, at_frame(8))
    process.send(CANCEL)
    listen(process, finishing)
    begin = clock.monotonic()
    process.send(CANCEL)
    listen(process)
    assert process.exit_code() == 130 and clock.monotonic() - begin < 5.0  # the machine may be busy
    assert CacheReader(cache).integrity_problems() == [] and not is_locked(cache)
    run_bake(cache, lambda event: None, options=BakeOptions(resume=True))
    assert baked(cache) == baked(through)


def test_nobody_listens_while_it_finishes(through: Path, cache: Path) -> None:
    process = child(cache)
    listen(process, finishing)
    process.close(timeout=6.0)
    assert process._process.returncode in (0, 130), "it ends by itself"
    assert CacheReader(cache).is_done()


def test_killed_while_it_finishes(through: Path, cache: Path) -> None:
    process = child(cache)
    listen(process, lambda event: event.get("fraction", 0.0) > 0.4)
    process.kill()
    listen(process)
    process.close()
    reader = CacheReader(cache)
    assert reader.is_done() and reader.integrity_problems() == [] and not is_locked(cache)
    told = listen(child(cache, command="finish"))
    assert told[0]["event"] == "started" and told[-1]["event"] == "done"
    assert told[-1]["results"] == CacheReader(through).results()
    assert baked(cache) == baked(through)


def test_finish_and_info_on_the_command_line(through: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    cache = tmp_path / "c"
    shutil.copytree(through, cache)
    assert main(["finish", str(cache)]) == 0
    pieces = CacheReader(through).results()[0]["pieces"]
    assert f'"Pulled Bar": {pieces} pieces' in capfd.readouterr().out
    assert baked(cache) == baked(through)
    assert describe(CacheReader(cache))["results"] == CacheReader(through).results()
    assert main(["info", str(cache)]) == 0
    assert f'"Pulled Bar": {pieces} pieces' in capfd.readouterr().out
    assert main(["finish", str(tmp_path / "none")]) == 3 and not (tmp_path / "none").exists()
    with CacheWriter(cache):
        assert main(["finish", str(cache)]) == 3
    assert "Another Sinew" in capfd.readouterr().err
