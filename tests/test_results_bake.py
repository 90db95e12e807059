# SPDX-License-Identifier: GPL-3.0-or-later
"""A body that really breaks, from the button to the object in its place: undo, load, cancel, resume, attach."""

from __future__ import annotations

import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

bpy = pytest.importorskip("bpy")

from fixtures.blender_scenes import evaluated, fresh
from sinew.addon.baking import bake_control, bake_status, last_failure
from sinew.addon.baking.addon_session import session
from sinew.addon.objects import new_role_objects, roles
from sinew.addon.overlays import tet_overlay
from sinew.solver.bake.cache import CacheReader, layout
from sinew.solver.bake.cache.pc2 import read_header, read_samples

pytestmark = pytest.mark.slow

FRAMES = 10


def falling(frames: int = FRAMES) -> tuple[bpy.types.Scene, bpy.types.Object]:
    """Returns a small brittle block just above the ground, on its way down."""
    scene = fresh()
    bpy.ops.mesh.primitive_cube_add(size=0.4, location=(0.0, 0.0, 0.31), rotation=(0.3, 0.2, 0.0))
    obj = bpy.context.object
    obj.name = "Block"
    obj.data.shade_smooth()
    bpy.ops.object.mode_set(mode="EDIT")
    bpy.ops.mesh.subdivide(number_cuts=3)
    bpy.ops.object.mode_set(mode="OBJECT")
    roles.make_body(obj)
    own = obj.sinew
    own.youngs_modulus, own.divisions, own.initial_velocity = 1.0e6, 3, (0.0, 0.0, -5.0)
    own.use_fracture, own.breaking_stress, own.attributes = True, 4.0e4, {"damage"}
    own.most_pieces = 6
    new_role_objects.add_ground(bpy.context)
    scene.frame_end = frames
    return scene, obj


