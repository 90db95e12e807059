# SPDX-License-Identifier: GPL-3.0-or-later
"""Make Muscle and Mirror Muscle: the bones at the ends, what holds them, and what an artist is told."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

bpy = pytest.importorskip("bpy", reason="needs Blender's module")

from fixtures.blender_scenes import add_box, add_mesh, evaluated, fresh
from fixtures.closed_surfaces import sphere
from fixtures.export_scenes import exported
from fixtures.fake_layout import FakeLayout
from fixtures.muscle_bodies import revolved
from sinew.addon.objects import muscle_setup, roles
from sinew.addon.panels import flesh_layout
from sinew.solver.bake.cache import CacheReader
from sinew.solver.mesh.geometry.longitudinal_profile import elongated_surface


def spindle(name: str = "Biceps.L", lower=(1.0, 0.1, 0.1), upper=(1.0, 0.1, 1.9), belly: float = 0.12):
    """Returns a spindle as a mesh from one place to another."""
    s = np.linspace(0.0, 1.0, 25)
    radius = 0.04 + (belly - 0.04) * np.sin(np.pi * s) ** 2
    surface = revolved(np.concatenate([[0.0], radius, [0.0]]), np.concatenate([[0.0], s, [1.0]]), 12)
    lower, upper = np.array(lower, float), np.array(upper, float)
    vertices = surface.vertices * [1.0, 1.0, 0.0] + lower + surface.vertices[:, 2:] * (upper - lower)
    return add_mesh(name, vertices, surface.triangles)


def elbow(side: str = ".L", x: float = 1.0):
    """Returns an armature of an upper arm, above, and a forearm."""
    rig = bpy.data.objects.new("Rig", bpy.data.armatures.new("Rig"))
    bpy.context.scene.collection.objects.link(rig)
    bpy.context.view_layer.objects.active = rig
    bpy.ops.object.mode_set(mode="EDIT")
    for name, head, tail in (("Upper", 2.0, 1.0), ("Fore", 1.0, 0.0)):
        for mark, where in ((side, x), (".R", -x)) if side else (("", x),):
            bone = rig.data.edit_bones.new(name + mark)
            bone.head, bone.tail = (where, 0.0, head), (where, 0.0, tail)
            if name == "Fore":
                bone.parent = rig.data.edit_bones["Upper" + mark]
    bpy.ops.object.mode_set(mode="OBJECT")
    return rig


def select(*objects) -> None:
    bpy.ops.object.select_all(action="DESELECT")
    for obj in objects:
        obj.select_set(True)
    bpy.context.view_layer.objects.active = objects[0]


def vertex_positions(obj) -> np.ndarray:
    return np.array([v.co[:] for v in obj.data.vertices])


def group(obj, name: str) -> np.ndarray:
    index = obj.vertex_groups[name].index
    return np.array([any(e.group == index and e.weight > 0.5 for e in v.groups) for v in obj.data.vertices])


def test_a_mesh_ends_on_the_bones_nearest_to_it_and_follows_them() -> None:
    fresh()
    rig, muscle = elbow(), spindle()
    select(muscle)
    assert bpy.ops.sinew.make_muscle() == {"FINISHED"}
    hooks = {m.name: (m.object, m.subtarget) for m in muscle.modifiers if m.type == "HOOK"}
    assert hooks == {"Origin": (rig, "Upper.L"), "Insertion": (rig, "Fore.L")}
    z = vertex_positions(muscle)[:, 2]
    assert z[group(muscle, "Origin")].min() > 1.6 and z[group(muscle, "Insertion")].max() < 0.4
    settings = muscle.sinew
    assert roles.is_flesh(muscle) and settings.use_muscle
    assert (settings.origin_group, settings.insertion_group) == ("Origin", "Insertion")
    assert settings.tet_size == pytest.approx(0.24 / 3, rel=0.1)
    layout = FakeLayout()
    flesh_layout.draw_held_by(layout, bpy.context)
    assert "Bones: Upper.L, Fore.L" in layout.lines
    rest = evaluated(muscle, 1)[0]
    assert rest == pytest.approx(vertex_positions(muscle), abs=1e-6), "nothing moves before the bones do"
    rig.pose.bones["Fore.L"].rotation_mode = "XYZ"
    rig.pose.bones["Fore.L"].rotation_euler.x = 0.5
    bpy.context.view_layer.update()
    moved = np.linalg.norm(evaluated(muscle, 1)[0] - rest, axis=1)
    assert moved[group(muscle, "Insertion")].min() > 0.1
    assert moved[~group(muscle, "Insertion")].max() < 1e-6


def test_bone_meshes_hold_ends_too_and_the_ends_may_be_chosen_again() -> None:
    scene = fresh()
    for name, z in (("Humerus", 2.2), ("Radius", -0.2)):
        bone = add_box(name, 1, 0.2)
        bone.location = (1.0, 0.0, z)
        roles.make_bone(bone)
    scene.objects["Radius"].parent = scene.objects["Humerus"]
    scene.objects["Radius"].location.z -= 2.2
    muscle = spindle()
    bpy.context.view_layer.update()
    select(muscle)
    for _ in range(2):
        assert bpy.ops.sinew.make_muscle(end_share=20.0) == {"FINISHED"}
        hooks = [(m.name, m.object.name) for m in muscle.modifiers if m.type == "HOOK"]
        assert hooks == [("Origin", "Humerus"), ("Insertion", "Radius")]
    z = vertex_positions(muscle)[:, 2]
    assert z[group(muscle, "Origin")].min() == pytest.approx(1.54, abs=0.1)


def test_a_muscle_of_the_other_side_is_its_mirror_image_on_the_other_bones() -> None:
    scene = fresh()
    rig, muscle = elbow(), spindle(lower=(1.3, 0.1, 0.1))
    select(muscle)
    bpy.ops.sinew.make_muscle()
    for _ in range(2):  # a second time it takes the place of the first
        select(muscle)
        assert bpy.ops.sinew.mirror_muscle() == {"FINISHED"}
        other = scene.objects["Biceps.R"]
        hooks = {m.name: (m.object, m.subtarget) for m in other.modifiers if m.type == "HOOK"}
        assert hooks == {"Origin": (rig, "Upper.R"), "Insertion": (rig, "Fore.R")}
        bpy.context.view_layer.update()
        assert evaluated(other, 1)[0] == pytest.approx(evaluated(muscle, 1)[0] * [-1.0, 1.0, 1.0], abs=1e-5)
        assert sum(obj.name.startswith("Biceps") for obj in scene.objects) == 2
    normals = np.array([p.normal[:] for p in other.data.polygons])
    outwards = np.array([p.center[:] for p in other.data.polygons]) - vertex_positions(other).mean(axis=0)
    assert (np.einsum("ij,ij->i", normals, outwards) > 0.0).mean() > 0.9, "its faces look outwards"


def test_a_ball_has_no_ends() -> None:
    fresh()
    elbow("", 1.0)
    vertices, triangles = sphere(8, radius=0.1)
    ball = add_mesh("Ball", vertices + [1.0, 0.0, 1.0], triangles)
    doubts = muscle_setup.make_muscles(bpy.context, [ball])
    assert "muscle-not-long" in {doubt.kind for doubt in doubts}


def test_what_is_doubtful_is_told() -> None:
    fresh()
    elbow("", 1.0)
    far, lump = spindle("Far", (3.0, 0.0, 0.1), (3.0, 0.0, 1.9)), add_box("Lump", 4, 0.2)
    lump.location = (1.0, 0.0, 1.5)
    bpy.context.view_layer.update()
    doubts = muscle_setup.make_muscles(bpy.context, [far, lump])
    of = {name: {doubt.kind for doubt in doubts if doubt.details["name"] == name} for name in ("Far", "Lump")}
    assert of["Far"] == {"muscle-end-far"} and "muscle-one-bone" in of["Lump"]


def test_it_needs_bones_and_muscles() -> None:
    fresh()
    muscle = spindle("Biceps")
    select(muscle)
    with pytest.raises(RuntimeError, match="0 bones"):
        bpy.ops.sinew.make_muscle()
    assert not roles.roles_of(muscle) and not muscle.modifiers, "nothing was changed"
    with pytest.raises(RuntimeError, match="No muscle is selected"):
        bpy.ops.sinew.mirror_muscle()


@pytest.mark.slow
def test_a_biceps_contracts_and_bulges_as_the_forearm_comes_up(tmp_path: Path) -> None:
    scene = fresh()
    scene.frame_end, scene.sinew.cache_path = 12, str(tmp_path / "c.sinew")
    rig, muscle = elbow(), spindle(upper=(1.0, 0.25, 1.9), lower=(1.0, 0.25, 0.7))
    select(muscle)
    bpy.ops.sinew.make_muscle()
    fore = rig.pose.bones["Fore.L"]
    fore.rotation_mode = "XYZ"
    for frame, angle, activation in ((1, 0.0, 0.0), (12, 0.9, 1.0)):
        fore.rotation_euler.x = angle
        fore.keyframe_insert("rotation_euler", frame=frame)
        muscle.sinew.activation = activation
        muscle.sinew.keyframe_insert("activation", frame=frame)
    assert bpy.ops.sinew.simulate() == {"FINISHED"}
    summary = CacheReader(tmp_path / "c.sinew").convergence()
    assert summary.not_converged == 0
    first, last = (evaluated(muscle, frame)[0] for frame in (1, 12))
    middle = np.abs(elongated_surface(first, _triangles(muscle)).along - 0.5) < 0.1
    across = [np.linalg.norm(x[middle] - x[middle].mean(axis=0), axis=1).mean() for x in (first, last)]
    assert across[1] > 1.1 * across[0], "its belly bulges"


def _triangles(obj) -> np.ndarray:
    obj.data.calc_loop_triangles()
    return np.array([t.vertices[:] for t in obj.data.loop_triangles], np.int32)


def test_poses_and_controls_of_a_muscle_find_its_rig_and_go_to_the_other_side(tmp_path: Path) -> None:
    scene = fresh()
    scene.frame_end = 6
    rig, muscle = elbow(), spindle()
    select(muscle)
    bpy.ops.sinew.make_muscle()
    own = muscle.sinew
    own.activation_source, own.rise_time, own.fall_time = "POSE", 0.0, 0.0
    for side in (".L", ".R"):
        fore = rig.pose.bones["Fore" + side]
        fore.rotation_mode = "XYZ"
        for frame, angle in ((1, 0.0), (6, 1.0)):
            # mirrored: about x alike, about z the other way
            fore.rotation_euler = (angle, 0.0, 0.5 * angle if side == ".L" else -0.5 * angle)
            fore.keyframe_insert("rotation_euler", frame=frame)
    for frame, activation in ((1, 0.0), (6, 0.8)):
        scene.frame_set(frame)
        bpy.ops.sinew.store_activation_pose(activation=activation)
    assert [joint.name for joint in own.activation_poses[0].rotations] == ["Fore.L"]
    scene.frame_set(1)
    bpy.ops.sinew.mirror_muscle()
    assert [joint.name for joint in scene.objects["Biceps.R"].sinew.activation_poses[1].rotations] == ["Fore.R"]
    _, tracks = exported(scene, tmp_path / "c.sinew")
    for key in ("Biceps_L", "Biceps_R"):
        found = [float(tracks.sample(f"body.{key}.activation", frame / 24.0)) for frame in (0, 5)]
        assert found == pytest.approx([0.0, 0.8], abs=1e-4)
    select(muscle)
    bpy.ops.sinew.add_flex_controls()
    assert "Flex Biceps.L" in rig
