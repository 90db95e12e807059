# SPDX-License-Identifier: GPL-3.0-or-later
"""Finds materials that let light in and would show closed cracks; their objects stay visible until the first crack."""

from __future__ import annotations

from collections.abc import Iterator

import bpy
import numpy as np

from ..blender_data import object_hiding
from .result_mesh import BROKEN_ATTRIBUTE, OPENS_ATTRIBUTE
from .source_mesh_arrays import read_property

# sockets of any shader whose value lets light in
TRANSMISSIVE_SOCKETS = ("Transmission Weight", "Subsurface Weight", "Transmission", "Subsurface")
# shaders that always let light in
TRANSMISSIVE_SHADERS = {
    "BSDF_GLASS", "BSDF_REFRACTION", "BSDF_TRANSLUCENT", "BSDF_TRANSPARENT", "SUBSURFACE_SCATTERING",
    "VOLUME_SCATTER", "VOLUME_ABSORPTION", "PRINCIPLED_VOLUME",
}  # fmt: skip


def show_from_first_crack(shown: list[bpy.types.Object], obj: bpy.types.Object) -> None:
    """Hides `obj` and shows its result instead: always, or from the first crack on if a material lets light in."""
    cracks = [frame for frame in map(first_crack, shown) if frame is not None]
    swap_at = min(cracks) if cracks and transmissive_materials(obj) else None
    for made in shown:
        object_hiding.show_always(made)
        if swap_at is not None:
            object_hiding.show_from(made, swap_at)
    object_hiding.hide(obj, swap_at)


def first_crack(made: bpy.types.Object) -> float | None:
    """Returns the first frame at which a broken face of a result is visible, or None."""
    mesh = made.data
    if mesh is None or BROKEN_ATTRIBUTE not in mesh.attributes or OPENS_ATTRIBUTE not in mesh.attributes:
        return None
    broken = read_property(mesh.attributes[BROKEN_ATTRIBUTE].data, "value", np.bool_)
    opens = read_property(mesh.attributes[OPENS_ATTRIBUTE].data, "value", np.float32)
    return float(opens[broken].min()) if broken.any() else None


def transmissive_materials(obj: bpy.types.Object) -> list[str]:
    """Returns the names of the materials of `obj` that let light in."""
    found = (slot.material for slot in obj.material_slots)
    return sorted({material.name for material in found if material is not None and is_transmissive(material)})


def is_transmissive(material: bpy.types.Material) -> bool:
    """Whether a material lets light in."""
    tree = material.node_tree
    return tree is not None and any(_is_transmissive_node(node) for node in _nodes(tree, set()))


def _is_transmissive_node(node: bpy.types.Node) -> bool:
    if node.mute:
        return False
    if node.type in TRANSMISSIVE_SHADERS:
        return any(socket.is_linked for socket in node.outputs)
    for socket in node.inputs:
        if socket.name in TRANSMISSIVE_SOCKETS and hasattr(socket, "default_value") and node.type.startswith("BSDF"):
            if socket.is_linked or socket.default_value > 0.0:
                return True
        if socket.name == "Alpha" and node.type == "BSDF_PRINCIPLED" and not socket.is_linked:
            if socket.default_value < 1.0:
                return True
    return False


def _nodes(tree: bpy.types.NodeTree, seen: set[str]) -> Iterator[bpy.types.Node]:
    seen.add(tree.name_full)
    for node in tree.nodes:
        yield node
        inner = getattr(node, "node_tree", None)
        if inner is not None and inner.name_full not in seen:
            yield from _nodes(inner, seen)
