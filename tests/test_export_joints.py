# SPDX-License-Identifier: GPL-3.0-or-later
"""Blender's Rigid Body settings and constraints: what is exported of them, what the panel says, what is refused."""

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
from sinew.addon.export import input_digest, input_warnings, validation
from sinew.addon.export.joints import read_joints
from sinew.addon.export.participant_subset import only_bodies
from sinew.addon.export.participants import find_participants
from sinew.addon.objects import roles
from sinew.addon.panels import collision_layout, material_layout, panels, rigid_body_layout
from sinew.solver.runtime.errors import BadInput
from sinew.solver.scene.joint import UNLIMITED
from test_addon import context_of


def volume_and_size(body: object) -> tuple[float, np.ndarray]:
    """Returns the volume in the faces of a body [m³], and the size of their box [m], (3,)."""
    points = body.vertices[body.triangles]
    used = points.reshape(-1, 3)
    return float(np.linalg.det(points).sum() / 6.0), np.ptp(used, axis=0)


# the settings of a rigid body


# of a box of 1 × 2 × 4 m, about its origin
SHAPES = {
    "MESH": (8.0, (1, 2, 4)),
    "CONVEX_HULL": (8.0, (1, 2, 4)),
    "BOX": (8.0, (1, 2, 4)),
    "SPHERE": (32.0 * np.pi / 3.0, (4, 4, 4)),
    "CAPSULE": (4.0 * np.pi / 3.0 + 2.0 * np.pi, (2, 2, 4)),
    "CYLINDER": (4.0 * np.pi, (2, 2, 4)),
    "CONE": (4.0 * np.pi / 3.0, (2, 2, 4)),
}


@pytest.mark.parametrize("shape", SHAPES)
def test_a_body_has_the_mass_and_the_shape_that_blender_has(tmp_path: Path, shape: str) -> None:
    fresh()
    obj = rigid_box("Box", (3.0, 0.0, 1.0), (1.0, 2.0, 4.0))
    obj.rigid_body.mass, obj.rigid_body.collision_shape = 5.0, shape
    take_over_world()
    body = exported(bpy.context.scene, tmp_path / "c.sinew")[0].bodies[0]
    volume, size = volume_and_size(body)
    assert volume == pytest.approx(SHAPES[shape][0], rel=0.02)
    np.testing.assert_allclose(size, SHAPES[shape][1], rtol=0.01)
    assert body.material.density * volume == pytest.approx(5.0)
    assert body.played_count == 8
    assert body.collision.friction == pytest.approx(0.25)  # Bullet multiplies: 0.5 · 0.5
    assert not body.animated


def test_a_hull_closes_what_the_mesh_leaves_open(tmp_path: Path) -> None:
    fresh()
    obj = rigid_box("Cup")
    obj.data.polygons[0].select = True
    mesh = obj.data
    faces = [list(face.vertices) for face in mesh.polygons][1:]
    points = [vertex.co[:] for vertex in mesh.vertices]
    mesh.clear_geometry()
    mesh.from_pydata(points, [], faces)
    take_over_world()
    body = exported(bpy.context.scene, tmp_path / "c.sinew")[0].bodies[0]
    assert volume_and_size(body)[0] == pytest.approx(1.0)


def test_passive_ones_are_colliders_and_animated_ones_follow_their_keys(tmp_path: Path) -> None:
    scene = fresh()
    rigid_box("Floor", (0.0, 0.0, -3.0), (9.0, 9.0, 1.0), "PASSIVE").rigid_body.friction = 0.8
    ball = rigid_box("Ball")
    ball.rigid_body.kinematic = True
    ball.keyframe_insert("rigid_body.kinematic", frame=1)
    ball.rigid_body.kinematic = False
    ball.keyframe_insert("rigid_body.kinematic", frame=5)
    take_over_world()
    scene.frame_end = 8
    written, tracks = exported(scene, tmp_path / "c.sinew")
    assert [collider.name for collider in written.colliders] == ["Floor"]
    assert written.colliders[0].friction == pytest.approx(0.64)
    assert written.bodies[0].animated
    found = [tracks.sample("body.Ball.animated", frame / 24.0) for frame in range(8)]
    assert found == [1.0] * 4 + [0.0] * 4
    # the mesh is a box, the shape its hull: no vertices but those of the mesh
    assert tracks.sample("body.Ball.animated.targets", 0.0).shape == (8, 3)


@pytest.mark.parametrize("change", [{"type": "PASSIVE"}, {"enabled": False}])
def test_what_blender_does_not_move_follows_its_animation(tmp_path: Path, change: dict) -> None:
    fresh()
    obj = rigid_box("Box")
    obj.rigid_body.collision_shape = "SPHERE"
    take_over_world()
    for name, value in change.items():
        setattr(obj.rigid_body, name, value)
    obj.location.x = 2.0
    written, tracks = exported(bpy.context.scene, tmp_path / "c.sinew")
    body = written.bodies[0]
    assert body.animated
    assert body.cap_vertices > 100
    # vertices of the sphere move along
    np.testing.assert_allclose(tracks.sample("body.Box.animated.targets", 0.0), body.vertices, atol=1e-6)


