# SPDX-License-Identifier: GPL-3.0-or-later
"""Closed meshes fused from tubes and balls: animals and statues, made by Blender's voxel remesher."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import bpy
import numpy as np
from mathutils import Matrix, Vector

import stage
import swept

Point = Sequence[float]
GRID = 8192  # steps of positions along the longest side
UV_GRID = 1024


def tube(points: Sequence[Point], radii: Sequence[float], flat: float = 1.0, up: Point = (0, 0, 1)) -> bpy.types.Object:
    """Returns a tube along a smooth curve through `points`, of radii given at them, `flat` times as high as wide."""
    path = swept.smooth_path(points, 6 * len(points))
    places = np.linspace(0.0, 1.0, len(radii))

    def wide(s: float) -> float:
        return float(np.interp(s, places, radii))

    return swept.sweep("Part", path, wide, lambda s: flat * wide(s), 12, up)


def ball(centre: Point, radii: Point, turn: Point = (0, 0, 0)) -> bpy.types.Object:
    """Returns an ellipsoid with half-axes `radii`, turned by Euler angles [rad]."""
    bpy.ops.mesh.primitive_uv_sphere_add(segments=24, ring_count=14)
    obj = bpy.context.object
    obj.matrix_world = Matrix.LocRotScale(Vector(centre), Matrix.Rotation(0, 3, "X").to_euler(), Vector(radii))
    obj.rotation_euler = turn
    return obj


def blade(outline: Sequence[Point], thickness: float, across: Point = (0, 1, 0)) -> bpy.types.Object:
    """Returns a flat plate with the corners `outline`, as thick as `thickness` along `across`."""
    half = 0.5 * thickness * np.asarray(across, float)
    corners = np.asarray(outline, float)
    n = len(corners)
    around = [(i, (i + 1) % n, n + (i + 1) % n, n + i) for i in range(n)]
    return swept.mesh_object(
        "Part", [*(corners - half), *(corners + half)], [tuple(range(n))[::-1], tuple(range(n, 2 * n)), *around]
    )


def mirrored(parts: Sequence[bpy.types.Object], axis: int = 1) -> list[bpy.types.Object]:
    """Returns the parts and their images on the other side of y = 0, or of where another axis is 0."""
    images, flip = [], [1, 1, 1]
    flip[axis] = -1
    for part in parts:
        image = part.copy()
        image.data = part.data.copy()
        bpy.context.scene.collection.objects.link(image)
        image.matrix_world = Matrix.Diagonal((*flip, 1)) @ part.matrix_world
        image.data.flip_normals()
        images.append(image)
    return [*parts, *images]


def fuse(
    name: str, parts: Sequence[bpy.types.Object], voxel: float, triangles: int = 0, smoothing: int = 4
) -> bpy.types.Object:
    """Returns one closed object in the place of overlapping parts: what is finer than `voxel` [m] is lost.

    Its quads are made fewer, where the surface is flat, until there are so many `triangles`; 0 keeps them all.
    """
    bpy.context.view_layer.update()
    for part in parts:
        part.data.transform(part.matrix_world)
        part.matrix_world = Matrix.Identity(4)
    stage.select(parts[0])
    for part in parts:
        part.select_set(True)
    if len(parts) > 1:
        bpy.ops.object.join()
    rough = bpy.context.object
    remesh = rough.modifiers.new("Remesh", "REMESH")
    remesh.mode, remesh.voxel_size = "VOXEL", voxel
    if smoothing:
        soft = rough.modifiers.new("Smooth", "SMOOTH")
        soft.factor, soft.iterations = 0.5, smoothing
    if triangles:
        found = rough.evaluated_get(bpy.context.evaluated_depsgraph_get()).data
        found.calc_loop_triangles()
        fewer = rough.modifiers.new("Decimate", "DECIMATE")
        fewer.ratio, fewer.use_symmetry, fewer.symmetry_axis = triangles / len(found.loop_triangles), True, "Y"
    mesh = bpy.data.meshes.new_from_object(rough.evaluated_get(bpy.context.evaluated_depsgraph_get()))
    bpy.data.objects.remove(rough)
    mesh.name = name
    _round(mesh)
    obj = bpy.data.objects.new(name, mesh)
    bpy.context.scene.collection.objects.link(obj)
    stage.smooth(obj)
    box_uvs(obj)
    for unused in [m for m in bpy.data.meshes if not m.users]:
        bpy.data.meshes.remove(unused)
    return obj


def _round(mesh: bpy.types.Mesh) -> None:
    """Rounds positions to what can be seen, which makes files a third smaller."""
    points = np.empty((len(mesh.vertices), 3), np.float32)
    mesh.vertices.foreach_get("co", points.ravel())
    step = 2.0 ** np.round(np.log2(np.ptp(points, axis=0).max() / GRID))
    mesh.vertices.foreach_set("co", (np.round(points / step) * step).ravel())
    mesh.update()


def box_uvs(obj: bpy.types.Object) -> None:
    """Gives every face the UVs of the side of a box that it faces."""
    mesh = obj.data
    points = np.empty((len(mesh.vertices), 3), np.float32)
    mesh.vertices.foreach_get("co", points.ravel())
    normals = np.empty((len(mesh.polygons), 3), np.float32)
    mesh.polygons.foreach_get("normal", normals.ravel())
    corners, counts = np.empty(len(mesh.loops), np.int32), np.empty(len(mesh.polygons), np.int32)
    mesh.loops.foreach_get("vertex_index", corners)
    mesh.polygons.foreach_get("loop_total", counts)
    axis = np.repeat(np.abs(normals).argmax(axis=1), counts)
    place = (points - points.min(axis=0)) / np.ptp(points, axis=0).max()
    rows = np.arange(len(corners))
    uv = np.column_stack([place[corners][rows, (axis + 1) % 3], place[corners][rows, (axis + 2) % 3]])
    layer = mesh.uv_layers.new(name="UVMap")
    layer.data.foreach_set("uv", (np.round(uv * UV_GRID) / UV_GRID).astype(np.float32).ravel())


def colour(obj: bpy.types.Object, of: Callable[[np.ndarray], np.ndarray], roughness: float, name: str) -> None:
    """Gives `obj` a material with a colour per vertex, `of` its positions [m], (n, 3) → (n, 3)."""
    points = np.empty((len(obj.data.vertices), 3), np.float32)
    obj.data.vertices.foreach_get("co", points.ravel())
    colours = np.column_stack([of(points.astype(float)), np.ones(len(points))]).astype(np.float32)
    layer = obj.data.color_attributes.new("Colour", "BYTE_COLOR", "POINT")
    layer.data.foreach_set("color", colours.ravel())
    stage.paint(obj, tuple(colours.mean(axis=0)[:3]), roughness)
    nodes = obj.data.materials[0].node_tree
    reader = nodes.nodes.new("ShaderNodeVertexColor")
    reader.layer_name = "Colour"
    nodes.links.new(reader.outputs["Color"], nodes.nodes["Principled BSDF"].inputs["Base Color"])
    obj.data.materials[0].name = name


def spots(points: np.ndarray, size: float, seed: int) -> np.ndarray:
    """Returns a smooth, irregular pattern around 0 at points [m], (n,), with spots about `size` [m] wide."""
    rng = np.random.default_rng(seed)
    waves = rng.normal(size=(24, 3)) * 2.2 / size
    return np.sin(points @ waves.T + rng.uniform(0, 6.28, 24)).sum(axis=1) / 3.5
