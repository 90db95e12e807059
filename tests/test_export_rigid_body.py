# SPDX-License-Identifier: GPL-3.0-or-later
"""Blender's Rigid Body settings of bodies and colliders: what is exported of them, and what is said of the rest."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

bpy = pytest.importorskip("bpy")

from fixtures.blender_scenes import fresh
from fixtures.export_scenes import exported
from fixtures.rigid_body_scenes import rigid_box, take_over_world
from sinew.addon.export import input_warnings


def volume_and_size(body: object) -> tuple[float, np.ndarray]:
    """Returns the volume in the faces of a body [m³], and the size of their box [m], (3,)."""
    points = body.vertices[body.triangles]
    used = points.reshape(-1, 3)
    return float(np.linalg.det(points).sum() / 6.0), np.ptp(used, axis=0)


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
    obj.rigid_body.linear_damping, obj.rigid_body.angular_damping = 0.5, 0.0
    take_over_world()
    body = exported(bpy.context.scene, tmp_path / "c.sinew")[0].bodies[0]
    volume, size = volume_and_size(body)
    assert volume == pytest.approx(SHAPES[shape][0], rel=0.02)
    np.testing.assert_allclose(size, SHAPES[shape][1], rtol=0.01)
    assert body.material.density * volume == pytest.approx(5.0)
    assert body.played_count == 8
    assert body.collision.friction == pytest.approx(0.25)  # Bullet multiplies: 0.5 · 0.5
    assert not body.animated
    assert body.rigid_damping == pytest.approx((np.log(2.0), 0.0))  # half of the motion is left after a second


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
