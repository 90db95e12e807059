# SPDX-License-Identifier: GPL-3.0-or-later
"""Flesh from Blender through the solver and back: it sits on its bones, and blends with its rig."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

bpy = pytest.importorskip("bpy")

from mathutils import Matrix

from fixtures.blender_scenes import add_box, evaluated, world
from fixtures.flesh_rigs import arm, bent, bone_mesh
from sinew.addon.blender_data import object_keys, sinew_modifier
from sinew.addon.objects import roles
from sinew.addon.playback import mesh_cache
from sinew.solver.bake.cache import CacheReader
from sinew.solver.scene.scene import Scene
from sinew.solver.scene.tracks import TrackReader
from test_headless import run
from test_round_trip import baked, solved

pytestmark = pytest.mark.slow

MOTIONS = ("POSE", "JIGGLE")


def softly(obj: bpy.types.Object, motion: str = "POSE") -> None:
    """Gives flesh few tets, and nothing that takes time."""
    own = obj.sinew
    own.motion, own.divisions, own.self_contact = motion, 8, False


def bone_on(rig: bpy.types.Object, name: str, place: float) -> bpy.types.Object:
    """Returns a bone mesh that the bone of that name carries, around the height `place` along z."""
    mesh = bone_mesh(f"{name} bone")
    for vertex in mesh.data.vertices:
        vertex.co.z = place + 0.35 * vertex.co.z
    mesh.sinew.bone_distance = 0.15
    mesh.parent, mesh.parent_type, mesh.parent_bone = rig, "BONE", name
    bpy.context.scene.frame_set(1)
    # children of bones sit at their tails
    posed = rig.matrix_world @ rig.pose.bones[name].matrix
    mesh.matrix_parent_inverse = (posed @ Matrix.Translation((0.0, rig.pose.bones[name].length, 0.0))).inverted()
    return mesh


def shown(obj: bpy.types.Object, frame: int) -> np.ndarray:
    return world(*evaluated(obj, frame))


@pytest.mark.parametrize("motion", MOTIONS)
def test_flesh_follows_bone_meshes_of_a_rig(motion: str, tmp_path: Path) -> None:
    obj = arm(divisions=6)
    rig = bent(obj, frames=(3, 9))
    softly(obj, motion)
    bones = [bone_on(rig, name, place) for name, place in (("lower", -0.6), ("upper", 0.6))]
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = 3, 9
    scene.use_gravity = False
    before = [shown(bone, 3) for bone in bones]
    assert [points[:, 2].mean() for points in before] == pytest.approx([-0.6, 0.6], abs=1e-5)
    cache = baked(scene, tmp_path / "shot.sinew")
    assert cache.is_done() and not cache.integrity_problems()
    for frame in (3, 6, 9):
        assert np.abs(shown(obj, frame) - solved(cache, "Arm", frame)).max() < 2e-5
    # what the bones hold moves as they do, by the model's own list of it
    written = Scene.load(tmp_path / "shot.sinew" / "scene")
    tracks = TrackReader(tmp_path / "shot.sinew" / "scene")
    model = cache.read_model("Arm")
    first, last = (cache.read_frame(frame).x.astype(float) for frame in (3, 9))
    for number, bone in enumerate(written.bones):
        held = model["attached"] == number
        assert held.sum() > 10
        matrix = tracks.sample(f"bone.{bone.key}.matrix", 6 / 24)
        assert np.abs(world(first[held], matrix) - last[held]).max() < 1e-5
    # and the rest bends with them: the end of the upper arm turns as far as its bone
    if motion == "POSE":
        end = np.array([v.index for v in obj.data.vertices if v.co.z > 0.99])
        turned = world(shown(obj, 3)[end], tracks.sample("bone.upper_bone.matrix", 6 / 24))
        assert np.abs(shown(obj, 9)[end] - turned).max() < 0.15


@pytest.mark.parametrize("motion", MOTIONS)
def test_flesh_follows_the_armature_alone(motion: str, tmp_path: Path) -> None:
    obj = arm(divisions=6)
    bent(obj, frames=(1, 7))
    softly(obj, motion)
    obj.sinew.use_armature_bones, obj.sinew.armature_bone_radius = True, 0.0
    # its shape comes from the bones alone: what the armature does to the mesh is not added
    obj.scale, obj.rotation_euler = (1.0, -1.0, 1.0), (0.0, 0.3, 0.0)
    scene = bpy.context.scene
    scene.frame_end = 7
    scene.use_gravity = False
    scene.unit_settings.scale_length = 0.1
    rig_only = {frame: shown(obj, frame) for frame in (1, 7)}
    cache = baked(scene, tmp_path / "shot.sinew")
    for frame in (1, 4, 7):
        assert np.abs(0.1 * shown(obj, frame) - solved(cache, "Arm", frame)).max() < 2e-6
    assert np.abs(shown(obj, 1) - rig_only[1]).max() < 1e-3
    moved = np.linalg.norm(shown(obj, 7) - shown(obj, 1), axis=1)
    by_rig = np.linalg.norm(rig_only[7] - rig_only[1], axis=1)
    end = np.array([v.co.z > 0.99 for v in obj.data.vertices])
    if motion == "POSE":
        assert moved[end].mean() == pytest.approx(by_rig[end].mean(), rel=0.25)
    assert 0.05 < np.abs(shown(obj, 7) - rig_only[7]).max() < 0.5


def test_influence_and_affect_blend_flesh_and_rig(tmp_path: Path) -> None:
    obj = arm(divisions=6)
    bent(obj, frames=(1, 7))
    softly(obj)
    obj.sinew.use_armature_bones, obj.sinew.armature_bone_radius = True, 0.0
    wanted = np.clip([0.5 + 2.0 * v.co.x for v in obj.data.vertices], 0.0, 1.0)
    group = obj.vertex_groups.new(name="Affect")
    for i, weight in enumerate(wanted):
        group.add([i], weight, "REPLACE")
    obj.sinew.affect_group = "Affect"
    scene = bpy.context.scene
    scene.frame_end = 7
    rig = shown(obj, 7)
    cache = tmp_path / "shot.sinew"
    baked(scene, cache)
    away = np.linalg.norm(shown(obj, 7) - rig, axis=1)
    assert away[wanted == 0.0].max() < 1e-5, "outside of Affect, the rig alone counts"
    assert away[wanted == 1.0].max() > 0.02
    assert away[(wanted > 0.0) & (wanted < 0.3)].max() < 0.5 * away.max(), "no step at the border"
    # the flesh itself meets the rig there: it is held by it
    flesh = solved(CacheReader(cache), "Arm", 7)
    assert np.linalg.norm(flesh - rig, axis=1)[wanted == 0.0].max() < 0.1
    whole = shown(obj, 7)
    modifier = sinew_modifier.find_modifier(obj)
    modifier.factor = 0.5
    mesh_cache.attach(obj, cache, object_keys.body_key(obj))
    assert modifier.factor == 0.5, "an Influence that is set stays"
    assert np.abs(shown(obj, 7) - 0.5 * (whole + rig)).max() < 1e-5
    for frame, value in ((1, 0.0), (7, 1.0)):
        modifier.factor = value
        modifier.keyframe_insert("factor", frame=frame)
    assert np.abs(shown(obj, 7) - whole).max() < 1e-5
    assert np.abs(shown(obj, 1) - rig_at_rest(obj)).max() < 1e-5


def rig_at_rest(obj: bpy.types.Object) -> np.ndarray:
    return np.array([v.co for v in obj.data.vertices], float)


@pytest.mark.parametrize("motion", MOTIONS)
def test_a_pre_roll_brings_flesh_from_its_rest_pose_to_the_first_frame(motion: str, tmp_path: Path) -> None:
    """Baked from the bent pose on, with the straight one as rest: the same shape as baked all the way."""
    shapes = {}
    for name, start, rest in (("whole", 1, None), ("rolled", 5, 1), ("jumped", 5, 1)):
        obj = arm(divisions=6)
        bent(obj, frames=(1, 5))
        softly(obj, motion)
        obj.sinew.use_armature_bones, obj.sinew.armature_bone_radius = True, 0.0
        scene = bpy.context.scene
        scene.use_gravity = False
        scene.frame_start, scene.frame_end = start, 7
        scene.sinew.pose_tolerance = 1e-6
        if rest is not None:
            scene.sinew.use_rest_frame, scene.sinew.rest_frame = True, rest
        if name == "jumped":  # the animation begins in the pose of the first frame, and the rest pose comes after it
            rig = bpy.data.objects["Rig"]
            for frame, angle in ((1, 1.0), (5, 1.0), (7, 1.0), (9, 0.0)):
                rig.pose.bones["upper"].rotation_euler.x = angle
                rig.pose.bones["upper"].keyframe_insert("rotation_euler", frame=frame)
            scene.sinew.rest_frame, scene.sinew.preroll = 9, 4
        cache = baked(scene, tmp_path / f"{name}.sinew")
        assert cache.metadata.frame_start == start and cache.last_frame() == 7
        shapes[name] = [shown(obj, frame) for frame in (5, 7)]
    bend = np.abs(shapes["rolled"][0] - rig_at_rest(bpy.data.objects["Arm"])).max()
    assert bend > 0.5, "at the first frame it is in its pose"
    for i in range(2):
        assert np.abs(shapes["rolled"][i] - shapes["whole"][i]).max() < (1e-4 if motion == "POSE" else 1e-3)
    if motion == "POSE":
        assert np.abs(shapes["jumped"][1] - shapes["whole"][1]).max() < 1e-3


def test_flesh_settles_in_a_pre_roll(tmp_path: Path) -> None:
    """At the first frame it hangs already, and hardly moves any more."""
    moved = {}
    for frames in (0, 30):
        obj = arm(divisions=4)
        softly(obj, "JIGGLE")
        obj.sinew.divisions, obj.sinew.stiffness_damping = 5, 0.1
        bone_mesh("Spine", 0.5)
        scene = bpy.context.scene
        scene.frame_end, scene.sinew.preroll = 4, frames
        rest = shown(obj, 1)
        cache = baked(scene, tmp_path / f"{frames}.sinew")
        assert cache.last_frame() == 4 and cache.metadata.frame_start == 1
        moved[frames] = [np.abs(shown(obj, frame) - start).max() for frame, start in ((1, rest), (4, shown(obj, 1)))]
    assert moved[0][0] < 1e-5 and moved[30][0] > 0.01
    assert moved[30][1] < 0.1 * moved[0][1]


def test_the_rest_shape_grows_with_its_shape_keys(tmp_path: Path) -> None:
    obj = arm("Belly", divisions=6)
    softly(obj)
    obj.shape_key_add(name="Basis")
    key = obj.shape_key_add(name="Breath")
    for point in key.data:
        point.co.x *= 1.5
    for frame, value in ((1, 0.0), (5, 1.0)):
        key.value = value
        key.keyframe_insert("value", frame=frame)
    obj.vertex_groups.new(name="Pin").add([v.index for v in obj.data.vertices if v.co.z < -0.99], 1.0, "REPLACE")
    obj.sinew.pin_group, obj.sinew.rest_from_keys = "Pin", True
    scene = bpy.context.scene
    scene.use_gravity = False
    scene.frame_end = 5
    scene.sinew.pose_tolerance = 1e-6
    wanted = shown(obj, 5)
    baked(scene, tmp_path / "shot.sinew")
    # nothing pulls at it: it is as wide as it is drawn
    assert np.abs(shown(obj, 5) - wanted).max() < 0.03
    assert np.ptp(shown(obj, 5)[:, 0]) == pytest.approx(1.5, abs=0.03)
    obj.sinew.rest_from_keys = False
    baked(scene, tmp_path / "other.sinew")
    top = np.array([v.co.z > 0.6 for v in obj.data.vertices])
    assert np.ptp(shown(obj, 5)[top, 0]) < 1.2, "else only what is pinned grows"


def test_subdivision_above_and_below(tmp_path: Path) -> None:
    obj = arm(divisions=3)
    bent(obj, frames=(1, 5))
    for name in ("Above", "Below"):
        modifier = obj.modifiers.new(name, "SUBSURF")
        modifier.levels = modifier.render_levels = 1
    obj.modifiers.move(2, 0)
    assert [m.type for m in obj.modifiers] == ["SUBSURF", "ARMATURE", "MESH_CACHE", "SUBSURF"]
    softly(obj)
    obj.sinew.use_armature_bones, obj.sinew.armature_bone_radius = True, 0.0
    scene = bpy.context.scene
    scene.frame_end = 5
    cache = baked(scene, tmp_path / "shot.sinew")
    obj.modifiers["Below"].show_viewport = False
    assert np.abs(shown(obj, 5) - solved(cache, "Arm", 5)).max() < 2e-5
    count = len(shown(obj, 5))
    obj.modifiers["Below"].show_viewport = True
    assert len(shown(obj, 5)) > 2 * count


def test_a_soft_body_and_flesh_on_a_deforming_bone_without_a_window(tmp_path: Path) -> None:
    """The headless command knows all of it: events tell Newton iterations, and the shot is not touched."""
    obj = arm(divisions=4)
    softly(obj)
    bone = bone_mesh("Spine")
    bone.shape_key_add(name="Basis")
    key = bone.shape_key_add(name="Lean")
    for point in key.data:
        point.co.x += 0.2 * point.co.z
    for frame, value in ((1, 0.0), (4, 1.0)):
        key.value = value
        key.keyframe_insert("value", frame=frame)
    bone.sinew.bone_body = obj
    jelly = add_box("Jelly")
    jelly.location.x = 5.0
    roles.make_body(jelly)
    jelly.sinew.divisions = 3
    bpy.context.scene.frame_end = 4
    blend = tmp_path / "shot.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(blend))
    done = run("bake", blend, "--json", "--out", tmp_path / "baked.blend")
    assert done.returncode == 0, done.stderr + done.stdout
    frames = [json.loads(line) for line in done.stdout.splitlines() if '"frame"' in line]
    frames = [event for event in frames if event["event"] == "frame"]
    assert [event["frame"] for event in frames] == [1, 2, 3, 4]
    assert frames[-1]["newton_iterations"] > 0
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "baked.blend"))
    lean = shown(bpy.data.objects["Arm"], 4) - shown(bpy.data.objects["Arm"], 1)
    top = np.array([v.co.z > 0.9 for v in bpy.data.objects["Arm"].data.vertices])
    assert lean[top, 0].mean() > 0.1
    assert (shown(bpy.data.objects["Jelly"], 4) - shown(bpy.data.objects["Jelly"], 1))[:, 2].mean() < -0.05
    # one of the two alone: the bone of the other stays out
    alone = run("bake", blend, "--json", "--object", "Jelly", "--cache", tmp_path / "alone.sinew")
    assert alone.returncode == 0, alone.stderr + alone.stdout
    assert "bone-holds-no-flesh" in alone.stdout
