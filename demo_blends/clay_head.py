# SPDX-License-Identifier: GPL-3.0-or-later
"""A ball is pressed into the cheek of a clay head and taken away again: the dent stays."""

from __future__ import annotations

import math

import bpy
import numpy as np

import fused
import stage

FRAMES = 60
VOXEL = 0.0086
BALL = 0.065
CLAY, DARK = (0.46, 0.24, 0.15), (0.30, 0.15, 0.09)


def build() -> None:
    """Builds the scene in a new file."""
    stage.empty_scene(FRAMES)
    head = make_head()
    group = head.vertex_groups.new(name="Base")
    group.add([v.index for v in head.data.vertices if v.co.z < 0.018], 1.0, "REPLACE")
    stage.make_body(head, "CLAY", divisions=15)
    head.sinew.pin_group = "Base"
    # what bears the weight of such a head on its neck
    head.sinew.yield_strain = 0.04
    _press()
    stage.add_ground()
    stage.light_and_camera((0.40, -0.86, 0.34), (0.02, 0.0, 0.18), lens=44.0)


def make_head(voxel: float = VOXEL) -> bpy.types.Object:
    """Returns a head of 0.35 m on a round base that looks towards −y."""
    one_side = [
        fused.ball((-0.05, 0.045, 0.226), (0.05, 0.028, 0.02)),
        fused.ball((-0.096, 0.044, 0.232), (0.021, 0.024, 0.019)),
        fused.tube([(-0.118, 0.012, 0.262), (-0.112, 0.05, 0.268), (-0.09, 0.078, 0.258)], [0.014, 0.017, 0.011], 0.8),
        fused.ball((-0.082, 0.048, 0.180), (0.034, 0.032, 0.032)),
        fused.ball((0.02, 0.112, 0.215), (0.030, 0.014, 0.042), (0.0, 0.0, -0.3)),
        fused.ball((-0.122, 0.014, 0.197), (0.017, 0.014, 0.012)),
    ]
    parts = [
        fused.ball((0.0, 0.0, 0.245), (0.118, 0.103, 0.108)),
        fused.ball((-0.035, 0.0, 0.185), (0.085, 0.080, 0.092)),
        fused.ball((-0.088, 0.0, 0.125), (0.032, 0.036, 0.026)),
        fused.tube([(-0.108, 0, 0.255), (-0.128, 0, 0.225), (-0.142, 0, 0.203)], [0.016, 0.018, 0.023]),
        fused.tube([(-0.108, -0.036, 0.160), (-0.124, 0, 0.163), (-0.108, 0.036, 0.160)], [0.009, 0.0115, 0.009]),
        fused.tube([(-0.104, -0.030, 0.144), (-0.121, 0, 0.142), (-0.104, 0.030, 0.144)], [0.009, 0.012, 0.009]),
        fused.tube([(0.015, 0, 0.18), (0.02, 0, 0.09), (0.015, 0, 0.0)], [0.068, 0.062, 0.085]),
        fused.tube([(0.0, 0, 0.03), (0.0, 0, -0.002)], [0.10, 0.115]),
    ]
    for k in range(11):
        a = -0.95 * math.pi / 2 + k * 0.95 * math.pi / 10
        curl = 0.104 * math.cos(a), 0.108 * math.sin(a)
        parts.append(fused.ball((0.012 + curl[0] * 0.2 + 0.01, curl[1], 0.262 + curl[0]), (0.05, 0.028, 0.028)))
        parts.append(fused.ball((0.075, curl[1] * 0.9, 0.235 + curl[0] * 0.9), (0.042, 0.03, 0.03)))
    head = fused.fuse("Head", parts + fused.mirrored(one_side), voxel, smoothing=1)
    fused.colour(head, _clay, 0.75, "Clay")
    head.rotation_euler.z = math.radians(90)
    return head


def _clay(points: np.ndarray) -> np.ndarray:
    shade = 1.0 + 0.10 * fused.spots(points, 0.03, 2)[:, None].clip(-1.5, 1.5)
    hair = (points[:, 0] > 0.0) & (points[:, 2] > 0.29) | (points[:, 0] > 0.06) & (points[:, 2] > 0.16)
    return np.where(hair[:, None], DARK, CLAY) * shade


def _press() -> None:
    """A ball that comes from the side, stays a moment and goes away."""
    bpy.ops.mesh.primitive_uv_sphere_add(segments=32, ring_count=20, radius=BALL)
    ball = bpy.context.object
    ball.name = "Ball"
    stage.smooth(ball)
    stage.paint(ball, (0.75, 0.76, 0.80), roughness=0.15)
    stage.make_collider(ball)
    ball.sinew.friction = 0.3
    away, touching, deep = (0.26, -0.26, 0.24), (0.110, -0.142, 0.20), (0.076, -0.102, 0.193)
    stage.key_places(ball, (1, away), (8, touching), (26, deep), (32, deep), (46, away), (60, (0.6, -0.5, 0.3)))