@pytest.fixture(scope="module")
def baked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with shot.blend and its cache: a block that broke."""
    folder = tmp_path_factory.mktemp("broken")
    scene, _ = falling()
    bpy.ops.wm.save_as_mainfile(filepath=str(folder / "shot.blend"))
    assert bpy.ops.sinew.simulate() == {"FINISHED"}
    assert not last_failure.failure_text(scene), last_failure.failure_text(scene)
    bpy.ops.wm.save_mainfile()
    return folder


@pytest.fixture
def shot(baked: Path, tmp_path: Path) -> Iterator[Path]:
    """A copy of that folder for one test, with the file open."""
    folder = tmp_path / "broken"
    shutil.copytree(baked, folder)
    fresh()
    bpy.ops.wm.open_mainfile(filepath=str(folder / "shot.blend"))
    yield folder


def results() -> list[bpy.types.Object]:
    return [o for o in bpy.data.objects if o.sinew.result_of]


def check_plays(folder: Path) -> bpy.types.Object:
    """Makes sure that the one result plays the motion in the cache, with the original hidden; returns it."""
    (made,) = results()
    obj = made.sinew.result_of
    motion = layout.result_paths(folder / "shot.sinew", "Block")[1]
    last = CacheReader(folder / "shot.sinew").last_frame()
    assert last is not None
    for frame in {1, last}:
        wanted = read_samples(motion, frame - 1, 1)[0]
        assert np.allclose(evaluated(made, frame)[0], wanted, atol=1e-6)
    assert obj.hide_viewport and obj.hide_render and not made.hide_viewport
    return made


def test_the_result_is_made_when_the_bake_is_done_and_there_after_a_load(shot: Path) -> None:
    made = check_plays(shot)
    mesh = made.data
    assert not mesh.validate(verbose=True)
    broken = np.array([d.value for d in mesh.attributes["broken"].data])
    opens = np.array([d.value for d in mesh.attributes["opens"].data])
    pieces = np.array([d.value for d in mesh.attributes["piece"].data])
    assert (
        broken.any()
        and len(pieces) == len(broken)
        and (opens[broken] > 1).all()
        and (opens[broken] <= FRAMES + 1).all()
    )
    # closed: every edge between two faces
    uses = np.bincount([loop.edge_index for loop in mesh.loops])
    assert (uses == 2).all()
    assert [m.name for m in made.modifiers] == ["Sinew", "Sinew Attributes", "Sinew Shading"]


def test_delete_bake_gives_all_back(shot: Path) -> None:
    obj = bpy.data.objects["Block"]
    assert bpy.ops.sinew.delete_bake() == {"FINISHED"}
    assert not results() and not obj.hide_viewport and not obj.hide_render
    assert not bpy.data.node_groups and "Sinew Broken" not in bpy.data.materials
    assert len(bpy.data.meshes) == 2 and not (shot / "shot.sinew").exists()


def test_undo_and_redo_keep_one_result(shot: Path) -> None:
    bpy.ops.ed.undo_push(message="before")
    bpy.context.scene.frame_end = 5
    bpy.ops.ed.undo_push(message="after")
    bpy.ops.ed.undo()
    check_plays(shot)
    bpy.ops.ed.redo()
    check_plays(shot)


def test_a_result_that_changed_on_disk_is_made_anew_at_the_next_load(shot: Path) -> None:
    stamp = results()[0].sinew.result_stamp
    path, _ = layout.result_paths(shot / "shot.sinew", "Block")
    with np.load(path) as stored:
        arrays = dict(stored)
    arrays["opens"] = arrays["opens"] + np.float32(1.0)
    np.savez(path, **arrays)
    bpy.ops.wm.open_mainfile(filepath=str(shot / "shot.blend"))
    assert check_plays(shot).sinew.result_stamp != stamp
    assert len([m for m in bpy.data.meshes if m.users]) == 3


def test_it_stays_while_its_drive_is_gone_and_comes_back(shot: Path) -> None:
    (shot / "shot.sinew").rename(shot / "away")
    bpy.ops.wm.open_mainfile(filepath=str(shot / "shot.blend"))
    assert len(results()) == 1 and bpy.data.objects["Block"].hide_render
    (shot / "away").rename(shot / "shot.sinew")
    bpy.ops.wm.open_mainfile(filepath=str(shot / "shot.blend"))
    check_plays(shot)


def test_another_file_gets_it_by_attach(shot: Path) -> None:
    falling()
    bpy.ops.wm.save_as_mainfile(filepath=str(shot / "other.blend"))
    words = ["attach", shot / "other.blend", shot / "shot.sinew"]
    done = subprocess.run(
        [sys.executable, "-m", "sinew", *map(str, words)], capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
    bpy.ops.wm.open_mainfile(filepath=str(shot / "other.blend"))
    check_plays(shot)


def test_a_stopped_bake_is_finished_and_resume_replaces_it(tmp_path: Path) -> None:
    scene, obj = falling()
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "shot.blend"))
    bake = bake_control.start(scene)
    is_cancelled = False
    while bake_control.poll():
        if not is_cancelled and bake.driver.job.frame is not None and bake.driver.job.frame >= 7:
            session.cancel()
            is_cancelled = True
        time.sleep(0.01)
    assert bake.driver.job.phase == "cancelled"
    made = check_plays(tmp_path)
    first, last = made.sinew.result_stamp, CacheReader(tmp_path / "shot.sinew").last_frame()
    assert last is not None and 7 <= last < FRAMES
    bpy.ops.sinew.simulate(resume=True)
    made = check_plays(tmp_path)
    assert made.sinew.result_stamp != first
    assert read_header(layout.result_paths(tmp_path / "shot.sinew", "Block")[1]).samples == FRAMES
    assert not last_failure.failure_text(scene) and len(results()) == 1
    obj.sinew.breaking_stress = 1.0e9
    bpy.ops.sinew.simulate()
    assert not results() and not obj.hide_viewport and not obj.hide_render, "nothing cracked this time"


def test_a_bake_that_is_stopped_in_a_long_step_is_cut_too(tmp_path: Path) -> None:
    """The child is killed when it does not hear in time; what broke is cut all the same, and can be cut by a button."""
    scene, _ = falling()
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "shot.blend"))
    bake = bake_control.start(scene)
    while bake_control.poll() and not (bake.cracked_bodies and bake.driver.job.frame >= 7):
        time.sleep(0.01)
    assert bake.driver._child is not None
    bake.driver._child.kill()
    session.cancel()
    bake_control.wait()
    assert bake.driver.job.phase == "cancelled"
    last = CacheReader(tmp_path / "shot.sinew").last_frame()
    assert last is not None and 7 <= last < FRAMES and not bake_status.status(scene).is_unfinished
    check_plays(tmp_path)
    before = layout.result_paths(tmp_path / "shot.sinew", "Block")[1].read_bytes()
    shutil.rmtree(tmp_path / "shot.sinew" / "result")
    bake_status.invalidate()
    bake_status.cache_folder_status.invalidate()
    now = bake_status.status(scene)
    assert now.phase == "partial" and now.is_unfinished
    assert bpy.ops.sinew.simulate(only_cuts=True) == {"FINISHED"}
    check_plays(tmp_path)
    assert layout.result_paths(tmp_path / "shot.sinew", "Block")[1].read_bytes() == before
    assert CacheReader(tmp_path / "shot.sinew").last_frame() == last
    scene.frame_end = last - 2  # before the playhead, and before what is baked
    scene.frame_set(last)
    bake_status.invalidate()
    now = bake_status.status(scene)
    assert now.baked_label == f"Baked to Frame {last}" and not now.can_resume
    assert bake_status.earlier_resume_frame(scene) is None


WITHOUT = """
import sys, bpy
bpy.ops.wm.open_mainfile(filepath=sys.argv[1])
assert "sinew" not in bpy.types.Object.bl_rna.properties
for frame in (1, 10):
    bpy.context.scene.frame_set(frame)
    final = bpy.data.objects["Block Broken"].evaluated_get(bpy.context.evaluated_depsgraph_get()).data
    print("PLAYS", frame, sum(v.co.z for v in final.vertices), sum(d.value for d in final.attributes["damage"].data))
