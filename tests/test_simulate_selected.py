# SPDX-License-Identifier: GPL-3.0-or-later
"""Simulate Selected: some bodies are baked anew, while the others move as they are baked and do not feel them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

bpy = pytest.importorskip("bpy", reason="needs Blender's module")

from fixtures.blender_scenes import add_box, evaluated, fresh, world
from fixtures.fat_balls import fat_ball
from fixtures.operator_scenes import panel_lines, status
from fixtures.selected_bodies import GAP, SOFTER, STIFFNESS, bake_here, only_pass, own_files, played, select, two_boxes
from sinew.addon.cache import selected_body_caches
from sinew.addon.cache.bake_passes import BakePass, body_folder
from sinew.addon.objects import roles
from sinew.addon.properties.table_editing import add_row
from sinew.solver.bake.cache import layout
from sinew.solver.mesh.geometry.manifold_defects import find_manifold_defects
from sinew.solver.runtime.errors import BadInput
from sinew.solver.scene.scene import Scene
from sinew.solver.scene.tracks import TrackReader


def test_the_others_are_moving_colliders_and_keep_their_files(tmp_path: Path) -> None:
    scene, lower, upper = two_boxes(3, (0.0, 0.0, 2.0 + GAP))
    scene.sinew.preroll = 2
    bake_pass = only_pass(scene, tmp_path / "c.sinew")
    base = bake_here(scene, bake_pass)
    before = own_files(base)
    upper.sinew.density = 500.0
    folder = bake_here(scene, bake_pass, upper)
    assert folder.name == "selected-1" and own_files(base) == before
    written, tracks = Scene.load(folder / "scene"), TrackReader(folder / "scene")
    assert [body.name for body in written.bodies] == ["Upper"]
    (ground,) = written.colliders
    modeled = world(np.array([v.co[:] for v in lower.data.vertices]), np.array(lower.matrix_world))
    assert ground.key == "Lower" and ground.rest_vertices == pytest.approx(modeled, abs=1e-6)
    for frame, shown in enumerate(played(base, "Lower")):
        assert tracks.sample("collider.Lower.vertices", frame / scene.render.fps) == pytest.approx(shown, abs=1e-6)
    # its pre-roll was written for nobody: it goes straight from the rest pose to the first frame
    start = -2.0 / scene.render.fps
    assert tracks.sample("collider.Lower.vertices", start) == pytest.approx(modeled, abs=1e-6)
    between = 0.5 * (modeled + played(base, "Lower")[0])
    assert tracks.sample("collider.Lower.vertices", 0.5 * start) == pytest.approx(between, abs=1e-6)


@pytest.mark.slow
def test_bodies_apart_move_as_in_a_bake_of_all(tmp_path: Path) -> None:
    scene, lower, upper = two_boxes(10, (5.0, 0.0, 0.0))
    ground = add_box("Ground", height=0.1)
    ground.scale, ground.location.z = (20.0, 20.0, 1.0), -1.2
    roles.make_collider(ground)
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "two.blend"))
    assert bpy.ops.sinew.simulate() == {"FINISHED"}
    cache = tmp_path / "two.sinew"
    before, stiff = own_files(cache), played(cache, "Upper")
    upper.sinew.youngs_modulus = SOFTER
    assert status().label == "Out of Date: Simulate Again"
    select(upper)
    assert bpy.ops.sinew.simulate_chosen() == {"FINISHED"}
    assert status().label == "Simulate Again" and status().phase == "baked"
    assert "Simulated Alone: Upper" in panel_lines(upper) and own_files(cache) == before
    alone = played(cache, "Upper")
    shown = evaluated(upper, 10)[0]
    assert np.abs(alone - stiff).max() > 0.01, "a softer box falls on the ground"
    assert bpy.ops.sinew.simulate() == {"FINISHED"}
    assert not layout.selected_paths(cache) and "Simulated Alone: Upper" not in panel_lines(upper)
    assert alone == pytest.approx(played(cache, "Upper"), abs=1e-5)
    assert shown == pytest.approx(evaluated(upper, 10)[0], abs=1e-5)


@pytest.mark.slow
def test_a_body_rests_on_another_one_that_does_not_feel_it(tmp_path: Path) -> None:
    scene, lower, upper = two_boxes(24, (0.0, 0.0, 2.0 + GAP))
    lower.sinew.pin_group = "Base"
    base = [vertex.index for vertex in lower.data.vertices if vertex.co.z < -0.9]
    lower.vertex_groups.new(name="Base").add(base, 1.0, "REPLACE")
    for frame, height in ((1, 0.0), (24, 0.5)):
        lower.location.z = height
        lower.keyframe_insert("location", frame=frame)
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "two.blend"))
    assert bpy.ops.sinew.simulate() == {"FINISHED"}
    cache = tmp_path / "two.sinew"
    before = own_files(cache)
    upper.sinew.youngs_modulus = 3.0e5
    select(upper)
    assert bpy.ops.sinew.simulate_chosen() == {"FINISHED"}
    assert own_files(cache) == before, "the lower one keeps its bytes"
    on, under = (world(*evaluated(obj, 24)) for obj in (upper, lower))
    gap = on[:, 2].min() - under[:, 2].max()
    print(f"gap {gap:.4f} m, top {on[:, 2].max():.3f} m")
    assert -0.02 < gap < 0.02 and on[:, 2].max() > 3.0, "it is carried upwards"
    assert not status().outdated and status().convergence.not_converged == 0


@pytest.mark.slow
def test_attachments_of_the_others_hold_from_their_side(tmp_path: Path) -> None:
    scene, lower, upper = two_boxes(4, (0.0, 0.0, 2.0 + GAP))
    top = [vertex.index for vertex in lower.data.vertices if vertex.co.z > 0.9 and vertex.co.x > -0.1]
    lower.vertex_groups.new(name="Half").add(top, 1.0, "REPLACE")
    row = add_row(lower.sinew.attachments)
    row.target, row.kind, row.reach, row.group = upper, "SPRING", 0.5, "Half"
    for frame, strength in ((1, 10.0), (4, 2.0)):
        row.strength = strength
        lower.keyframe_insert("sinew.attachments[0].strength", frame=frame)
    bake_pass = only_pass(scene, tmp_path / "c.sinew")
    bake_here(scene, bake_pass)
    together = played(bake_pass.folder, "Upper")
    folder = bake_here(scene, bake_pass, upper)
    written, tracks = Scene.load(folder / "scene"), TrackReader(folder / "scene")
    surface = written.colliders[0].attached_surface
    assert written.bodies[0].attachments == () and surface is not None
    (attachment,) = surface.attachments
    assert (attachment.target, attachment.kind, attachment.reach) == ("Upper", "spring", 0.5)
    assert np.flatnonzero(attachment.paint).tolist() == top
    assert tracks.sample("collider.Lower.attachment.0.strength", 3.0 / scene.render.fps) == pytest.approx(2.0)
    fall = [shown[:, :, 2].mean(axis=1)[-1] - shown[0, :, 2].mean() for shown in (together, played(folder, "Upper"))]
    assert fall[1] == pytest.approx(fall[0], rel=0.02) and fall[0] < -0.02
    upper.location.z += 1.0
    with pytest.raises(BadInput, match='"Lower", which stays as it is baked, is attached to "Upper"'):
        bake_here(scene, bake_pass, upper)


@pytest.mark.slow
def test_flesh_that_follows_a_pose_does_not_feel_what_is_thrown_at_it(tmp_path: Path) -> None:
    """Where all are baked together, such flesh feels no contact and no attachment of a body that has inertia."""
    scene, lower, upper = two_boxes(1, (0.0, 0.0, 2.0 + GAP))
    lower.sinew.motion = "POSE"
    base = [vertex.index for vertex in lower.data.vertices if vertex.co.z < -0.9]
    lower.vertex_groups.new(name="Base").add(base, 1.0, "REPLACE")
    lower.sinew.pin_group = "Base"
    row = add_row(upper.sinew.attachments)
    row.target, row.kind, row.reach = lower, "SPRING", 0.5
    bake_pass = only_pass(scene, tmp_path / "c.sinew")
    together = played(bake_here(scene, bake_pass), "Lower")
    written = Scene.load(bake_here(scene, bake_pass, lower) / "scene")
    assert written.bodies[0].attachments == () and written.ignored_pairs == (("Lower", "Upper"),)
    assert played(bake_pass.folder, "Lower") == pytest.approx(together, abs=1e-5)
    # the other way round it is felt
    written = Scene.load(bake_here(scene, bake_pass, upper) / "scene")
    assert len(written.bodies[0].attachments) == 1 and written.ignored_pairs == ()


@pytest.mark.slow
def test_flesh_stays_as_deep_in_flesh_that_is_baked_as_it_was_modeled(tmp_path: Path) -> None:
    """Two boxes of flesh overlap by a tenth; baked together neither moves, and alone neither does."""
    scene = fresh()
    scene.frame_end, scene.use_gravity = 1, False
    for name, x in (("Left", 0.0), ("Right", 0.9)):
        obj, bone = add_box(name), add_box(f"Bone of {name}")
        bone.scale = 0.3, 0.3, 0.6
        obj.location.x = bone.location.x = x
        roles.make_flesh(obj)
        roles.make_bone(bone)
        obj.sinew.divisions, bone.sinew.bone_body = 4, obj
    bpy.context.view_layer.update()
    left = scene.objects["Left"]
    modeled = np.array([vertex.co[:] for vertex in left.data.vertices])
    bake_pass = only_pass(scene, tmp_path / "c.sinew")
    assert played(bake_here(scene, bake_pass), "Left")[0] == pytest.approx(modeled, abs=1e-6)
    bake_here(scene, bake_pass, left)
    assert played(bake_pass.folder, "Left")[0] == pytest.approx(modeled, abs=1e-6)


@pytest.mark.slow
def test_bodies_of_several_passes_are_baked_from_the_inside_out(tmp_path: Path) -> None:
    scene, lower, upper = two_boxes(3, (0.0, 0.0, 2.0 + GAP))
    beside = add_box("Beside")
    beside.location.x = 9.0
    roles.make_body(beside)
    beside.sinew.divisions, beside.sinew.youngs_modulus = 2, STIFFNESS
    upper.sinew.bake_pass = 2
    row = add_row(upper.sinew.attachments)
    row.target, row.kind, row.reach = lower, "SPRING", 0.5
    scene.sinew.preroll = 2
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "layers.blend"))
    assert bpy.ops.sinew.simulate() == {"FINISHED"}
    first, second = (BakePass(number, (1, 2), tmp_path / "layers.sinew") for number in (1, 2))
    lower.sinew.density = 500.0
    select(lower)
    assert bpy.ops.sinew.simulate_chosen() == {"FINISHED"}
    # what follows it is out of date, and follows the later frames then
    assert status().due_passes == (2,) and status().label == "Out of Date: Simulate Pass 2"
    assert bpy.ops.sinew.simulate() == {"FINISHED"}
    assert status().phase == "baked" and not status().due_passes and status().selected_names == ("Lower",)
    tracks = TrackReader(second.folder / "scene")
    time = 2.0 / scene.render.fps
    assert tracks.sample("collider.Lower.vertices", time) == pytest.approx(played(first.folder, "Lower")[2], abs=1e-6)
    assert selected_body_caches.folder_of_body(first.folder, "Lower") == first.folder / "selected-1"
    # bodies of two passes at once
    lower.sinew.density = upper.sinew.density = 600.0
    select(lower, upper)
    assert bpy.ops.sinew.simulate_chosen() == {"FINISHED"}
    assert not status().due_passes and status().selected_names == ("Lower", "Upper")
    assert body_folder(scene, upper) == second.folder / "selected-1"
    tracks = TrackReader(second.folder / "selected-1" / "scene")
    assert tracks.sample("collider.Lower.vertices", time) == pytest.approx(played(first.folder, "Lower")[2], abs=1e-6)
    # a pass that is baked anew has no bodies that were baked later
    assert bpy.ops.sinew.simulate(bake_pass=1) == {"FINISHED"}
    assert not layout.selected_paths(first.folder) and status().selected_names == ("Upper",)


@pytest.mark.slow
def test_a_body_below_a_wrap_meets_it_as_the_fat_is_baked(tmp_path: Path) -> None:
    scene, skin, wrap, core = fat_ball(is_open=True)
    core.sinew.role = "NONE"
    roles.make_body(core)
    skin.sinew.divisions = core.sinew.divisions = 4
    bake_pass = only_pass(scene, tmp_path / "c.sinew")
    base = bake_here(scene, bake_pass)
    folder = bake_here(scene, bake_pass, core)
    written, tracks = Scene.load(folder / "scene"), TrackReader(folder / "scene")
    (ground,) = written.colliders
    count, fat = len(skin.data.vertices), Scene.load(base / "scene").bodies[1]
    (attachment,) = ground.attached_surface.attachments
    assert (attachment.target, attachment.reach) == (written.bodies[0].key, 0.5)
    assert np.flatnonzero(attachment.paint).tolist() == list(range(count + 1, len(fat.vertices)))
    assert len(ground.vertices) == len(fat.vertices) == count + 1 + len(wrap.data.vertices)
    assert find_manifold_defects(ground.triangles) is None, "the core is outside of what is closed"
    now = tracks.sample("collider.Skin.vertices", 1.0 / scene.render.fps)
    assert now[:count] == pytest.approx(played(base, "Skin")[1], abs=1e-6)
    fall = (fat.vertices - now)[:, 2]
    assert fall[count:].mean() == pytest.approx(fall[:count].mean(), rel=0.1) and fall.min() > 0.0


@pytest.mark.slow
def test_skin_around_a_wrap_is_met_between_frames_as_it_was_baked_there(tmp_path: Path) -> None:
    """The skin has the samples that were baked; the Wrap goes straight from frame to frame."""
    scene, skin, wrap, core = fat_ball()
    core.sinew.role = "NONE"
    roles.make_body(core)
    skin.sinew.divisions = core.sinew.divisions = 4
    scene.sinew.samples_per_frame = 2
    bake_pass = only_pass(scene, tmp_path / "c.sinew")
    base = bake_here(scene, bake_pass)
    folder = bake_here(scene, bake_pass, core)
    tracks, count = TrackReader(folder / "scene"), len(skin.data.vertices)
    assert len(played(base, "Skin")) == 3
    before, between, after = (tracks.sample("collider.Skin.vertices", k / (2.0 * scene.render.fps)) for k in range(3))
    assert between[:count] == pytest.approx(played(base, "Skin")[1], abs=1e-6)
    straight = 0.5 * (before + after)
    assert np.abs(between - straight)[:count].max() > 1e-4, "it falls ever faster"
    assert between[count:] == pytest.approx(straight[count:], abs=1e-6)
    assert np.abs(after - before)[count:].max() > 1e-3
