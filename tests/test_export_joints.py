# SPDX-License-Identifier: GPL-3.0-or-later
"""Blender's Rigid Body Constraints: what is exported of them, what is refused, and what panel and digest say."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

bpy = pytest.importorskip("bpy")

from fixtures.blender_scenes import add_box, fresh
from fixtures.export_scenes import exported, refused
from fixtures.fake_layout import FakeLayout
from fixtures.rigid_body_scenes import add_constraint, bake, rigid_box, take_over_world
from sinew.addon.evaluation.scene_copy import SceneCopy
from sinew.addon.export import input_digest, validation
from sinew.addon.export.joints import read_joints
from sinew.addon.export.participant_subset import only_bodies
from sinew.addon.export.participants import find_participants
from sinew.addon.panels import collision_layout, material_layout, panels, rigid_body_layout
from sinew.solver.runtime.errors import BadInput
from sinew.solver.scene.joint import UNLIMITED
from test_addon import context_of


def limits(lower: dict[int, float], upper: dict[int, float]) -> tuple[np.ndarray, np.ndarray]:
    low, high = np.full(6, -UNLIMITED), np.full(6, UNLIMITED)
    low[list(lower)], high[list(upper)] = list(lower.values()), list(upper.values())
    return low, high


def test_constraints_are_joints_where_they_are(tmp_path: Path) -> None:
    scene = fresh()
    one, two = rigid_box("One"), rigid_box("Two", (2.0, 0.0, 0.0))
    door = add_constraint("HINGE", one, two, (1.0, 0.5, 0.0), (0.0, 0.5, 0.0))
    door.scale = (2.0, 3.0, 4.0)
    own = door.rigid_body_constraint
    own.use_limit_ang_z, own.limit_ang_z_lower, own.limit_ang_z_upper = True, -0.3, 1.2
    own.use_breaking, own.breaking_threshold, own.disable_collisions = True, 2.0, False
    take_over_world()
    joint = exported(scene, tmp_path / "c.sinew")[0].joints[0]
    assert (joint.first, joint.second, joint.kind, joint.collides) == ("Two", "One", "hinge", True)
    np.testing.assert_allclose(joint.frame[:3, 3], (1.0, 0.5, 0.0), atol=1e-6)
    np.testing.assert_allclose(joint.frame[:3, 2], (np.sin(0.5), 0.0, np.cos(0.5)), atol=1e-6)
    np.testing.assert_allclose((joint.lower, joint.upper), limits({5: -0.3}, {5: 1.2}), rtol=1e-6)
    assert joint.breaking_force == pytest.approx(2.0 * 24 * 10)  # ten substeps in a frame


def test_translations_are_of_the_second_object_and_angles_of_the_first(tmp_path: Path) -> None:
    scene = fresh()
    one, two = rigid_box("One"), rigid_box("Two", (2.0, 0.0, 0.0))
    own = add_constraint("PISTON", one, two).rigid_body_constraint
    own.use_limit_lin_x, own.limit_lin_x_lower, own.limit_lin_x_upper = True, -0.5, 1.5
    own.use_limit_ang_x, own.limit_ang_x_lower, own.limit_ang_x_upper = True, -0.25, 0.75
    take_over_world()
    joint = exported(scene, tmp_path / "c.sinew")[0].joints[0]
    assert (joint.first, joint.second, joint.kind) == ("One", "Two", "generic")
    np.testing.assert_allclose(joint.lower, (-0.5, 0, 0, -0.75, 0, 0), atol=1e-6)
    np.testing.assert_allclose(joint.upper, (1.5, 0, 0, 0.25, 0, 0), atol=1e-6)


def test_springs_have_stiffness_and_damping_along_the_axes_that_use_them(tmp_path: Path) -> None:
    scene = fresh()
    scene.unit_settings.scale_length = 0.01
    one, two = rigid_box("One"), rigid_box("Two", (2.0, 0.0, 0.0))
    own = add_constraint("GENERIC_SPRING", one, two).rigid_body_constraint
    own.use_spring_y, own.spring_stiffness_y, own.spring_damping_y = True, 30.0, 2.0
    own.use_spring_ang_z, own.spring_stiffness_ang_z, own.spring_damping_ang_z = True, 5.0, 0.25
    own.use_limit_lin_x, own.limit_lin_x_lower, own.limit_lin_x_upper = True, 0.0, 0.0
    take_over_world()
    joint = exported(scene, tmp_path / "c.sinew")[0].joints[0]
    assert (joint.first, joint.second, joint.kind) == ("One", "Two", "generic")  # as translations have springs
    np.testing.assert_allclose(joint.spring_stiffness, (0.0, 30.0, 0.0, 0.0, 0.0, 5.0e-4), rtol=1e-6)
    np.testing.assert_allclose(joint.spring_damping, (0.0, 2.0, 0.0, 0.0, 0.0, 0.25e-4), rtol=1e-6)
    np.testing.assert_allclose((joint.lower, joint.upper), limits({0: 0.0}, {0: 0.0}))
    own.type = "GENERIC"  # which has none, whatever the numbers are
    assert not exported(scene, tmp_path / "d.sinew")[0].joints[0].spring_stiffness.any()


def test_motors_and_scenes_of_centimetres(tmp_path: Path) -> None:
    scene = fresh()
    scene.unit_settings.scale_length = 0.01
    one = rigid_box("One", sides=(10.0, 10.0, 10.0))
    own = add_constraint("MOTOR", one, None, (5.0, 0.0, 0.0)).rigid_body_constraint
    own.use_motor_lin, own.motor_lin_target_velocity, own.motor_lin_max_impulse = True, 3.0, 200.0
    own.use_motor_ang, own.motor_ang_target_velocity, own.motor_ang_max_impulse = True, 4.0, 5000.0
    take_over_world()
    written = exported(scene, tmp_path / "c.sinew")[0]
    joint = written.joints[0]
    assert joint.motor_speed == pytest.approx((0.03, 4.0))
    assert joint.motor_force == pytest.approx((2.0, 0.5))
    assert written.bodies[0].material.density == pytest.approx(1.0 / 0.001)
    np.testing.assert_allclose(joint.frame[:3, 3], (0.05, 0.0, 0.0), atol=1e-9)


def test_an_end_that_moves_takes_the_frame_along_and_is_passed_through(tmp_path: Path) -> None:
    scene = fresh()
    scene.frame_end = 5
    post = rigid_box("Post", (0.0, 0.0, 0.0), (1.0, 1.0, 1.0), "PASSIVE")
    post.keyframe_insert("rotation_euler", frame=1)
    post.rotation_euler.z = 1.0
    post.keyframe_insert("rotation_euler", frame=5)
    scene.frame_set(1)
    arm = rigid_box("Arm", (1.0, 0.0, 0.0))
    joint_object = add_constraint("FIXED", post, arm, (0.5, 0.0, 0.0))
    joint_object.keyframe_insert("rigid_body_constraint.enabled", frame=1)
    joint_object.rigid_body_constraint.enabled = False
    joint_object.keyframe_insert("rigid_body_constraint.enabled", frame=4)
    take_over_world()
    written, tracks = exported(scene, tmp_path / "c.sinew")
    assert (written.joints[0].first, written.joints[0].second) == ("Arm", "")
    assert ("Arm", "Post") in written.ignored_pairs
    matrix = tracks.sample("joint.Empty.matrix", 4 / 24)
    np.testing.assert_allclose(matrix[:3, 3], (0.5 * np.cos(1.0), 0.5 * np.sin(1.0), 0.0), atol=1e-6)
    found = [float(tracks.sample("joint.Empty.enabled", frame / 24)) for frame in range(5)]
    assert found == [1.0, 1.0, 1.0, 0.0, 0.0]


def spring() -> None:
    found = add_constraint("GENERIC_SPRING", bpy.data.objects["One"], bpy.data.objects["Two"])
    found.rigid_body_constraint.spring_type = "SPRING1"


def to_itself() -> None:
    add_constraint("POINT", bpy.data.objects["One"], bpy.data.objects["One"])


def twice() -> None:
    add_constraint("FIXED", bpy.data.objects["One"], bpy.data.objects["Two"])
    add_constraint("FIXED", bpy.data.objects["Two"], bpy.data.objects["One"])


def to_blenders_own() -> None:
    other = rigid_box("Other", (5.0, 0.0, 0.0))
    add_constraint("POINT", bpy.data.objects["One"], other)


def to_a_soft_one() -> None:
    add_constraint("POINT", bpy.data.objects["One"], bpy.data.objects["Two"])
    bpy.data.objects["Two"].sinew.method = "ROBUST"


def between_passes() -> None:
    add_constraint("POINT", bpy.data.objects["One"], bpy.data.objects["Two"])
    bpy.data.objects["Two"].sinew.bake_pass = 2


def elsewhere() -> None:
    two = bpy.data.objects["Two"]
    add_constraint("POINT", bpy.data.objects["One"], two)
    for collection in list(two.users_collection):
        collection.objects.unlink(two)


WRONG = {
    spring: 'The constraint "Empty" has springs as of Blender 2.7',
    to_itself: 'The joint "Empty" has "One" at both ends',
    twice: '"One" is fixed to "Two" twice, by the joints "Empty.001" and "Empty"',
    to_blenders_own: 'The constraint "Empty" joins "One" to "Other", which Blender alone moves',
    to_a_soft_one: 'The joint "Empty" holds "Two", which is soft all over',
    between_passes: 'The constraint "Empty" joins "One" to "Two", which are simulated in different passes',
    elsewhere: 'The constraint "Empty" joins a body to "Two", which is not in the scene "Scene"',
}


@pytest.mark.parametrize("make", WRONG, ids=lambda make: make.__name__)
def test_what_cannot_be_joined_is_named_in_the_panel_and_refused(tmp_path: Path, make: object) -> None:
    scene = fresh()
    one, _ = rigid_box("One"), rigid_box("Two", (2.0, 0.0, 0.0))
    take_over_world()
    make()
    if make is twice:  # only the whole scene shows it
        problem = refused(scene, tmp_path / "c.sinew")
    else:
        problem = next(validation.object_problems(scene))
        layout = FakeLayout()
        rigid_body_layout.draw_rigid_body(layout, context_of(one))
        assert WRONG[make] in " ".join(layout.lines)
    assert WRONG[make] in problem.sentence
    assert problem.next_step


def test_a_joint_to_a_body_that_is_left_as_it_is_baked_is_refused() -> None:
    scene = fresh()
    one, two = rigid_box("One"), rigid_box("Two", (2.0, 0.0, 0.0))
    add_constraint("POINT", one, two)
    take_over_world()
    inputs = only_bodies(find_participants(scene), [one], follow=True)
    with SceneCopy(scene, inputs.modifier_counts) as scene_copy, pytest.raises(BadInput) as caught:
        scene_copy.set_frame(1)
        read_joints(scene_copy, inputs)
    assert 'joins "One" to "Two", which is not simulated at the same time' in caught.value.sentence


def test_a_rigid_core_may_be_an_end(tmp_path: Path) -> None:
    scene = fresh()
    soft = add_box("Soft", divisions=2)
    bpy.ops.sinew.make_body()
    soft.sinew.use_core = True
    rigid = rigid_box("Rigid", (2.0, 0.0, 0.0))
    add_constraint("HINGE", soft, rigid, (1.0, 0.0, 0.0))
    take_over_world()
    assert not list(validation.object_problems(scene))
    assert {*exported(scene, tmp_path / "c.sinew")[0].joints[0].ends} == {"Soft", "Rigid"}


def test_constraints_among_blenders_own_bodies_are_left_to_blender(tmp_path: Path) -> None:
    scene = fresh()
    one, two = rigid_box("One"), rigid_box("Two", (2.0, 0.0, 0.0))
    add_constraint("GENERIC_SPRING", one, two)
    three = rigid_box("Three", (4.0, 0.0, 0.0))
    bpy.context.view_layer.objects.active = three
    assert bpy.ops.sinew.make_rigid() == {"FINISHED"}
    assert not list(validation.object_problems(scene))
    assert not exported(scene, tmp_path / "c.sinew")[0].joints


# the panel and the digest


def test_the_panel_says_what_is_read() -> None:
    fresh()
    floor, box = rigid_box("Floor", (0, 0, -2), (9, 9, 1), "PASSIVE"), rigid_box("Box")
    hinge = add_constraint("HINGE", floor, box)
    assert "rigid_body" not in panels._shown_panels(context_of(box))
    take_over_world()
    layout = FakeLayout()
    assert "rigid_body" in panels._shown_panels(context_of(box))
    rigid_body_layout.draw_rigid_body(layout, context_of(box))
    lines = " / ".join(layout.lines)
    assert "Mass: 1 kg / Damping: 0.04, Rotation 0.1 / Shape: Convex Hull / Friction: 0.5, on the same: 0.25" in lines
    assert f"Hinge {hinge.name}: with Floor" in lines
    assert rigid_body_layout.OUT_NOTE[:30] in lines
    for obj, drawn, unread in (
        (box, material_layout.draw_material, "density"),
        (box, collision_layout.draw_collision, "body_friction"),
        (floor, collision_layout.draw_collider, "friction"),
    ):
        for is_read in (True, False):
            obj.sinew.use_rigid_body, layout = is_read, FakeLayout()
            drawn(layout, context_of(obj))
            assert (unread in {name for _, name in layout.drawn}) != is_read, unread
        obj.sinew.use_rigid_body = True
    layout = FakeLayout()
    rigid_body_layout.draw_rigid_body(layout, context_of(floor))
    assert "which Blender takes as a Convex Hull" in " ".join(layout.lines)
    box.sinew.method, box.sinew.use_core, layout = "SMOOTH", True, FakeLayout()
    rigid_body_layout.draw_rigid_body(layout, context_of(box))
    assert f"Hinge {hinge.name}: with Floor" in " / ".join(layout.lines)
    assert "use_rigid_body" not in {name for _, name in layout.drawn}, "it counts for what is rigid all over"


def test_the_digest_knows_the_settings_and_the_constraints() -> None:
    scene = fresh()
    one, two = rigid_box("One"), rigid_box("Two", (2.0, 0.0, 0.0))
    constraint = add_constraint("HINGE", one, two)
    take_over_world()
    own, seen = constraint.rigid_body_constraint, []

    def is_changed() -> bool:
        seen.append(input_digest.settings_digest(scene))
        return len(seen) > 1 and seen[-1] != seen[-2]

    is_changed()
    own.solver_iterations += 1
    one.rigid_body.restitution = 0.5
    one.sinew.density, one.sinew.body_friction = 3.0, 0.1
    assert not is_changed(), "none of these is read"
    one.rigid_body.linear_damping = 0.5
    assert is_changed()
    for change in (
        lambda: setattr(one.rigid_body, "mass", 3.0),
        lambda: setattr(one.rigid_body, "kinematic", True),
        lambda: setattr(own, "type", "POINT"),
        lambda: setattr(own, "object2", None),
        lambda: setattr(own, "enabled", False),
        lambda: setattr(own, "enabled", True),
        lambda: setattr(constraint, "location", (0.0, 0.0, 1.0)),
        lambda: setattr(one.sinew, "use_rigid_body", False),
        lambda: setattr(one.sinew, "density", 5.0),
    ):
        change()
        assert is_changed()


def test_names_of_constraints_and_their_carriers_are_remembered_with_a_bake(tmp_path: Path) -> None:
    scene = fresh()
    one, mover = rigid_box("One"), bpy.data.objects.new("Mover", None)
    scene.collection.objects.link(mover)
    constraint = add_constraint("POINT", one, mover)
    take_over_world()
    bake(tmp_path, 2)
    before = input_digest.settings_digest(scene)
    constraint.name, mover.name = "Renamed", "Renamed Too"
    assert input_digest.settings_digest(scene) == before


def test_an_end_without_a_size_is_named(tmp_path: Path) -> None:
    scene = fresh()
    one, flat = rigid_box("One"), bpy.data.objects.new("Flat", None)
    scene.collection.objects.link(flat)
    flat.scale.x = 0.0
    add_constraint("POINT", one, flat)
    take_over_world()
    problem = refused(scene, tmp_path / "c.sinew")
    assert '"Flat"' in problem.sentence and problem.next_step
