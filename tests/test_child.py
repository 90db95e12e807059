# SPDX-License-Identifier: GPL-3.0-or-later
"""The child that bakes: killed at any moment it leaves a whole cache, and goes on to the same bytes."""

from __future__ import annotations

import dataclasses
import shutil
import subprocess
import sys
import time as clock
from pathlib import Path
from typing import Any

import pytest

from fixtures.child_process_bakes import FRAMES, change, child, failure, listen, nothing
from fixtures.child_process_bakes import through as through
from fixtures.tiny_bakes import baked, tiny_scene, write_scene
from sinew.addon.baking.bake_driver import BakeDriver
from sinew.addon.baking.child_process import child_command
from sinew.solver.bake.cache import CacheReader, CacheWriter
from sinew.solver.bake.run_bake import BakeOptions, run_bake
from sinew.solver.integrators.integrator_choice import MIN_TETS_PER_THREAD
from sinew.solver.runtime.errors import BadInput, StorageFailed
from sinew.solver.scene.scene import Meshing, Scene

pytestmark = pytest.mark.slow


def test_a_bake_in_this_process(through: Path) -> None:
    reader = CacheReader(through)
    assert reader.baked_range() == (1, FRAMES) and reader.is_done() and reader.integrity_problems() == []
    assert reader.resume_frames() == [1, 11, 21, 24]
    assert [line["frame"] for line in reader.report()] == list(range(1, FRAMES + 1))
    lowest = [reader.read_frame(frame).x[:27, 2].min() for frame in (1, FRAMES)]
    assert lowest[0] == pytest.approx(0.05) and -0.01 < lowest[1] < 0.01  # it fell on the ground


def test_the_child_says_what_the_page_says(through: Path, tmp_path: Path) -> None:
    cache = tmp_path / "c"
    shutil.copytree(through / "scene", cache / "scene")
    process = child(cache, "--threads", "1")
    events = listen(process)
    assert process.exit_code() == 0 and process.non_json_lines == []
    names = [event["event"] for event in events]
    assert names[0] == "started" and names[-1] == "done"
    assert set(names) <= {"started", "compiling", "building", "built", "frame", "done"}
    built = events[names.index("built")]
    assert built["tets"] == 96 and [b["name"] for b in built["bodies"]] == ["Falling Cube", "Hanging Cube"]
    frames = [event for event in events if event["event"] == "frame"]
    assert [event["frame"] for event in frames] == list(range(1, FRAMES + 1))
    told = {"frame_start", "frame_end", "seconds", "iterations", "residual", "converged", "contacts", "inverted_tets"}
    assert told <= set(frames[5])
    assert events[-1]["frames"] == FRAMES and events[-1]["not_converged"] == 0
    assert baked(cache) == baked(through)  # another process, another number of threads


def test_the_number_of_threads_changes_no_byte_of_a_cache(tmp_path: Path) -> None:
    """Filled, bound, dropped on the ground and swung, with more tets than one thread is given."""
    scene = tiny_scene(4, divisions=8)
    bodies = tuple(
        dataclasses.replace(body, meshing=Meshing("smooth", divisions=11), tet_nodes=None, tets=None)
        for body in scene.bodies
    )
    caches = []
    for threads in ("1", "2"):
        cache = tmp_path / threads
        write_scene(cache, dataclasses.replace(scene, bodies=bodies))
        events = listen(child(cache, "--threads", threads))
        assert events[-1]["event"] == "done" and CacheReader(cache).is_done()
        (tets,) = (event["tets"] for event in events if event["event"] == "built")
        assert tets > 2 * MIN_TETS_PER_THREAD
        caches.append(baked(cache))
    assert {"play/falls.pc2", "frames/000004.npz", "model/hangs.npz"} <= set(caches[0])
    assert caches[0] == caches[1]


def test_only_one_bakes_a_cache(through: Path, tmp_path: Path) -> None:
    cache = tmp_path / "c"
    write_scene(cache, tiny_scene(FRAMES))
    with CacheWriter(cache):
        process = child(cache)
        events = listen(process)
    assert process.exit_code() == 3 and events[-1]["kind"] == "cache-locked"


def test_bad_input_replaces_nothing(through: Path, tmp_path: Path) -> None:
    cache = tmp_path / "c"
    shutil.copytree(through, cache)
    scene = tiny_scene(FRAMES)
    body = dataclasses.replace(scene.bodies[0], material=dataclasses.replace(scene.bodies[0].material, density=0.0))
    dataclasses.replace(scene, bodies=(body, scene.bodies[1])).save(cache / "scene")
    process = child(cache)
    events = listen(process)
    assert process.exit_code() == 2 and events[-1]["kind"] == "setting-out-of-range"
    assert "Falling Cube" in events[-1]["sentence"]
    assert CacheReader(cache).is_done()


def test_a_changed_scene_is_out_of_date_until_accepted(through: Path, tmp_path: Path) -> None:
    cache = tmp_path / "c"
    shutil.copytree(through, cache)
    change(cache, gravity=(0.0, 0.0, 3.0))
    assert failure(StorageFailed, cache, resume=True) == "cache-out-of-date"
    assert baked(cache).keys() == baked(through).keys()
    run_bake(cache, nothing, options=BakeOptions(resume=True, from_frame=15, accept_changes=True))
    old, new = CacheReader(through), CacheReader(cache)
    assert new.is_done() and new.integrity_problems() == []
    assert (old.read_frame(11).x == new.read_frame(11).x).all()  # the last checkpoint up to 15
    assert old.read_frame(FRAMES).x[:27, 2].mean() < new.read_frame(FRAMES).x[:27, 2].mean()
    assert new.metadata.scene == Scene.load(cache / "scene").digest()


