# SPDX-License-Identifier: GPL-3.0-or-later
"""Make Muscle and Draw Muscle find the path of a muscle: straight ones have no via points, bent ones follow bones."""

from __future__ import annotations

import numpy as np
import pytest

bpy = pytest.importorskip("bpy", reason="needs Blender's module")

from mathutils import Matrix

from fixtures.blender_scenes import add_box, add_mesh, evaluated, fresh
from fixtures.muscle_bodies import bent, revolved
from sinew.addon.evaluation.matrix_units import transform_points
from sinew.addon.objects import muscle_setup, roles
from test_make_muscle import elbow, group, select, spindle

RADIUS = 0.5  # of the arc of the muscle's centreline
ARC = 0.5 * np.pi * RADIUS


def right_angle(*more: tuple[str, str, tuple, tuple]):
    """Returns an armature of two bones that meet at the origin, along x and along z; more bones hang on one of them."""
    rig = bpy.data.objects.new("Rig", bpy.data.armatures.new("Rig"))
    bpy.context.scene.collection.objects.link(rig)
    bpy.context.view_layer.objects.active = rig
    bpy.ops.object.mode_set(mode="EDIT")
    bones = (("Upper", "", (1.0, 0.0, 0.0), (0.0, 0.0, 0.0)), ("Fore", "Upper", (0.0, 0.0, 0.0), (0.0, 0.0, 1.0)))
    for name, parent, head, tail in (*bones, *more):
        bone = rig.data.edit_bones.new(name)
        bone.head, bone.tail = head, tail
        bone.parent = rig.data.edit_bones.get(parent)
    bpy.ops.object.mode_set(mode="OBJECT")
    return rig


def quarter_torus(name: str = "Muscle", belly: float = 0.07, y: float = 0.0):
    """Returns a spindle along a quarter of a circle from the bone on x to the bone on z."""
    s = np.linspace(0.0, 1.0, 41)
    radius = 0.025 + (belly - 0.025) * np.sin(np.pi * s) ** 2
    surface = revolved(np.concatenate([[0.0], radius, [0.0]]), np.concatenate([[0.0], s, [1.0]]), 16)
    return add_mesh(name, bent(surface.vertices * [1.0, 1.0, ARC], RADIUS) + [0.0, y, 0.0], surface.triangles)


def vias(muscle) -> list:
    return [row.object for row in muscle.sinew.via_points]


def carriers(muscle) -> list[str]:
    return [via.parent_bone or via.parent.name for via in vias(muscle)]


def path(muscle) -> np.ndarray:
    """Returns the path of a muscle in the present pose: ends as its mesh has them, and via points, (n, 3)."""
    bpy.context.view_layer.update()
    points = transform_points(np.array(muscle.matrix_world), evaluated(muscle, bpy.context.scene.frame_current)[0])
    ends = [points[group(muscle, name)].mean(axis=0) for name in ("Origin", "Insertion")]
    return np.array([ends[0], *[via.matrix_world.translation for via in vias(muscle)], ends[1]])


def length(points: np.ndarray) -> float:
    return float(np.linalg.norm(np.diff(points, axis=0), axis=1).sum())


def test_a_straight_muscle_has_no_via_points() -> None:
    fresh()
    elbow()
    muscle = spindle()
    assert not muscle_setup.make_muscles(bpy.context, [muscle])
    assert not len(muscle.sinew.via_points) and not [o for o in bpy.data.objects if o.type == "EMPTY"]


