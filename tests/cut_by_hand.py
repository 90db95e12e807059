# SPDX-License-Identifier: GPL-3.0-or-later
"""A convex render mesh cut in two by a plane, as the finishing pass would keep it: made without any tets."""

from __future__ import annotations

from pathlib import Path

import bpy
import numpy as np

from blender_scenes import write_cache
from sinew.solver.cache import layout
from sinew.solver.disk import npz_bytes, write_whole
from sinew.solver.pc2 import Pc2Writer
from sinew.solver.scene import Body, Fracture, Scene, Settings


def evaluated_mesh(obj: bpy.types.Object) -> bpy.types.Mesh:
    """Returns the mesh of an object without its Mesh Cache modifier."""
    final = obj.evaluated_get(bpy.context.evaluated_depsgraph_get())
    mesh = final.to_mesh()
    mesh.calc_loop_triangles()
    return mesh


def cut_in_two(obj: bpy.types.Object, height: float = 0.1, opens: int = 5) -> dict[str, np.ndarray]:
    """Returns the arrays of a result: the evaluated mesh of `obj` cut at z = height of its own space."""
    mesh = evaluated_mesh(obj)
    points = np.array([v.co for v in mesh.vertices], float)
    triangles = {
        polygon.index: [t for t in mesh.loop_triangles if t.polygon_index == polygon.index] for polygon in mesh.polygons
    }
    rest: list[np.ndarray] = []
    source_vertex: list[int] = []
    known: dict[tuple, int] = {}
    faces: list[list[int]] = []
    rows: list[tuple[int, int]] = []  # source face, piece
    corner_triangle: list[list[int]] = []
    corner_weights: list[list[np.ndarray]] = []

    def vertex(name: tuple, place: np.ndarray, source: int) -> int:
        if name not in known:
            known[name] = len(rest)
            rest.append(place)
            source_vertex.append(source)
        return known[name]

    for piece, sign in enumerate((1.0, -1.0)):
        side = sign * (points[:, 2] - height)
        rim: dict[int, int] = {}
        for polygon in mesh.polygons:
            loops = list(polygon.loop_indices)
            ring, where, weights = [], [], []
            for loop, after in zip(loops, loops[1:] + loops[:1], strict=True):
                a, b = mesh.loops[loop].vertex_index, mesh.loops[after].vertex_index
                for part in (None, (a, b)):
                    if part is None and side[a] > 0:
                        ring.append(vertex((piece, a), points[a], a))
                        t, w = _on_triangle(triangles[polygon.index], mesh, {loop: 1.0})
                    elif part is not None and (side[a] > 0) != (side[b] > 0):
                        low, high = min(a, b), max(a, b)
                        s = (height - points[low, 2]) / (points[high, 2] - points[low, 2])
                        ring.append(vertex((piece, low, high), points[low] + s * (points[high] - points[low]), -1))
                        share = s if b == high else 1.0 - s
                        t, w = _on_triangle(triangles[polygon.index], mesh, {loop: 1.0 - share, after: share})
                    else:
                        continue
                    where.append(t)
                    weights.append(w)
            if len(ring) >= 3:
                faces.append(ring)
                rows.append((polygon.index, piece))
                corner_triangle.append(where)
                corner_weights.append(weights)
                made = [v for v in ring if source_vertex[v] < 0]
                if len(made) == 2:
                    i = ring.index(made[0])
                    first, second = made if ring[(i + 1) % len(ring)] == made[1] else made[::-1]
                    rim[second] = first
        start = next(iter(rim))
        cap = [start]
        while rim[cap[-1]] != start:
            cap.append(rim[cap[-1]])
        # a vertex in the middle, which no face of the render mesh has
        middle = vertex((piece, "middle"), np.mean([rest[v] for v in cap], axis=0), -1)
        for a, b in zip(cap, cap[1:] + cap[:1], strict=True):
            faces.append([a, b, middle])
            rows.append((-1, piece))
            corner_triangle.append([-1] * 3)
            corner_weights.append([np.zeros(3)] * 3)
    source_face = np.array([row[0] for row in rows])
    return {
        "rest": np.array(rest),
        "source_vertex": np.array(source_vertex),
        "face_start": np.cumsum([0] + [len(face) for face in faces]),
        "corners": np.concatenate(faces),
        "source_face": source_face,
        "corner_triangle": np.concatenate(corner_triangle),
        "corner_weights": np.concatenate(corner_weights),
        "piece": np.array([row[1] for row in rows]),
        "opens": np.where(source_face < 0, opens, 0),
    }


def _on_triangle(triangles: list, mesh: bpy.types.Mesh, wanted: dict[int, float]) -> tuple[int, np.ndarray]:
    for triangle in triangles:
        loops = list(triangle.loops)
        if all(loop in loops for loop in wanted):
            weights = np.zeros(3)
            for loop, weight in wanted.items():
                weights[loops.index(loop)] = weight
            return triangle.index, weights
    raise AssertionError


def write_broken(
    cache: Path, obj: bpy.types.Object, key: str, frames: int = 10, opens: int = 5, height: float = 0.1
) -> dict[str, np.ndarray]:
    """Writes a cache in which `obj` breaks in two: from `opens` on the upper piece rises by 0.1 per frame."""
    arrays = cut_in_two(obj, height, opens)
    mesh = evaluated_mesh(obj)
    points = np.array([v.co for v in mesh.vertices], float)
    triangles = np.array([t.vertices for t in mesh.loop_triangles], np.int32)
    write_cache(cache, {key: np.repeat(points[None], frames, axis=0)})
    matrix = np.array(obj.matrix_world)
    world = points @ matrix[:3, :3].T + matrix[:3, 3]
    is_mirrored = np.linalg.det(matrix[:3, :3]) < 0
    body = Body(key, obj.name, world, triangles[:, ::-1] if is_mirrored else triangles, fracture=Fracture())
    Scene((body,), settings=Settings(1, frames)).save(cache / layout.SCENE_FOLDER)
    upper = np.zeros(len(arrays["rest"]), bool)
    upper[arrays["corners"][np.repeat(arrays["piece"], np.diff(arrays["face_start"])) == 0]] = True
    shapes = np.repeat(arrays["rest"][None], frames, axis=0)
    for i in range(frames):
        shapes[i, upper, 2] += 0.1 * max(i + 1 - opens + 1, 0)
    path, motion = layout.result_paths(cache, key)
    path.parent.mkdir(exist_ok=True)
    stored = arrays | {"rest": arrays["rest"] @ matrix[:3, :3].T + matrix[:3, 3]}
    if is_mirrored:
        stored = turned(stored)
    write_whole(path, npz_bytes(stored))
    motion.unlink(missing_ok=True)
    writer = Pc2Writer(motion, len(shapes[0]), 1.0, 1.0)
    writer.append(shapes.astype(np.float32))
    writer.count()
    writer.close()
    return arrays | {"shapes": shapes}


def turned(arrays: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Returns a result as the solver makes it of a mirrored object, whose triangles come to it turned round."""
    start = arrays["face_start"]
    order = np.concatenate([np.arange(b - 1, a - 1, -1) for a, b in zip(start[:-1], start[1:], strict=True)])
    found = arrays | {name: arrays[name][order] for name in ("corners", "corner_triangle", "corner_weights")}
    found["corner_weights"] = found["corner_weights"][:, ::-1]
    return found
