# SPDX-License-Identifier: GPL-3.0-or-later
"""A bake begins while another process still compiles for it, and leaves all compiled behind."""

from __future__ import annotations

import dataclasses
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from sinew.solver.bake.run_bake import run_bake
from sinew.solver.bake.warmup import warm_up
from sinew.solver.bake.warmup.helper_process import SOLVE_STAGE, STEPS_STAGE, CompilerProcess
from sinew.solver.bake.warmup.small_scenes import box, free_fall_scene, full_feature_scene, scene_features
from sinew.solver.bake.warmup.stamps import compiled_features, mark_compiled
from sinew.solver.scene.scene import Body, Collider, Meshing, Scene, Settings
from sinew.solver.scene.tracks import TrackWriter


def _cube(height: float = 0.2) -> Scene:
    vertices, triangles = box(np.array([0.0, 0.0, height]), 1)
    body = Body(vertices, triangles, meshing=Meshing(divisions=4), key="cube", name="Cube")
    return Scene((body,), (Collider("ground", "Ground"),), Settings(1, 4, substeps=1))


def _bake(folder: Path, scene: Scene) -> list[dict]:
    scene.save(folder / "scene")
    TrackWriter(folder / "scene").close()
    told: list[dict] = []
    run_bake(folder, lambda event: told.append(dict(event)))
    return told


def _frames(folder: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for kind in ("frames", "play", "resume") for file in (folder / kind).iterdir()}


def test_a_bake_beside_compiling_is_the_same_bake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    scene, marks = _cube(), []
    _bake(tmp_path / "before.sinew", scene)
    monkeypatch.setattr(warm_up, "is_compiled", lambda scene: False)
    wait = CompilerProcess.wait
    monkeypatch.setattr(
        CompilerProcess, "wait", lambda self, *of: (wait(self, *of), marks.append(self._process.returncode))
    )
    told = [event["event"] for event in _bake(tmp_path / "beside.sinew", scene)]
    assert told == ["compiling", "built", "frame", "frame", "frame", "frame", "done"]
    assert marks == [0]
    assert _frames(tmp_path / "beside.sinew") == _frames(tmp_path / "before.sinew")


def test_what_a_bake_left_out_is_compiled_and_marked_when_it_ends(tmp_path: Path) -> None:
    """The other process runs every feature of the scene, contacts included, which a cube in the air has not met."""
    scene = _cube(5.0)
    folder = tmp_path / "cube.sinew"
    scene.save(folder / "scene")
    code = f"""
from pathlib import Path
from sinew.solver.bake.warmup import warm_up
from sinew.solver.contact.active_set import contact_kernels as forces
from sinew.solver.contact import contact_loads as pressed
from sinew.solver.contact.active_set import active_set_kernels as settle
from sinew.solver.linalg.multigrid import mg_pcg as search
marks, said = [], []
warm_up.mark_compiled = marks.append
warm_up.compile_for_running_bake(Path({str(folder)!r}), lambda event: said.append(event["event"]))
kernels = [forces.load_persistent, forces.contact_springs, forces.store_persistent]
kernels += [pressed.add_loads, settle.update_active_set, search.iterate_mg_pcg]
for kernel in kernels:
    assert kernel.signatures, kernel
print(*said, *marks)
"""
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout.strip() == f"{SOLVE_STAGE} {STEPS_STAGE} {scene_features(scene)}"


def test_scenes_of_many_kernels_wait_for_all_of_them() -> None:
    assert warm_up._can_start_at_once(free_fall_scene()) and not warm_up._can_start_at_once(full_feature_scene())
    two = dataclasses.replace(
        free_fall_scene(), bodies=tuple(dataclasses.replace(free_fall_scene().bodies[0], key=k) for k in "ab")
    )
    assert not warm_up._can_start_at_once(two)


def _helper(code: str) -> CompilerProcess:
    options = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    return CompilerProcess(subprocess.Popen([sys.executable, "-c", code], **options))


def test_nobody_waits_for_a_helper_that_has_ended() -> None:
    helper = _helper("raise SystemExit(3)")
    began = time.monotonic()
    helper.wait_for(STEPS_STAGE)
    helper.wait()
    helper.close()
    assert time.monotonic() - began < 30.0


def test_a_helper_is_heard_and_ended() -> None:
    helper = _helper(f'import time; print(\'{{"event": "{SOLVE_STAGE}"}}\', flush=True); time.sleep(600)')
    helper.wait_for(SOLVE_STAGE)
    assert helper._process.poll() is None and not helper._compiled_stages[STEPS_STAGE].is_set()
    helper.wait(lambda: True)
    assert helper._process.poll() is None
    helper.close()
    helper.wait_for(STEPS_STAGE)
    assert helper._process.poll() is not None


def test_marks_are_found_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SINEW_KERNEL_CACHE", str(tmp_path))
    assert not any(compiled_features())
    mark_compiled("held, springs")
    assert list(compiled_features()) == [{"held", "springs"}]
