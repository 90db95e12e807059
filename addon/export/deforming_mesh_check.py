# SPDX-License-Identifier: GPL-3.0-or-later
"""Checks whether the mesh of a bone, a collider or a field may deform over time, and finds what deforms it."""

from __future__ import annotations

from collections.abc import Collection

import bpy

from ..blender_data.rna_serialisation import animated_paths

# modifiers that give the same shape at every frame, if nothing of theirs is animated and they follow no other object
STATIC_MODIFIERS = {
    "ARRAY", "BEVEL", "DECIMATE", "EDGE_SPLIT", "MIRROR", "MULTIRES", "REMESH", "SCREW", "SMOOTH", "SOLIDIFY",
    "SUBSURF", "TRIANGULATE", "WEIGHTED_NORMAL", "WELD",
}  # fmt: skip
# modifiers that follow the surface of another object, not only its place
SURFACE_MODIFIERS = {"BOOLEAN", "DATA_TRANSFER", "MESH_DEFORM", "SHRINKWRAP", "SURFACE_DEFORM"}
# ways to be a child that work as a modifier does
DEFORMING_PARENTS = {"ARMATURE", "LATTICE"}


def may_deform(obj: bpy.types.Object, ignored_types: Collection[str] = (), count: int | None = None) -> bool:
    """Whether a mesh may change its shape over time.

    Args:
        obj: Its object.
        ignored_types: Of modifiers that leave it as it is.
        count: How many of its modifiers count; None: all.
    """
    keys = obj.data.shape_keys
    if obj.parent_type in DEFORMING_PARENTS or (keys is not None and animated_paths(keys)):
        return True
    animated = animated_paths(obj)
    return any(
        modifier.type not in STATIC_MODIFIERS
        or any(path.startswith(f'modifiers["{modifier.name}"]') for path in animated)
        or _modifier_objects(modifier)
        for modifier in list(obj.modifiers)[:count]
        if modifier.type not in ignored_types
    )


def shape_dependencies(obj: bpy.types.Object) -> set[bpy.types.Object]:
    """Returns the objects whose shape that of a bone follows: those of its modifiers, and parents by vertices."""
    reading = (modifier for modifier in obj.modifiers if modifier.type in SURFACE_MODIFIERS)
    found = {other for modifier in reading for other in _modifier_objects(modifier)}
    return found | ({obj.parent} if obj.parent is not None and obj.parent_type in {"VERTEX", "VERTEX_3"} else set())


def _modifier_objects(modifier: bpy.types.Modifier) -> list[bpy.types.Object]:
    """Returns the objects that a modifier reads."""
    pointers = (getattr(modifier, rna.identifier) for rna in modifier.bl_rna.properties if rna.type == "POINTER")
    return [target for target in pointers if isinstance(target, bpy.types.Object)]
