# SPDX-License-Identifier: GPL-3.0-or-later
"""Bones for tests: rods and balls in bars of flesh."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from scenes import block
from shapes import sphere
from sinew.solver.anatomy import Bone, Flesh
from sinew.solver.bones import Bones, check_bones, make_bones
from sinew.solver.build import Built, build
from sinew.solver.scene import Body, Scene
from sinew.solver.tracks import TrackReader, TrackWriter

STILL = np.zeros(1)


def rod(start: float, end: float, radius: float = 0.3, sides: int = 12, rings: int = 9):
    """Returns vertices [m] and triangles of a closed rod along x through y = z = ½."""
    angle = 2.0 * np.pi * np.arange(sides) / sides
    ring = np.stack([np.zeros(sides), radius * np.cos(angle), radius * np.sin(angle)], axis=1) + [0.0, 0.5, 0.5]
    along = np.linspace(start, end, rings)
    vertices = np.concatenate([ring + [x, 0.0, 0.0] for x in along] + [[[start, 0.5, 0.5]], [[end, 0.5, 0.5]]])
    first, last, faces = sides * rings, sides * rings + 1, []
    for k in range(sides):
        n = (k + 1) % sides
        for r in range(rings - 1):
            a, b, c, d = r * sides + k, r * sides + n, (r + 1) * sides + k, (r + 1) * sides + n
            faces += [(a, c, b), (b, c, d)]
        faces += [(first, k, n), (last, (rings - 1) * sides + n, (rings - 1) * sides + k)]
    return vertices, np.array(faces, np.int32)


def ball(middle, radius: float, n: int = 8):
    """Returns vertices [m] and triangles of a ball."""
    vertices, triangles = sphere(n)
    return radius * vertices + middle, triangles.astype(np.int32)


def limb(cells=(16, 4, 4), lengths=(4.0, 1.0, 1.0), **settings) -> Body:
    """Returns a bar of flesh along x."""
    settings.setdefault("flesh", Flesh())
    return block(cells, lengths, key="limb", **settings)


def line(start, end, **settings) -> Bone:
    """Returns the line of an armature's bone."""
    settings.setdefault("key", "line")
    settings.setdefault("name", "Line")
    return Bone(vertices=np.array([start, end], float), triangles=np.zeros((0, 3), np.int32), **settings)


def tracks_in(folder: Path, **tracks) -> TrackReader:
    """Returns tracks: name with "__" for "." → (times, values) or (times, values, kind)."""
    writer = TrackWriter(folder)
    for name, samples in tracks.items():
        writer.append(name.replace("__", "."), *samples)
    writer.close()
    return TrackReader(folder)


def held_by(folder: Path, bodies, *bones: Bone, **tracks) -> tuple[Bones | None, Built, TrackReader]:
    """Returns what bones hold, the bodies built without them, and the tracks."""
    bodies = bodies if isinstance(bodies, tuple) else (bodies,)
    read = tracks_in(folder, **tracks)
    scene = Scene(bodies, bones=bones)
    check_bones(scene)
    built = build(Scene(bodies), read, lambda *stage: None)
    found = make_bones(scene, [body.mesh for body in built.bodies], built.model, read, built.pins)
    return found, built, read


def targets(bones: Bones, built: Built, tracks: TrackReader, time: float):
    """Returns which nodes are held, (n,), and where [m], (n, 3)."""
    count = built.model.node_count
    is_fixed, target = np.zeros(count, bool), np.full((count, 3), np.nan)
    bones.hold(tracks, time, is_fixed, target)
    return is_fixed, target