def test_a_bent_muscle_is_as_long_as_its_arc_and_follows_the_bones() -> None:
    scene = fresh()
    rig, muscle = right_angle(), quarter_torus()
    select(muscle)
    assert bpy.ops.sinew.make_muscle() == {"FINISHED"}
    assert carriers(muscle) == ["Upper", "Fore"]
    rest = path(muscle)
    assert np.linalg.norm(rest, axis=1)[1:-1] == pytest.approx(RADIUS, rel=0.02), "they are on the centreline"
    angles = np.arctan2(rest[:, 2], rest[:, 0])
    arc = RADIUS * (angles[-1] - angles[0])  # between the middles of the ends
    assert arc > 0.9 * ARC
    assert abs(length(rest) / arc - 1.0) < 0.02 < 1.0 - length(rest[[0, -1]]) / arc
    for turn in (0.5, -0.5, 1.0):  # opened, closed, far opened
        fore = rig.pose.bones["Fore"]
        fore.matrix = Matrix.Rotation(-turn, 4, "Y") @ fore.bone.matrix_local
        moved = np.array([*rest[:2], *(rest[2:] @ np.array(Matrix.Rotation(-turn, 3, "Y")).T)])
        found = path(muscle)
        assert found == pytest.approx(moved, abs=1e-5)
        if turn < 0.6:
            assert length(found) / (arc + RADIUS * turn) == pytest.approx(1.0, abs=0.035)
    # what a bake reads
    fore.keyframe_insert("rotation_quaternion", frame=10)
    fore.matrix_basis.identity()
    fore.keyframe_insert("rotation_quaternion", frame=1)
    scene.frame_end, muscle.sinew.activation_source = 10, "LENGTH"
    select(muscle)
    assert bpy.ops.sinew.fit_length_range() == {"FINISHED"}
    stretched = 1.0 - length(moved) / length(rest)
    ends = sorted((muscle.sinew.shortening_start, muscle.sinew.shortening_full))
    assert ends[0] == pytest.approx(stretched, abs=1e-4) and stretched < -0.3


def test_via_points_are_found_in_the_pose_in_which_the_mesh_was_modeled() -> None:
    fresh()
    rig, muscle = right_angle(), quarter_torus()
    rig.pose.bones["Fore"].matrix = Matrix.Rotation(-0.5, 4, "Y") @ rig.data.bones["Fore"].matrix_local
    bpy.context.view_layer.update()
    modifier = muscle.modifiers.new("Armature", "ARMATURE")
    modifier.object = rig
    select(muscle)
    bpy.ops.sinew.make_muscle()
    posed = path(muscle)
    rig.pose.bones["Fore"].matrix_basis.identity()
    found = path(muscle)
    assert np.linalg.norm(found[1:-1], axis=1) == pytest.approx(RADIUS, rel=0.02)
    assert np.linalg.norm(posed - found, axis=1)[:2] == pytest.approx(0.0, abs=1e-5)
    assert np.linalg.norm(posed - found, axis=1)[2:].min() > 0.2


def test_a_bone_between_carries_and_one_beside_is_told() -> None:
    fresh()
    near = (0.42, 0.0, 0.42), (0.52, 0.0, 0.52)
    # Thumb hangs on Fore and is not between; it lies along the muscle
    right_angle(("Thumb", "Fore", *near))
    muscle = quarter_torus()
    doubts = muscle_setup.make_muscles(bpy.context, [muscle])
    assert carriers(muscle) == ["Upper", "Fore"]
    unsure = [doubt.details for doubt in doubts if doubt.kind == "muscle-via-unsure"]
    assert {(each["number"], each["bone"], each["other"]) for each in unsure} == {
        (1, "Upper", "Thumb"),
        (2, "Fore", "Thumb"),
    }
    fresh()
    rig = right_angle(("Disc", "Upper", *near), ("Tip", "Disc", (0.0, 0.0, 0.3), (0.0, 0.0, 0.9)))
    rig.data.bones["Fore"].use_deform = False
    muscle = quarter_torus()
    assert not [d for d in muscle_setup.make_muscles(bpy.context, [muscle]) if d.kind == "muscle-via-unsure"]
    assert set(carriers(muscle)) == {"Disc"}, "it lies between Upper and Tip"


def test_a_bone_mesh_on_an_armature_carries_like_its_bone() -> None:
    fresh()
    rig = right_angle()
    bone = add_box("Humerus", 1, 0.1)
    bone.matrix_world = Matrix.Translation((0.45, 0.0, 0.12)) @ Matrix.Rotation(0.3, 4, "X")
    bone.parent, bone.parent_type, bone.parent_bone = rig, "BONE", "Upper"
    roles.make_bone(bone)
    bpy.context.view_layer.update()
    placed = bone.matrix_world.copy()
    bone.matrix_world = placed
    muscle = quarter_torus()
    doubts = muscle_setup.make_muscles(bpy.context, [muscle])
    assert not [doubt for doubt in doubts if doubt.kind == "muscle-via-unsure"]
    rest = path(muscle)
    assert np.linalg.norm(rest[1:-1], axis=1) == pytest.approx(RADIUS, rel=0.02)
    rig.pose.bones["Upper"].matrix = Matrix.Translation((0.0, 0.0, 0.3)) @ rig.data.bones["Upper"].matrix_local
    assert path(muscle) - rest == pytest.approx(np.tile([0.0, 0.0, 0.3], (len(rest), 1)), abs=1e-5)


