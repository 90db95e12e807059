# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether the mesh of a bone may change its shape over time, and what shapes it."""

from __future__ import annotations

import bpy

from .rna_values import animated_paths

# modifiers that give the same shape at every frame, if nothing of theirs is animated and they follow no other object
STILL = {
    "ARRAY", "BEVEL", "DECIMATE", "EDGE_SPLIT", "MIRROR", "MULTIRES", "REMESH", "SCREW", "SMOOTH", "SOLIDIFY",
    "SUBSURF", "TRIANGULATE", "WEIGHTED_NORMAL", "WELD",
}  # fmt: skip
# modifiers that follow the surface of another object, not only its place
READING_SURFACES = {"BOOLEAN", "DATA_TRANSFER", "MESH_DEFORM", "SHRINKWRAP", "SURFACE_DEFORM"}
# ways to be a child that work as a modifier does
DEFORMING_PARENTS = {"ARMATURE", "LATTICE"}


def deforms(obj: bpy.types.Object) -> bool:
    """Whether the mesh of a bone may change its shape over time."""
    keys = obj.data.shape_keys
    if obj.parent_type in DEFORMING_PARENTS or (keys is not None and animated_paths(keys)):
        return True
    animated = animated_paths(obj)
    return any(
        modifier.type not in STILL
        or any(path.startswith(f'modifiers["{modifier.name}"]') for path in animated)
        or _objects_of(modifier)
        for modifier in obj.modifiers
    )


def shaped_by(obj: bpy.types.Object) -> set[bpy.types.Object]:
    """Returns the objects whose shape that of a bone follows: those of its modifiers, and parents by vertices."""
    reading = (modifier for modifier in obj.modifiers if modifier.type in READING_SURFACES)
    found = {other for modifier in reading for other in _objects_of(modifier)}
    return found | ({obj.parent} if obj.parent is not None and obj.parent_type in {"VERTEX", "VERTEX_3"} else set())


def _objects_of(modifier: bpy.types.Modifier) -> list[bpy.types.Object]:
    """Returns the objects that a modifier reads."""
    pointers = (getattr(modifier, rna.identifier) for rna in modifier.bl_rna.properties if rna.type == "POINTER")
    return [target for target in pointers if isinstance(target, bpy.types.Object)]
