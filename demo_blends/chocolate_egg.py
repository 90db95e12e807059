# SPDX-License-Identifier: GPL-3.0-or-later
"""A hollow egg of chocolate is smashed by a mallet, and its pieces pile up in the bowl."""

from __future__ import annotations

import math

import bpy
import numpy as np
from mathutils import Matrix

import stage
import swept

FRAMES = 40
SUBSTEPS = 4
LONG, WIDE, WALL = 0.085, 0.060, 0.010  # half-axes of the egg, and how thick it is [m]
BLUNT = 0.16  # how much one end is blunter than the other
INNER, HIGH, THICK = 0.165, 0.085, 0.011  # of the bowl [m]
BROWN, INSIDE, ICING = (0.105, 0.035, 0.014), (0.17, 0.065, 0.030), (0.85, 0.78, 0.66)
CHINA, WOOD, DARK = (0.72, 0.74, 0.76), (0.52, 0.30, 0.14), (0.30, 0.15, 0.06)
# about how many pieces, how wide it is weak between them [m], and how weak
SHARDS, SEAM, WEAK, SEED = 10, 0.022, 0.15, 2
HEAD, HANDLE = (0.034, 0.095), 0.30  # radius and length of the mallet's head, length of its handle [m]
# frame, angle of the handle over level [°]
STROKES = ((1, 52), (4, 57), (10, 1), (12, 1), (19, 50))


def build() -> None:
    """Builds the scene in a new file."""
    stage.empty_scene(FRAMES)
    egg = _egg()
    stage.make_body(egg, "CHOCOLATE", divisions=8)
    settings = egg.sinew
    settings.method = "ROBUST"
    settings.use_fracture, settings.use_plasticity = True, False
    settings.scatter, settings.seed, settings.most_pieces = 0.2, 2, 30
    settings.strength_group = _seams(egg).name
    settings.body_friction = 0.4
    settings.broken_material = stage.loose_material("Inside", INSIDE, 0.7)
    bpy.context.scene.sinew.substeps = SUBSTEPS
    bpy.context.scene.sinew.max_iterations = 1000  # pieces that are pressed together take more than whole bodies
    bowl, mallet = _bowl(), _mallet()
    for collider in (bowl, mallet):
        stage.make_collider(collider)
        collider.sinew.friction = 0.3
    stage.add_ground()
    stage.light_and_camera((0.30, -0.62, 0.46), (0.0, 0.0, 0.075), lens=44.0)


def _egg() -> bpy.types.Object:
    """Returns a hollow egg that lies in the bowl, with two rings of icing."""
    shells = []
    for grow, sides in ((0.0, 40), (-WALL, 28)):
        angle = np.linspace(0.0, math.pi, 24 if not grow else 17)
        radius = (WIDE + grow) * np.sin(angle) * (1.0 - BLUNT * np.cos(angle) * np.sin(angle))
        shells.append(swept.lathe("Egg", np.column_stack([radius, -(LONG + grow) * np.cos(angle)]), sides))
    shells[1].data.flip_normals()
    stage.paint(shells[0], BROWN, 0.22)
    stage.add_material(shells[0], "Icing", ICING, 0.45)
    for face in shells[0].data.polygons:
        around = math.atan2(face.center.y, face.center.x)
        wave = face.center.z - 0.006 * math.sin(7.0 * around)
        face.material_index = int(min(abs(wave - 0.030), abs(wave + 0.022)) < 0.0055)
    stage.select(shells[0])
    shells[1].select_set(True)
    bpy.ops.object.join()
    egg = bpy.context.object
    egg.name = egg.data.name = "Egg"
    egg.data.transform(Matrix.Rotation(math.radians(90), 4, "Y"))
    egg.location.z = THICK + WIDE + 0.012
    egg.rotation_euler = (0.0, math.radians(4), math.radians(24))
    return egg


def _seams(egg: bpy.types.Object) -> bpy.types.VertexGroup:
    """Paints a group that is low where two of some places, far from each other, are about as near."""
    points = np.empty((len(egg.data.vertices), 3), np.float32)
    egg.data.vertices.foreach_get("co", points.ravel())
    rng, middles = np.random.default_rng(SEED), [int(points[:, 2].argmax())]
    for _ in range(SHARDS - 1):
        far = np.linalg.norm(points[:, None] - points[middles], axis=2).min(axis=1)
        middles.append(int((far * rng.uniform(0.6, 1.0, len(points))).argmax()))
    nearest = np.sort(np.linalg.norm(points[:, None] - points[middles], axis=2), axis=1)
    strength = np.clip((nearest[:, 1] - nearest[:, 0]) / SEAM, WEAK, 1.0)
    group = egg.vertex_groups.new(name="Strength")
    for i, value in enumerate(strength):
        group.add([i], float(value), "REPLACE")
    return group


def _bowl() -> bpy.types.Object:
    """Returns a bowl of china on the ground."""
    angle = np.linspace(0.0, 0.5 * math.pi, 15)
    inside = np.column_stack([INNER * np.sin(angle) ** 0.8, THICK + HIGH * (1.0 - np.cos(angle))])
    outside = np.column_stack([(INNER + THICK) * np.sin(angle) ** 0.8, (HIGH + THICK) * (1.0 - np.cos(angle))])
    top = HIGH + THICK
    rim = [(INNER + 0.75 * THICK, top + 0.4 * THICK), (INNER + 0.25 * THICK, top + 0.4 * THICK)]
    bowl = swept.lathe("Bowl", [*outside, *rim, *inside[::-1]], 56)
    stage.paint(bowl, CHINA, 0.12)
    return bowl


def _mallet() -> bpy.types.Object:
    """Returns a mallet that turns about the end of its handle, and strikes once."""
    radius, long = HEAD
    round_off = [(0.0, 0.0), (0.88 * radius, 0.0), (radius, 0.12 * radius)]
    profile = [*round_off, *((r, long - z) for r, z in round_off[::-1])]
    head = swept.lathe("Mallet", profile, 32)
    head.data.transform(Matrix.Translation((-HANDLE, 0.0, -0.5 * long)))
    stage.paint(head, WOOD, 0.45)
    shape = [(0, 0), (0.011, 0), (0.0125, 0.02), (0.010, 0.5 * HANDLE), (0.009, HANDLE), (0, HANDLE)]
    grip = swept.lathe("Handle", shape, 20)
    grip.data.transform(Matrix.Rotation(math.radians(-90), 4, "Y"))
    stage.paint(grip, DARK, 0.4)
    stage.select(head)
    grip.select_set(True)
    bpy.ops.object.join()
    mallet = bpy.context.object
    mallet.location = (HANDLE + 0.005, 0.0, THICK + 1.30 * WIDE + 0.5 * long)
    for frame, angle in STROKES:
        mallet.rotation_euler = (0.0, math.radians(angle), 0.0)
        mallet.keyframe_insert("rotation_euler", frame=frame)
    return mallet
