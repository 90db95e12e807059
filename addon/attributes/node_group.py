# SPDX-License-Identifier: GPL-3.0-or-later
"""The node group that puts the values of `attributes/KEY/FRAME.ply` on the vertices of a mesh.

Scene Time → frame, held between the first and the last one → path → Import PLY
→ Sample Index by the index of the vertex → Store Named Attribute, one after the other
"""

from __future__ import annotations

from dataclasses import dataclass

import bpy

from .ply_names import AXES, RENAMED, VELOCITY

NAME = "Sinew Attributes"
# what the group was made for
MADE_FOR = "sinew_made_for"
WIDTH = 200


@dataclass(frozen=True)
class Reading:
    """What a group reads.

    Attributes:
        folder: Of the files, as Blender writes paths: "//" stands for the folder of the .blend.
        first, last: Frames of which there are files.
        stretch: Frames of the timeline per frame of Blender's remapped time.
        columns: Names of the values in the files.
        index: Attribute of the vertices that says which point of the files each one is; "": in the same order.
    """

    folder: str
    first: int
    last: int
    stretch: float
    columns: tuple[str, ...]
    index: str = ""

    @property
    def signature(self) -> str:
        """What tells one reading from another."""
        return repr((self.folder, self.first, self.last, self.stretch, self.columns, self.index))


def can_be_made() -> bool:
    """Whether this Blender has the nodes: 4.5 and later do."""
    return all(hasattr(bpy.types, name) for name in ("GeometryNodeImportPLY", "FunctionNodeFormatString"))


def fill(tree: bpy.types.NodeTree, reading: Reading) -> None:
    """Makes `tree` do a reading, whatever it did before; nothing where it does that already."""
    if tree.get(MADE_FOR) == reading.signature:
        return
    tree.nodes.clear()
    tree.is_modifier = True
    if not len(tree.interface.items_tree):
        for way in ("INPUT", "OUTPUT"):
            tree.interface.new_socket("Geometry", in_out=way, socket_type="NodeSocketGeometry")
    begin, end = _new(tree, "NodeGroupInput", 0), _new(tree, "NodeGroupOutput", 8 + len(reading.columns))
    points = _points(tree, reading)
    index = _new(tree, "GeometryNodeInputNamedAttribute" if reading.index else "GeometryNodeInputIndex", 6, 2)
    if reading.index:
        index.data_type = "INT"
        index.inputs["Name"].default_value = reading.index
    geometry = begin.outputs[0]
    for i, name in enumerate(name for name in reading.columns if name not in AXES):
        value = _sampled(tree, points, name, index, i)
        geometry = _store(tree, geometry, RENAMED.get(name, name), value, "FLOAT", i)
    if set(AXES) <= set(reading.columns):
        geometry = _store_velocity(tree, geometry, points, index, len(reading.columns) - 3)
    tree.links.new(geometry, end.inputs[0])
    tree[MADE_FOR] = reading.signature


def _points(tree: bpy.types.NodeTree, reading: Reading) -> bpy.types.NodeSocket:
    """Returns the points of the file of the present frame."""
    value = _new(tree, "GeometryNodeInputSceneTime", 0, 1).outputs["Frame"]
    steps = (("MULTIPLY", reading.stretch), ("MAXIMUM", reading.first), ("MINIMUM", reading.last))
    for column, (act, number) in enumerate(steps, 1):
        node = _new(tree, "ShaderNodeMath", column, 1)
        node.operation = act
        node.inputs[1].default_value = number
        tree.links.new(value, node.inputs[0])
        value = node.outputs[0]
    whole = _new(tree, "FunctionNodeFloatToInt", 4, 1)
    whole.rounding_mode = "FLOOR"
    tree.links.new(value, whole.inputs[0])
    path = _new(tree, "FunctionNodeFormatString", 5, 1)
    path.format_items.new("INT", "frame")
    path.inputs["Format"].default_value = reading.folder.replace("{", "{{").replace("}", "}}") + "/{frame:06}.ply"
    tree.links.new(whole.outputs[0], path.inputs["frame"])
    points = _new(tree, "GeometryNodeImportPLY", 6, 1)
    tree.links.new(path.outputs[0], points.inputs["Path"])
    return points.outputs[0]


def _sampled(
    tree: bpy.types.NodeTree, points: bpy.types.NodeSocket, name: str, index: bpy.types.Node, row: int
) -> bpy.types.NodeSocket:
    """Returns the value `name` of the file for every vertex."""
    value = _new(tree, "GeometryNodeInputNamedAttribute", 7 + row, 2)
    value.data_type = "FLOAT"
    value.inputs["Name"].default_value = name
    sample = _new(tree, "GeometryNodeSampleIndex", 7 + row, 1)
    sample.data_type, sample.domain = "FLOAT", "POINT"
    tree.links.new(points, sample.inputs["Geometry"])
    tree.links.new(value.outputs["Attribute"], sample.inputs["Value"])
    tree.links.new(index.outputs[0], sample.inputs["Index"])
    return sample.outputs[0]


def _store(
    tree: bpy.types.NodeTree,
    geometry: bpy.types.NodeSocket,
    name: str,
    value: bpy.types.NodeSocket,
    kind: str,
    row: int,
) -> bpy.types.NodeSocket:
    """Returns the geometry with an attribute on its vertices."""
    store = _new(tree, "GeometryNodeStoreNamedAttribute", 7 + row)
    store.data_type, store.domain = kind, "POINT"
    store.inputs["Name"].default_value = name
    tree.links.new(geometry, store.inputs["Geometry"])
    tree.links.new(value, next(s for s in store.inputs if s.name == "Value" and s.enabled))
    return store.outputs[0]


def _store_velocity(
    tree: bpy.types.NodeTree,
    geometry: bpy.types.NodeSocket,
    points: bpy.types.NodeSocket,
    index: bpy.types.Node,
    row: int,
) -> bpy.types.NodeSocket:
    combine = _new(tree, "ShaderNodeCombineXYZ", 7 + row, 3)
    for i, name in enumerate(AXES):
        tree.links.new(_sampled(tree, points, name, index, row + i), combine.inputs[i])
    return _store(tree, geometry, VELOCITY, combine.outputs[0], "FLOAT_VECTOR", row)


def _new(tree: bpy.types.NodeTree, kind: str, column: int, row: int = 0) -> bpy.types.Node:
    node = tree.nodes.new(kind)
    node.location = (column * WIDTH, -row * WIDTH)
    return node
