# SPDX-License-Identifier: GPL-3.0-or-later
"""A hand catches a soft ball, squeezes it until it bulges between the fingers, and lets it go."""

from __future__ import annotations

import math

import bpy

import fused
import rigged
import stage

FRAMES = 84
VOXEL = 0.0033
TRIANGLES = 6_000
HEIGHT = 0.24  # of the middle of the palm over the floor [m]
RADIUS = 0.043  # of the ball
DROP = 0.30  # of its middle, over the middle of the palm
SKIN, BALL, STRIPE = (0.60, 0.33, 0.23), (0.02, 0.42, 0.50), (0.85, 0.80, 0.66)
FINGERS = {"Index": -0.039, "Middle": -0.013, "Ring": 0.013, "Little": 0.039}  # where across the palm
LENGTHS = {"Index": 0.96, "Middle": 1.05, "Ring": 0.98, "Little": 0.80}
JOINTS = (0.0, 0.044, 0.073, 0.097)  # along a finger from its knuckle
KNUCKLE = 0.048
# of the joints of a finger: about y, from flat [degrees]
OPEN, READY, SQUEEZED = (6, 8, 4), (20, 20, 12), (72, 66, 46)
CATCH, CLOSED, SQUEEZE, HOLD, RELEASE, TILTED = 7, 11, 28, 38, 44, 54  # frames


def build() -> None:
    """Builds the scene in a new file."""
    stage.empty_scene(FRAMES)
    hand, bones = _hand(), _bones()
    rig = rigged.armature("Rig", bones)
    rigged.follow(hand, rig, bones, 5.0)
    stage.make_collider(hand)
    hand.sinew.friction = 0.6
    _ball()
    _move(rig)
    ground = stage.add_ground()
    ground.scale = (6.0, 6.0, 1.0)
    stage.light_and_camera((0.50, -0.45, 0.50), (0.04, 0.03, 0.215), lens=56.0)


def _place(x: float, y: float, z: float) -> tuple[float, float, float]:
    """Returns a place that is told from the middle of the palm."""
    return x, y, z + HEIGHT


def _finger(name: str) -> list[tuple[float, float, float]]:
    """Returns the joints of a finger from its knuckle to its tip."""
    across, spread = FINGERS[name], 0.45 * FINGERS[name]
    return [
        _place(KNUCKLE + LENGTHS[name] * d - 2.5 * across**2, across + spread * d / JOINTS[-1], 0.0) for d in JOINTS
    ]


def _thumb() -> list[tuple[float, float, float]]:
    """Returns the joints of the thumb from its root to its tip."""
    return [_place(-0.030, -0.030, 0.0), _place(-0.008, -0.058, 0.006), _place(0.016, -0.076, 0.012),
            _place(0.038, -0.088, 0.016)]  # fmt: skip


def _hand() -> bpy.types.Object:
    """Returns a right hand along x with its palm upwards, and its arm."""
    parts = [
        fused.tube([_place(x, 0, -0.007) for x in (-0.62, -0.40, -0.26, -0.14, -0.085, -0.045, 0.0)],
                   [0.046, 0.050, 0.046, 0.034, 0.030, 0.034, 0.034], 0.7),
        fused.tube([_place(-0.10, 0, -0.006), _place(-0.05, 0, -0.003), _place(0.01, 0, -0.002)],
                   [0.029, 0.024, 0.012], 0.9),
        fused.ball(_place(0.0, 0.0, -0.003), (0.064, 0.052, 0.016)),
        fused.ball(_place(-0.012, -0.026, 0.002), (0.036, 0.019, 0.016)),
        fused.ball(_place(-0.012, 0.031, 0.001), (0.040, 0.018, 0.015)),
        fused.tube(_thumb(), [0.017, 0.014, 0.0125, 0.0105]),
    ]  # fmt: skip
    for name, across in FINGERS.items():
        parts.append(fused.tube([_place(-0.005, 0.8 * across, -0.001), *_finger(name)],
                                [0.0125, 0.0125, 0.0108, 0.010, 0.0088]))  # fmt: skip
    hand = fused.fuse("Hand", parts, VOXEL, TRIANGLES, 5)
    stage.paint(hand, SKIN, 0.45)
    return hand


def _bones() -> rigged.Bones:
    """Returns the bones of the arm, of four fingers and of the thumb."""
    bones = {"Arm": (_place(-0.60, 0, -0.01), _place(0.030, 0, -0.002), "")}
    for name, joints in {**{name: _finger(name) for name in FINGERS}, "Thumb": _thumb()}.items():
        for k in range(3):
            bones[f"{name}.{k}"] = (joints[k], joints[k + 1], f"{name}.{k - 1}" if k else "Arm")
    return bones


def _ball() -> None:
    """Adds the ball, in six stripes of two colours, over the hand."""
    bpy.ops.mesh.primitive_uv_sphere_add(
        segments=48, ring_count=24, radius=RADIUS, location=_place(0.022, -0.002, DROP)
    )
    ball = bpy.context.object
    ball.name = "Ball"
    stage.smooth(ball)
    stage.paint(ball, BALL, 0.2)
    stage.add_material(ball, "Stripe", STRIPE, 0.2)
    for face in ball.data.polygons:
        face.material_index = int(math.atan2(face.center.y, face.center.x) / math.radians(30.0) + 6.0) % 2
    ball.rotation_euler = (0.5, 0.3, 0.0)
    stage.make_body(ball, "RUBBER", divisions=11)
    stage.preview(ball, 500)
    ball.sinew.youngs_modulus, ball.sinew.poisson_ratio, ball.sinew.stiffness_damping = 1.5e4, 0.45, 0.012


def _move(rig: bpy.types.Object) -> None:
    """Keys the arm and the fingers: catch, close, squeeze, open, and tilt until the ball rolls off."""
    still = (0, 0, 0)
    cupped = (9, 0, 0)
    rigged.pose(rig, "Arm", (1, still, cupped), (CATCH - 2, still, cupped), (CLOSED, (0, 0, -0.03), cupped),
                (SQUEEZE, (0, 0, 0.01), still), (RELEASE, (0, 0, 0.01), still), (TILTED, (0, 0, 0.03), (-40, 6, 0)),
                (FRAMES, (0, 0, 0.03), (-40, 6, 0)))  # fmt: skip
    for name in FINGERS:
        late = {"Index": 0, "Middle": 0, "Ring": 1, "Little": 2}[name]
        for k in range(3):
            held = 0.75 * READY[k] + 0.25 * SQUEEZED[k]
            keys = ((1, OPEN[k]), (CATCH - 1, READY[k]), (CLOSED, held), (SQUEEZE + late, SQUEEZED[k]),
                    (HOLD, SQUEEZED[k]), (RELEASE + 2 + late, OPEN[k]))  # fmt: skip
            rigged.turn(rig, f"{name}.{k}", (0, -1, 0), *keys)
    for k, (ready, squeezed) in enumerate(((12, 46), (8, 34), (8, 30))):
        keys = ((1, 0), (CATCH - 1, ready), (CLOSED, ready), (SQUEEZE, squeezed), (HOLD, squeezed), (RELEASE + 2, 0))
        rigged.turn(rig, f"Thumb.{k}", (-0.8, -0.45, 0), *keys)
