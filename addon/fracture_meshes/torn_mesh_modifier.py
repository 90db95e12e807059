# SPDX-License-Identifier: GPL-3.0-or-later
"""Shows the mesh of a body that tears while it runs live: a Geometry Nodes modifier puts it in place of the whole one.

It is directly above the modifier that plays the samples (`playback/live_modifier.py`). So the artist's mesh, its
visibility and its place stay as they are, and the modifiers below act on the torn mesh, as they do after a bake. The
mesh belongs to an object that is in no scene. No undo step may be read while these data-blocks are there
(`baking/undo_step.py`), and no file may be saved: whoever shows them takes them away before.
"""

from __future__ import annotations

import bpy
import numpy as np

from ..blender_data.sinew_modifier import LIVE_MESH_MODIFIER_NAME, find_live_modifier
from . import result_mesh, result_objects
from .broken_mesh_values import BrokenMeshValues
from .source_mesh_arrays import SourceMesh

NAME = ".Sinew Live Mesh"
# custom property of the data-blocks that this file makes, and may remove
LIVE_MESH_KEY = "sinew_live_mesh"


def show(obj: bpy.types.Object, values: BrokenMeshValues, source: SourceMesh) -> None:
    """Shows a torn mesh on an object that plays a live run.

    Args:
        obj: The object.
        values: What the mesh has.
        source: Its render mesh, with the materials of its slots.
    """
    live = find_live_modifier(obj)
    if live is None:
        return
    mesh = result_mesh.mesh_of(NAME, values, source)
    mesh[LIVE_MESH_KEY] = True
    modifier = _find(obj)
    holder = _holder_of(modifier)
    if modifier is None or holder is None:
        remove(obj)
        holder = bpy.data.objects.new(NAME, mesh)
        holder[LIVE_MESH_KEY] = True
        modifier = obj.modifiers.new(LIVE_MESH_MODIFIER_NAME, "NODES")
        obj.modifiers.move(list(obj.modifiers).index(modifier), list(obj.modifiers).index(live))
        modifier.show_expanded = modifier.show_render = False
        modifier.node_group = _group(holder)
    else:
        before, holder.data = holder.data, mesh
        bpy.data.meshes.remove(before)
    _add_groups(obj, holder, values, source)
    result_objects.use_material(holder, obj.sinew.broken_material)


def is_shown(obj: bpy.types.Object) -> bool:
    """Whether an object shows a torn mesh."""
    return _find(obj) is not None


def remove(obj: bpy.types.Object) -> None:
    """Shows the whole mesh of an object."""
    modifier = _find(obj)
    if modifier is not None:
        group, holder = modifier.node_group, _holder_of(modifier)
        obj.modifiers.remove(modifier)
        _remove_data(*(each for each in (group, holder) if each is not None))


def remove_all() -> None:
    """Shows the whole meshes of all objects, and removes what is left in the file of torn ones."""
    for obj in bpy.data.objects:
        if obj.library is None and obj.type == "MESH" and is_shown(obj):
            remove(obj)
    kinds = (bpy.data.node_groups, bpy.data.objects, bpy.data.meshes)
    _remove_data(*(each for kind in kinds for each in kind if each.library is None and LIVE_MESH_KEY in each))


def _remove_data(*found: bpy.types.ID) -> None:
    if found:
        meshes = {each.data for each in found if isinstance(each, bpy.types.Object) and each.data is not None}
        bpy.data.batch_remove({*found, *meshes})
        result_objects.remove_unused_plain()


def _find(obj: bpy.types.Object) -> bpy.types.NodesModifier | None:
    modifier = obj.modifiers.get(LIVE_MESH_MODIFIER_NAME)
    return modifier if modifier is not None and modifier.type == "NODES" else None


def _holder_of(modifier: bpy.types.NodesModifier | None) -> bpy.types.Object | None:
    if modifier is None or modifier.node_group is None:
        return None
    node = next((each for each in modifier.node_group.nodes if each.bl_idname == "GeometryNodeObjectInfo"), None)
    return None if node is None else node.inputs["Object"].default_value


def _group(holder: bpy.types.Object) -> bpy.types.NodeTree:
    """Returns a new node group that gives the mesh of an object."""
    tree = bpy.data.node_groups.new(NAME, "GeometryNodeTree")
    tree[LIVE_MESH_KEY] = True
    tree.is_modifier = True
    for way in ("INPUT", "OUTPUT"):
        tree.interface.new_socket("Geometry", in_out=way, socket_type="NodeSocketGeometry")
    info, output = tree.nodes.new("GeometryNodeObjectInfo"), tree.nodes.new("NodeGroupOutput")
    info.transform_space = "ORIGINAL"
    info.inputs["Object"].default_value = holder
    tree.links.new(info.outputs["Geometry"], output.inputs[0])
    return tree


def _add_groups(obj: bpy.types.Object, holder: bpy.types.Object, values: BrokenMeshValues, source: SourceMesh) -> None:
    """Gives the mesh the vertex groups that modifiers name, and the others as attributes, which is much faster."""
    named = {name: weights for name, weights in source.groups.items() if name in _names_in_modifiers(obj)}
    result_mesh.add_groups(holder, values.vertices, named)
    for name in source.groups.keys() - named.keys() - set(holder.data.attributes.keys()):
        weights = values.vertices.blend(source.groups[name]).astype(np.float32)
        holder.data.attributes.new(name, "FLOAT", "POINT").data.foreach_set("value", weights)


def _names_in_modifiers(obj: bpy.types.Object) -> set[str]:
    return {
        getattr(modifier, each.identifier)
        for modifier in obj.modifiers
        for each in modifier.bl_rna.properties
        if each.type == "STRING"
    }
