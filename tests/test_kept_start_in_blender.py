# SPDX-License-Identifier: GPL-3.0-or-later
"""Keep as Start: what a live run has pressed is the first frame of the next bake, until it is removed."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

bpy = pytest.importorskip("bpy")

from fixtures.blender_scenes import add_box, fresh
from fixtures.live_in_blender import ended as ended  # a fixture
from fixtures.live_in_blender import ground, jelly, run_steps, shown, started, until
from sinew.addon.baking.addon_session import session
from sinew.addon.blender_data import start_property
from sinew.addon.export import input_digest
from sinew.addon.live import kept_start, run_control
from sinew.addon.objects import role_checks, roles
from sinew.solver.runtime.errors import BadInput
from sinew.solver.scene.start import Start


def clay() -> bpy.types.Object:
    """Returns a box of soft clay that has fallen flat on a ground, in a scene of four frames."""
    box = jelly()
    ground(-0.6)
    scene = bpy.context.scene
    scene.frame_end, scene.sinew.cache_path = 4, ""
    bpy.context.view_layer.objects.active = box
    bpy.ops.object.select_all(action="DESELECT")
    box.select_set(True)
    box.sinew.use_plasticity, box.sinew.yield_strain, box.sinew.flow = True, 0.01, 30.0
    box.sinew.youngs_modulus = 3.0e3
    return box


def kept(box: bpy.types.Object, steps: int = 40) -> np.ndarray:
    """Lets it run live, holds it, keeps its start and stops; returns what was seen then, in the world."""
    run = started()
    run_steps(run, steps)
    assert bpy.ops.sinew.pause_live() == {"FINISHED"}
    until(lambda: run.held_at is not None and run.step == run.held_at)
    seen = shown(box)
    assert bpy.ops.sinew.keep_start() == {"FINISHED"}
    run_control.stop()
    until(lambda: session.live is None)
    return seen


def a_start() -> Start:
    """Returns a start of one tet, which has flowed."""
    places = np.vstack([np.zeros(3), np.eye(3)])
    tets = np.arange(4, dtype=np.int32)[None]
    return Start(places, places, tets, 0.5 * places, Fp_inverse=2.0 * np.eye(3)[None], flowed=np.ones(1))


def test_an_object_keeps_a_start_through_undo_copies_and_files_until_it_is_removed(tmp_path: Path) -> None:
    box, scene = jelly(), bpy.context.scene
    without = input_digest.settings_digest(scene)
    bpy.ops.ed.undo_push(message="before")
    start_property.store(box, a_start().to_bytes())
    bpy.ops.ed.undo_push(message="after")
    kept = input_digest.settings_digest(scene)
    assert kept != without
    bpy.ops.ed.undo()
    box, scene = bpy.data.objects["Jelly"], bpy.context.scene
    assert not start_property.has(box) and input_digest.settings_digest(scene) == without
    bpy.ops.ed.redo()
    box, scene = bpy.data.objects["Jelly"], bpy.context.scene
    assert start_property.has(box) and input_digest.settings_digest(scene) == kept
    copy = box.copy()
    assert np.array_equal(start_property.read(copy, np.eye(4)).positions, a_start().positions)
    bpy.data.objects.remove(copy)
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "a.blend"))
    jelly()
    with bpy.data.libraries.load(str(tmp_path / "a.blend")) as (_, wanted):
        wanted.objects = ["Jelly"]
    appended = wanted.objects[0]
    moved = start_property.read(appended, np.diag([2.0, 2.0, 2.0, 1.0]))
    assert moved.positions == pytest.approx(a_start().positions * 2.0)
    assert moved.Fp_inverse == pytest.approx(a_start().Fp_inverse), "it is a strain"
    appended.sinew.start_data = appended.sinew.start_data[:-5]
    with pytest.raises(BadInput, match="cannot be read"):
        start_property.read(appended, np.eye(4))
    start_property.remove(appended)
    assert not start_property.has(appended) and start_property.digest_parts(appended) == []


def test_an_override_keeps_its_start_when_the_file_is_read_again(tmp_path: Path) -> None:
    fresh()
    add_box("Hero")
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "character.blend"))
    scene = fresh()
    with bpy.data.libraries.load(str(tmp_path / "character.blend"), link=True) as (_, wanted):
        wanted.objects = ["Hero"]
    with pytest.raises(BadInput, match="Hero"):
        role_checks.check_changeable(wanted.objects[0])
    obj = wanted.objects[0].override_create()
    scene.collection.objects.link(obj)
    roles.make_body(obj)
    start_property.store(obj, a_start().to_bytes())
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "shot.blend"))
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "shot.blend"))
    again = next(o for o in bpy.context.scene.objects if o.type == "MESH")
    assert again.override_library is not None
    assert np.array_equal(start_property.read(again, np.eye(4)).positions, a_start().positions)


@pytest.mark.slow
def test_a_bake_begins_as_the_run_was_kept_and_at_rest_once_it_is_removed(tmp_path: Path) -> None:
    box = clay()
    scene = bpy.context.scene
    scene.sinew.cache_path = str(tmp_path / "c.sinew")
    assert not bpy.ops.sinew.keep_start.poll() and not bpy.ops.sinew.remove_start.poll()
    box.rotation_euler.z = 0.5
    bpy.context.view_layer.update()
    rest, before = shown(box), input_digest.settings_digest(scene)
    seen = kept(box)
    assert start_property.has(box) and np.array_equal(shown(box), rest), "the mesh stays as it is"
    assert input_digest.settings_digest(scene) != before
    copy = box.copy()
    assert start_property.digest_parts(copy) == start_property.digest_parts(box)
    bpy.data.objects.remove(copy)
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "a.blend"))
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "a.blend"))
    box, scene = bpy.data.objects["Jelly"], bpy.context.scene
    assert bpy.ops.sinew.simulate() == {"FINISHED"}
    scene.frame_set(1)
    assert shown(box) == pytest.approx(seen, abs=1e-5) and np.abs(seen - rest).max() > 0.05
    box.select_set(True)
    assert bpy.ops.sinew.remove_start() == {"FINISHED"} and not start_property.has(box)
    assert input_digest.settings_digest(scene) == before
    assert bpy.ops.sinew.simulate() == {"FINISHED"}
    scene.frame_set(1)
    assert shown(box) == pytest.approx(rest, abs=1e-5)


@pytest.mark.slow
def test_it_can_be_kept_after_the_run_and_the_mesh_must_be_the_same() -> None:
    box = clay()
    run = started()
    run_steps(run, 20)
    run_control.stop()
    until(lambda: session.live is None and kept_start.is_written(run))
    assert bpy.ops.sinew.keep_start() == {"FINISHED"}
    assert bpy.ops.sinew.live() == {"FINISHED"}, "it runs on from there"
    run_steps(session.live, 2)
    run_control.stop()
    until(lambda: session.live is None)
    box.data.vertices[0].co.x += 0.2
    with pytest.raises(RuntimeError, match='mesh of "Jelly" has another shape'):
        bpy.ops.sinew.simulate()


@pytest.mark.slow
def test_a_run_without_a_state_is_named() -> None:
    clay()
    run = started()
    run_steps(run, 5)
    bpy.ops.sinew.keep_start()
    for path in (run.folder / "live").glob("*.start"):
        path.unlink()
    with pytest.raises(BadInput, match="state that could be kept"):
        kept_start.keep(run)
