# SPDX-License-Identifier: GPL-3.0-or-later
"""Scenes as a Blender user makes them: rigid bodies and constraints by Blender's operators, taken over and baked."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from scipy.special import ellipk

bpy = pytest.importorskip("bpy")

from fixtures.blender_scenes import evaluated, fresh
from fixtures.rigid_body_scenes import add_constraint, bake, motions, positions, rigid_box, take_over_world
from sinew.addon.baking import bake_status
from sinew.addon.command_line import commands

pytestmark = pytest.mark.slow
G = 9.81
QUARTER = 0.5 * np.pi
AXES = ("lin_x", "lin_y", "lin_z", "ang_x", "ang_y", "ang_z")
Z_ALONG_Y, Z_ALONG_X = (-QUARTER, 0.0, 0.0), (0.0, QUARTER, 0.0)


def yaw(turns: np.ndarray) -> np.ndarray:
    """Returns the angles about z [degrees], (frames,)."""
    return np.degrees(np.arctan2(turns[:, 1, 0], turns[:, 0, 0]))


def rests_in_bullet(obj: bpy.types.Object, frames: int) -> tuple[np.ndarray, float]:
    """Returns where Blender's own rigid body world has moved an object to, (3,), and its angle about z [degrees]."""
    for frame in range(1, frames + 1):
        bpy.context.scene.frame_set(frame)
    found = obj.evaluated_get(bpy.context.evaluated_depsgraph_get()).matrix_world.copy()
    bpy.context.scene.frame_set(1)
    return np.array(found.translation), float(np.degrees(found.to_euler().z))


def test_a_pendulum_on_a_hinge_keeps_its_distance_and_its_period(tmp_path: Path) -> None:
    fresh()
    rod = rigid_box("Rod", (0.5, 0.0, 0.0), (1.0, 0.1, 0.1))
    rod.rigid_body.linear_damping = rod.rigid_body.angular_damping = 0.0
    add_constraint("HINGE", rod, None, turn=Z_ALONG_Y)
    take_over_world()
    frames = range(1, 97)
    bake(tmp_path, frames[-1])
    assert not bake_status.status(bpy.context.scene).outdated
    centres = motions(rod, frames)[0]
    np.testing.assert_allclose(np.linalg.norm(centres, axis=1), 0.5, atol=1e-5)
    swing = np.arctan2(centres[:, 0], -centres[:, 2])
    at = np.flatnonzero(swing[:-1] * swing[1:] <= 0.0)
    times = (at + swing[at] / (swing[at] - swing[at + 1])) / 24.0
    period = 4.0 * np.sqrt((1.01 / 12.0 + 0.25) / (G * 0.5)) * ellipk(0.5)
    assert len(times) == 4
    np.testing.assert_allclose(2.0 * np.diff(times), period, rtol=0.01)


def limit(own: bpy.types.RigidBodyConstraint, axis: str, low: float, high: float) -> None:
    """Gives a constraint limits along one axis, and locks the others of a Generic one."""
    for each in AXES if own.type == "GENERIC" else (axis,):
        setattr(own, f"use_limit_{each}", True)
        setattr(own, f"limit_{each}_lower", low if each == axis else 0.0)
        setattr(own, f"limit_{each}_upper", high if each == axis else 0.0)


# kinds of constraints, the axis with limits, these, and the direction of gravity
LIMITED = {
    "turning": (("HINGE", "GENERIC"), "ang_z", (np.radians(-20.0), np.radians(70.0)), (0.0, 1.0, 0.0)),
    "sliding": (("SLIDER", "PISTON", "GENERIC"), "lin_x", (-0.5, 1.5), (1.0, 0.0, 0.0)),
}