def test_blenders_collision_collections_count(tmp_path: Path) -> None:
    scene = fresh()
    for name, kind, layer in (("Floor", "PASSIVE", 1), ("One", "ACTIVE", 0), ("Two", "ACTIVE", 1)):
        obj = rigid_box(name, kind=kind)
        obj.rigid_body.collision_collections = [number == layer for number in range(20)]
    take_over_world()
    assert set(exported(scene, tmp_path / "c.sinew")[0].ignored_pairs) == {("One", "Two"), ("One", "Floor")}


def test_bodies_in_no_collision_collection_meet_nothing(tmp_path: Path) -> None:
    scene = fresh()
    for name in ("One", "Two"):
        rigid_box(name).rigid_body.collision_collections = [False] * 20
    take_over_world()
    assert set(exported(scene, tmp_path / "c.sinew")[0].ignored_pairs) == {("One", "Two")}


def test_switched_off_sinews_own_settings_count(tmp_path: Path) -> None:
    fresh()
    obj = rigid_box("Box")
    obj.rigid_body.mass, obj.sinew.density = 5.0, 700.0
    take_over_world()
    obj.sinew.use_rigid_body, obj.sinew.density = False, 700.0
    body = exported(bpy.context.scene, tmp_path / "c.sinew")[0].bodies[0]
    assert (body.material.density, body.triangles.shape) == (700.0, (12, 3))


def test_what_sinew_lacks_is_said() -> None:
    scene = fresh()
    obj = rigid_box("Box")
    take_over_world()
    assert not list(input_warnings.input_warnings(scene))
    obj.rigid_body.restitution, obj.rigid_body.collision_shape = 0.5, "COMPOUND"
    assert {problem.kind for problem in input_warnings.input_warnings(scene)} == {"rigid-bounces", "rigid-compound"}


# Blender's rigid body world


def heights(objects: list[bpy.types.Object], frame: int) -> list[float]:
    scene = bpy.context.scene
    for each in range(1, frame + 1):
        scene.frame_set(each)
    graph = bpy.context.evaluated_depsgraph_get()
    found = [obj.evaluated_get(graph).matrix_world.translation.z for obj in objects]
    scene.frame_set(1)
    return found


def test_blenders_world_leaves_alone_what_sinew_moves_and_gets_it_back() -> None:
    fresh()
    own, other = rigid_box("Own", (0.0, 0.0, 5.0)), rigid_box("Other", (3.0, 0.0, 5.0))
    own.rigid_body.mass = 7.0
    before = heights([own, other], 20)
    assert max(before) < 2.0
    bpy.context.view_layer.objects.active = own
    other.select_set(False)
    own.select_set(True)
    assert bpy.ops.sinew.make_rigid() == {"FINISHED"}
    assert heights([own, other], 20) == pytest.approx([5.0, before[1]])
    assert (own.rigid_body.mass, own.rigid_body.type, own.rigid_body.enabled) == (7.0, "ACTIVE", True)
    assert bpy.ops.sinew.remove() == {"FINISHED"}
    assert heights([own, other], 20) == pytest.approx(before)
    assert not own.sinew.is_out_of_world


def test_a_body_stays_in_its_scene_where_the_world_has_its_only_collection() -> None:
    scene = fresh()
    own = bpy.data.collections.new("Everything")
    scene.collection.children.link(own)
    box = rigid_box("Box")
    scene.rigidbody_world.collection = own
    own.objects.link(box) if box.name not in own.objects else None
    for collection in box.users_collection:
        if collection != own:
            collection.objects.unlink(box)
    take_over_world()
    assert (box.name in scene.objects, box.sinew.is_out_of_world) == (True, False)
    assert "rigid-moved-by-blender" in {problem.kind for problem in input_warnings.input_warnings(scene)}


def test_a_passive_body_stays_an_obstacle_for_blender() -> None:
    scene = fresh()
    floor = rigid_box("Floor", (0.0, 0.0, 0.0), (9.0, 9.0, 1.0), "PASSIVE")
    take_over_world()
    assert roles.has_role(floor, "COLLIDER")
    assert floor.name in scene.rigidbody_world.collection.objects


def test_a_copy_of_a_scene_has_none_of_blenders_rigid_bodies() -> None:
    """With the copy Blender would delete what the world of the original still uses, and crash."""
    scene = fresh()
    post = rigid_box("Post", kind="PASSIVE")
    add_constraint("POINT", post, rigid_box("Box"))
    with SceneCopy(scene, {post: None}) as scene_copy:
        world = scene_copy.scene.rigidbody_world
        assert (world.enabled, world.collection, world.constraints) == (False, None, None)
    assert {obj.name for obj in scene.rigidbody_world.collection.objects} == {"Post", "Box"}
    assert len(scene.rigidbody_world.constraints.objects) == 1


# constraints


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
    add_constraint("GENERIC_SPRING", bpy.data.objects["One"], bpy.data.objects["Two"])


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
    spring: 'The constraint "Empty" is a Generic Spring',
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
    assert "Mass: 1 kg / Shape: Convex Hull / Friction: 0.5, on the same: 0.25" in lines
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
    one.rigid_body.linear_damping = 0.5
    one.sinew.density, one.sinew.body_friction = 3.0, 0.1
    assert not is_changed(), "none of these is read"
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
