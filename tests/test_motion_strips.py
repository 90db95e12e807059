# SPDX-License-Identifier: GPL-3.0-or-later
"""Rigid bodies play their bake from a strip above the artist's animation, which stays as it is."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

bpy = pytest.importorskip("bpy")

from fixtures.blender_scenes import fresh
from fixtures.rigid_body_scenes import bake, positions, rigid_box, take_over_world
from sinew.addon.baking import attach_bake, attach_motion, bake_control, bake_status
from sinew.addon.baking.live_state import LiveRun
from sinew.addon.blender_data import motion_track, sinew_modifier
from sinew.addon.cache import cache_paths
from sinew.addon.cache.bake_passes import body_folder
from sinew.addon.live import run_control
from sinew.addon.objects import roles, take_ghosts
from sinew.addon.playback import mesh_cache
from sinew.solver.runtime.errors import BadInput

LAST, CLOSE = 6, 1.0e-5
FRAMES = range(1, LAST + 1)
MODES = ("XYZ", "ZYX", "QUATERNION", "AXIS_ANGLE")


def spinning(name: str, place: tuple[float, float, float], mode: str = "XYZ") -> bpy.types.Object:
    obj = rigid_box(name, place, (0.4, 0.6, 1.0), turn=(0.3, 0.2, 0.1))
    obj.rotation_mode = mode
    obj.sinew.initial_spin = (6.0, -4.0, 9.0)
    return obj


def parent_of(obj: bpy.types.Object, **values: object) -> bpy.types.Object:
    parent = bpy.data.objects.new(f"{obj.name} Parent", None)
    bpy.context.scene.collection.objects.link(parent)
    for name, value in values.items():
        setattr(parent, name, value)
    obj.parent = parent
    return parent


def key_location(obj: bpy.types.Object) -> None:
    obj.keyframe_insert("location", frame=1)
    obj.location.x += 2.0
    obj.keyframe_insert("location", frame=LAST)


def scene_of_all_kinds() -> list[bpy.types.Object]:
    """Makes rigid bodies that Blender moves in every way, far from each other."""
    fresh()
    made = [spinning(mode, (5.0 * number, 0.0, 0.0), mode) for number, mode in enumerate(MODES)]
    for number, mode in enumerate(("XZY", "QUATERNION")):
        delta = spinning(f"Delta {mode}", (5.0 * number, 5.0, 0.0), mode)
        delta.delta_location, delta.delta_scale = (0.3, -0.4, 0.5), (1.5, 1.0, 0.8)
        delta.delta_rotation_euler = (0.5, 0.4, -0.7)
        delta.delta_rotation_quaternion = (0.6, 0.0, 0.8, 0.0)
        delta.scale = (1.0, -1.2, 0.7)
        made.append(delta)
    child = spinning("Child", (0.0, 10.0, 0.0))
    key_location(parent_of(child, rotation_euler=(0.4, 0.0, 1.0), scale=(2.0, 2.0, 2.0)))
    keyed = spinning("Keyed", (5.0, 10.0, 0.0))
    key_location(keyed)
    keyed.delta_location = (0.0, 0.0, 1.0)
    keyed.keyframe_insert("delta_location", frame=1)
    held = spinning("Held", (10.0, 10.0, 0.0))
    limit = held.constraints.new("LIMIT_LOCATION")
    limit.use_max_z, limit.max_z = True, 0.5
    follows = held.constraints.new("CHILD_OF")
    follows.target, follows.influence = child.parent, 0.5
    sheared = spinning("Sheared", (5.0, 15.0, 0.0))
    parent_of(sheared, scale=(1.0, 1.5, 1.0))
    return [*made, child, keyed, held]


@pytest.fixture(scope="module")
def baked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Returns a file with a bake of all kinds."""
    folder = tmp_path_factory.mktemp("strips")
    scene_of_all_kinds()
    take_over_world()
    bpy.context.scene.sinew.samples_per_frame = 2
    bake(folder, LAST)
    bpy.ops.wm.save_mainfile()
    return folder / "shot.blend"


