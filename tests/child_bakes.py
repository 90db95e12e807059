# SPDX-License-Identifier: GPL-3.0-or-later
"""Bakes by a child process."""

from __future__ import annotations

import dataclasses
import time as clock
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sinew.addon.baking.child_process import ChildProcess, child_command
from sinew.solver.errors import SinewError
from sinew.solver.scene import Scene
from sinew.solver.simulate import simulate
from tiny_bakes import tiny_scene, write_scene

FRAMES = 24


def nothing(_: Any) -> None:
    """Hears an event."""


@pytest.fixture(scope="module")
def through(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A bake that ran from the first frame to the last."""
    cache = tmp_path_factory.mktemp("through") / "Take 1.sinew"
    write_scene(cache, tiny_scene(FRAMES))
    simulate(cache, nothing)
    return cache


def child(cache: Path, *more: str, command: str = "simulate") -> ChildProcess:
    return ChildProcess(child_command([command, str(cache), "--child", "--json", *more]), cache / "log.txt")


def ended(_: dict[str, Any]) -> bool:
    """Waits for the end and no event."""
    return False


def at_frame(number: int) -> Callable[[dict[str, Any]], bool]:
    return lambda event: event["event"] == "frame" and event["frame"] >= number


def listen(process: ChildProcess, until: Callable[[dict[str, Any]], bool] = ended) -> list[dict[str, Any]]:
    """Returns the child's events up to the one that is waited for, or to its end."""
    events: list[dict[str, Any]] = []
    end = clock.monotonic() + 300.0
    while clock.monotonic() < end:
        gone = process.exit_code() is not None
        for event in process.events():
            events.append(event)
            if until(event):
                return events
        if gone:
            assert until is ended, f"it ended: {events[-1:]}"
            return events
        clock.sleep(0.002)
    raise AssertionError(f"the child said only {events}")


def failure(kind: type[SinewError], cache: Path, **options: Any) -> str:
    with pytest.raises(kind) as caught:
        simulate(cache, nothing, **options)
    return caught.value.kind


def change(cache: Path, **settings: Any) -> Scene:
    scene = Scene.load(cache / "scene")
    changed = dataclasses.replace(scene, settings=dataclasses.replace(scene.settings, **settings))
    changed.save(cache / "scene")
    return changed
