# SPDX-License-Identifier: GPL-3.0-or-later
"""The faces of an object in a tree that finds the nearest one, also where Blender does not evaluate the object."""

from __future__ import annotations

import bpy
from mathutils.bvhtree import BVHTree


def surface_tree(obj: bpy.types.Object, depsgraph: bpy.types.Depsgraph) -> BVHTree:
    """Returns the faces of a mesh object in its own space, as evaluated; as modeled where it is hidden or excluded."""
    try:
        return BVHTree.FromObject(obj.evaluated_get(depsgraph), depsgraph)
    except ValueError:  # what another object refers to may be in the depsgraph without its geometry
        mesh = obj.data
        return BVHTree.FromPolygons([v.co for v in mesh.vertices], [tuple(face.vertices) for face in mesh.polygons])