@pytest.fixture
def opened(baked: Path) -> Iterator[bpy.types.Scene]:
    bpy.ops.wm.open_mainfile(filepath=str(baked))
    yield bpy.context.scene


def moving(scene: bpy.types.Scene) -> list[bpy.types.Object]:
    return [obj for obj in roles.bodies(scene) if obj.name != "Sheared"]


def as_vertices_play(scene: bpy.types.Scene) -> dict[str, np.ndarray]:
    """Returns what the Mesh Cache modifiers show without strips: positions by name."""
    for obj in roles.bodies(scene):
        motion_track.remove_motion(obj)
        mesh_cache.attach(obj, body_folder(scene, obj), obj.sinew.key)
    return {obj.name: positions(obj, FRAMES) for obj in roles.bodies(scene)}


def test_objects_are_where_the_solver_has_them(opened: bpy.types.Scene) -> None:
    found = {}
    for obj in moving(opened):
        assert motion_track.find_track(obj) is not None, obj.name
        assert mesh_cache.attached_file(obj) is None
        found[obj.name] = positions(obj, FRAMES)
    assert not bake_status.status(opened).outdated
    wanted = as_vertices_play(opened)
    for name, points in found.items():
        assert np.abs(points - wanted[name]).max() < CLOSE, name
        assert np.abs(points[-1] - points[0]).max() > 0.3, name


@pytest.mark.parametrize("mode", MODES)
def test_rotations_go_on_without_jumps(opened: bpy.types.Scene, mode: str) -> None:
    strip = motion_track.find_track(opened.objects[mode]).strips[0]
    curves = motion_track.action_curves(strip.action, strip.action_slot)
    curves = [curve for curve in curves if "rotation" in curve.data_path]
    assert len(curves) == (3 if len(mode) == 3 else 4)
    for curve in curves:
        values = [point.co.y for point in curve.keyframe_points]
        assert len(values) == 2 * LAST - 1
        assert np.abs(np.diff(values)).max() < 1.0


def test_the_artists_action_is_not_written_and_muting_gives_it_back(baked: Path, tmp_path: Path) -> None:
    names = [obj.name for obj in scene_of_all_kinds()]
    take_over_world()
    before = {name: positions(bpy.context.scene.objects[name], FRAMES) for name in names}
    shutil.copytree(baked.parent, tmp_path / "copy")  # whose bake is deleted
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "copy" / baked.name))
    scene = bpy.context.scene
    keyed = scene.objects["Keyed"]
    action = bpy.data.actions["KeyedAction"]
    assert {curve.data_path for curve in motion_track.action_curves(action, action.slots[0])} == {
        "location",
        "delta_location",
    }
    assert keyed.animation_data.action is None  # pushed down: it sets what the strip sets
    assert scene.objects["Child Parent"].animation_data.action is not None
    for name in names:
        motion_track.find_track(scene.objects[name]).mute = True
    for name in names:
        assert np.abs(positions(scene.objects[name], FRAMES) - before[name]).max() < CLOSE, name
    bake_control.delete(scene)
    assert keyed.animation_data.action == action
    for name in names:
        obj = scene.objects[name]
        assert obj.animation_data is None or not len(obj.animation_data.nla_tracks)
        assert np.abs(positions(obj, FRAMES) - before[name]).max() < CLOSE, name
    left = [each.name for each in bpy.data.actions if each.name.startswith("Sinew")]
    assert not left


def test_a_strip_plays_without_the_addon(baked: Path) -> None:
    bpy.ops.wm.open_mainfile(filepath=str(baked))
    wanted = positions(bpy.context.scene.objects["QUATERNION"], FRAMES)
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    with bpy.data.libraries.load(str(baked), link=True) as (_, names):
        names.scenes = ["Scene"]
    linked = names.scenes[0].objects["QUATERNION"]
    assert linked.library is not None
    for frame, points in zip(FRAMES, wanted, strict=True):
        names.scenes[0].frame_set(frame)
        graph = names.scenes[0].view_layers[0].depsgraph
        matrix = np.array(linked.evaluated_get(graph).matrix_world)
        local = np.array([vertex.co for vertex in linked.data.vertices])
        assert np.abs(local @ matrix[:3, :3].T + matrix[:3, 3] - points).max() < CLOSE


