# SPDX-License-Identifier: GPL-3.0-or-later
"""What is compiled once leaves nothing to compile to bakes, and a bake that has to compile says so."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numba
import pytest
from numba.core.caching import NullCache

from fixtures.compile_listener import LISTENER
from fixtures.formulation_choices import CHOICES
from fixtures.tiny_bakes import tiny_scene, write_scene
from sinew.solver.bake.run_bake import run_bake
from sinew.solver.bake.warmup import compile_kernels
from sinew.solver.bake.warmup.small_scenes import FILLS, all_scenes
from sinew.solver.mechanics.self_weight_volume_penalty import flesh_has_pressure, has_self_weight_pressure
from sinew.solver.runtime import jit
from sinew.solver.runtime.jit import kernel
from sinew.solver.runtime.threads.thread_count import fair_thread_count, thread_count
from sinew.solver.scene.flesh import FLESH_MOTIONS, FLESH_TIME_SCHEMES
from sinew.solver.scene.formulation import COARSE_SOLVERS, with_unread_defaults
from sinew.solver.scene.scene import PLASTICITY_LAWS
from sinew.solver.scene.sheet import SHEET_LAWS
from sinew.solver.scene.validation import check_scene

pytestmark = pytest.mark.slow

# compiles all, or loads it where this machine has compiled it before, and bakes
BAKES = """
import dataclasses, sys, tempfile
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from fixtures import brittle_scenes, fracture_scenes, flesh_scenes
from fixtures.closed_surfaces import sphere
from fixtures.formulation_choices import CHOICES, resisting
from fixtures.rigid_bodies import rigid_box
from fixtures.scenes import block
from fixtures.sheets import grid
from fixtures.tiny_bakes import tiny_scene, write_scene
from sinew.solver.bake.run_bake import run_bake
from sinew.solver.bake.warmup import compile_kernels
from sinew.solver.constraints.stretch_limit import YIELDING_LAW
from sinew.solver.scene.contact import Collision
from sinew.solver.scene.flesh import Flesh
from sinew.solver.scene.joint import Joint
from sinew.solver.scene.scene import Body, Meshing, Scene, Settings
from sinew.solver.scene.stretch_limit import StretchLimit
from sinew.solver.scene.tracks import TrackWriter
compile_kernels.is_all_compiled = lambda: False
compile_kernels.mark_all_compiled = lambda: None
compile_kernels.compile_all(lambda event: None)
folder, told = Path(tempfile.mkdtemp()), []
write_scene(folder / "tiny", tiny_scene(12))
limb = flesh_scenes.limb()
limited = dataclasses.replace(limb, flesh=Flesh(law=YIELDING_LAW), stretch_limit=StretchLimit(1.0))
for name, body in (("limb", limb), ("limited", limited)):
    flesh_scenes.write_limb(folder / name, Scene((body,), (), Settings(frame_end=3)), 60.0)
falls = Settings(fps=50.0, substeps=2, frame_end=10)
scenes = {"breaks": Scene((fracture_scenes.ball(),), fracture_scenes.FLOOR, falls)}
for number, method in enumerate(CHOICES):
    body = resisting(block((2, 2, 2), (0.2, 0.2, 0.2), at=(0.0, 0.0, 0.01)), method)
    scenes[f"method-{number}"] = Scene((body,), fracture_scenes.FLOOR, Settings(frame_end=3, substeps=2))
nodes, triangles = grid((6, 6), (0.4, 0.4))
cloth = Body(nodes + [-0.2, -0.2, 0.21], triangles, meshing=Meshing("sheet"), collision=Collision(0.3, 0.0, True))
below = block((2, 2, 2), (0.2, 0.2, 0.2), at=(-0.08, -0.07, 0.0), key="below")
scenes["sheet"] = Scene((dataclasses.replace(cloth, key="cloth"), below), fracture_scenes.FLOOR, Settings(frame_end=8))
rod = rigid_box((0.1, 0.1, 0.4), key="rod")
scenes["joints"] = Scene((rod,), (), Settings(frame_end=4), joints=(Joint("", "rod", "hinge"),))
places, faces = sphere(8)
switched = Meshing("adaptive", divisions=8, refines_dynamically=True)
ball = Body(places + [0.0, 0.0, 1.2], faces, meshing=switched, initial_velocity=(0.0, 0.0, -5.0))
apart = [block((2, 2, 2), (0.2, 0.2, 0.2), at=(0.0, 0.0, 1e-4 + 0.21 * n), key=f"apart{n}") for n in range(2)]
apart = [dataclasses.replace(each, stretch_limit=StretchLimit(1.0)) for each in apart]
scenes["exact"] = Scene(tuple(apart), fracture_scenes.FLOOR, Settings(frame_end=6, substeps=2, contact="exact"))
scenes["shatters"] = brittle_scenes.dropped_slab(3.0)
scenes["levels"] = Scene((ball,), fracture_scenes.FLOOR, Settings(frame_end=12))
for name, scene in scenes.items():
    scene.save(folder / name / "scene")
    TrackWriter(folder / name / "scene").close()
