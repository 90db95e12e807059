# SPDX-License-Identifier: GPL-3.0-or-later
"""Gives a sheet the settings of a Cloth modifier of Blender.

Blender's cloth is springs between vertices, in a unit of time in which gravity is 0.001 of what the scene says: its
stiffnesses are 1000 times as large in SI units. With d, the mean length of an edge,

    E h = 1000 Tension / d,    G h = 1000 Shear / d,    D = 1000 · 0.1 Bending d²,
    p = 1000 Pressure          and    F = 1000 Max Sewing Force

on a square grid: each edge has a spring of the stiffness Tension / d and each diagonal one of Shear / d, and at each
edge a force of 0.1 Bending d per radian acts at the distance d. Vertex Mass is that of each vertex.

Source: Blender's source code of cloth simulation; the relations to E h, G h and D are derived here.
"""

from __future__ import annotations

import bpy
import numpy as np

from ...solver.runtime.errors import BadInput
from ..evaluation.evaluated_mesh import positions, triangles

POISSON_RATIO = 0.3  # of what a grid of springs has no number for
GRAVITY_SHARE = 1.0e-3  # Blender's gravity for cloth over that of the scene
BENDING_SHARE = 0.1
MIN_SHEAR = 1.0e-3  # smallest factor that is written


def cloth_modifier(obj: bpy.types.Object) -> bpy.types.ClothModifier | None:
    """Returns the first Cloth modifier of an object, or None."""
    return next((modifier for modifier in obj.modifiers if modifier.type == "CLOTH"), None)


def copy_from_cloth(obj: bpy.types.Object, unit: float) -> str:
    """Makes a body a sheet with the settings of its Cloth modifier, which is switched off; returns what was copied.

    Args:
        obj: A body.
        unit: Metres in a Blender unit.

    Raises:
        BadInput: There is no Cloth modifier, or the mesh has no area.
    """
    modifier = cloth_modifier(obj)
    if modifier is None:
        raise BadInput("no-cloth-modifier", name=obj.name)
    cloth, settings = modifier.settings, obj.sinew
    edge, area = _mean_edge_and_area(obj, unit)
    if not (area > 0.0 and edge > 0.0):
        raise BadInput("sheet-no-area", name=obj.name, count=len(obj.data.polygons))
    settings.method = "SHEET"
    thickness = settings.sheet_thickness * unit
    stretch, shear = (value / GRAVITY_SHARE / edge for value in (cloth.tension_stiffness, cloth.shear_stiffness))
    bending = BENDING_SHARE / GRAVITY_SHARE * cloth.bending_stiffness * edge**2
    plate = stretch * thickness**2 / (12.0 * (1.0 - POISSON_RATIO**2))
    settings.youngs_modulus, settings.poisson_ratio = stretch / thickness, POISSON_RATIO
    settings.density = cloth.mass * len(obj.data.vertices) / (area * thickness)
    settings.sheet_bending = bending / plate
    settings.sheet_shear = max(2.0 * (1.0 + POISSON_RATIO) * shear / stretch, MIN_SHEAR)
    settings.sheet_law = "STVK"
    copied = ["tension", "shear", "bending", "mass"]
    if cloth.vertex_group_mass:
        settings.pin_group = cloth.vertex_group_mass
        copied.append("pins")
    if cloth.use_pressure:
        settings.use_pressure, settings.pressure = True, cloth.uniform_pressure_force / GRAVITY_SHARE
        copied.append("pressure")
    if cloth.use_sewing_springs:
        settings.use_seams, settings.seam_max_force = True, cloth.sewing_force_max / GRAVITY_SHARE
        copied.append("sewing")
    settings.self_collision = modifier.collision_settings.use_self_collision
    modifier.show_viewport = modifier.show_render = False
    return f'"{obj.name}" is a sheet with the {", ".join(copied[:-1])} and {copied[-1]} of "{modifier.name}"'


def _mean_edge_and_area(obj: bpy.types.Object, unit: float) -> tuple[float, float]:
    """Returns the mean length of the edges [m] and the area [m²] of the mesh of an object as it was modeled."""
    matrix = unit * np.array(obj.matrix_world)[:3, :3]
    points, faces = positions(obj.data) @ matrix.T, triangles(obj.data)
    ends = np.empty(2 * len(obj.data.edges), np.int32)
    obj.data.edges.foreach_get("vertices", ends)
    edges = points[ends[1::2]] - points[ends[::2]]
    a, b, c = (points[faces[:, k]] for k in range(3))
    area = float(0.5 * np.linalg.norm(np.cross(b - a, c - a), axis=1).sum())
    return float(np.linalg.norm(edges, axis=1).mean()) if len(edges) else 0.0, area
