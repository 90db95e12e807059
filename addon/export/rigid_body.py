# SPDX-License-Identifier: GPL-3.0-or-later
"""Blender's own Rigid Body settings of a rigid body: mass, friction, damping, shape, Passive, Dynamic and Animated.

As in Blender, shapes but the mesh and its hull are about the origin of the object, have the size of its bounding box,
and point along Z. Their vertices are behind those of the mesh, move with the body and are not played.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import bmesh
import bpy
import numpy as np
from mathutils import Matrix

from ...solver.runtime.arrays import Floats, Indices
from ...solver.scene.scene import Body
from ..blender_data.rna_serialisation import Parts, animated_paths, rna_parts
from ..evaluation.evaluated_mesh import evaluated_mesh, positions
from ..evaluation.matrix_units import transform_points
from ..evaluation.nearest_vertices import nearest_vertices
from ..evaluation.scene_copy import SceneCopy
from ..objects import rigid_body_settings, roles
from ..objects.rigid_body_settings import ANIMATED_PATHS, BODY_PROPERTIES, COLLIDER_PROPERTIES, MESH_SHAPES
from .per_vertex_rows import with_more_vertices

ROUND_SEGMENTS = 32  # of a circle
HULL = "CONVEX_HULL"


def with_rigid_body(scene_copy: SceneCopy, body: Body, obj: bpy.types.Object, matrix: Floats) -> Body:
    """Returns a body as the Rigid Body settings of its object say, where they count.

    Args:
        scene_copy: Evaluated in the rest pose.
        body: As it is without.
        obj: Its object.
        matrix: World [m] ← object space [Blender units], (4, 4).
    """
    evaluated = scene_copy.evaluated(obj)
    found = rigid_body_settings.counting_rigid_body(evaluated)
    if found is None:
        return body
    if found.collision_shape not in MESH_SHAPES:
        with evaluated_mesh(evaluated) as mesh:
            body = _with_shape(body, found.collision_shape, positions(mesh), matrix)
    volume, density = _volume(body.vertices, body.triangles), body.material.density
    return replace(
        body,
        material=replace(body.material, density=found.mass / volume if volume > 0.0 else density),
        collision=replace(body.collision, friction=rigid_body_settings.friction(found)),
        animated=rigid_body_settings.follows_animation(found),
        rigid_damping=rigid_body_settings.damping_rates(found),
    )


def _with_shape(body: Body, shape: str, points: Floats, matrix: Floats) -> Body:
    """Returns a body that others meet by a shape around its points [Blender units], object space, (n, 3)."""
    mesh = bmesh.new()
    try:
        more = _make_hull(mesh, points) if shape == HULL else _make_shape(mesh, shape, _half_sizes(points))
        faces = _faces(mesh, 0 if shape == HULL else len(points))
    finally:
        mesh.free()
    if not len(faces):
        return body  # flat points have no hull; a rigid body without volume is refused
    if np.linalg.det(matrix[:3, :3]) < 0.0:
        faces = faces[:, ::-1]
    world = transform_points(matrix, more)
    nearest = nearest_vertices(body.vertices, world) if len(world) else np.zeros(0, np.int32)
    return replace(
        with_more_vertices(body, len(body.vertices), nearest),
        vertices=np.concatenate([body.vertices, world]),
        triangles=np.ascontiguousarray(faces),
        face_of_triangle=np.zeros(0, np.int32),
        cap_vertices=len(world),
    )


def _half_sizes(points: Floats) -> Floats:
    """Returns half the size of the bounding box, (3,)."""
    return 0.5 * np.ptp(points, axis=0)


def _make_hull(mesh: bmesh.types.BMesh, points: Floats) -> Floats:
    """Makes the convex hull of points, whose vertices keep their numbers, and returns that it has no others."""
    made = [mesh.verts.new(point) for point in points]
    mesh.verts.index_update()
    bmesh.ops.convex_hull(mesh, input=made, use_existing_faces=False)
    return np.zeros((0, 3))


def _make_shape(mesh: bmesh.types.BMesh, shape: str, half: Floats) -> Floats:
    """Makes a box, sphere, capsule, cylinder or cone, and returns its vertices, (k, 3)."""
    radius, across, height = float(half.max()), float(half[:2].max()), 2.0 * float(half[2])
    make: dict[str, Callable[[], Any]] = {
        "BOX": lambda: bmesh.ops.create_cube(mesh, size=2.0, matrix=Matrix.Diagonal((*half, 1.0))),
        "SPHERE": lambda: bmesh.ops.create_icosphere(mesh, subdivisions=4, radius=radius),
        "CAPSULE": lambda: bmesh.ops.create_icosphere(mesh, subdivisions=4, radius=across),
        "CYLINDER": lambda: _make_cone(mesh, across, across, height),
        "CONE": lambda: _make_cone(mesh, across, 0.0, height),
    }
    make[shape]()
    if shape == "CAPSULE":
        for vertex in mesh.verts:
            vertex.co.z += np.sign(vertex.co.z) * max(0.5 * height - across, 0.0)
    mesh.verts.index_update()
    return np.array([vertex.co for vertex in mesh.verts])


def _make_cone(mesh: bmesh.types.BMesh, below: float, above: float, height: float) -> None:
    bmesh.ops.create_cone(mesh, cap_ends=True, segments=ROUND_SEGMENTS, radius1=below, radius2=above, depth=height)
    bmesh.ops.remove_doubles(mesh, verts=mesh.verts[:], dist=1.0e-6 * max(below, height))


def _faces(mesh: bmesh.types.BMesh, first: int) -> Indices:
    """Returns the triangles, which look outwards, of vertices numbered from `first` on, (t, 3)."""
    bmesh.ops.recalc_face_normals(mesh, faces=mesh.faces[:])
    bmesh.ops.triangulate(mesh, faces=mesh.faces[:])
    found = [[vertex.index for vertex in face.verts] for face in mesh.faces]
    return np.array(found, np.int32).reshape(-1, 3) + np.int32(first)


def _volume(vertices: Floats, faces: Indices) -> float:
    """Returns the volume in closed faces [m³]."""
    a, b, c = (vertices[faces[:, corner]] - vertices[0] for corner in range(3))
    return abs(float(np.einsum("ti,ti->", a, np.cross(b, c)))) / 6.0


def shape_vertices(body: Body, matrix: Floats) -> Floats:
    """Returns the vertices of a rigid body that are not played, in object space [Blender units], (k, 3).

    Args:
        body: In the rest pose.
        matrix: World [m] ← object space [Blender units] there, (4, 4).
    """
    hidden = body.vertices[body.played_count :] if body.is_rigid else np.zeros((0, 3))
    return transform_points(np.linalg.inv(matrix), hidden)


def has_animated_rigid_body(obj: bpy.types.Object) -> bool:
    """Whether Blender's Animated or Dynamic is keyed, where it counts."""
    return rigid_body_settings.counting_rigid_body(obj) is not None and bool(animated_paths(obj) & {*ANIMATED_PATHS})


def rigid_body_parts(obj: bpy.types.Object) -> Parts:
    """Returns what the digest has of the Rigid Body settings of an object: nothing where they do not count."""
    found = rigid_body_settings.counting_rigid_body(obj)
    if found is None:
        return []
    read = BODY_PROPERTIES if obj.sinew.role == roles.BODY else COLLIDER_PROPERTIES
    unread = {rna.identifier for rna in found.bl_rna.properties} - {*read}
    return rna_parts(found, unread, animated_paths(obj), "rigid_body.")
