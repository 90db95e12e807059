# SPDX-License-Identifier: GPL-3.0-or-later
"""A dragon is pulled apart at head and tail: flow and fracture of Müller and Gross 2004, table 1."""

from __future__ import annotations

import bpy
import numpy as np
from mathutils import Matrix

import fused
import stage

FPS = 25  # four steps a frame are the paper's 10 ms
FRAMES = 75
VOXEL = 0.018
TRIANGLES = 10_000
SIZE = 0.25  # of what the numbers below say: two metres of so soft a stuff would tear by their weight
LIFT = 0.25
GREEN, BELLY, SPIKE, WING = (0.05, 0.22, 0.10), (0.55, 0.45, 0.18), (0.60, 0.10, 0.04), (0.42, 0.09, 0.05)
SPINE = [
    (0.80, 0, 0.90), (0.70, 0, 0.95), (0.56, 0, 0.90), (0.44, 0, 0.76), (0.32, 0, 0.62), (0.14, 0, 0.56),
    (-0.08, 0, 0.55), (-0.28, 0, 0.53), (-0.46, 0.03, 0.47), (-0.64, 0.10, 0.44), (-0.82, 0.10, 0.47),
    (-0.98, 0.02, 0.52), (-1.10, -0.04, 0.53),
]  # fmt: skip
THICK = [0.06, 0.075, 0.075, 0.085, 0.125, 0.165, 0.165, 0.135, 0.10, 0.075, 0.058, 0.046, 0.036]


def build() -> None:
    """Builds the scene in a new file."""
    stage.empty_scene(FRAMES, FPS)
    dragon = _dragon()
    rig = stage.hold(dragon, Head=lambda p: p[:, 0] > 0.62 * SIZE, Tail=lambda p: p[:, 0] < -0.60 * SIZE)
    stage.make_body(dragon, "RUBBER", tet_size=0.19 * SIZE)
    dragon.sinew.method = "ROBUST"
    dragon.sinew.pin_group = "Hold"
    stage.of_table_1(dragon, 1.0e5)
    _flesh(dragon)
    _pull(rig)
    stage.light_and_camera((0.22, -0.98, 0.30), (0.03, 0.0, 0.14), lens=34.0)


def _flesh(dragon: bpy.types.Object) -> None:
    """The table's flow and strength, and what is inside."""
    settings = dragon.sinew
    settings.use_plasticity, settings.use_fracture = True, True
    settings.yield_strain, settings.flow, settings.maximum_strain, settings.hardening = 0.10, 1.0, 1.0, 0.0
    settings.breaking_stress, settings.use_toughness, settings.scatter = 6.0e4, False, 0.1
    settings.broken_material = stage.loose_material("Flesh", (0.75, 0.16, 0.10), 0.35)


def _pull(rig: bpy.types.Object) -> None:
    """Holds head and tail, and pulls them apart."""
    for name, way in (("Head", 0.22), ("Tail", -0.16)):
        rest, apart = ((0, 0, 0), (0, 0, 0)), ((way, 0, 0.04), (0, 0, 0))
        stage.key_bone(rig, name, (1, *rest), (8, *rest), (50, *apart))


