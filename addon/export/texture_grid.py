# SPDX-License-Identifier: GPL-3.0-or-later
"""The texture of a texture field as a grid, so that a bake needs no Blender: what it pushes with, without strength."""

from __future__ import annotations

from collections.abc import Sequence

import bpy
import numpy as np

from ...solver.runtime.arrays import Floats
from ...solver.scene.force_fields import TextureGrid
from ...solver.scene.scene import Body
from ..objects.field_objects import TEXTURE_POINTS_ALONG

MARGIN = 0.5  # around the bodies, in lengths of the longest side of their box
# settings with which textures have colours; others have an intensity alone
COLOR_SETTINGS = {"CLOUDS": ("cloud_type", {"COLOR"}), "VORONOI": ("color_mode", {"POSITION", "POSITION_OUTLINE",
                  "POSITION_OUTLINE_INTENSITY"})}  # fmt: skip
COLOR_TYPES = {"IMAGE", "MAGIC"}


def read_texture(field: bpy.types.FieldSettings, matrix: Floats, unit: float, bodies: Sequence[Body]) -> TextureGrid:
    """Returns what the texture of a field pushes with around bodies.

    Args:
        field: With a texture.
        matrix: World [m] ← the object's space [m], (4, 4).
        unit: Metres in a Blender unit.
        bodies: In their rest pose.
    """
    lower, upper = _box_around(field, matrix, unit, bodies)
    longest = float((upper - lower).max()) or 1.0
    counts = np.maximum(np.ceil((upper - lower) / longest * TEXTURE_POINTS_ALONG).astype(int), 1) + 1
    spacing = np.maximum((upper - lower) / (counts - 1), np.finfo(float).tiny)
    points = lower + spacing * np.stack(np.meshgrid(*map(np.arange, counts), indexing="ij"), axis=-1)
    return TextureGrid(lower, spacing, texture_push(field, points.reshape(-1, 3)).reshape(*counts, 3))


def texture_push(field: bpy.types.FieldSettings, points: Floats) -> Floats:
    """Returns the force of strength 1 of a texture at points in its space [Blender units], (n, 3).

    Of colours: ½ − c in the mode RGB, the curl of c in the mode Curl. In the mode Gradient, and of textures without
    colours: −∇ of the intensity. Derivatives are differences over Nabla.
    """
    nabla = field.texture_nabla
    here = _evaluated(field.texture, points)
    is_colored = has_colors(field.texture)
    if is_colored and field.texture_mode == "RGB":
        return 0.5 - here[:, :3]
    if not nabla:
        return np.zeros_like(points)
    x, y, z = ((_evaluated(field.texture, points + nabla * axis) - here).T / nabla for axis in np.eye(3))
    if is_colored and field.texture_mode == "CURL":
        return np.column_stack([y[2] - z[1], z[0] - x[2], x[1] - y[0]])
    if is_colored:
        return -np.column_stack([x[:3].mean(axis=0), y[:3].mean(axis=0), z[:3].mean(axis=0)])
    return -np.column_stack([x[3], y[3], z[3]])


def _evaluated(texture: bpy.types.Texture, points: Floats) -> Floats:
    """Returns red, green, blue and intensity at points, (n, 4)."""
    return np.array([tuple(texture.evaluate(point)) for point in points.tolist()])


def has_colors(texture: bpy.types.Texture) -> bool:
    """Whether a texture has colours instead of an intensity alone."""
    if texture.use_color_ramp or (texture.use_nodes and texture.node_tree is not None) or texture.type in COLOR_TYPES:
        return True
    setting, values = COLOR_SETTINGS.get(texture.type, ("type", ()))
    return getattr(texture, setting) in values


def _box_around(
    field: bpy.types.FieldSettings, matrix: Floats, unit: float, bodies: Sequence[Body]
) -> tuple[Floats, Floats]:
    """Returns the corners of a box around bodies in the space of the texture [Blender units], (3,) each."""
    points = np.concatenate([body.vertices for body in bodies])
    lower, upper = points.min(axis=0), points.max(axis=0)
    margin = MARGIN * float((upper - lower).max())
    corners = np.array(list(np.ndindex(2, 2, 2))) * (upper - lower + 2.0 * margin) + lower - margin
    if field.use_object_coords:
        inverse = np.linalg.pinv(matrix)
        corners = corners @ inverse[:3, :3].T + inverse[:3, 3]
        if field.use_2d_force:
            corners[:, 2] = 0.0
    return corners.min(axis=0) / unit, corners.max(axis=0) / unit
