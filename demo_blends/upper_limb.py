# SPDX-License-Identifier: GPL-3.0-or-later
"""The bones and twelve muscles of an upper limb along x: its front is up, its outer side at −y, in metres."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import bpy
import numpy as np

import fused
import rigged
import stage

SHOULDER, ELBOW, WRIST, FINGERS = 0.0, 0.30, 0.56, 0.72  # along x
APART = 0.012  # of radius and ulna from the middle
BONES = {
    "Scapula": ((-0.14, 0.0, 0.0), (SHOULDER, 0.0, 0.0), ""),
    "Humerus": ((SHOULDER, 0.0, 0.0), (ELBOW, 0.0, 0.0), "Scapula"),
    "Ulna": ((ELBOW, APART, 0.0), (WRIST, APART, 0.0), "Humerus"),
    "Radius": ((ELBOW, -APART, 0.0), (WRIST, -APART, 0.0), "Ulna"),
    "Hand": ((WRIST, 0.0, 0.0), (FINGERS, 0.0, 0.0), "Radius"),
}
BONE_VOXEL, BONE_TRIANGLES = 0.003, 1_200
MUSCLE_VOXEL, MUSCLE_TRIANGLES = 0.0025, 2_000
TENDON_SHARE = 0.16  # of the length of a muscle, at each end, that looks like tendon
MUSCLE, TENDON, BONE = (0.48, 0.09, 0.08), (0.80, 0.68, 0.58), (0.85, 0.80, 0.68)


@dataclass(frozen=True)
class Path:
    """The middle line of a muscle with its radii, from origin to insertion.

    Attributes:
        origin, insertion: The bones on which it begins and ends.
        points: x, distance from the axis of the limb, angle about it from the front towards the outer side [degrees],
            and half the width around the axis, of each point.
        flat: Thickness over width.
    """

    origin: str
    insertion: str
    points: Sequence[tuple[float, float, float, float]]
    flat: float = 1.0


MUSCLES = {
    "Deltoid Front": Path("Scapula", "Humerus", (
        (-0.034, 0.021, 25, 0.006), (0.000, 0.046, 40, 0.016), (0.045, 0.046, 48, 0.018), (0.095, 0.029, 58, 0.011),
        (0.128, 0.017, 64, 0.004),
    ), 0.75),
    "Deltoid Middle": Path("Scapula", "Humerus", (
        (-0.024, 0.022, 92, 0.006), (0.010, 0.048, 94, 0.016), (0.055, 0.045, 95, 0.018), (0.105, 0.028, 95, 0.010),
        (0.145, 0.016, 95, 0.004),
    ), 0.75),
    "Deltoid Back": Path("Scapula", "Humerus", (
        (-0.034, 0.021, 160, 0.006), (0.000, 0.046, 148, 0.016), (0.045, 0.046, 141, 0.018), (0.090, 0.029, 130, 0.011),
        (0.120, 0.017, 124, 0.004),
    ), 0.75),
    "Biceps Long Head": Path("Scapula", "Radius", (
        (-0.022, 0.022, 60, 0.004), (0.010, 0.028, 22, 0.005), (0.050, 0.040, 14, 0.008), (0.100, 0.052, 17, 0.014),
        (0.160, 0.058, 18, 0.0175), (0.220, 0.053, 17, 0.015), (0.275, 0.040, 18, 0.009), (0.310, 0.029, 24, 0.005),
        (0.345, 0.020, 53, 0.004),
    ), 0.9),
    "Biceps Short Head": Path("Scapula", "Radius", (
        (-0.022, 0.022, -25, 0.004), (0.020, 0.036, -20, 0.007), (0.060, 0.045, -16, 0.010), (0.100, 0.052, -17, 0.014),
        (0.160, 0.058, -18, 0.0175), (0.220, 0.053, -17, 0.015), (0.275, 0.040, -15, 0.009), (0.310, 0.029, -4, 0.005),
        (0.345, 0.019, 18, 0.004),
    ), 0.9),
    "Brachialis": Path("Humerus", "Ulna", (
        (0.125, 0.017, 0, 0.005), (0.165, 0.026, 0, 0.017), (0.210, 0.028, 0, 0.021), (0.260, 0.025, -6, 0.015),
        (0.300, 0.021, -22, 0.007), (0.335, 0.017, -48, 0.004),
    ), 0.68),
    "Triceps Long Head": Path("Scapula", "Ulna", (
        (-0.022, 0.022, 232, 0.005), (0.030, 0.035, 242, 0.013), (0.110, 0.035, 246, 0.019), (0.190, 0.034, 246, 0.018),
        (0.260, 0.029, 236, 0.010), (0.300, 0.026, 226, 0.005), (0.330, 0.023, 228, 0.004),
    ), 0.8),
    "Triceps Lateral Head": Path("Humerus", "Ulna", (
        (0.133, 0.017, 146, 0.005), (0.168, 0.030, 126, 0.014), (0.210, 0.032, 122, 0.016), (0.260, 0.030, 138, 0.010),
        (0.300, 0.027, 172, 0.005), (0.330, 0.023, 200, 0.004),
    ), 0.85),
    "Triceps Medial Head": Path("Humerus", "Ulna", (
        (0.085, 0.017, 180, 0.005), (0.130, 0.026, 182, 0.012), (0.190, 0.028, 183, 0.014), (0.245, 0.025, 188, 0.009),
        (0.290, 0.018, 200, 0.004), (0.322, 0.014, 222, 0.003),
    ), 0.9),
    "Brachioradialis": Path("Humerus", "Radius", (
        (0.205, 0.017, 66, 0.004), (0.250, 0.033, 64, 0.011), (0.310, 0.042, 58, 0.015), (0.370, 0.038, 48, 0.014),
        (0.450, 0.028, 40, 0.008), (0.520, 0.022, 38, 0.004),
    ), 0.8),
    "Forearm Flexors": Path("Humerus", "Hand", (
        (0.258, 0.018, -86, 0.005), (0.310, 0.036, -70, 0.014), (0.370, 0.038, -50, 0.024), (0.440, 0.033, -32, 0.020),
        (0.530, 0.022, -8, 0.008), (0.610, 0.014, 0, 0.004),
    ), 0.65),
    "Forearm Extensors": Path("Humerus", "Hand", (
        (0.258, 0.018, 96, 0.005), (0.310, 0.036, 116, 0.014), (0.370, 0.038, 146, 0.024), (0.440, 0.033, 160, 0.020),
        (0.530, 0.022, 172, 0.008), (0.610, 0.014, 180, 0.004),
    ), 0.65),
}  # fmt: skip


def make_bones() -> tuple[bpy.types.Object, list[bpy.types.Object]]:
    """Returns the armature, and a closed mesh on each of its bones, a collider."""
    rig = rigged.armature("Rig", BONES)
    shafts = {
        "Scapula": [_shaft((-0.12, 0.0, 0.0), (-0.014, 0.0, 0.0), 0.012, 0.017)],
        "Humerus": [_shaft((0.008, 0.0, 0.0), (ELBOW - 0.014, 0.0, 0.0), 0.009, 0.015)],
        "Ulna": [_shaft((ELBOW + 0.012, APART, 0.0), (WRIST - 0.008, APART, 0.0), 0.006, 0.009)],
        "Radius": [_shaft((ELBOW + 0.014, -APART, 0.0), (WRIST - 0.008, -APART, 0.0), 0.006, 0.009)],
        "Hand": [fused.ball((0.64, 0.0, 0.0), (0.065, 0.034, 0.010))],
    }
    meshes = []
    for name, parts in shafts.items():
        mesh = fused.fuse(f"{name} Mesh", parts, BONE_VOXEL, BONE_TRIANGLES, 3)
        stage.paint(mesh, BONE, 0.5)
        stage.ride(mesh, rig, name)
        stage.make_collider(mesh)
        meshes.append(mesh)
    return rig, meshes


def make_muscle_meshes() -> list[bpy.types.Object]:
    """Returns a closed mesh of each muscle, which Sinew does not know yet."""
    meshes = []
    for name, path in MUSCLES.items():
        points, widths, out = tube_of(path)
        tube = fused.tube(points, widths, path.flat, out)
        meshes.append(fused.fuse(name, [tube], MUSCLE_VOXEL, MUSCLE_TRIANGLES, 4))
        fused.colour(meshes[-1], _tones, 0.35, name)
        meshes[-1].data.uv_layers.remove(meshes[-1].data.uv_layers[0])  # nobody reads them
    return meshes


def _tones(points: np.ndarray) -> np.ndarray:
    """Returns the colours of a muscle at its points [m], (n, 3): red, and pale as tendon at both ends along x."""
    x = points[:, 0]
    share = (x - x.min()) / np.ptp(x)
    pale = np.clip(1.5 - 1.5 * np.minimum(share, 1.0 - share) / TENDON_SHARE, 0.0, 1.0)[:, None]
    uneven = 1.0 + 0.08 * fused.spots(points * (0.15, 1.0, 1.0), 0.004, 3)
    return (MUSCLE + pale * np.subtract(TENDON, MUSCLE)) * uneven[:, None]


def tube_of(path: Path) -> tuple[list[fused.Point], list[float], fused.Point]:
    """Returns the middle line of a muscle [m], half its width along it [m], and the direction in which it is flat."""
    belly = max(path.points, key=lambda point: point[3])
    return (
        [_place(*point[:3]) for point in path.points],
        [point[3] for point in path.points],
        _place(0.0, 1.0, belly[2]),
    )


def _place(x: float, distance: float, turn: float) -> fused.Point:
    """Returns a point at a distance from the axis of the limb, turned from the front to the outer side [degrees]."""
    return x, -distance * math.sin(math.radians(turn)), distance * math.cos(math.radians(turn))


def _shaft(start: fused.Point, end: fused.Point, radius: float, knob: float) -> bpy.types.Object:
    """Returns a bone with a knob at each end."""
    middle = [tuple(a + s * (b - a) for a, b in zip(start, end, strict=True)) for s in (0.0, 0.12, 0.5, 0.88, 1.0)]
    return fused.tube(middle, [knob, 0.6 * knob + 0.4 * radius, radius, 0.6 * knob + 0.4 * radius, knob])