"""


def test_it_plays_without_the_add_on(shot: Path) -> None:
    made = check_plays(shot)
    wanted = []
    for frame in (1, 10):
        bpy.context.scene.frame_set(frame)
        final = made.evaluated_get(bpy.context.evaluated_depsgraph_get()).data
        heights = sum(v.co.z for v in final.vertices)
        wanted.append((frame, heights, sum(d.value for d in final.attributes["damage"].data)))
    assert wanted[1][2] > 0.0
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT, str(shot / "shot.blend")], capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
    lines = [line.split()[1:] for line in done.stdout.splitlines() if line.startswith("PLAYS")]
    assert np.allclose(np.array(lines, float), wanted)


def test_what_was_never_cut_is_cut_by_the_button(shot: Path) -> None:
    """As after Blender was closed, or crashed, while the mesh was cut."""
    before = (layout.result_paths(shot / "shot.sinew", "Block")[1]).read_bytes()
    shutil.rmtree(shot / "shot.sinew" / "result")
    fresh()
    bpy.ops.wm.open_mainfile(filepath=str(shot / "shot.blend"))
    assert not results()
    scene, obj = bpy.context.scene, bpy.data.objects["Block"]
    scene.frame_set(FRAMES)
    assert obj.evaluated_get(bpy.context.evaluated_depsgraph_get()).hide_render and tet_overlay.replaces_mesh(
        obj, scene
    )
    now = bake_status.status(bpy.context.scene)
    assert now.label == "Cut the Broken Meshes" and now.can_resume and not now.outdated
    assert bpy.ops.sinew.simulate(resume=now.can_resume) == {"FINISHED"}
    check_plays(shot)
    assert layout.result_paths(shot / "shot.sinew", "Block")[1].read_bytes() == before
    assert bake_status.status(bpy.context.scene).baked_label == f"Baked to Frame {FRAMES}"
