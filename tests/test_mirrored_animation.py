# SPDX-License-Identifier: GPL-3.0-or-later
"""Mirror Muscle mirrors what moves and drives a muscle, and the shape of a drawn one."""

from __future__ import annotations

import math

import numpy as np
import pytest

bpy = pytest.importorskip("bpy", reason="needs Blender's module")

from mathutils import Matrix

from fixtures.blender_scenes import evaluated, fresh
from sinew.addon.evaluation.evaluated_mesh import positions
from sinew.addon.objects import flex_controls
from test_draw_muscle import bone_mesh, distance_from, draw
from test_make_muscle import elbow, select, spindle

MIRROR = Matrix.Diagonal((-1.0, 1.0, 1.0, 1.0))


def mirrored(muscle):
    select(muscle)
    assert bpy.ops.sinew.mirror_muscle() == {"FINISHED"}
    bpy.context.view_layer.update()
    return bpy.context.scene.objects[muscle.name[:-1] + "R"]


def made_muscle():
    fresh()
    rig, muscle = elbow(), spindle()
    select(muscle)
    bpy.ops.sinew.make_muscle()
    return rig, muscle


def test_the_flex_control_of_the_other_side_drives_its_muscle() -> None:
    rig, muscle = made_muscle()
    assert flex_controls.add_flex_control(rig, "Biceps.L", [muscle]) == "Flex Biceps.L"
    other = mirrored(muscle)
    assert rig["Flex Biceps.R"] == 0.0 and rig.id_properties_ui("Flex Biceps.R").as_dict()["max"] == 1.0
    rig["Flex Biceps.L"], rig["Flex Biceps.R"] = 0.25, 0.75
    rig.update_tag()
    bpy.context.view_layer.update()
    depsgraph = bpy.context.evaluated_depsgraph_get()
    found = [each.evaluated_get(depsgraph).sinew.activation for each in (muscle, other)]
    assert found == pytest.approx([0.25, 0.75])
    targets = [each.animation_data.drivers[0].driver.variables[0].targets[0].data_path for each in (muscle, other)]
    assert targets == ['["Flex Biceps.L"]', '["Flex Biceps.R"]']


def test_drivers_of_an_artist_read_the_bones_of_the_other_side() -> None:
    rig, muscle = made_muscle()
    driver = muscle.driver_add("sinew.muscle_strength").driver
    channel, path = driver.variables.new(), driver.variables.new()
    channel.name, channel.type = "turn", "TRANSFORMS"
    channel.targets[0].id, channel.targets[0].bone_target = rig, "Fore.L"
    path.name, path.targets[0].id = "length", rig
    path.targets[0].data_path = 'pose.bones["Fore.L"].scale[1]'
    other = mirrored(muscle)
    made = other.animation_data.drivers[0].driver.variables
    assert made["turn"].targets[0].bone_target == "Fore.R"
    assert made["length"].targets[0].data_path == 'pose.bones["Fore.R"].scale[1]'
    assert channel.targets[0].bone_target == "Fore.L"


@pytest.mark.parametrize("parent", ["", "bone"])
@pytest.mark.parametrize("mode", ["XYZ", "QUATERNION"])
def test_a_muscle_that_keys_move_moves_as_its_mirror_image(mode: str, parent: str) -> None:
    rig, muscle = made_muscle()
    if parent:
        muscle.parent, muscle.parent_type, muscle.parent_bone = rig, "BONE", "Upper.L"
        bpy.context.view_layer.update()
        muscle.matrix_world = Matrix.Identity(4)
    muscle.rotation_mode = mode
    for frame, turn in ((1, 0.0), (10, 0.7)):
        muscle.location = (0.1 + turn, 0.2 * turn, -0.3)
        rotation = Matrix.Rotation(turn, 4, (0.3, 0.6, 0.74))
        muscle.rotation_euler, muscle.rotation_quaternion = rotation.to_euler(), rotation.to_quaternion()
        for name in ("location", "rotation_euler" if mode == "XYZ" else "rotation_quaternion"):
            muscle.keyframe_insert(name, frame=frame)
    scene = bpy.context.scene
    scene.frame_set(4)
    other = mirrored(muscle)
    assert other.animation_data.action != muscle.animation_data.action
    for frame in (1, 6, 10):
        if parent:
            for side, sign in ((".L", 1.0), (".R", -1.0)):
                bone = rig.pose.bones["Upper" + side]
                bone.rotation_mode, bone.rotation_euler = "XYZ", (0.1 * frame, 0.0, sign * 0.05 * frame)
        scene.frame_set(frame)
        bpy.context.view_layer.update()
        wanted = MIRROR @ muscle.matrix_world @ MIRROR
        assert np.abs(np.array(other.matrix_world) - np.array(wanted)).max() < 1e-5, frame
    assert math.isclose(other.matrix_world.determinant(), 1.0, rel_tol=1e-5)


@pytest.mark.slow
def test_a_drawn_muscle_stays_live_on_the_other_side() -> None:
    fresh()
    elbow()
    ball = bone_mesh("Ball.L", (1.05, 0.1, 1.3), 0.12)
    opposite = bone_mesh("Ball.R", (-1.05, 0.1, 1.3), 0.12)
    bpy.context.view_layer.update()
    muscle = draw()
    muscle.name = "Biceps.L"
    muscle.vertex_groups.new(name="Mine").add(list(range(60)), 1.0, "REPLACE")
    other = mirrored(muscle)
    assert [row.object for row in other.sinew.shape_obstacles] == [opposite]
    for width in (1.0, 1.3):
        for each in (muscle, other):
            each.sinew.muscle_width *= width
            each.sinew.muscle_roll = 0.4
            each.sinew.origin_count = 2
        bpy.context.view_layer.update()
        left, right = evaluated(muscle, 1)[0], evaluated(other, 1)[0]
        # Blender's trees of the obstacles compute in single precision
        assert positions(other.data) == pytest.approx(positions(muscle.data) * [-1.0, 1.0, 1.0], abs=1e-4)
        assert right == pytest.approx(left * [-1.0, 1.0, 1.0], abs=1e-4)
    assert distance_from(muscle, ball).min() > -1e-4 and distance_from(other, opposite).min() > -1e-4
    normals = np.array([p.normal[:] for p in other.data.polygons])
    outwards = np.array([p.center[:] for p in other.data.polygons]) - positions(other.data).mean(axis=0)
    assert (np.einsum("ij,ij->i", normals, outwards) > 0.0).mean() > 0.7, "its faces look outwards"