def test_one_that_the_artist_has_muted_stays_so(opened: bpy.types.Scene) -> None:
    track = motion_track.find_track(opened.objects["XYZ"])
    track.mute = True
    attach_bake.attach(opened)
    assert track.mute
    motion_track.hide(opened.objects["ZYX"])
    attach_bake.attach(opened)
    assert not motion_track.find_track(opened.objects["ZYX"]).mute


def test_without_an_undo_step_vertices_play_instead(opened: bpy.types.Scene) -> None:
    obj = opened.objects["XYZ"]
    wanted = positions(obj, FRAMES)
    motion_track.find_track(obj).strips[0].action[motion_track.STAMP_KEY] = "another bake"
    attach_bake.attach(opened, is_undoable=False)
    assert not attach_bake.is_whole(opened)
    assert mesh_cache.attached_file(obj) is not None
    assert np.abs(positions(obj, FRAMES) - wanted).max() < CLOSE
    attach_bake.attach(opened)
    assert attach_bake.is_whole(opened)
    assert mesh_cache.attached_file(obj) is None
    assert np.abs(positions(obj, FRAMES) - wanted).max() < CLOSE


def test_what_a_strip_cannot_say_plays_as_vertices(opened: bpy.types.Scene) -> None:
    obj = opened.objects["XYZ"]
    wanted = positions(obj, FRAMES)
    obj.driver_add("delta_location", 0)
    assert attach_motion.obstacle(obj) == "a driver sets its delta_location"
    attach_bake.attach(opened)
    assert motion_track.find_track(obj) is None
    assert np.abs(positions(obj, FRAMES) - wanted).max() < CLOSE


def test_a_sheared_object_plays_as_vertices(opened: bpy.types.Scene) -> None:
    obj = opened.objects["Sheared"]
    assert attach_motion.obstacle(obj) is None
    assert motion_track.find_track(obj) is None
    assert mesh_cache.attached_file(obj) is not None
    assert np.abs(np.diff(positions(obj, FRAMES), axis=0)).max() > 0.1


def test_removing_a_body_gives_its_animation_back(opened: bpy.types.Scene) -> None:
    obj = opened.objects["Keyed"]
    roles.clear_role(obj)
    assert obj.animation_data.action.name == "KeyedAction"
    assert not len(obj.animation_data.nla_tracks)


def test_a_soft_body_below_a_rigid_one_stays_where_it_was_baked(tmp_path: Path) -> None:
    fresh()
    rigid = spinning("Rigid", (0.0, 0.0, 0.0))
    take_over_world()
    bpy.ops.mesh.primitive_cube_add(size=0.5, location=(3.0, 0.0, 0.0))
    soft = bpy.context.object
    soft.name = "Soft"
    roles.make_body(soft)
    soft.sinew.divisions = 2
    soft.parent = rigid
    bake(tmp_path, 4)
    found = positions(soft, range(1, 5))
    motion_track.remove_motion(soft)
    motion_track.remove_motion(rigid)
    assert np.abs(positions(soft, range(1, 5)) - found).max() < CLOSE
    assert cache_paths.cache_folder(bpy.context.scene).exists()
    assert sinew_modifier.find_modifier(soft).filepath


