# SPDX-License-Identifier: GPL-3.0-or-later
"""Keep puts what the hand did into the scene, which a bake then repeats: keys, empties, balls, heat sources."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

bpy = pytest.importorskip("bpy")

from fixtures.export_scenes import exported
from fixtures.live_in_blender import ended as ended  # a fixture
from fixtures.live_in_blender import (
    ground,
    jelly,
    last_values,
    run_key,
    run_steps,
    set_count,
    shown,
    started,
    until,
    until_recorded,
)
from sinew.addon.baking import bake_status
from sinew.addon.baking.addon_session import session
from sinew.addon.baking.live_state import LiveRun
from sinew.addon.blender_data.animation_curves import action_curves
from sinew.addon.evaluation.sample_times import frames_per_second
from sinew.addon.live import brushes, grabs, run_control
from sinew.addon.properties.role_definitions import HEAT_SOURCE
from sinew.solver.live.live_steps import steps_per_frame
from sinew.solver.live.recording import read_inputs

MOVES = 6


def curves_of(owner: bpy.types.ID, path: str) -> list[bpy.types.FCurve]:
    data = owner.animation_data
    return [curve for curve in action_curves(data.action, data.action_slot) if curve.data_path == path]


def stop() -> None:
    run_control.stop()
    until(lambda: session.live is None)


def play(box: bpy.types.Object, plane: bpy.types.Object) -> LiveRun:
    """Runs live with a hand that moves and turns the ground, grabs a corner, pushes, and changes Stiffness."""
    run = started()
    run_steps(run, 3)
    number = grabs.take(run, run_key(run), shown(box)[np.argmax(shown(box).sum(axis=1))], 0.0)
    for index in range(MOVES):
        plane.location.z += 0.0131
        plane.rotation_euler = (0.003 * index, 0.002 * index, 0.005)  # at once, below the speed of a hand
        bpy.context.view_layer.update()
        grabs.move(run, number, run.grabs[number].hand + [0.05, 0.0, 0.07])
        run_steps(run, run.step + 2)
    box.sinew.youngs_modulus *= 2.0
    brushes.hold(run, brushes.PUSH, np.array([2.0, 0.0, 0.0]), 0.4)
    until_recorded(run, "push")
    run_steps(run, run.step + 4)
    brushes.lift(run)
    grabs.release(run, number)
    until_recorded(run, "release")
    run_steps(run, run.step + 6)
    stop()
    return run


def run_a_frame_past(run: LiveRun, track: str) -> None:
    """Runs until a frame has ended that began after the child had set a track: only whole frames are kept."""

    def steps() -> list[int]:
        commands = read_inputs(run.folder).commands
        return [step for step in commands if any(given.get("track") == track for given in commands[step])]

    until(steps)
    run_steps(run, min(steps()) + 2 * steps_per_frame(frames_per_second(bpy.context.scene)))


@pytest.mark.slow
def test_moved_colliders_grabs_pushes_and_settings_are_keyed_and_the_take_is_up_to_date(tmp_path: Path) -> None:
    box, plane, scene = jelly(), ground(-1.2), bpy.context.scene
    plane.location.x = 0.25
    plane.keyframe_insert("location", index=0, frame=1)
    plane.keyframe_insert("color", frame=1)
    before = plane.animation_data.action
    scene.frame_set(4)
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "a.blend"))
    run = play(box, plane)
    recorded = read_inputs(run.folder)
    assert bpy.ops.sinew.keep_live() == {"FINISHED"}
    status = bake_status.status(scene)
    assert status.frame is not None and not status.outdated
    note = session.messages(scene).notes[0].line
    assert "in the scene" in note and "Grab of Jelly" in note and len(session.messages(scene).notes) == 1

    action = plane.animation_data.action
    assert action != before and before.use_fake_user and len(curves_of(plane, "color")) == 4
    assert {p.interpolation for c in curves_of(plane, "location") for p in c.keyframe_points} == {"LINEAR"}
    empty = bpy.data.objects["Grab of Jelly"]
    row = box.sinew.attachments[0]
    assert row.target == empty and row.kind == "SPRING" and len(curves_of(empty, "location")) == 3
    strength = curves_of(box, "sinew.attachments[0].strength")[0]
    assert [p.co.y for p in strength.keyframe_points] == [0.0, 1.0, 0.0]
    assert curves_of(box, "sinew.youngs_modulus") and curves_of(bpy.data.objects["Push"], "sinew.use_collision")

    steps = steps_per_frame(scene.render.fps)
    scene.sinew.samples_per_frame = steps
    scene.sinew.substeps = 2 * steps
    scene.sinew.use_scene_range = False
    scene.sinew.frame_start, scene.sinew.frame_end = 4, 4 + recorded.steps // steps
    written, tracks = exported(scene, tmp_path / "again.sinew")
    wanted = last_values(recorded, "collider.Ground.matrix")
    assert set_count(recorded, "collider.Ground.matrix") == MOVES, "two may come in one step on a busy machine"

    def sample(track: str, step: int) -> np.ndarray:
        """Returns a value at the very time at which the solver asks for it."""
        return tracks.sample(track, written.settings.time(4 + step // steps + step % steps / steps))

    for step, value in wanted.items():
        assert np.array_equal(sample("collider.Ground.matrix", step), value), step
    ((begin, given),) = [(s, c) for s, cs in recorded.commands.items() for c in cs if c["command"] == "grab"]
    key = run_key(run)
    place = sample(f"body.{key}.hook.0.matrix", begin)[:3, 3]
    assert place == pytest.approx(given["place"], abs=1e-6)
    pulled = sample(f"body.{key}.hook.0.strength", begin + 1)
    assert pulled == 1.0 and sample(f"body.{key}.hook.0.strength", begin) == 0.0
    (hook,) = written.bodies[0].hooks
    assert np.flatnonzero(hook.paint).tolist() == given["vertices"]
    modulus = last_values(recorded, f"body.{key}.youngs_modulus")
    for step, value in modulus.items():
        assert sample(f"body.{key}.youngs_modulus", step) == pytest.approx(value)

    objects = len(bpy.data.objects)
    assert bpy.ops.sinew.keep_live() == {"FINISHED"}
    assert len(bpy.data.objects) == objects and len(box.sinew.attachments) == 1, "once"


@pytest.mark.slow
def test_a_heat_gun_becomes_a_source_and_what_a_scene_cannot_say_is_told(tmp_path: Path) -> None:
    box, scene = jelly(), bpy.context.scene
    box.sinew.use_heat = True
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "a.blend"))
    run = started()
    run_steps(run, 3)
    scene.sinew.heat_gun_temperature = 321.0
    brushes.hold(run, brushes.HEAT, np.array([0.0, 0.0, 1.0]), 0.5)
    until_recorded(run, "heat")
    run_steps(run, run.step + 4)
    brushes.lift(run)
    until_recorded(run, "lift")
    brushes.hold(run, brushes.SOFTEN, np.array([0.0, 0.0, 1.0]), 0.5)
    until_recorded(run, "soften")
    run_steps(run, run.step + 6)
    stop()
    assert bpy.ops.sinew.keep_live() == {"FINISHED"}
    gun = bpy.data.objects["Heat Gun"]
    assert gun.sinew.role == HEAT_SOURCE and gun.sinew.source_temperature == 321.0
    assert gun.sinew.source_radius == pytest.approx(0.5)
    values = [p.co.y for p in curves_of(gun, "sinew.source_exchange")[0].keyframe_points]
    assert values == [0.0, gun.sinew.bl_rna.properties["source_exchange"].default, 0.0]
    assert "softened" in session.messages(scene).notes[1].line and not bake_status.status(scene).outdated


@pytest.mark.slow
def test_what_a_constraint_moves_is_named(tmp_path: Path) -> None:
    jelly()
    plane, mover = ground(-3.0), bpy.data.objects.new("Mover", None)
    bpy.context.scene.collection.objects.link(mover)
    plane.constraints.new("COPY_LOCATION").target = mover
    bpy.context.view_layer.update()
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "a.blend"))
    run = started()
    run_steps(run, 2)
    mover.location.z = 0.5
    bpy.context.view_layer.update()
    run_a_frame_past(run, "collider.Ground.matrix")
    stop()
    assert bpy.ops.sinew.keep_live() == {"FINISHED"}
    assert '"Ground"' in "".join(note.line for note in session.messages(bpy.context.scene).notes)


@pytest.mark.slow
def test_a_parent_that_is_moved_gets_the_keys(tmp_path: Path) -> None:
    jelly()
    plane, parent = ground(-3.0), bpy.data.objects.new("Parent", None)
    bpy.context.scene.collection.objects.link(parent)
    plane.parent = parent
    bpy.context.view_layer.update()
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "a.blend"))
    run = started()
    run_steps(run, 2)
    parent.location.z = 0.5
    bpy.context.view_layer.update()
    run_a_frame_past(run, "collider.Ground.matrix")
    stop()
    assert bpy.ops.sinew.keep_live() == {"FINISHED"}
    assert len(curves_of(parent, "location")) == 3
    assert [note.line.count("Parent Live") for note in session.messages(bpy.context.scene).notes] == [1]
