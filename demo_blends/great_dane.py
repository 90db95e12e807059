# SPDX-License-Identifier: GPL-3.0-or-later
"""A Great Dane is shaken by a spring at its back: its bones are one rigid body, and its skin lags behind.

After Müller, Dorsey, McMillan, Jagnow and Cutler 2002, section 4.4 and figure 13.
"""

from __future__ import annotations

import bpy
import numpy as np

import fused
import stage

FPS = 25  # four steps a frame are the paper's 10 ms
FRAMES = 90
VOXEL = 0.012
TRIANGLES = 5_000
COAT, MASK, CHEST = (0.62, 0.42, 0.22), (0.06, 0.05, 0.05), (0.75, 0.62, 0.45)
BACK = (0.0, 0.0, 0.735)
# frame → by how much the hand has moved [m]
WAY = (
    (1, (0.0, 0.0, 0.0)),
    (6, (0.0, 0.0, 0.0)),
    (12, (0.0, 0.0, 0.16)),
    (16, (0.0, 0.14, 0.16)),
    (20, (0.0, -0.14, 0.16)),
    (24, (0.0, 0.14, 0.16)),
    (28, (0.0, -0.14, 0.16)),
    (32, (0.0, 0.14, 0.16)),
    (36, (0.0, 0.0, 0.16)),
    (46, (0.0, 0.0, 0.16)),
    (50, (0.0, 0.0, 0.34)),
    (54, (0.0, 0.0, 0.12)),
    (58, (0.0, 0.0, 0.34)),
    (62, (0.0, 0.0, 0.16)),
)


def build() -> None:
    """Builds the scene in a new file; the dog looks along x."""
    stage.empty_scene(FRAMES, FPS)
    dog = _dog()
    stage.make_body(dog, "FLESH", tet_size=0.0925)
    own = dog.sinew
    own.youngs_modulus, own.poisson_ratio, own.density = 3.0e3, 0.33, 200.0
    own.stiffness_damping, own.mass_damping = 0.01, 0.0
    own.use_core, own.core_skin_thickness = True, 0.012
    own.core_pull = _hand()
    own.core_pull_stiffness, own.core_pull_damping = 4000.0, 60.0
    stage.add_ground()
    stage.light_and_camera((1.7, -2.2, 1.0), (0.06, 0.0, 0.65), lens=33.0)


def _hand() -> bpy.types.Object:
    """Returns a ball that takes hold of the back, lifts the dog and shakes it."""
    hand = fused.ball(BACK, (0.045, 0.045, 0.045))
    hand.name = "Hand"
    stage.smooth(hand)
    stage.paint(hand, (0.85, 0.12, 0.06), 0.3)
    stage.key_places(hand, *((frame, tuple(np.add(BACK, moved))) for frame, moved in WAY))
    return hand


def _dog() -> bpy.types.Object:
    """Returns a Great Dane, 0.75 m at its shoulders."""
    middle = [
        fused.tube(
            [(0.26, 0, 0.60), (0.10, 0, 0.55), (-0.10, 0, 0.60), (-0.30, 0, 0.63)],
            [0.135, 0.165, 0.125, 0.115],
            1.15,
        ),
        fused.ball((0.24, 0, 0.57), (0.15, 0.12, 0.19)),
        fused.ball((-0.29, 0, 0.62), (0.13, 0.125, 0.14)),
        fused.tube([(0.26, 0, 0.66), (0.38, 0, 0.80), (0.46, 0, 0.92)], [0.115, 0.085, 0.078]),
        fused.ball((0.485, 0, 0.95), (0.105, 0.082, 0.085)),
        fused.tube([(0.52, 0, 0.94), (0.62, 0, 0.915), (0.69, 0, 0.905)], [0.068, 0.06, 0.055], 0.95),
        fused.ball((0.615, 0, 0.875), (0.075, 0.062, 0.058)),
        fused.tube([(-0.36, 0, 0.66), (-0.47, 0, 0.56), (-0.54, 0, 0.43)], [0.062, 0.058, 0.05]),
    ]
    one_side = [
        fused.tube(
            [(0.25, 0.10, 0.58), (0.22, 0.115, 0.38), (0.235, 0.11, 0.20), (0.24, 0.11, 0.0)],
            [0.088, 0.07, 0.062, 0.062],
        ),
        fused.ball((0.275, 0.11, 0.03), (0.072, 0.06, 0.045)),
        fused.tube(
            [(-0.30, 0.085, 0.60), (-0.27, 0.115, 0.42), (-0.37, 0.11, 0.24), (-0.35, 0.11, 0.0)],
            [0.118, 0.09, 0.064, 0.062],
        ),
        fused.ball((-0.315, 0.11, 0.03), (0.072, 0.06, 0.045)),
        fused.tube([(0.44, 0.06, 1.00), (0.435, 0.11, 0.985), (0.455, 0.125, 0.90)], [0.048, 0.056, 0.046], 0.85),
        fused.ball((0.60, 0.045, 0.86), (0.06, 0.036, 0.06)),
    ]
    dog = fused.fuse("Dane", [*middle, *fused.mirrored(one_side)], VOXEL, TRIANGLES, 5)
    fused.colour(dog, _coat, 0.5, "Coat")
    return dog


def _coat(points: np.ndarray) -> np.ndarray:
    """Fawn, with a black mask and ears and a light chest."""
    x, y, z = points.T
    colours = np.array(COAT) * (1.0 + 0.12 * fused.spots(points, 0.12, 6)[:, None].clip(-1, 1))
    colours[(x > 0.33) & (z < 0.62) & (z > 0.3)] = CHEST
    colours[(x > 0.575) & (z > 0.78)] = MASK
    colours[(np.abs(y) > 0.088) & (z > 0.86)] = MASK
    colours[np.hypot(np.hypot(x - 0.56, np.abs(y) - 0.05), z - 0.985) < 0.022] = MASK
    return colours


if __name__ == "__main__":
    build()