def test_an_override_has_a_strip_of_its_own_and_a_linked_object_is_refused(tmp_path: Path) -> None:
    fresh()
    obj = spinning("Box", (0.0, 0.0, 0.0))
    take_over_world()
    props = bpy.data.collections.new("Props")
    props.objects.link(obj)
    bpy.data.libraries.write(str(tmp_path / "props.blend"), {props})
    scene = fresh()
    with bpy.data.libraries.load(str(tmp_path / "props.blend"), link=True) as (_, names):
        names.collections = ["Props"]
    scene.collection.children.link(names.collections[0])
    scene.frame_end = 4
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "shot.blend"))
    with pytest.raises(BadInput) as refused:
        bake_control.start(scene)
    assert refused.value.kind == "linked-without-override"
    names.collections[0].override_hierarchy_create(scene, bpy.context.view_layer, do_fully_editable=True)
    bake(tmp_path, 4)
    box = roles.bodies(scene)[0]
    wanted = positions(box, range(1, 5))
    assert np.abs(wanted[-1] - wanted[0]).max() > 0.1
    bpy.ops.wm.save_mainfile()
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "shot.blend"))
    box = roles.bodies(bpy.context.scene)[0]
    assert box.override_library is not None
    assert motion_track.find_track(box) is not None
    assert np.abs(positions(box, range(1, 5)) - wanted).max() < CLOSE


def test_another_bake_replaces_the_strip_and_reads_nothing_of_it(tmp_path: Path) -> None:
    fresh()
    obj = spinning("Box", (0.0, 0.0, 0.0), "QUATERNION")
    key_location(obj)
    take_over_world()
    bake(tmp_path, 4)
    first = positions(obj, range(1, 5))
    bpy.context.scene.frame_set(4)
    digest = bake_status.status(bpy.context.scene)
    assert not digest.outdated
    bake(tmp_path, 4)
    assert np.array_equal(positions(obj, range(1, 5)), first)
    assert len([track for track in obj.animation_data.nla_tracks if motion_track.is_motion_track(track)]) == 1
    obj.sinew.initial_spin = (0.0, 0.0, 3.0)
    bake(tmp_path, 4)
    assert np.abs(positions(obj, range(1, 5)) - first).max() > 0.1
    assert obj.animation_data.action.name == "BoxAction"


def test_a_ghost_of_a_rigid_body_plays_where_it_was_baked(tmp_path: Path) -> None:
    fresh()
    obj = spinning("Box", (0.0, 0.0, 0.0))
    take_over_world()
    bake(tmp_path, 4)
    wanted = positions(obj, range(1, 5))
    (ghost,) = take_ghosts.show(bpy.context.scene, "", cache_paths.cache_folder(bpy.context.scene))
    assert np.abs(positions(ghost, range(1, 5)) - wanted).max() < CLOSE


def test_a_live_run_shows_the_body_without_its_strip(opened: bpy.types.Scene) -> None:
    track = motion_track.find_track(opened.objects["XYZ"])
    run = LiveRun(opened.session_uid, 1, Path(), None, {}, None)
    run_control._hide_motion(run)
    assert track.mute
    run_control._put_back(run)
    assert not track.mute


def test_undo_past_a_bake_plays_its_vertices_and_redo_its_strip(tmp_path: Path) -> None:
    fresh()
    spinning("Box", (0.0, 0.0, 0.0)).sinew.initial_spin = (0.0, 0.0, 2.0)
    take_over_world()
    bake(tmp_path, 4)
    bpy.ops.ed.undo_push(message="one bake")
    bpy.data.objects["Box"].sinew.initial_spin = (0.0, 5.0, 0.0)
    bpy.ops.ed.undo_push(message="another spin")
    bake(tmp_path, 4)
    wanted = positions(bpy.data.objects["Box"], range(1, 5))
    bpy.ops.ed.undo_push(message="another bake")
    bpy.ops.ed.undo()
    box = bpy.data.objects["Box"]
    assert motion_track.find_track(box).mute and mesh_cache.attached_file(box) is not None
    assert np.abs(positions(box, range(1, 5)) - wanted).max() < CLOSE
    bpy.ops.ed.redo()
    box = bpy.data.objects["Box"]
    assert not motion_track.find_track(box).mute and mesh_cache.attached_file(box) is None
    assert np.abs(positions(box, range(1, 5)) - wanted).max() < CLOSE