@pytest.mark.parametrize("case", LIMITED)
def test_limits_stop_where_they_do_in_blender(tmp_path: Path, case: str) -> None:
    """Doors on a post, which is the first or the second object, pulled one way or the other, one above the other."""
    scene = fresh()
    kinds, axis, ends, pull = LIMITED[case]
    scene.gravity = G * np.array(pull)
    post, doors = rigid_box("Post", (0.0, 0.0, -4.0), kind="PASSIVE"), []
    for number, (kind, is_post_first, side) in enumerate(product(kinds, (True, False), (1.0, -1.0))):
        place = (side if case == "turning" else 1.0, 0.0, 4.0 * number)
        door = rigid_box(f"Door{number}", place, (1.0, 0.2, 1.0))
        turn = (0.0, 0.0, np.pi if case == "sliding" and side < 0.0 else 0.0)
        own = add_constraint(kind, *((post, door) if is_post_first else (door, post)), (0.0, 0.0, place[2]), turn)
        limit(own.rigid_body_constraint, axis, *ends)
        doors.append(door)
    expected = [rests_in_bullet(door, 48) for door in doors]
    take_over_world()
    bake(tmp_path, 48)
    stops = set()
    for door, (place, angle) in zip(doors, expected, strict=True):
        centres, turns = motions(door, (1, 48))
        np.testing.assert_allclose(centres[1], place, atol=0.03, err_msg=door.name)
        assert yaw(turns)[1] == pytest.approx(angle, abs=0.5), door.name
        stops.add(round(float(yaw(turns)[1])) if case == "turning" else round(float(centres[1, 0] - centres[0, 0]), 2))
    assert stops == ({20, 70, -20, -70} if case == "turning" else {0.5, 1.5})


@pytest.mark.parametrize(("share", "holds"), [(1.1, True), (0.9, False)])
def test_a_constraint_breaks_at_its_threshold(tmp_path: Path, share: float, holds: bool) -> None:
    scene = fresh()
    post, box = rigid_box("Post", (0.0, 0.0, 3.0), kind="PASSIVE"), rigid_box("Box")
    box.rigid_body.mass = 10.0
    own = add_constraint("FIXED", post, box).rigid_body_constraint
    # an impulse in one of ten substeps of a frame
    own.use_breaking, own.breaking_threshold = True, share * 10.0 * G / 240.0
    assert (rests_in_bullet(box, 24)[0][2] > -0.01) == holds
    take_over_world()
    bake(tmp_path, 24)
    fell = -motions(box, (1, 24))[0][1, 2]
    assert fell < 1e-4 if holds else fell > 3.0
    assert scene.frame_end == 24


def test_a_motor_reaches_its_speed_with_its_torque(tmp_path: Path) -> None:
    scene = fresh()
    scene.gravity = (0.0, 0.0, 0.0)
    post, wheel = rigid_box("Post", (0.0, 0.0, 3.0), kind="PASSIVE"), rigid_box("Wheel", sides=(0.2, 1.0, 1.0))
    wheel.rigid_body.mass = 12.0  # 2 kg m² about x
    add_constraint("HINGE", post, wheel, turn=Z_ALONG_X)
    own = add_constraint("MOTOR", wheel, post).rigid_body_constraint
    own.use_motor_ang, own.motor_ang_target_velocity, own.motor_ang_max_impulse = True, 2.0, 4.0
    take_over_world()
    bake(tmp_path, 73)
    turns = motions(wheel, range(1, 74))[1]
    angle = np.unwrap(np.arctan2(turns[:, 2, 1], turns[:, 2, 2]))
    assert angle[12] == pytest.approx(0.5 * 2.0 * 0.5**2, rel=0.1)  # 2 rad/s², half a second
    assert (angle[-1] - angle[-25]) == pytest.approx(2.0, rel=0.01)


def make_chain(count: int) -> list[bpy.types.Object]:
    """Returns links of 0.4 m from the origin along x, of which the first one hangs on the world."""
    links = [rigid_box(f"Link{i}", (0.2 + 0.4 * i, 0.0, 0.0), (0.36, 0.1, 0.1)) for i in range(count)]
    for i, link in enumerate(links):
        add_constraint("POINT", links[i - 1] if i else None, link, (0.4 * i, 0.0, 0.0))
    return links


def chain_gaps(links: Sequence[bpy.types.Object], frames: Sequence[int]) -> float:
    """Returns how far apart the ends of links come that a point holds together [m]."""
    found, end = [], np.zeros((len(frames), 3))
    for link in links:
        centres, turns = motions(link, frames)
        half = turns @ [0.2, 0.0, 0.0]
        found.append(np.linalg.norm(centres - half - end, axis=1).max())
        end = centres + half
    return float(max(found))


