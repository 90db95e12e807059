# SPDX-License-Identifier: GPL-3.0-or-later
"""A ball with every kind of layer, broken in two, and what tests read of the result."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

bpy = pytest.importorskip("bpy")

from cut_by_hand import write_broken
from sinew.addon import messages, roles
from sinew.addon.baking import cache_place, present_bake

OPENS = 5


def ball(name: str = "Ball", smooth: bool = True) -> bpy.types.Object:
    """Returns a smooth ball with two UV maps, colours, weights, seams, creases, two slots and a face attribute."""
    bpy.ops.mesh.primitive_uv_sphere_add(segments=16, ring_count=12)
    obj = bpy.context.object
    obj.name = obj.data.name = name
    mesh = obj.data
    if smooth:
        bpy.ops.object.shade_smooth()
    points = np.array([v.co for v in mesh.vertices])
    loop_points = points[[loop.vertex_index for loop in mesh.loops]]
    second = mesh.uv_layers.new(name="Second")
    mesh.attributes["Second"].data.foreach_set("vector", (loop_points[:, :2] * 3).astype(np.float32).ravel())
    second.active_render = True
    corner = mesh.color_attributes.new("Corner", "FLOAT_COLOR", "CORNER")
    corner.data.foreach_set("color", np.c_[loop_points, np.ones(len(loop_points))].astype(np.float32).ravel())
    point = mesh.attributes.new("Height", "FLOAT", "POINT")
    point.data.foreach_set("value", points[:, 2].astype(np.float32))
    face = mesh.attributes.new("Ring", "INT", "FACE")
    face.data.foreach_set("value", np.arange(len(mesh.polygons), dtype=np.int32))
    group = obj.vertex_groups.new(name="Up")
    for i, height in enumerate(points[:, 2]):
        group.add([i], (float(height) + 1.0) / 2.0, "REPLACE")
    for edge in mesh.edges:
        a, b = (points[v] for v in edge.vertices)
        upright = abs(a[1]) + abs(b[1]) < 1e-6 and a[0] > -1e-6 and b[0] > -1e-6
        edge.use_seam = edge.use_edge_sharp = bool(upright)
    crease = mesh.attributes.new("crease_edge", "FLOAT", "EDGE")
    crease.data.foreach_set("value", np.where([e.use_seam for e in mesh.edges], 0.5, 0.0).astype(np.float32))
    for name in ("Red", "Blue"):
        mesh.materials.append(bpy.data.materials.new(name))
    mesh.polygons.foreach_set("material_index", (np.arange(len(mesh.polygons)) % 2).astype(np.int32))
    roles.make_body(obj)
    obj.sinew.use_fracture = True
    return obj


def broken(tmp_path: Path, obj: bpy.types.Object, **options: float) -> tuple[bpy.types.Object, dict, Path]:
    """Returns the result of a made-up bake of `obj`, the arrays it was made of, and the cache."""
    cache = tmp_path / "c.sinew"
    arrays = write_broken(cache, obj, obj.name, opens=OPENS, **options)
    scene = bpy.context.scene
    scene.sinew.cache_path = str(cache)
    cache_place.remember(scene, cache)
    present_bake.attach(scene)
    assert not messages.last(scene), messages.last(scene)
    return bpy.data.objects[obj.name + " Broken"], arrays, cache


def values(mesh: bpy.types.Mesh, name: str, width: int = 1, prop: str = "value") -> np.ndarray:
    data = mesh.attributes[name].data
    found = np.empty(len(data) * width, np.float32)
    data.foreach_get(prop, found)
    return found.reshape(-1, width) if width > 1 else found


def corner_points(mesh: bpy.types.Mesh) -> np.ndarray:
    points = np.array([v.co for v in mesh.vertices])
    return points[[loop.vertex_index for loop in mesh.loops]]