def test_another_shape_or_animation_is_told(through: Path, tmp_path: Path) -> None:
    cache = tmp_path / "c"
    shutil.copytree(through, cache)
    change(cache, fps=30.0)
    assert failure(StorageFailed, cache, resume=True, accept_changes=True) == "cache-other-shape"
    change(cache, fps=24.0)
    run_bake(cache, nothing, options=BakeOptions(resume=True))
    (cache / "scene" / "tracks" / "body.hangs.targets" / "000000.npz").unlink()
    (cache / "scene" / "tracks" / "body.hangs.targets" / "track.json").unlink()
    with pytest.raises(StorageFailed) as caught:
        run_bake(cache, nothing, options=BakeOptions(resume=True))
    assert "an animation that changed" in caught.value.text
    assert failure(StorageFailed, cache, resume=True, from_frame=-3, accept_changes=True) == "cache-no-resume"


def test_a_bake_is_made_longer(through: Path, tmp_path: Path) -> None:
    cache = tmp_path / "c"
    write_scene(cache, tiny_scene(FRAMES))
    run_bake(cache, nothing, options=BakeOptions(frame_end=13))
    assert CacheReader(cache).last_frame() == 13
    run_bake(cache, nothing, options=BakeOptions(resume=True, frame_end=8))  # nothing to do, nothing lost
    assert CacheReader(cache).last_frame() == 13
    run_bake(cache, nothing, options=BakeOptions(resume=True))
    assert baked(cache) == baked(through)


def test_resuming_nothing_bakes_from_the_start(through: Path, tmp_path: Path) -> None:
    cache = tmp_path / "c"
    shutil.copytree(through / "scene", cache / "scene")
    run_bake(cache, nothing, options=BakeOptions(resume=True))
    assert baked(cache) == baked(through)


def test_gravity_in_shape_resumes_to_the_same_bytes(tmp_path: Path) -> None:
    scene = tiny_scene(13)
    scene = dataclasses.replace(
        scene, bodies=tuple(dataclasses.replace(b, gravity_in_shape=True) for b in scene.bodies)
    )
    for name in ("through", "cut"):
        write_scene(tmp_path / name, scene)
    run_bake(tmp_path / "through", nothing)
    run_bake(tmp_path / "cut", nothing, options=BakeOptions(frame_end=5))
    run_bake(tmp_path / "cut", nothing, options=BakeOptions(resume=True))
    assert baked(tmp_path / "cut") == baked(tmp_path / "through")


def test_samples_between_frames(tmp_path: Path) -> None:
    for count in (1, 2):
        cache = tmp_path / f"c{count}"
        write_scene(cache, tiny_scene(6, samples_per_frame=count))
        run_bake(cache, nothing)
    once, twice = CacheReader(tmp_path / "c1"), CacheReader(tmp_path / "c2")
    assert twice.last_frame() == 6
    for key in ("falls", "hangs"):
        assert (twice.read_samples(key, 0, 11)[::2] == once.read_samples(key, 0, 6)).all()


def test_no_scene_is_told(tmp_path: Path) -> None:
    assert failure(StorageFailed, tmp_path / "none") == "scene-unreadable"
    scene = tiny_scene(4)
    write_scene(tmp_path / "c", dataclasses.replace(scene, bodies=(scene.bodies[1],) * 2))
    assert failure(BadInput, tmp_path / "c") == "body-key"


def test_driven_as_blender_drives_it(through: Path, tmp_path: Path) -> None:
    cache = tmp_path / "c"

    def export() -> Any:
        yield 0.5
        shutil.copytree(through / "scene", cache / "scene")
        yield 1.0

    bake = BakeDriver(export, [child_command(["simulate", str(cache), "--child", "--json"])], cache / "log.txt")
    bake.start(1, FRAMES)
    end = clock.monotonic() + 180.0
    while bake.job.is_running and clock.monotonic() < end:
        bake.poll()
        clock.sleep(0.01)
    assert bake.job.phase == "done", bake.job.error
    assert bake.job.tets == 96 and bake.job.frame == FRAMES
    assert baked(cache) == baked(through)


def test_the_package_may_have_any_name(through: Path, tmp_path: Path) -> None:
    folder = tmp_path / "bl ext" / "sïnew-0.1"
    folder.parent.mkdir()
    root = Path(__file__).resolve().parent.parent
    shutil.copytree(root / "solver", folder / "solver", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(root / "__init__.py", folder)
    # bad input: everything is imported, and nothing has to be compiled for the new place
    cache = tmp_path / "c"
    dataclasses.replace(tiny_scene(4), bodies=()).save(cache / "scene")
    command = [sys.executable, "-s", str(folder / "solver" / "cli" / "bootstrap.py"), "--package-dir", str(folder)]
    told = subprocess.run([*command, "simulate", str(cache)], capture_output=True, cwd=tmp_path, text=True)
    assert told.returncode == 2 and told.stderr.startswith("sinew: "), told.stderr
    assert len(told.stderr.splitlines()) == 1


@pytest.mark.skipif(sys.platform != "linux", reason="only glibc is told what to keep")
def test_a_bake_keeps_the_memory_of_its_arrays() -> None:
    code = """
import resource
import numpy as np
from sinew.solver.cli import bootstrap as launcher
launcher._raise_malloc_thresholds()
def pages(times):
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    for _ in range(times):
        np.ones(2**21)
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before
print(pages(1), pages(10))
"""
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    first, more = map(int, ended.stdout.split())
    assert 10 * more < first, "glibc comes to it by itself, but not before it has given back what it had"