with listen():
    for cache in sorted(folder.iterdir()):
        run_bake(cache, told.append)
        assert not names, f"{cache.name} compiled {names}"
assert len(told) > 30 and not [event for event in told if event["event"] == "compiling"]
"""


def test_bakes_find_all_compiled() -> None:
    command = [sys.executable, "-c", LISTENER + BAKES, str(Path(__file__).parent)]
    ended = subprocess.run(command, capture_output=True, text=True)
    assert ended.returncode == 0, ended.stderr


def test_the_small_scenes_have_everything_that_has_kernels_of_its_own() -> None:
    scenes = list(all_scenes())
    bodies = [body for scene in scenes for body in scene.bodies]
    for scene in scenes:
        check_scene(scene)
    assert {body.meshing.method for body in bodies} >= set(FILLS)
    assert {body.plasticity.law for body in bodies if body.plasticity} == set(PLASTICITY_LAWS)
    flesh = {(body.flesh.motion, body.flesh.scheme) for body in bodies if body.flesh}
    assert {motion for motion, _ in flesh} == set(FLESH_MOTIONS) and {how for _, how in flesh} == set(
        FLESH_TIME_SCHEMES
    )
    methods = {with_unread_defaults(body.method) for body in bodies}
    for choice in map(with_unread_defaults, CHOICES):
        deep = choice.levels > 1  # more levels run no other kernel
        lagged = choice.rotations_every > 1  # nor does another number of steps
        assert deep or lagged or choice in methods, choice
    assert {method.coarse_solver for method in methods} == set(COARSE_SOLVERS)
    assert {collider.shape for scene in scenes for collider in scene.colliders} == {"plane", "mesh"}
    for has in ("fracture", "heat", "core"):
        assert any(getattr(body, has) is not None for body in bodies), has
    assert {body.sheet.law for body in bodies if body.is_sheet} == set(SHEET_LAWS)
    gravity = scenes[0].settings.gravity
    assert any(has_self_weight_pressure(body, gravity) for body in bodies)
    assert any(flesh_has_pressure(scene, body, gravity) for scene in scenes for body in scene.bodies)
    assert {len(source.triangles) > 0 for scene in scenes for source in scene.heat_sources} == {True, False}
    assert {(len(bone.triangles) > 0, bone.stiffness is None) for scene in scenes for bone in scene.bones} == {
        (True, True),
        (False, False),
    }


def test_the_first_compilation_is_announced_and_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[dict] = []
    monkeypatch.setattr(jit, "KernelCache", lambda function: NullCache())  # an earlier run has kept them on disk
    half, third = kernel()(lambda a: a / 2.0), kernel()(lambda a: a / 3.0)
    with compile_kernels.announcing_compilation(lambda event: told.append(dict(event))) as is_compiling:
        assert not is_compiling() and told == []
        assert half(3.0) == 1.5
        assert is_compiling() and [event["event"] for event in told] == ["compiling"]
        assert half(3.0) == 1.5 and third(3.0) == 1.0
    assert len(told) == 1 and told[0]["seconds_expected"] > 0


def test_a_bake_that_compiles_nothing_says_nothing(tmp_path: Path) -> None:
    told: list[str] = []
    for name in ("first", "second"):
        write_scene(tmp_path / name, tiny_scene(3))
        told.clear()
        run_bake(tmp_path / name, lambda event: told.append(event["event"]))
    assert told.count("frame") == 3 and "compiling" not in told and "building" in told


def test_what_is_compiled_already_is_not_compiled_again(monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[object] = []
    monkeypatch.setattr(compile_kernels, "is_all_compiled", lambda: True)
    monkeypatch.setattr(compile_kernels, "all_scenes", lambda: pytest.fail("compiles"))
    compile_kernels.compile_all(told.append)
    assert told == []


@pytest.mark.parametrize(("load", "share"), [(0.0, 1.0), (1.0, 1.0), (2.0, 0.5), (1000.0, 0.0)])
def test_a_bake_takes_its_share_of_the_cores(load: float, share: float, monkeypatch: pytest.MonkeyPatch) -> None:
    most = int(numba.config.NUMBA_NUM_THREADS)
    monkeypatch.setattr(os, "getloadavg", lambda: (load * most, 0.0, 0.0), raising=False)
    assert fair_thread_count() == max(1, int(share * most))


def test_a_bake_leaves_as_many_threads_as_there_were(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "getloadavg", lambda: (1000.0, 0.0, 0.0), raising=False)
    before, during = thread_count(), set[int]()
    write_scene(tmp_path, tiny_scene(2))
    run_bake(tmp_path, lambda event: during.add(thread_count()))
    assert 1 in during and thread_count() == before
