# SPDX-License-Identifier: GPL-3.0-or-later
"""What is pinned of the demo scenes in which bodies touch, measured in the open, baked file as Blender shows it."""

from __future__ import annotations

import itertools
from collections import Counter

import bpy
import numpy as np

from fixtures.penetration_measures import depths
from sinew.solver.bake.cache import CacheReader
from sinew.solver.mesh.geometry.triangle_intersections import surface_intersections

EVERY = 3  # frames from one look to the next
Surface = tuple[np.ndarray, np.ndarray]  # vertices [m], (n, 3), and triangles, (t, 3)


def shown(obj: bpy.types.Object) -> Surface:
    """Returns an object as it is rendered, in the world."""
    evaluated = obj.evaluated_get(bpy.context.evaluated_depsgraph_get())
    mesh = evaluated.to_mesh()
    mesh.calc_loop_triangles()
    points, triangles = np.empty((len(mesh.vertices), 3), np.float32), np.empty((len(mesh.loop_triangles), 3), np.int32)
    mesh.vertices.foreach_get("co", points.ravel())
    mesh.loop_triangles.foreach_get("vertices", triangles.ravel())
    place = np.array(evaluated.matrix_world)
    evaluated.to_mesh_clear()
    return points @ place[:3, :3].T + place[:3, 3], triangles


def touching(cache: CacheReader) -> dict[str, dict[str, float]]:
    """Returns of every body how deep a vertex of it was at most in another one or in a collider, or one of these
    in it, ever and in the last frame [m]; and of that frame the box around it [m] and how fast the fastest
    of its vertices is [m/s]."""
    scene = bpy.context.scene
    bodies = {o.name: o for o in scene.objects if o.sinew.role == "BODY"}
    colliders = [o for o in scene.objects if o.sinew.role == "COLLIDER" and o.sinew.collider_shape == "MESH"]
    last = cache.last_frame()
    assert last is not None
    found = {name: {"deepest": 0.0} for name in bodies}
    looks = [*range(cache.metadata.frame_start, last - 1, EVERY), last - 1, last]
    before: dict[str, Surface] = {}
    for frame in looks:
        scene.frame_set(frame)
        now = {name: shown(obj) for name, obj in bodies.items()}
        deep = _depths([*now.items(), *(("", shown(obj)) for obj in colliders)])
        for name, of in found.items():
            of["deepest"], of["deepest_at_the_end"] = max(of["deepest"], deep.get(name, 0.0)), deep.get(name, 0.0)
        if frame == last:
            for name, of in found.items():
                of.update(_at_the_end(before[name][0], now[name][0], scene.render.fps))
        before = now
    return found


def intersections(cache: CacheReader) -> dict[str, dict[str, float]]:
    """Returns of every body in how many pairs of intersecting triangles, of all bodies and meshes that they collide
    with and of its own, it was at most in any frame, and how fast it is at the end [m/s]."""
    scene, last = bpy.context.scene, cache.last_frame()
    assert last is not None
    bodies = [o.name for o in scene.objects if o.sinew.role == "BODY"]
    others = [o for o in scene.objects if o.sinew.role == "COLLIDER" and o.sinew.collider_shape == "MESH"]
    found = {name: {"intersections": 0.0} for name in bodies}
    before: dict[str, Surface] = {}
    for frame in range(cache.metadata.frame_start, last + 1):
        scene.frame_set(frame)
        now = {o.name: shown(o) for o in (*(scene.objects[name] for name in bodies), *others)}
        counts = Counter(name for pair in surface_intersections(now) for name in set(pair.surfaces))
        for name, of in found.items():
            of["intersections"] = max(of["intersections"], float(counts[name]))
            if frame == last:
                moved = np.linalg.norm(now[name][0] - before[name][0], axis=1)
                of["speed_at_the_end"] = float(moved.max() * scene.render.fps)
        before = now
    return found


def _depths(parts: list[tuple[str, Surface]]) -> dict[str, float]:
    """Returns how deep the vertices of bodies are in others, or others in theirs [m]; colliders have no name."""
    found: dict[str, float] = {}
    for (name, (points, _)), (other, surface) in itertools.permutations(parts, 2):
        if name or other:
            deep = float(depths(points, *surface).max(initial=0.0))
            for body in {name, other} - {""}:
                found[body] = max(found.get(body, 0.0), deep)
    return found


def _at_the_end(before: np.ndarray, now: np.ndarray, fps: float) -> dict[str, float]:
    box = {f"least_{axis}": float(now[:, i].min()) for i, axis in enumerate("xyz")}
    box.update({f"most_{axis}": float(now[:, i].max()) for i, axis in enumerate("xyz")})
    return {**box, "speed_at_the_end": float(np.linalg.norm(now - before, axis=1).max() * fps)}


SCENES = ("jelly_bowl", "squeezed_ball")
EXACT_SCENES = ("jelly_heap", "pile_of_dolls")
