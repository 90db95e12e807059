# SPDX-License-Identifier: GPL-3.0-or-later
"""The node group that shows `dust/KEY/FRAME.ply` as points with velocity, size, age and an id.

Import PLY of the frame → Store Named Attribute "velocity" → Mesh to Points by half the size → Set ID; nothing before
the first frame with dust. Cycles blurs by "velocity", which is in object space.
"""

from __future__ import annotations

import bpy

from ..cache.attribute_columns import VELOCITY_COLUMNS
from .attribute_nodes import SIGNATURE_KEY, AttributeFiles, add_import_nodes, add_node, add_store_node, begin_nodes

DUST_GROUP_NAME = "Sinew Dust"
NUMBER_COLUMN, SIZE_COLUMN, DUST_VELOCITY = "number", "size", "velocity"


def build_dust_nodes(tree: bpy.types.NodeTree, reading: AttributeFiles) -> None:
    """Builds the nodes for files of dust in `tree`, unless it has them already."""
    if not begin_nodes(tree, reading):
        return
    add_node(tree, "NodeGroupInput", 0)
    combine = add_node(tree, "ShaderNodeCombineXYZ", 7, 3)
    for axis, name in enumerate(VELOCITY_COLUMNS):
        tree.links.new(_column(tree, name, 6, 3 + axis), combine.inputs[axis])
    imported = add_import_nodes(tree, reading)
    geometry = add_store_node(tree, imported, DUST_VELOCITY, combine.outputs[0], "FLOAT_VECTOR", 1)
    radius = add_node(tree, "ShaderNodeMath", 8, 2)
    radius.operation = "MULTIPLY"
    radius.inputs[1].default_value = 0.5
    tree.links.new(_column(tree, SIZE_COLUMN, 7, 2), radius.inputs[0])
    points = add_node(tree, "GeometryNodeMeshToPoints", 9)
    tree.links.new(geometry, points.inputs["Mesh"])
    tree.links.new(radius.outputs[0], points.inputs["Radius"])
    named = add_node(tree, "GeometryNodeSetID", 10)
    tree.links.new(points.outputs[0], named.inputs["Geometry"])
    tree.links.new(_column(tree, NUMBER_COLUMN, 9, 2), named.inputs["ID"])
    _show_from_first(tree, named.outputs[0], reading)
    tree[SIGNATURE_KEY] = reading.signature


def _column(tree: bpy.types.NodeTree, name: str, column: int, row: int) -> bpy.types.NodeSocket:
    """Returns a column of the file."""
    value = add_node(tree, "GeometryNodeInputNamedAttribute", column, row)
    value.data_type = "FLOAT"
    value.inputs["Name"].default_value = name
    return value.outputs["Attribute"]


def _show_from_first(tree: bpy.types.NodeTree, geometry: bpy.types.NodeSocket, reading: AttributeFiles) -> None:
    """Connects the output with what is shown from the first file on, and with nothing before."""
    frame = add_node(tree, "ShaderNodeMath", 10, 2)
    frame.operation = "MULTIPLY"
    frame.inputs[1].default_value = reading.stretch
    tree.links.new(add_node(tree, "GeometryNodeInputSceneTime", 9, 3).outputs["Frame"], frame.inputs[0])
    before = add_node(tree, "ShaderNodeMath", 11, 2)
    before.operation = "LESS_THAN"
    before.inputs[1].default_value = reading.first
    tree.links.new(frame.outputs[0], before.inputs[0])
    switch = add_node(tree, "GeometryNodeSwitch", 12)
    switch.input_type = "GEOMETRY"
    tree.links.new(before.outputs[0], switch.inputs["Switch"])
    tree.links.new(geometry, switch.inputs["False"])
    end = add_node(tree, "NodeGroupOutput", 13)
    tree.links.new(switch.outputs[0], end.inputs[0])