def test_a_chain_swings_against_a_post_and_stays_together(tmp_path: Path) -> None:
    fresh()
    links = make_chain(5)
    post = rigid_box("Post", (0.0, 0.0, -1.2), (0.3, 2.0, 0.3), kind="PASSIVE")
    take_over_world()
    frames = range(1, 37)
    bake(tmp_path, frames[-1])
    assert chain_gaps(links, frames) < 1e-4
    inside = max(
        0.15 - float(np.abs(positions(link, frames)[..., [0, 2]] - [0.0, -1.2]).max(axis=-1).min()) for link in links
    )
    assert -0.05 < inside < 0.01, "the post stops it"
    assert post.sinew.role == "COLLIDER"


def test_a_chain_bakes_on_where_it_was_stopped(tmp_path: Path) -> None:
    found = []
    for name, stops in (("whole", (30,)), ("parts", (18, 30))):
        fresh()
        links = make_chain(3)
        rigid_box("Floor", (0.0, 0.0, -1.4), (9.0, 9.0, 1.0), kind="PASSIVE")
        take_over_world()
        (tmp_path / name).mkdir()
        bake(tmp_path / name, stops[0])
        if len(stops) > 1:
            bpy.context.scene.frame_end = stops[1]
            assert commands.run_in_blender(["bake", "--resume"]) == 0
        found.append(np.stack([positions(link, (19, 30)) for link in links]))
    np.testing.assert_array_equal(*found)


def test_animated_is_let_go_and_caught_by_its_keys(tmp_path: Path) -> None:
    scene = fresh()
    box = rigid_box("Box")
    box.rigid_body.collision_shape = "SPHERE"
    for frame, is_on in ((1, True), (7, False), (20, True)):
        box.rigid_body.kinematic = is_on
        box.keyframe_insert("rigid_body.kinematic", frame=frame)
    for frame, x in ((1, 0.0), (7, 1.0), (30, 1.0)):
        box.location.x = x
        box.keyframe_insert("location", frame=frame)
    for curve in (
        c
        for layer in box.animation_data.action.layers
        for s in layer.strips
        for bag in s.channelbags
        for c in bag.fcurves
    ):
        for key in curve.keyframe_points:
            key.interpolation = "CONSTANT" if curve.data_path.startswith("rigid_body") else "LINEAR"
    scene.frame_set(1)
    take_over_world()
    bake(tmp_path, 30)
    centres = motions(box, range(1, 31))[0]
    np.testing.assert_allclose(centres[3], (0.5, 0.0, 0.0), atol=1e-5)
    time = 6.0 / 24.0
    np.testing.assert_allclose(centres[12], (1.0 + 4.0 * time, 0.0, -0.5 * G * time**2), rtol=0.0, atol=0.06)
    np.testing.assert_allclose(centres[25], (1.0, 0.0, 0.0), atol=1e-5)


def test_joints_among_contacts_of_a_pile(tmp_path: Path) -> None:
    """Two pairs, fixed and hinged, fall on a floor and on each other."""
    fresh()
    rigid_box("Floor", (0.0, 0.0, -0.5), (9.0, 9.0, 1.0), kind="PASSIVE")
    pairs = []
    for i, kind in enumerate(("FIXED", "HINGE")):
        pair = [
            rigid_box(f"{kind}{j}", (0.5 * j, 0.0, 0.4 + 0.5 * i), (0.48, 0.4, 0.3), turn=(0.1 * i, 0.0, 0.2 * i))
            for j in range(2)
        ]
        add_constraint(kind, *pair, (0.25, 0.0, 0.4 + 0.5 * i), Z_ALONG_Y)
        pairs.append(pair)
    take_over_world()
    frames = (1, 20, 40, 60)
    bake(tmp_path, frames[-1])
    for pair in pairs:
        for obj in pair:
            assert positions(obj, frames)[..., 2].min() > -0.01
        middle = np.array([0.25, 0.0, pair[0].location.z])
        ends = []
        for obj in pair:
            centres, turns = motions(obj, frames)
            ends.append(centres + turns @ (middle - centres[0]))
        np.testing.assert_allclose(*ends, atol=1e-4)
    fixed = [motions(obj, frames)[1] for obj in pairs[0]]
    np.testing.assert_allclose(*fixed, atol=1e-4)
    assert evaluated(pairs[1][0], 60)[0].shape == (8, 3)
