# SPDX-License-Identifier: GPL-3.0-or-later
"""A wax cow melts under a glowing ball: the warm wax of Müller and Gross 2004, table 1."""

from __future__ import annotations

import bpy
import numpy as np

import fused
import stage

FPS = 25  # four steps a frame are the paper's 10 ms
FRAMES = 100
VOXEL = 0.013
TRIANGLES = 5_800
WHITE, BLACK, PINK, HORN = (0.90, 0.86, 0.76), (0.05, 0.04, 0.04), (0.85, 0.45, 0.40), (0.70, 0.60, 0.38)


def build() -> None:
    """Builds the scene in a new file."""
    stage.empty_scene(FRAMES, FPS)
    cow = _cow()
    stage.make_body(cow, "WAX", tet_size=0.0755)
    stage.of_table_1(cow, 5.0e4)
    _wax(cow.sinew)
    # cold wax is firm; from 50 °C on it is that of the table
    stage.soften(cow, (20.0, 40.0, 30.0, 0.0), (40.0, 12.0, 10.0, 0.1), (50.0, 1.0, 1.0, 1.0))
    _fire()
    stage.add_ground()
    stage.light_and_camera((0.95, -1.25, 0.62), (0.05, 0.0, 0.225), lens=40.0)


def _wax(settings: bpy.types.PropertyGroup) -> None:
    """The table's yield, creep and maximum; heat that is much faster than in wax, for a scene of seconds."""
    settings.use_plasticity, settings.use_heat = True, True
    settings.yield_strain, settings.flow, settings.maximum_strain, settings.hardening = 0.01, 100.0, 10.0, 0.0
    settings.conductivity, settings.heat_capacity, settings.melting_point = 5.0, 200.0, 65.0


def _fire() -> None:
    """A glowing ball that goes along the cow's back, from head to tail."""
    bpy.ops.mesh.primitive_uv_sphere_add(segments=24, ring_count=14, radius=0.05)
    fire = bpy.context.object
    fire.name = "Fire"
    stage.smooth(fire)
    stage.paint(fire, (1.0, 0.25, 0.02))
    stage.glow(fire, (1.0, 0.25, 0.03), 4.0)
    way = ((1, (0.75, 0.0, 0.6)), (20, (0.42, 0.0, 0.56)), (80, (-0.3, 0.0, 0.45)), (92, (-0.8, 0.0, 0.7)))
    stage.key_places(fire, *way)
    heat = bpy.data.objects.new("Heat", None)
    bpy.context.scene.collection.objects.link(heat)
    heat.parent = fire
    stage.make_heat_source(heat, 900.0, 0.34, 16000.0)


def _cow() -> bpy.types.Object:
    """Returns a cow of 0.6 m that looks along x."""
    one_side = [
        fused.tube([(0.15, 0.066, 0.23), (0.155, 0.075, 0.13), (0.15, 0.075, -0.0)], [0.055, 0.042, 0.045]),
        fused.tube([(-0.16, 0.066, 0.25), (-0.175, 0.078, 0.14), (-0.165, 0.078, -0.0)], [0.068, 0.045, 0.046]),
        fused.tube([(0.322, 0.045, 0.445), (0.325, 0.085, 0.47), (0.33, 0.092, 0.515)], [0.024, 0.019, 0.012]),
        fused.ball((0.29, 0.098, 0.412), (0.022, 0.048, 0.026), (0.5, 0.0, 0.25)),
        fused.ball((0.385, 0.028, 0.395), (0.02, 0.018, 0.02)),
    ]
    parts = [
        fused.ball((0.0, 0.0, 0.265), (0.245, 0.115, 0.118)),
        fused.ball((-0.13, 0.0, 0.28), (0.12, 0.112, 0.115)),
        fused.ball((0.13, 0.0, 0.275), (0.115, 0.105, 0.12)),
        fused.tube([(0.17, 0, 0.30), (0.25, 0, 0.365), (0.31, 0, 0.40)], [0.092, 0.07, 0.066]),
        fused.tube([(0.30, 0, 0.41), (0.37, 0, 0.37), (0.425, 0, 0.335)], [0.072, 0.056, 0.052], 0.95),
        fused.ball((0.425, 0.0, 0.33), (0.04, 0.056, 0.042)),
        fused.ball((-0.07, 0.0, 0.158), (0.062, 0.058, 0.045)),
        fused.tube([(-0.235, 0, 0.33), (-0.285, 0, 0.29), (-0.295, 0, 0.16)], [0.026, 0.018, 0.018]),
        fused.ball((-0.296, 0.0, 0.135), (0.03, 0.03, 0.05)),
    ]
    teats = [fused.ball((x, 0.028, 0.118), (0.015, 0.015, 0.026)) for x in (-0.095, -0.045)]
    cow = fused.fuse("Cow", parts + fused.mirrored(one_side + teats), VOXEL, TRIANGLES)
    cow.location.z = 0.026
    fused.colour(cow, _coat, 0.35, "Wax")
    return cow


def _coat(points: np.ndarray) -> np.ndarray:
    """White with black spots, a pink muzzle and udder, horns and hooves."""
    x, y, z = points.T
    colours = np.where((fused.spots(points, 0.16, 8) > 0.35)[:, None], BLACK, WHITE)
    colours[(x > 0.42) | ((z < 0.155) & (np.abs(x + 0.07) < 0.065) & (np.abs(y) < 0.055))] = PINK
    colours[(x > 0.29) & (np.abs(y) > 0.055) & (z > 0.455)] = HORN
    colours[(z < 0.03) | (x < -0.262) & (z < 0.18)] = BLACK
    colours[np.hypot(x - 0.392, np.abs(y) - 0.04) + np.abs(z - 0.4) < 0.02] = BLACK
    return colours


if __name__ == "__main__":
    build()
