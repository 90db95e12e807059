# SPDX-License-Identifier: GPL-3.0-or-later
"""Closed meshes of quads swept along a path, the stuff that necks, tails, legs and snakes are made of."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import bpy
import numpy as np

Points = Sequence[Sequence[float]] | np.ndarray


def smooth_path(points: Points, count: int) -> np.ndarray:
    """Returns `count` points, evenly spaced, on a curve through `points`, (count, 3)."""
    points = np.asarray(points, float)
    before, after = 2 * points[0] - points[1], 2 * points[-1] - points[-2]
    knots = np.vstack([before, points, after])
    dense = []
    for i in range(len(points) - 1):
        a, b, c, d = knots[i : i + 4]
        t = np.linspace(0.0, 1.0, 40, endpoint=i == len(points) - 2)[:, None]
        dense.append(b + 0.5 * t * (c - a + t * (2 * a - 5 * b + 4 * c - d + t * (3 * (b - c) + d - a))))
    curve = np.concatenate(dense)
    length = np.append(0.0, np.cumsum(np.linalg.norm(np.diff(curve, axis=0), axis=1)))
    wanted = np.linspace(0.0, length[-1], count)
    return np.column_stack([np.interp(wanted, length, curve[:, axis]) for axis in range(3)])


def frames(path: np.ndarray, up: Sequence[float]) -> tuple[np.ndarray, np.ndarray]:
    """Returns two directions across a path that turn as little as they can, the second near `up` at its start."""
    along = np.gradient(path, axis=0)
    along /= np.linalg.norm(along, axis=1)[:, None]
    over = np.asarray(up, float)
    if abs(along[0] @ over) > 0.95:
        over = np.roll(over, 1)
    sides, overs = [], []
    for direction in along:
        over = over - direction * (over @ direction)
        over = over / np.linalg.norm(over)
        overs.append(over)
        sides.append(np.cross(over, direction))
    return np.array(sides), np.array(overs)


def sweep(
    name: str,
    path: np.ndarray,
    wide: Callable[[float], float],
    high: Callable[[float], float],
    sides: int,
    up: Sequence[float] = (0.0, 0.0, 1.0),
) -> bpy.types.Object:
    """Returns a tube of quads along `path`, of half-widths wide(s) and high(s) at s from 0 to 1, with UVs.

    Both ends are closed by a grid of quads, so that a subdivision of it has quads everywhere.
    """
    across, over = frames(path, up)
    angles = 2.0 * math.pi * (np.arange(sides) + 0.5) / sides
    rings = []
    for k, (centre, u, w) in enumerate(zip(path, across, over, strict=True)):
        s = k / (len(path) - 1)
        rings.append(centre + np.outer(wide(s) * np.cos(angles), u) + np.outer(high(s) * np.sin(angles), w))
    vertices = [*np.concatenate(rings)]
    faces, uvs = [], []
    for ring in range(len(path) - 1):
        for side in range(sides):
            a, b = ring * sides + side, ring * sides + (side + 1) % sides
            faces.append((a, b, b + sides, a + sides))
            u0, u1, v0, v1 = side / sides, (side + 1) / sides, ring / (len(path) - 1), (ring + 1) / (len(path) - 1)
            uvs.append([(u0, v0), (u1, v0), (u1, v1), (u0, v1)])
    for first, turn, v in ((0, True, 0.0), ((len(path) - 1) * sides, False, 1.0)):
        for quad in _cap(sides):
            faces.append(tuple(first + i for i in (reversed(quad) if turn else quad)))
            uvs.append([(i / sides, v) for i in (reversed(quad) if turn else quad)])
    return mesh_object(name, vertices, faces, uvs)


def _cap(sides: int) -> list[tuple[int, int, int, int]]:
    """Returns quads over the corners of a ring of an even number of sides, from one side to the other."""
    return [(i, i + 1, sides - 2 - i, sides - 1 - i) for i in range(sides // 2 - 1)]


def mesh_object(
    name: str, vertices: Sequence, faces: Sequence, uvs: Sequence[Sequence[tuple[float, float]]] | None = None
) -> bpy.types.Object:
    """Returns a smooth object of these vertices and faces, with a UV of every corner."""
    mesh = bpy.data.meshes.new(name)
    mesh.from_pydata([tuple(map(float, v)) for v in vertices], [], [tuple(map(int, f)) for f in faces])
    if uvs is not None:
        layer = mesh.uv_layers.new(name="UVMap")
        layer.data.foreach_set("uv", np.array([c for face in uvs for c in face], np.float32).ravel())
    mesh.polygons.foreach_set("use_smooth", [True] * len(mesh.polygons))
    obj = bpy.data.objects.new(name, mesh)
    bpy.context.scene.collection.objects.link(obj)
    return obj


def lathe(
    name: str, profile: Points, sides: int, flutes: int = 0, deep: float = 0.0, closed: bool = False
) -> bpy.types.Object:
    """Returns what a profile of radius and height [m] sweeps about the z axis; it begins and ends on that axis.

    The profile goes upwards outside. There may be so many `flutes`, `deep` times as deep as the radius. A `closed`
    profile is a ring of points off the axis instead, and sweeps a ring.
    """
    profile = np.asarray(profile, float)
    ring = profile if closed else profile[1:-1]
    angles = 2.0 * math.pi * np.arange(sides) / sides
    wave = 1.0 + deep * np.cos(flutes * angles)
    x, y = (np.outer(ring[:, 0], wave * turn(angles)) for turn in (np.cos, np.sin))
    vertices = np.column_stack([x.ravel(), y.ravel(), np.repeat(ring[:, 1], sides)])
    count = len(ring)
    rows = [(k, (k + 1) % count) for k in range(count if closed else count - 1)]
    faces = [
        (a * sides + j, a * sides + (j + 1) % sides, b * sides + (j + 1) % sides, b * sides + j)
        for a, b in rows
        for j in range(sides)
    ]
    if not closed:
        first, last = len(vertices), len(vertices) + 1
        vertices = np.vstack([vertices, [0.0, 0.0, profile[0, 1]], [0.0, 0.0, profile[-1, 1]]])
        faces += [(first, (j + 1) % sides, j) for j in range(sides)]
        faces += [((count - 1) * sides + j, (count - 1) * sides + (j + 1) % sides, last) for j in range(sides)]
    return mesh_object(name, vertices, faces)


def bowl(name: str, inner: float, high: float, wall: float, rings: int, sides: int) -> bpy.types.Object:
    """Returns a round bowl of an inner radius, a depth and a thickness [m], its lowest inner point at the origin."""
    angle = np.linspace(0.0, 0.5 * math.pi, rings)
    inside = np.column_stack([inner * np.sin(angle), high * (1.0 - np.cos(angle))])
    outside = np.column_stack([(inner + wall) * np.sin(angle), high - (high + wall) * np.cos(angle)])
    rim = [(inner + 0.75 * wall, high + 0.4 * wall), (inner + 0.25 * wall, high + 0.4 * wall)]
    return lathe(name, [*outside, *rim, *inside[::-1]], sides)
