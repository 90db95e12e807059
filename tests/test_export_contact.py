# SPDX-License-Identifier: GPL-3.0-or-later
"""Colliders that deform, grow, are switched off or jump, and who collides with whom, as Blender shows it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

bpy = pytest.importorskip("bpy")

from fixtures.blender_scenes import add_box, add_driven_shape_key, add_rig, counts, evaluated, fresh, world
from fixtures.export_scenes import exported, refused
from sinew.addon.export import export_scene
from sinew.addon.export.input_digest import settings_digest
from sinew.addon.objects import roles
from sinew.solver.contact.colliders.teleports import CUT, MOVE
from sinew.solver.contact.detection.rigid_collider_contacts import collider_poses
from sinew.solver.simulation.build import build

FRAMES = (1, 8, 15, 21)


def with_wall(frames: int = 21) -> tuple[bpy.types.Scene, bpy.types.Object]:
    """Returns a scene with a body and a collider above it."""
    scene = fresh()
    roles.make_body(add_box("Body", height=1.0))
    wall = add_box("Wall")
    wall.location.z = 5.0
    roles.make_collider(wall)
    scene.frame_end = frames
    return scene, wall


def is_followed(tracks, wall: bpy.types.Object, unit: float = 1.0, frames: tuple[float, ...] = FRAMES) -> bool:
    """Whether the track has the vertices as Blender shows them."""
    return all(
        np.allclose(
            tracks.sample("collider.Wall.vertices", (frame - 1) / 24.0),
            unit * world(*evaluated(wall, int(frame), frame % 1.0)),
            atol=2e-6,
        )
        for frame in frames
    )


def is_told_by_vertices(tracks) -> bool:
    return tracks.has("collider.Wall.vertices")


def test_an_armature_that_moves_gives_vertices_one_that_is_posed_a_matrix(tmp_path: Path) -> None:
    scene, wall = with_wall()
    rig = add_rig(wall, turn=0.0)
    rig.pose.bones["upper"].rotation_euler.x = 0.5
    _, tracks = exported(scene, tmp_path / "posed.sinew")
    assert not is_told_by_vertices(tracks)
    bpy.data.objects.remove(rig)
    wall.modifiers.clear()
    add_rig(wall, turn=1.0)
    scene.unit_settings.scale_length = 0.5
    written, tracks = exported(scene, tmp_path / "moved.sinew")
    assert is_followed(tracks, wall, 0.5)
    collider = written.colliders[0]
    assert np.allclose(collider.vertices, 0.5 * world(*evaluated(wall, 1)), atol=2e-6)
    built = build(written, tracks, lambda *stage: None)
    assert [c.key for c in built.deforming] == ["Wall"] and not built.colliders


def test_driven_shape_keys_and_samples_between_frames(tmp_path: Path) -> None:
    scene, wall = with_wall()
    add_driven_shape_key(wall, add_rig(wall, turn=1.0))
    wall.modifiers.clear()  # the armature still drives the key
    scene.sinew.substeps, scene.sinew.samples_per_frame = 4, 2
    _, tracks = exported(scene, tmp_path / "c.sinew")
    assert is_told_by_vertices(tracks) and is_followed(tracks, wall, frames=(1, 7.5, 12, 20.5))


def test_a_cloth_that_falls_is_a_collider(tmp_path: Path) -> None:
    scene = fresh()
    roles.make_body(add_box("Body", height=1.0))
    bpy.ops.mesh.primitive_grid_add(x_subdivisions=6, y_subdivisions=6, location=(0.0, 0.0, 6.0))
    wall = bpy.context.object
    wall.name = "Wall"
    wall.vertex_groups.new(name="Hold").add([0, 6], 1.0, "REPLACE")
    wall.modifiers.new("Cloth", "CLOTH").settings.vertex_group_mass = "Hold"
    roles.make_collider(wall)
    scene.frame_end = 10
    _, tracks = exported(scene, tmp_path / "c.sinew")
    seen = [world(*evaluated(wall, frame)) for frame in range(1, 11)]
    assert seen[-1][:, 2].min() < 5.9
    for frame, points in enumerate(seen):
        assert np.allclose(tracks.sample("collider.Wall.vertices", frame / 24.0), points, atol=1e-4)


@pytest.mark.parametrize("mirrored", [False, True])
def test_a_collider_that_grows_gives_vertices_from_the_first_frame_on(tmp_path: Path, mirrored: bool) -> None:
    scene, wall = with_wall()
    wall.scale = (-1.0 if mirrored else 1.0, 1.0, 1.0)
    wall.keyframe_insert("scale", frame=5)
    wall.keyframe_insert("location", frame=1)
    wall.location.x = 1.0
    wall.keyframe_insert("location", frame=4)
    wall.scale.z = 2.0
    wall.keyframe_insert("scale", frame=21)
    written, tracks = exported(scene, tmp_path / "c.sinew")
    assert is_followed(tracks, wall, frames=(1, 2, 4, 10, 21))
    vertices, triangles = written.colliders[0].vertices, written.colliders[0].triangles
    a, b, c = (vertices[triangles[:, i]] - vertices.mean(axis=0) for i in range(3))
    assert np.einsum("ij,ij", a, np.cross(b, c)) > 0.0  # outwards
    assert np.allclose(tracks.sample("collider.Wall.matrix", 1.0)[:3, 3], [1.0, 0.0, 5.0])


def test_planes_may_grow(tmp_path: Path) -> None:
    scene, wall = with_wall()
    wall.sinew.collider_shape = "PLANE"
    wall.location.z, wall.rotation_euler = -5.0, (0.3, 0.2, 0.1)
    wall.keyframe_insert("scale", frame=1)
    wall.scale = (1.0, 3.0, 0.5)
    wall.keyframe_insert("scale", frame=21)
    _, tracks = exported(scene, tmp_path / "c.sinew")
    for frame in FRAMES:
        points, matrix = evaluated(wall, frame)
        place = tracks.sample("collider.Wall.matrix", (frame - 1) / 24.0)
        assert np.allclose(place[:3, :3].T @ place[:3, :3], np.eye(3))
        assert np.allclose(place[:3, 2], np.array(matrix)[:3, 2] / np.linalg.norm(np.array(matrix)[:3, 2]), atol=1e-6)
        assert np.allclose(place[:3, 3], np.array(matrix)[:3, 3])


def test_a_number_of_vertices_that_changes_is_named(tmp_path: Path) -> None:
    scene, wall = with_wall()
    array = wall.modifiers.new("Array", "ARRAY")
    array.count = 1
    array.keyframe_insert("count", frame=1)
    array.count = 3
    array.keyframe_insert("count", frame=21)
    problem = refused(scene, tmp_path / "c.sinew")
    assert problem.kind == "collider-vertices-change" and '"Wall"' in problem.sentence and problem.next_step


@pytest.mark.parametrize("what", ["place", "shape"])
def test_what_is_no_number_is_named_with_its_frame(tmp_path: Path, what: str) -> None:
    """Two large numbers become one that Blender cannot hold."""
    scene, wall = with_wall()
    if what == "place":
        around = bpy.data.objects.new("Around", None)
        scene.collection.objects.link(around)
        wall.parent, wall.location.x, changed, name, index = around, 1e10, around, "scale", 0
    else:
        wall.shape_key_add(name="Basis")
        changed, name, index = wall.shape_key_add(name="Far"), "value", -1
        changed.data[0].co.x = 3e38
        changed.slider_max = 10.0
    for frame, value in ((1, 0.1), (12, 0.1), (13, 3e38)):
        setattr(changed, name, (value, 1.0, 1.0) if index == 0 else value)
        changed.keyframe_insert(name, index=index, frame=frame)
    problem = refused(scene, tmp_path / "c.sinew")
    assert problem.kind == "collider-not-finite" and '"Wall"' in problem.sentence and "frame 13" in problem.sentence


def keyed(obj: bpy.types.Object, keys: dict[float, float], interpolation: str) -> None:
    """Moves an object along x by keyframes without, or with some, interpolation."""
    for frame, x in keys.items():
        obj.location.x = x
        obj.keyframe_insert("location", index=0, frame=frame)
    for curve in obj.animation_data.action.layers[0].strips[0].channelbags[0].fcurves:
        for key in curve.keyframe_points:
            key.interpolation = interpolation


@pytest.mark.parametrize(
    ("keys", "interpolation", "seen"),
    [
        ({1: 0.0, 6: 0.5}, "CONSTANT", CUT),
        ({1: 0.0, 5: 0.0, 5.2: 0.5, 6: 0.5}, "LINEAR", CUT),
        ({1: 0.0, 5: 0.0, 6: 0.5}, "BEZIER", MOVE),
        ({1: 0.0, 4: 0.0, 6: 0.5}, "EXPO", MOVE),
    ],
)
@pytest.mark.parametrize("how", ["rigid", "deforming", "parent"])
def test_what_is_put_elsewhere_at_once_is_seen(tmp_path: Path, keys, interpolation: str, seen: float, how: str) -> None:
    scene, wall = with_wall(10)
    moved = wall
    if how == "parent":
        moved = bpy.data.objects.new("Around", None)
        scene.collection.objects.link(moved)
        wall.parent = moved
    elif how == "deforming":
        wall.scale.z = 1.1
        wall.keyframe_insert("scale", frame=8)
        wall.scale.z = 1.2
        wall.keyframe_insert("scale", frame=10)
    keyed(moved, keys, interpolation)
    _, tracks = exported(scene, tmp_path / "c.sinew")
    told = [tracks.sample("collider.Wall.cuts", (frame - 1) / 24.0) for frame in range(1, 11)]
    assert told == [0.0] * 5 + [seen] + [0.0] * 4


@pytest.mark.parametrize(
    ("frames", "interpolation", "jumps"),
    [(1, "CONSTANT", True), (1, "BEZIER", False), (2, "LINEAR", False), (2, "EXPO", False), (3, "BEZIER", False)],
)
def test_a_punch_stays_a_punch(tmp_path: Path, frames: int, interpolation: str, jumps: bool) -> None:
    """By a quarter of its size; a cut is no blow, however it is keyed a blow is one."""
    scene, wall = with_wall(12)
    keyed(wall, {1: 0.0, 5: 0.0, 5 + frames: 0.25 * 2.0 * 3.0**0.5}, interpolation)
    written, tracks = exported(scene, tmp_path / "c.sinew")
    built = build(written, tracks, lambda *stage: None)
    longest = 0.0
    for step in range(40):
        (place,) = collider_poses(built.colliders, tracks, step / 96.0, (step + 1) / 96.0)
        longest = max(longest, place.pose[7, 0] - place.pose[3, 0])
    assert (longest == 0.0) == jumps


def test_what_moves_as_ever_is_not_looked_at_twice(tmp_path: Path) -> None:
    scene, wall = with_wall()
    keyed(wall, {1: 0.0, 21: 3.0}, "BEZIER")
    _, tracks = exported(scene, tmp_path / "c.sinew")
    assert not tracks.has("collider.Wall.cuts")


def test_switches_that_are_animated_are_tracks(tmp_path: Path) -> None:
    scene, wall = with_wall()
    for frame, is_on in ((1, True), (9, False), (15, True)):
        wall.sinew.use_collision = is_on
        wall.keyframe_insert("sinew.use_collision", frame=frame)
    _, tracks = exported(scene, tmp_path / "c.sinew")
    told = [tracks.sample("collider.Wall.active", (frame - 1) / 24.0) for frame in range(1, 22)]
    assert told == [1.0] * 8 + [0.0] * 6 + [1.0] * 7


def test_what_is_always_off_is_left_out(tmp_path: Path) -> None:
    scene, wall = with_wall()
    before = settings_digest(scene)
    wall.sinew.use_collision = False
    written, _ = exported(scene, tmp_path / "c.sinew")
    assert not written.colliders and settings_digest(scene) != before


def test_sides_friction_thickness_and_self_collision(tmp_path: Path) -> None:
    scene, wall = with_wall()
    body = bpy.data.objects["Body"]
    scene.unit_settings.scale_length = 0.1
    wall.sinew.collider_sides, wall.sinew.friction, wall.sinew.thickness = "FRONT", 0.3, 0.2
    own = body.sinew
    own.body_friction, own.body_thickness, own.self_collision = 0.7, 0.5, True
    written, _ = exported(scene, tmp_path / "c.sinew")
    collider, collision = written.colliders[0], written.bodies[0].collision
    assert (collider.sides, collider.friction, collider.thickness) == ("front", pytest.approx(0.3), pytest.approx(0.02))
    assert (collision.friction, collision.thickness) == (pytest.approx(0.7), pytest.approx(0.05))
    assert collision.self_contact is True


def test_collections_say_who_collides_with_whom(tmp_path: Path) -> None:
    scene, wall = with_wall()
    other = add_box("Other", height=1.0)
    other.location.x = 9.0
    roles.make_body(other)
    chosen = bpy.data.collections.new("Chosen")
    chosen.objects.link(bpy.data.objects["Body"])
    wall.sinew.collision_collection = chosen
    written, _ = exported(scene, tmp_path / "one.sinew")
    assert {frozenset(pair) for pair in written.ignored_pairs} == {frozenset(("Other", "Wall"))}
    bpy.data.objects["Body"].sinew.collision_collection = chosen
    written, _ = exported(scene, tmp_path / "two.sinew")
    assert len(written.ignored_pairs) == 3


@pytest.mark.parametrize(
    "change",
    [
        lambda body, wall: setattr(wall.sinew, "collider_sides", "BOTH"),
        lambda body, wall: setattr(body.sinew, "body_friction", 0.1),
        lambda body, wall: setattr(body.sinew, "body_thickness", 0.1),
        lambda body, wall: setattr(body.sinew, "self_collision", True),
        lambda body, wall: wall.keyframe_insert("sinew.use_collision", frame=3),
        lambda body, wall: setattr(body.sinew, "collision_collection", bpy.data.collections.new("Nobody")),
    ],
)
def test_what_is_read_makes_a_bake_out_of_date(change) -> None:
    scene, wall = with_wall()
    before = settings_digest(scene)
    change(bpy.data.objects["Body"], wall)
    assert settings_digest(scene) != before


def test_slices_change_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    scene, wall = with_wall()
    add_rig(wall, turn=1.0)
    whole, tracks = exported(scene, tmp_path / "whole.sinew")
    monkeypatch.setattr(export_scene, "slice_end", lambda begun: 0.0)
    before = counts()
    sliced, same = exported(scene, tmp_path / "sliced.sinew")
    assert counts() == before
    assert (whole.digest(), tracks.digest()) == (sliced.digest(), same.digest())


def test_a_collider_shaped_by_a_body_is_named(tmp_path: Path) -> None:
    scene, wall = with_wall()
    wall.modifiers.new("Wrap", "SHRINKWRAP").target = bpy.data.objects["Body"]
    problem = refused(scene, tmp_path / "c.sinew")
    assert problem.kind == "collider-shaped-by-body" and '"Wall"' in problem.sentence
