# SPDX-License-Identifier: GPL-3.0-or-later
"""Plays the attributes of a cache by a Geometry Nodes modifier after the Mesh Cache modifier."""

from __future__ import annotations

import os
from pathlib import Path

import bpy

from ...solver.bake.cache import layout
from ..blender_data.time_remapping import time_stretch
from ..cache.attribute_columns import read_columns
from ..cache.cache_paths import portable_path
from .attribute_nodes import GROUP_NAME, SIGNATURE_KEY, AttributeFiles, build_nodes, is_supported

# vertex attribute of a piece: the vertex number in the whole result
VERTEX_INDEX_ATTRIBUTE = "result_vertex"


def attach(obj: bpy.types.Object, after: bpy.types.Modifier, cache: Path, key: str, is_undoable: bool = True) -> None:
    """Attaches the attributes of a body in a cache to `obj`, if the cache has any and `obj` lacks them.

    Args:
        obj: The body, or the object that replaces it.
        after: Its Mesh Cache modifier, where vertices have the numbers of the files.
        cache: The cache.
        key: Of the body.
        is_undoable: Whether an undo step follows; without one, no node group may be created or assigned.
    """
    frames, columns = _cached_attributes(cache, key)
    if not columns or not is_supported():
        detach(obj)
        return
    folder = portable_path(layout.attribute_path(cache, key, 0).parent, bpy.data.filepath)
    index = VERTEX_INDEX_ATTRIBUTE if VERTEX_INDEX_ATTRIBUTE in obj.data.attributes else ""
    reading = AttributeFiles(folder, frames[0], frames[-1], time_stretch(obj), columns, index)
    modifier = find_modifier(obj)
    if not is_undoable:
        if modifier is not None and modifier.node_group is not None:
            build_nodes(modifier.node_group, reading)
        return
    modifier = modifier or _add_modifier(obj, after)
    before = modifier.node_group
    if before is None or before.get(SIGNATURE_KEY) != reading.signature:
        modifier.node_group = _group_for(reading, key, before)
        if before is not None and before.users == 0:
            bpy.data.node_groups.remove(before)


def is_attached(obj: bpy.types.Object, cache: Path, key: str) -> bool:
    """Whether `obj` has the nodes for the attributes of a body in a cache, or the cache has no attributes."""
    modifier = find_modifier(obj)
    if modifier is not None and modifier.node_group is not None:
        return True
    return not _cached_attributes(cache, key)[1] or not is_supported()


def _cached_attributes(cache: Path, key: str) -> tuple[list[int], tuple[str, ...]]:
    """Returns the frames with attributes of a body in a cache, and their columns."""
    frames = layout.attribute_frames(cache, key)
    return frames, read_columns(layout.attribute_path(cache, key, frames[0])) if frames else ()


def _group_for(reading: AttributeFiles, key: str, before: bpy.types.NodeTree | None) -> bpy.types.NodeTree:
    """Returns a group for these files: an existing one, as for other pieces, or else the previous one, rebuilt."""
    matching = next((tree for tree in _groups() if tree[SIGNATURE_KEY] == reading.signature), None)
    if matching is not None:
        return matching
    mine = before if before is not None and before.users == 1 else None
    tree = mine or bpy.data.node_groups.new(f"{GROUP_NAME} {key}", "GeometryNodeTree")
    build_nodes(tree, reading)
    return tree


def detach(obj: bpy.types.Object) -> None:
    """Removes the modifier and its nodes."""
    modifier = find_modifier(obj)
    if modifier is not None:
        tree = modifier.node_group
        obj.modifiers.remove(modifier)
        if tree is not None and tree.users == 0:
            bpy.data.node_groups.remove(tree)


def find_modifier(obj: bpy.types.Object) -> bpy.types.NodesModifier | None:
    """Returns the modifier that plays attributes, or None."""
    return next((m for m in obj.modifiers if m.type == "NODES" and m.name == GROUP_NAME), None)


def _add_modifier(obj: bpy.types.Object, after: bpy.types.Modifier) -> bpy.types.NodesModifier:
    modifier = obj.modifiers.new(GROUP_NAME, "NODES")
    modifier.show_expanded = False
    obj.modifiers.move(len(obj.modifiers) - 1, list(obj.modifiers).index(after) + 1)
    return modifier


def rebase_paths(old: str, new: str) -> dict[str, tuple[str, str]]:
    """Makes the paths in all groups relative to the .blend `new`, as Blender does with its own paths.

    Returns:
        The previous paths, for `restore_paths`: group → (format, signature).
    """
    before = {}
    for tree, node in _path_nodes():
        shown = node.inputs["Format"].default_value
        folder = Path(os.path.abspath(os.path.join(os.path.dirname(old), shown.removeprefix("//"))))
        before[tree.name] = (shown, tree[SIGNATURE_KEY])
        node.inputs["Format"].default_value = portable_path(folder, new)
        tree[SIGNATURE_KEY] = ""  # the next attach compares again
    return before


def restore_paths(before: dict[str, tuple[str, str]]) -> None:
    """Undoes `rebase_paths` if the file was not written, or is a copy."""
    for tree, node in _path_nodes():
        if tree.name in before:
            node.inputs["Format"].default_value, tree[SIGNATURE_KEY] = before[tree.name]


def _groups() -> list[bpy.types.NodeTree]:
    return [tree for tree, _ in _path_nodes()]


def _path_nodes() -> list[tuple[bpy.types.NodeTree, bpy.types.Node]]:
    """Returns the groups of this file that read attributes, each with its path node."""
    trees = (t for t in bpy.data.node_groups if t.library is None and t.override_library is None and SIGNATURE_KEY in t)
    found = ((tree, _path_node(tree)) for tree in trees)
    return [(tree, node) for tree, node in found if node is not None]


def _path_node(tree: bpy.types.NodeTree) -> bpy.types.Node | None:
    return next((node for node in tree.nodes if node.bl_idname == "FunctionNodeFormatString"), None)
