# SPDX-License-Identifier: GPL-3.0-or-later
"""Gives a mesh enough vertices to bend."""

from __future__ import annotations

import bpy

from ..blender_data import sinew_modifier

FEW_VERTICES_LIMIT = 64
TARGET_VERTICES = 300
MAX_SUBDIVISION_LEVEL = 6


def has_few_vertices(obj: bpy.types.Object) -> bool:
    """Whether `obj` has too few vertices to bend, and nothing above Sinew's modifier that makes more."""
    if obj.mode == "EDIT" or len(obj.data.vertices) >= FEW_VERTICES_LIMIT:
        return False
    own = sinew_modifier.find_modifier(obj)
    above = list(obj.modifiers)[: list(obj.modifiers).index(own)] if own else list(obj.modifiers)
    return not any(m.type in {"SUBSURF", "MULTIRES", "REMESH", "NODES", "SKIN", "BEVEL"} for m in above)


def subdivision_level(vertices: int, faces: int) -> int:
    """Returns the simple subdivision level that gives enough vertices; each one makes four faces of one."""
    level = 1
    while level < MAX_SUBDIVISION_LEVEL and max(vertices, faces * 4**level) < TARGET_VERTICES:
        level += 1
    return level


def subdivide(obj: bpy.types.Object) -> None:
    """Puts a Simple Subdivision above Sinew's modifier, with the same level in the viewport and the render."""
    modifier = obj.modifiers.new("Sinew Subdivision", "SUBSURF")
    modifier.subdivision_type = "SIMPLE"
    modifier.levels = modifier.render_levels = subdivision_level(len(obj.data.vertices), len(obj.data.polygons))
    own = sinew_modifier.find_modifier(obj)
    if own is not None:
        obj.modifiers.move(len(obj.modifiers) - 1, list(obj.modifiers).index(own))
