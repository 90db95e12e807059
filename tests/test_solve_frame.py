# SPDX-License-Identifier: GPL-3.0-or-later
"""Solve This Frame: what a bake would show there, at that frame alone, and nothing else of the file changes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

bpy = pytest.importorskip("bpy", reason="needs Blender's module")

from fixtures.blender_scenes import add_box, evaluated, fresh
from fixtures.fake_layout import FakeLayout
from fixtures.layered_arm import layered_arm
from sinew.addon import handlers
from sinew.addon.baking import frame_solve
from sinew.addon.baking.addon_session import session
from sinew.addon.blender_data import sinew_modifier
from sinew.addon.evaluation.unkeyed_value_snapshot import UnkeyedValues
from sinew.addon.export import input_digest
from sinew.addon.objects import roles
from sinew.addon.objects.new_attachments import add_attachment
from sinew.addon.panels import solved_frame_layout
from sinew.addon.playback import solved_frame
from sinew.solver.runtime.errors import BadInput
from sinew.solver.scene.scene import Scene
from sinew.solver.scene.tracks import TrackReader
from test_addon import context_of
from test_make_muscle import elbow, select, spindle

LAST = 8


def bent_arm(angle: float = 1.2) -> tuple[bpy.types.Object, bpy.types.Object]:
    """Returns a rig whose forearm comes up from frame 1 to the last, and a muscle that is active then."""
    scene = fresh()
    scene.frame_end = LAST
    rig, muscle = elbow(""), spindle("Biceps", upper=(1.0, 0.25, 1.9), lower=(1.0, 0.25, 0.7))
    select(muscle)
    bpy.ops.sinew.make_muscle()
    fore = rig.pose.bones["Fore"]
    fore.rotation_mode = "XYZ"
    for frame, share in ((1, 0.0), (LAST, 1.0)):
        fore.rotation_euler.x = share * angle
        fore.keyframe_insert("rotation_euler", frame=frame)
        muscle.sinew.activation = share
        muscle.sinew.keyframe_insert("activation", frame=frame)
    return rig, muscle


def solved(*chosen: bpy.types.Object, frame: int = LAST) -> None:
    bpy.context.scene.frame_set(frame)
    bpy.ops.object.select_all(action="DESELECT")
    for obj in chosen:
        obj.select_set(True)
    assert bpy.ops.sinew.solve_frame() == {"FINISHED"}


def size_of(points: np.ndarray) -> float:
    return float(np.ptp(points, axis=0).max())


@pytest.mark.slow
def test_it_shows_what_a_bake_would_and_only_there_and_only_until_the_bake(tmp_path: Path) -> None:
    _, muscle = bent_arm()
    scene = bpy.context.scene
    scene.sinew.cache_path = str(tmp_path / "c.sinew")
    before, digest = evaluated(muscle, LAST)[0], input_digest.settings_digest(scene)
    neighbour = evaluated(muscle, LAST - 1)[0]
    solved(muscle)
    found = evaluated(muscle, LAST)[0]
    assert np.abs(found - before).max() > 0.05 * size_of(found)
    assert evaluated(muscle, LAST - 1)[0] == pytest.approx(neighbour, abs=1e-6)
    modifier = sinew_modifier.find_solved_modifier(muscle)
    assert modifier is not None and not modifier.show_render
    assert input_digest.settings_digest(scene) == digest, "a bake would not be out of date"
    assert sinew_modifier.input_modifier_count(muscle) == 2
    assert bpy.ops.sinew.simulate() == {"FINISHED"}
    assert sinew_modifier.find_solved_modifier(muscle) is None and muscle.animation_data.action is not None
    baked = evaluated(muscle, LAST)[0]
    assert found == pytest.approx(baked, abs=2e-3 * size_of(baked))
    # over a bake, too
    muscle.sinew.activation = 0.0
    solved(muscle)
    assert evaluated(muscle, LAST)[0] == pytest.approx(found, abs=1e-5)
    assert evaluated(muscle, LAST - 2)[0] != pytest.approx(neighbour, abs=1e-3), "the bake plays elsewhere"
    assert bpy.ops.sinew.hide_solved_frame() == {"FINISHED"}
    assert evaluated(muscle, LAST)[0] == pytest.approx(baked, abs=1e-6)


@pytest.mark.slow
def test_what_was_posed_without_keys_is_solved_and_stays() -> None:
    rig, muscle = bent_arm(0.2)
    fore = rig.pose.bones["Fore"]
    solved(muscle)
    keyed = evaluated(muscle, LAST)[0]
    fore.rotation_euler.x, muscle.sinew.activation = 1.0, 0.3
    assert bpy.ops.sinew.solve_frame() == {"FINISHED"}
    assert (fore.rotation_euler.x, muscle.sinew.activation) == pytest.approx((1.0, 0.3))
    final = muscle.evaluated_get(bpy.context.evaluated_depsgraph_get())
    shown = np.array([v.co[:] for v in final.to_mesh().vertices])
    assert np.abs(shown - keyed).max() > 0.1 * size_of(keyed)


@pytest.mark.slow
def test_fat_is_solved_with_the_muscles_that_its_wrap_lies_on() -> None:
    arm = layered_arm(LAST, skin_pass=2)
    arm.scene.frame_set(LAST)
    before = evaluated(arm.skin, LAST)[0]
    solved(arm.skin)
    assert sinew_modifier.find_solved_modifier(arm.biceps)
    assert np.abs(evaluated(arm.skin, LAST)[0] - before).max() > 0.05 * size_of(before)


@pytest.mark.slow
def test_flesh_that_jiggles_is_solved_and_chosen_flesh_alone() -> None:
    _, muscle = bent_arm()
    other = spindle("Triceps", upper=(1.0, -0.25, 1.9), lower=(1.0, -0.25, 0.7))
    select(other)
    bpy.ops.sinew.make_muscle()
    muscle.sinew.motion = "JIGGLE"
    solved(muscle)
    assert sinew_modifier.find_solved_modifier(muscle) and not sinew_modifier.find_solved_modifier(other)
    solved()
    assert sinew_modifier.find_solved_modifier(other)
    row = muscle.sinew.attachments.add()
    row.target, row.reach = other, 1.0
    solved_frame.remove([muscle, other])
    solved(muscle)
    assert sinew_modifier.find_solved_modifier(other), "what it slides along is solved with it"


def exported(solve: frame_solve.FrameSolve) -> tuple[Scene, TrackReader]:
    list(frame_solve._export(solve, set(solve.bodies.values())))
    return Scene.load(solve.folder / "scene"), TrackReader(solve.folder / "scene")


def test_the_scene_is_one_frame_with_the_activation_of_its_time(tmp_path: Path) -> None:
    rig, muscle = bent_arm()
    own, scene = muscle.sinew, bpy.context.scene
    own.motion, own.activation_source, own.rise_time = "JIGGLE", "DATA", 0.2
    muscle.animation_data_clear()
    own.activation = 0.0
    (tmp_path / "a.csv").write_text("time,biceps\n0,0\n0.125,0\n0.126,0.6\n9,0.6\n")
    own.activation_file, own.activation_column = str(tmp_path / "a.csv"), "biceps"
    risen = 0.6 * (1.0 - np.exp(-(7.0 / 24.0 - 0.126) / 0.2))  # as a bake has it at that frame
    for frame, wanted in ((3, 0.0), (8, risen)):
        scene.frame_set(frame)
        solve = frame_solve.start(scene, [muscle])
        try:
            found, tracks = exported(solve)
            assert (found.settings.frame_start, found.settings.frame_end, found.settings.preroll) == (frame, frame, 1)
            assert found.bodies[0].flesh.motion == "quasistatic"
            assert float(tracks.sample("body.Biceps.activation", 0.0)) == pytest.approx(wanted, abs=1e-3)
            targets = [tracks.sample("body.Biceps.targets", time) for time in (-10.0, 0.0)]
            assert targets[1] != pytest.approx(targets[0], abs=1e-3)
        finally:
            session.end_frame_solve()
        assert not solve.folder.exists() and session.frame_solve is None


def test_several_muscles_go_by_poses_of_the_animation(tmp_path: Path) -> None:
    rig, muscle = bent_arm()
    scene = bpy.context.scene
    other = muscle.copy()
    other.data = muscle.data.copy()
    other.name = "Other"
    scene.collection.objects.link(other)
    scene.frame_set(8)
    rig.pose.bones["Fore"].rotation_euler.x = 2.4  # not keyed
    solve = frame_solve.start(scene, [muscle, other])
    try:
        found, tracks = exported(solve)
        assert (found.settings.preroll, found.settings.fps) == (7, pytest.approx(0.1))  # one for each frame
        way = [tracks.sample("body.Biceps.targets", -10.0 * step) for step in range(7, -1, -1)]
        steps = [np.abs(after - before).max() for before, after in zip(way, way[1:], strict=False)]
        assert max(steps[:-1]) < 0.5 * steps[-1]  # keyed poses on the way, and what is not keyed at its end
        assert min(steps[1:]) > 0.0
    finally:
        session.end_frame_solve()
    assert rig.pose.bones["Fore"].rotation_euler.x == pytest.approx(2.4)


def test_values_without_keys_come_back_whatever_was_evaluated() -> None:
    rig, muscle = bent_arm()
    fore = rig.pose.bones["Fore"]
    rig["strength"] = 0.5
    rig.keyframe_insert('["strength"]', frame=1)
    bpy.context.scene.frame_set(LAST)
    fore.rotation_euler.x, rig["strength"], muscle.sinew.activation = 0.7, 0.9, 0.4
    kept = UnkeyedValues(bpy.context.scene.objects)
    assert not kept.restore()
    bpy.context.scene.frame_set(3)
    assert fore.rotation_euler.x != pytest.approx(0.7)
    assert kept.restore()
    assert (fore.rotation_euler.x, rig["strength"], muscle.sinew.activation) == pytest.approx((0.7, 0.9, 0.4))


def test_it_says_what_it_cannot_solve() -> None:
    scene = fresh()
    box = add_box(divisions=4)
    bpy.ops.sinew.make_body()
    with pytest.raises(RuntimeError, match="is flesh"):
        bpy.ops.sinew.solve_frame()
    roles.make_flesh(box)
    with pytest.raises(RuntimeError, match='Nothing holds the flesh of "Box"'):
        bpy.ops.sinew.solve_frame()
    jelly = add_box("Jelly")
    roles.make_body(jelly)
    jelly.sinew.motion, box.sinew.motion = "ELASTIC", "JIGGLE"
    add_attachment(box, jelly)
    with pytest.raises(RuntimeError, match='"Jelly", a soft body, which Solve This Frame leaves out'):
        bpy.ops.sinew.solve_frame()
    assert session.frame_solve is None
    _, muscle = bent_arm()
    solve = frame_solve.start(bpy.context.scene, [muscle])
    with pytest.raises(BadInput, match="Sinew is baking"):
        frame_solve.start(bpy.context.scene, [muscle])
    solve.driver.cancel()
    while frame_solve.poll():
        pass
    assert frame_solve.finish(solve) == ("INFO", "Cancelled") and not solve.folder.exists()
    assert not solved_frame.is_shown([muscle]) and session.frame_solve is None
    assert scene is not None


def test_a_file_opens_without_the_frame_that_was_solved(tmp_path: Path) -> None:
    scene = fresh()
    box = add_box(divisions=2)
    roles.make_flesh(box)
    modifier = box.modifiers.new(sinew_modifier.SOLVED_MODIFIER_NAME, "MESH_CACHE")
    modifier.driver_add("show_viewport").driver.expression = "frame == 3"
    assert sinew_modifier.find_modifier(box) != modifier
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "a.blend"))
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "a.blend"))
    assert scene is not None and handlers.load_post is not None
    box = bpy.context.scene.objects["Box"]
    assert sinew_modifier.find_solved_modifier(box) is None and box.animation_data is None


def test_copies_do_not_show_the_frame_that_was_solved() -> None:
    _, muscle = bent_arm()
    muscle.name = "Biceps.L"
    modifier = muscle.modifiers.new(sinew_modifier.SOLVED_MODIFIER_NAME, "MESH_CACHE")
    modifier.driver_add("show_viewport").driver.expression = "frame == 3"
    select(muscle)
    assert bpy.ops.sinew.mirror_muscle() == {"FINISHED"}
    other = bpy.context.scene.objects["Biceps.R"]
    assert sinew_modifier.find_solved_modifier(other) is None and not other.animation_data.drivers
    assert sinew_modifier.find_solved_modifier(muscle) == modifier and len(muscle.animation_data.drivers) == 1
    roles.clear_role(muscle)
    assert sinew_modifier.find_solved_modifier(muscle) is None, "nobody could hide it any more"


def test_the_button_is_there_for_flesh_only() -> None:
    fresh()
    box = add_box(divisions=4)
    bpy.ops.sinew.make_body()
    layout = FakeLayout()
    solved_frame_layout.draw_solve_frame(layout, context_of(box))
    assert not layout.drawn
    roles.make_flesh(box)
    solved_frame_layout.draw_solve_frame(layout, context_of(box))
    assert [name for _, name in layout.drawn] == ["sinew.solve_frame"]
    box.modifiers.new(sinew_modifier.SOLVED_MODIFIER_NAME, "MESH_CACHE")
    layout = FakeLayout()
    solved_frame_layout.draw_solve_frame(layout, context_of(box))
    assert [name for _, name in layout.drawn] == ["sinew.solve_frame", "sinew.hide_solved_frame"]
