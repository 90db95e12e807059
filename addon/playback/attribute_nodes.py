# SPDX-License-Identifier: GPL-3.0-or-later
"""The node group that stores the values of `attributes/KEY/FRAME.ply` on the vertices of a mesh.

Scene Time → frame, clamped to the first and the last one → path → Import PLY
→ Sample Index by the index of the vertex → Store Named Attribute, one after the other
"""

from __future__ import annotations

from dataclasses import dataclass

import bpy

from ..cache.attribute_columns import RENAMED_ATTRIBUTES, VELOCITY_ATTRIBUTE, VELOCITY_COLUMNS

GROUP_NAME = "Sinew Attributes"
# custom property with the signature of the group's settings
SIGNATURE_KEY = "sinew_made_for"
NODE_WIDTH = 200


@dataclass(frozen=True)
class AttributeFiles:
    """The files that a node group reads.

    Attributes:
        folder: Of the files, as Blender writes paths: "//" stands for the folder of the .blend.
        first, last: Frames with files.
        stretch: Frames of the timeline per frame of Blender's remapped time.
        columns: Names of the values in the files.
        index: Vertex attribute with the number of the point in the files; "": the same order.
    """

    folder: str
    first: int
    last: int
    stretch: float
    columns: tuple[str, ...]
    index: str = ""

    @property
    def signature(self) -> str:
        """A text that identifies these settings."""
        return repr((self.folder, self.first, self.last, self.stretch, self.columns, self.index))


def is_supported() -> bool:
    """Whether this Blender has the nodes (4.5 and later)."""
    return all(hasattr(bpy.types, name) for name in ("GeometryNodeImportPLY", "FunctionNodeFormatString"))


def begin_nodes(tree: bpy.types.NodeTree, reading: AttributeFiles) -> bool:
    """Empties a tree that has the nodes of other files, with a geometry in and out; returns whether it had."""
    if tree.get(SIGNATURE_KEY) == reading.signature:
        return False
    tree.nodes.clear()
    tree.is_modifier = True
    if not len(tree.interface.items_tree):
        for way in ("INPUT", "OUTPUT"):
            tree.interface.new_socket("Geometry", in_out=way, socket_type="NodeSocketGeometry")
    return True


def build_nodes(tree: bpy.types.NodeTree, reading: AttributeFiles) -> None:
    """Builds the nodes for `files` in `tree`, unless it has them already."""
    if not begin_nodes(tree, reading):
        return
    begin, end = add_node(tree, "NodeGroupInput", 0), add_node(tree, "NodeGroupOutput", 8 + len(reading.columns))
    points = add_import_nodes(tree, reading)
    index = add_node(tree, "GeometryNodeInputNamedAttribute" if reading.index else "GeometryNodeInputIndex", 6, 2)
    if reading.index:
        index.data_type = "INT"
        index.inputs["Name"].default_value = reading.index
    geometry = begin.outputs[0]
    for i, name in enumerate(name for name in reading.columns if name not in VELOCITY_COLUMNS):
        value = _add_sample_nodes(tree, points, name, index, i)
        geometry = add_store_node(tree, geometry, RENAMED_ATTRIBUTES.get(name, name), value, "FLOAT", i)
    if set(VELOCITY_COLUMNS) <= set(reading.columns):
        geometry = _add_velocity_nodes(tree, geometry, points, index, len(reading.columns) - 3)
    tree.links.new(geometry, end.inputs[0])
    tree[SIGNATURE_KEY] = reading.signature


def add_import_nodes(tree: bpy.types.NodeTree, reading: AttributeFiles) -> bpy.types.NodeSocket:
    """Returns the points of the file of the present frame."""
    value = add_node(tree, "GeometryNodeInputSceneTime", 0, 1).outputs["Frame"]
    steps = (("MULTIPLY", reading.stretch), ("MAXIMUM", reading.first), ("MINIMUM", reading.last))
    for column, (act, number) in enumerate(steps, 1):
        node = add_node(tree, "ShaderNodeMath", column, 1)
        node.operation = act
        node.inputs[1].default_value = number
        tree.links.new(value, node.inputs[0])
        value = node.outputs[0]
    whole = add_node(tree, "FunctionNodeFloatToInt", 4, 1)
    whole.rounding_mode = "FLOOR"
    tree.links.new(value, whole.inputs[0])
    path = add_node(tree, "FunctionNodeFormatString", 5, 1)
    path.format_items.new("INT", "frame")
    path.inputs["Format"].default_value = reading.folder.replace("{", "{{").replace("}", "}}") + "/{frame:06}.ply"
    tree.links.new(whole.outputs[0], path.inputs["frame"])
    points = add_node(tree, "GeometryNodeImportPLY", 6, 1)
    tree.links.new(path.outputs[0], points.inputs["Path"])
    return points.outputs[0]


def _add_sample_nodes(
    tree: bpy.types.NodeTree, points: bpy.types.NodeSocket, name: str, index: bpy.types.Node, row: int
) -> bpy.types.NodeSocket:
    """Returns the value `name` of the file for every vertex."""
    value = add_node(tree, "GeometryNodeInputNamedAttribute", 7 + row, 2)
    value.data_type = "FLOAT"
    value.inputs["Name"].default_value = name
    sample = add_node(tree, "GeometryNodeSampleIndex", 7 + row, 1)
    sample.data_type, sample.domain = "FLOAT", "POINT"
    tree.links.new(points, sample.inputs["Geometry"])
    tree.links.new(value.outputs["Attribute"], sample.inputs["Value"])
    tree.links.new(index.outputs[0], sample.inputs["Index"])
    return sample.outputs[0]


def add_store_node(
    tree: bpy.types.NodeTree,
    geometry: bpy.types.NodeSocket,
    name: str,
    value: bpy.types.NodeSocket,
    kind: str,
    row: int,
) -> bpy.types.NodeSocket:
    """Returns the geometry with an attribute on its vertices."""
    store = add_node(tree, "GeometryNodeStoreNamedAttribute", 7 + row)
    store.data_type, store.domain = kind, "POINT"
    store.inputs["Name"].default_value = name
    tree.links.new(geometry, store.inputs["Geometry"])
    tree.links.new(value, next(s for s in store.inputs if s.name == "Value" and s.enabled))
    return store.outputs[0]


def _add_velocity_nodes(
    tree: bpy.types.NodeTree,
    geometry: bpy.types.NodeSocket,
    points: bpy.types.NodeSocket,
    index: bpy.types.Node,
    row: int,
) -> bpy.types.NodeSocket:
    combine = add_node(tree, "ShaderNodeCombineXYZ", 7 + row, 3)
    for i, name in enumerate(VELOCITY_COLUMNS):
        tree.links.new(_add_sample_nodes(tree, points, name, index, row + i), combine.inputs[i])
    return add_store_node(tree, geometry, VELOCITY_ATTRIBUTE, combine.outputs[0], "FLOAT_VECTOR", row)


def add_node(tree: bpy.types.NodeTree, kind: str, column: int, row: int = 0) -> bpy.types.Node:
    node = tree.nodes.new(kind)
    node.location = (column * NODE_WIDTH, -row * NODE_WIDTH)
    return node