def test_again_they_are_made_anew_and_those_of_an_artist_stay() -> None:
    scene = fresh()
    right_angle()
    muscle = quarter_torus()
    select(muscle)
    for _ in range(2):
        bpy.ops.sinew.make_muscle()
        assert len(vias(muscle)) == 2 and len([o for o in bpy.data.objects if o.type == "EMPTY"]) == 2
    twin = muscle.copy()
    scene.collection.objects.link(twin)
    twin.data = muscle.data.copy()
    select(twin)
    bpy.ops.sinew.make_muscle()  # a copy has its own, and leaves those of the first
    assert not set(vias(twin)) & set(vias(muscle)) and len(vias(muscle)) == 2 and all(vias(muscle))
    for vertex in muscle.data.vertices:  # straight on from here
        x, y, z = vertex.co
        vertex.co = (np.hypot(x, z), y, RADIUS * np.arctan2(z, x))
    select(muscle)
    bpy.ops.sinew.make_muscle()
    assert not vias(muscle)
    own = bpy.data.objects.new("Own", None)
    scene.collection.objects.link(own)
    twin.sinew.via_points.add().object = own
    kept = vias(twin)
    select(twin)
    bpy.ops.sinew.make_muscle()
    assert vias(twin) == kept and kept[-1] == own


def test_those_of_the_other_side_are_mirror_images_on_its_bones() -> None:
    scene = fresh()
    rig, muscle = elbow(), spindle(lower=(1.0, 0.25, 0.1), upper=(1.0, 0.25, 1.9), belly=0.05)
    for vertex in muscle.data.vertices:  # round the joint, in front of it
        vertex.co.y += 0.5 * np.sin(np.pi * (vertex.co.z - 0.1) / 1.8)
        vertex.co.x += 0.2 * vertex.co.y
    rig.pose.bones["Fore.L"].rotation_mode = "XYZ"
    select(muscle)
    for turn in (0.0, 0.6):  # a second time it takes the place of the first, whatever the pose
        rig.pose.bones["Fore.L"].rotation_euler.x = turn
        bpy.context.view_layer.update()
        select(muscle)
        assert bpy.ops.sinew.mirror_muscle() == {"FINISHED"} if turn else bpy.ops.sinew.make_muscle() == {"FINISHED"}
        if not turn:
            continue
        for _ in range(2):
            select(muscle)
            assert bpy.ops.sinew.mirror_muscle() == {"FINISHED"}
    other = scene.objects["Biceps.R"]
    assert len(vias(muscle)) >= 2 and len(bpy.data.objects) == 3 + 2 * len(vias(muscle))
    assert carriers(other) == [name.replace(".L", ".R") for name in carriers(muscle)]
    assert {via.name[-2:] for via in vias(other)} == {".R"}
    rig.pose.bones["Fore.L"].rotation_euler.x = 0.0
    assert path(other) == pytest.approx(path(muscle) * [-1.0, 1.0, 1.0], abs=1e-4)


def test_a_drawn_muscle_has_via_points_where_it_was_drawn_bent() -> None:
    fresh()
    elbow()
    ends = {"origin": "Rig", "origin_bone": "Upper.L", "insertion": "Rig", "insertion_bone": "Fore.L"}

    def draw(points):
        places = [{"name": "", "location": point} for point in points]
        bpy.ops.sinew.draw_muscle("EXEC_DEFAULT", points=places, width=0.12, **ends)
        return bpy.context.object

    assert not vias(draw([(1.0, 0.1, 1.8), (1.0, 0.1, 1.2), (1.0, 0.1, 0.5)]))
    muscle = draw([(1.0, 0.0, 1.9), (1.0, 0.3, 1.3), (1.0, 0.3, 0.7), (1.0, 0.0, 0.1)])
    assert carriers(muscle) == ["Upper.L", "Fore.L"]
    found = path(muscle)
    assert found[1:-1, 1].min() > 0.2 and found[:, 0] == pytest.approx(1.0, abs=0.02)
    assert length(found) > 0.98 * length(np.array([(0.0, 1.9), (0.3, 1.3), (0.3, 0.7), (0.0, 0.1)])) - 0.1
