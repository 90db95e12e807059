# SPDX-License-Identifier: GPL-3.0-or-later
"""What a bake warned of when it was built stands in its report, and `sinew info` tells it, whoever baked."""

from __future__ import annotations

import dataclasses
import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from fixtures.tiny_bakes import baked, tiny_scene, write_scene
from sinew.solver.bake.cache import CacheReader
from sinew.solver.bake.cache.layout import REPORT_FILE
from sinew.solver.bake.run_bake import BakeOptions, run_bake
from sinew.solver.cli.commands.info import describe
from sinew.solver.runtime.errors import Cancelled
from sinew.solver.runtime.event_text import warnings_in
from sinew.solver.scene.scene import Scene
from test_command_line import lines, sinew

FRAMES = 14


def scene_of(stiffness: float) -> Scene:
    """Returns two cubes of which the one that falls is too soft where stiffness [Pa] is below 24,500 Pa."""
    scene = tiny_scene(FRAMES)
    falls, hangs = scene.bodies
    materials = (dataclasses.replace(falls.material, youngs_modulus=E) for E in (stiffness, 1.0e6))
    bodies = tuple(dataclasses.replace(b, material=m) for b, m in zip((falls, hangs), materials, strict=True))
    return dataclasses.replace(scene, bodies=bodies)


def bake(cache: Path, **options: Any) -> list[dict[str, Any]]:
    """Bakes and returns the events."""
    events: list[dict[str, Any]] = []
    run_bake(cache, lambda event: events.append(dict(event)), options=BakeOptions(**options))
    return events


@pytest.fixture(scope="module")
def through(tmp_path_factory: pytest.TempPathFactory) -> Path:
    cache = tmp_path_factory.mktemp("through") / "c.sinew"
    write_scene(cache, scene_of(2.0e4))
    bake(cache)
    return cache


def told_in(cache: Path) -> list[tuple[int, list[str]]]:
    """Returns the frames whose lines have warnings, and the kinds."""
    found = ((line["frame"], line.get("warnings")) for line in CacheReader(cache).report())
    return [(frame, [warning["kind"] for warning in told]) for frame, told in found if told is not None]


def as_before(cache: Path) -> None:
    """Takes the warnings out of a report, as an earlier Sinew wrote it."""
    path = cache / REPORT_FILE
    kept = [json.loads(text) for text in path.read_text(encoding="utf-8").splitlines()]
    left_out = ("warnings", "checksum")
    path.write_text(
        "".join(json.dumps({k: v for k, v in line.items() if k not in left_out}) + "\n" for line in kept),
        encoding="utf-8",
    )


@pytest.mark.slow
def test_command_line_json_and_report_say_that_a_body_is_too_soft(tmp_path: Path) -> None:
    cache = tmp_path / "c.sinew"
    write_scene(cache, scene_of(2.0e4))
    ended = sinew("simulate", cache, "--frame-end", "3")
    (line,) = [line for line in ended.stdout.splitlines() if line.startswith("warning: ")]
    (first, *_) = CacheReader(cache).report()
    (told,) = first["warnings"]
    assert told["kind"] == "collapses" and "times its Stiffness" in told["measured"]
    assert line == f"warning: {told['sentence']} {told['measured']}. {told['next_step']}"
    assert lines(sinew("info", cache, "--json"))[0]["warnings"] == [told]
    assert line in sinew("info", cache).stdout.splitlines()
    assert sinew("info", cache, "--verify").returncode == 0


def test_it_stands_in_the_first_line_alone_and_in_no_frame_event(through: Path, tmp_path: Path) -> None:
    assert told_in(through) == [(1, ["collapses"])]
    cache = Path(shutil.copytree(through, tmp_path / "c"))
    events = bake(cache, frame_end=4)
    assert all("warnings" not in event for event in events if event["event"] == "frame")
    assert [told["kind"] for event in events for told in warnings_in(event)] == ["collapses"]


def test_a_resumed_bake_has_the_same_bytes_and_warnings(through: Path, tmp_path: Path) -> None:
    cache = tmp_path / "c"
    shutil.copytree(through / "scene", cache / "scene")
    seen: list[int] = []

    def count(event: Any) -> None:
        seen.extend([event["frame"]] if event["event"] == "frame" else [])

    with pytest.raises(Cancelled):
        run_bake(cache, count, lambda: len(seen) >= 6)
    assert bake(cache, resume=True)[-1]["event"] == "done"
    assert baked(cache) == baked(through) and told_in(cache) == told_in(through)


def test_caches_of_before_load_and_go_on(through: Path, tmp_path: Path) -> None:
    cache = Path(shutil.copytree(through, tmp_path / "c"))
    as_before(cache)
    reader = CacheReader(cache)
    assert reader.warnings() == [] and describe(reader)["warnings"] == [] and len(reader.report()) == FRAMES
    bake(cache, resume=True, from_frame=11)
    assert told_in(cache) == [(12, ["collapses"])], "it is told where the bake went on"
    assert baked(cache) == baked(through) and CacheReader(cache).is_done()


def test_what_a_changed_scene_is_warned_of_besides_is_added(tmp_path: Path) -> None:
    cache = tmp_path / "c"
    write_scene(cache, scene_of(1.0e6))
    bake(cache)
    assert told_in(cache) == []
    scene_of(2.0e4).save(cache / "scene")
    bake(cache, resume=True, from_frame=11, accept_changes=True)
    assert told_in(cache) == [(12, ["collapses"])]
    bake(cache, resume=True, from_frame=12)
    assert told_in(cache) == [(12, ["collapses"])], "once"