def _dragon() -> bpy.types.Object:
    """Returns a dragon of two metres that looks along x, at a quarter of its size."""
    head = [
        fused.ball((0.80, 0, 0.915), (0.10, 0.08, 0.075)),
        fused.tube([(0.80, 0, 0.90), (0.90, 0, 0.865), (0.985, 0, 0.85)], [0.07, 0.055, 0.048], 0.85),
        fused.ball((0.985, 0, 0.855), (0.04, 0.052, 0.036)),
    ]
    spikes = []
    for (x, y, z), r in zip(SPINE[1:-1], THICK[1:-1], strict=True):
        tall = 0.045 + 0.55 * r
        spikes.append(
            fused.tube([(x, y, z + 0.7 * r), (x - 0.02, y, z + r), (x - 0.06, y, z + r + tall)], [0.045, 0.034, 0.012])
        )
    one_side = [
        fused.tube([(0.77, 0.05, 0.97), (0.70, 0.085, 1.03), (0.60, 0.10, 1.06)], [0.035, 0.027, 0.013]),
        fused.ball((0.85, 0.055, 0.935), (0.028, 0.024, 0.026)),
        fused.ball((1.005, 0.025, 0.887), (0.02, 0.016, 0.014)),
        fused.tube([(0.20, 0.10, 0.50), (0.22, 0.19, 0.40), (0.26, 0.20, 0.27)], [0.075, 0.055, 0.042]),
        fused.tube([(0.24, 0.20, 0.27), (0.32, 0.21, 0.235)], [0.045, 0.032], 0.8),
        fused.tube([(-0.20, 0.10, 0.48), (-0.17, 0.20, 0.40), (-0.25, 0.21, 0.27)], [0.095, 0.07, 0.046]),
        fused.tube([(-0.27, 0.21, 0.27), (-0.17, 0.22, 0.235)], [0.05, 0.034], 0.8),
        *_wing(),
    ]
    end = fused.blade([(-1.06, -0.03, 0.60), (-1.10, -0.04, 0.47), (-1.24, -0.09, 0.54)], 0.06, (0.25, 0.97, 0))
    spine = fused.tube(SPINE, THICK, 1.0)
    dragon = fused.fuse("Dragon", [spine, *head, *spikes, end, *fused.mirrored(one_side)], VOXEL, TRIANGLES, 3)
    fused.colour(dragon, _scales, 0.3, "Scales")
    dragon.data.transform(Matrix.Scale(SIZE, 4) @ Matrix.Translation((0, 0, LIFT)))
    return dragon


def _wing() -> list[bpy.types.Object]:
    """Returns the arm, the fingers and the skin of a wing on the side of y > 0."""
    shoulder, elbow, wrist = (0.14, 0.08, 0.66), (0.10, 0.30, 0.90), (0.20, 0.52, 1.06)
    tips = [(-0.06, 0.86, 0.98), (-0.34, 0.66, 0.86), (-0.42, 0.36, 0.74)]
    parts = [fused.tube([shoulder, elbow, wrist], [0.06, 0.042, 0.036])]
    parts += [fused.tube([wrist, np.add(wrist, tip) / 2 + [0, 0.02, 0.02], tip], [0.032, 0.026, 0.016]) for tip in tips]
    hollows = [(-0.13, 0.70, 0.94), (-0.30, 0.47, 0.83), (-0.22, 0.22, 0.70)]
    outline = [
        shoulder,
        elbow,
        wrist,
        tips[0],
        hollows[0],
        tips[1],
        hollows[1],
        tips[2],
        hollows[2],
        (-0.12, 0.10, 0.62),
    ]
    for triangle in ((0, 1, 9), (1, 8, 9), (1, 2, 8), (2, 7, 8), (2, 6, 7), (2, 5, 6), (2, 4, 5), (2, 3, 4)):
        corners = np.array([outline[i] for i in triangle])
        across = np.cross(corners[1] - corners[0], corners[2] - corners[0])
        parts.append(fused.blade(corners, 0.045, across / np.linalg.norm(across)))
    return parts


def _scales(points: np.ndarray) -> np.ndarray:
    """Green, with a lighter belly and red spikes and wings."""
    x, y, z = points.T
    spine = np.array(SPINE)
    nearest = np.argmin(((points[:, None, [0]] - spine[None, :, [0]]) ** 2).sum(axis=2), axis=1)
    above = z - spine[nearest, 2]
    thick = np.array(THICK)[nearest]
    shade = 1.0 + 0.45 * fused.spots(points, 0.05, 3)[:, None].clip(-1, 1)
    colours = np.array(GREEN) * shade
    colours[(above < -0.35 * thick) & (np.abs(y - spine[nearest, 1]) < 0.9 * thick) & (z > 0.36)] = BELLY
    colours[(above > 1.12 * thick) & (np.abs(y - spine[nearest, 1]) < 0.05) & (x < 0.72)] = SPIKE
    colours[(np.abs(y) > 0.17) & (z > 0.62)] = WING
    colours[(np.abs(y) > 0.045) & (z > 0.985) & (x > 0.55)] = BELLY
    colours[np.hypot(np.hypot(x - 0.865, np.abs(y) - 0.07), z - 0.94) < 0.024] = (0.9, 0.65, 0.02)
    return colours
