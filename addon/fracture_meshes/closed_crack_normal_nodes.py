# SPDX-License-Identifier: GPL-3.0-or-later
"""The node group that hides closed cracks in the shading (closed_crack_normals.py); it needs no add-on."""

from __future__ import annotations

import bpy
import numpy as np

from ..blender_data.time_remapping import time_stretch
from .closed_crack_normals import ClosedCrackNormals

GROUP_NAME = "Sinew Shading"
SIGNATURE_KEY = "sinew_made_for"
CLOSED_CRACK_ATTRIBUTE, OPENING_ATTRIBUTE, CLOSED_GROUP_ATTRIBUTE, OPEN_GROUP_ATTRIBUTE, WEIGHTS_ATTRIBUTE = (
    f".sinew_{n}" for n in ("seam", "until", "together", "apart", "weights")
)
SUM_ATTRIBUTE = ".sinew_sum"
SUM_INDEX_ATTRIBUTES = (".sinew_sum_0", ".sinew_sum_1", ".sinew_sum_2")
# modifiers that preserve corners, so that the shading after them still fits
CORNER_PRESERVING_MODIFIERS = {
    "ARMATURE", "CAST", "CORRECTIVE_SMOOTH", "CURVE", "DISPLACE", "HOOK", "LAPLACIANDEFORM", "LAPLACIANSMOOTH",
    "LATTICE", "MESH_CACHE", "MESH_DEFORM", "SHRINKWRAP", "SIMPLE_DEFORM", "SMOOTH", "SURFACE_DEFORM", "UV_PROJECT",
    "UV_WARP", "VERTEX_WEIGHT_EDIT", "VERTEX_WEIGHT_MIX", "VERTEX_WEIGHT_PROXIMITY", "WARP", "WAVE",
}  # fmt: skip


def attach(made: bpy.types.Object, terms: ClosedCrackNormals) -> None:
    """Stores the terms on the mesh of a result and adds the modifier that shades closed cracks, if there are any."""
    if not terms.is_closed_crack.any() or any(m.type not in CORNER_PRESERVING_MODIFIERS for m in made.modifiers):
        return
    for name, kind, prop, values in (
        (CLOSED_CRACK_ATTRIBUTE, "BOOLEAN", "value", terms.is_closed_crack),
        (OPENING_ATTRIBUTE, "FLOAT", "value", terms.opening_frame.astype(np.float32)),
        (CLOSED_GROUP_ATTRIBUTE, "INT", "value", terms.closed_group.astype(np.int32)),
        (OPEN_GROUP_ATTRIBUTE, "INT", "value", terms.open_group.astype(np.int32)),
        (WEIGHTS_ATTRIBUTE, "FLOAT_VECTOR", "vector", terms.weights.astype(np.float32)),
        *((name, "INT", "value", terms.sums[:, i].astype(np.int32)) for i, name in enumerate(SUM_INDEX_ATTRIBUTES)),
    ):
        layer = made.data.attributes.new(name, kind, "CORNER")
        layer.data.foreach_set(prop, np.ascontiguousarray(values).ravel())
    modifier = made.modifiers.new(GROUP_NAME, "NODES")
    modifier.show_expanded = False
    modifier.node_group = _group(time_stretch(made))


def _group(stretch: float) -> bpy.types.NodeTree:
    """Returns the group for a time remapping, one per file."""
    trees = (
        tree for tree in bpy.data.node_groups if tree.library is None and tree.get(SIGNATURE_KEY) == f"seams {stretch}"
    )
    existing = next(trees, None)
    return existing if existing is not None else _make(stretch)


def _make(stretch: float) -> bpy.types.NodeTree:
    tree = bpy.data.node_groups.new(GROUP_NAME, "GeometryNodeTree")
    tree.is_modifier = True
    tree[SIGNATURE_KEY] = f"seams {stretch}"
    for way in ("INPUT", "OUTPUT"):
        tree.interface.new_socket("Geometry", in_out=way, socket_type="NodeSocketGeometry")
    nodes = _NodeBuilder(tree)
    frame = nodes.math("MULTIPLY", nodes.add("GeometryNodeInputSceneTime").outputs["Frame"], stretch)
    is_closed = nodes.compare(frame, nodes.attribute(OPENING_ATTRIBUTE, "FLOAT"))
    group = nodes.switch(
        "INT", is_closed, nodes.attribute(OPEN_GROUP_ATTRIBUTE, "INT"), nodes.attribute(CLOSED_GROUP_ATTRIBUTE, "INT")
    )
    total = nodes.add("GeometryNodeAccumulateField", data_type="FLOAT_VECTOR", domain="CORNER")
    nodes.link(_weighted_normal(nodes), total.inputs["Value"])
    nodes.link(group, total.inputs["Group ID"])
    # stored, so that the three sums share it
    store = nodes.add("GeometryNodeStoreNamedAttribute", data_type="FLOAT_VECTOR", domain="CORNER")
    store.inputs["Name"].default_value = SUM_ATTRIBUTE
    nodes.link(nodes.add("NodeGroupInput").outputs[0], store.inputs["Geometry"])
    into = next(socket for socket in store.inputs if socket.name == "Value" and socket.enabled)
    nodes.link(nodes.vector("NORMALIZE", total.outputs["Total"]), into)
    mean = _mean_normal(nodes, nodes.attribute(SUM_ATTRIBUTE, "FLOAT_VECTOR"))
    own = nodes.add("GeometryNodeInputNormal").outputs["Normal"]
    is_shaded = nodes.both(is_closed, nodes.attribute(CLOSED_CRACK_ATTRIBUTE, "BOOLEAN"))
    setting = nodes.add("GeometryNodeSetMeshNormal", mode="FREE", domain="CORNER")
    nodes.link(nodes.switch("VECTOR", is_shaded, own, mean), setting.inputs["Custom Normal"])
    nodes.link(store.outputs[0], setting.inputs["Mesh"])
    nodes.link(setting.outputs[0], nodes.add("NodeGroupOutput").inputs[0])
    return tree


def _weighted_normal(nodes: _NodeBuilder) -> bpy.types.NodeSocket:
    """Returns the face normal at a corner times the corner's angle; zero on broken faces."""
    here = nodes.position(0)
    after, before = (nodes.vector("NORMALIZE", nodes.vector("SUBTRACT", nodes.position(i), here)) for i in (1, -1))
    cosine = nodes.math("MINIMUM", nodes.math("MAXIMUM", nodes.vector("DOT_PRODUCT", after, before), -1.0), 1.0)
    angle = nodes.math("ARCCOSINE", cosine)
    weight = nodes.math("SUBTRACT", angle, nodes.math("MULTIPLY", angle, nodes.attribute("broken", "BOOLEAN")))
    of_face = nodes.add("GeometryNodeFieldOnDomain", data_type="FLOAT_VECTOR", domain="FACE")
    nodes.link(nodes.add("GeometryNodeInputNormal").outputs["True Normal"], of_face.inputs[0])
    return nodes.vector("SCALE", of_face.outputs[0], weight)


def _mean_normal(nodes: _NodeBuilder, sums: bpy.types.NodeSocket) -> bpy.types.NodeSocket:
    """Returns the normalised mean of three sums of other corners."""
    weights = nodes.add("ShaderNodeSeparateXYZ")
    nodes.link(nodes.attribute(WEIGHTS_ATTRIBUTE, "FLOAT_VECTOR"), weights.inputs[0])
    parts = []
    for i, name in enumerate(SUM_INDEX_ATTRIBUTES):
        of_corner = nodes.add("GeometryNodeFieldAtIndex", data_type="FLOAT_VECTOR", domain="CORNER")
        nodes.link(sums, of_corner.inputs["Value"])
        nodes.link(nodes.attribute(name, "INT"), of_corner.inputs["Index"])
        parts.append(nodes.vector("SCALE", of_corner.outputs[0], weights.outputs[i]))
    return nodes.vector("NORMALIZE", nodes.vector("ADD", nodes.vector("ADD", parts[0], parts[1]), parts[2]))


class _NodeBuilder:
    """Adds nodes to a tree, side by side, and links them."""

    def __init__(self, tree: bpy.types.NodeTree) -> None:
        self.tree = tree

    def add(self, kind: str, **settings: str) -> bpy.types.Node:
        node = self.tree.nodes.new(kind)
        node.location = ((len(self.tree.nodes) % 10) * 180, -(len(self.tree.nodes) // 10) * 260)
        for name, value in settings.items():
            setattr(node, name, value)
        return node

    def link(self, value: bpy.types.NodeSocket, into: bpy.types.NodeSocket) -> None:
        self.tree.links.new(value, into)

    def attribute(self, name: str, kind: str) -> bpy.types.NodeSocket:
        node = self.add("GeometryNodeInputNamedAttribute", data_type=kind)
        node.inputs["Name"].default_value = name
        return next(socket for socket in node.outputs if socket.name == "Attribute" and socket.enabled)

    def math(
        self, act: str, value: bpy.types.NodeSocket, other: bpy.types.NodeSocket | float = 0.0
    ) -> bpy.types.NodeSocket:
        node = self.add("ShaderNodeMath", operation=act)
        self.link(value, node.inputs[0])
        if isinstance(other, bpy.types.NodeSocket):
            self.link(other, node.inputs[1])
        else:
            node.inputs[1].default_value = other
        return node.outputs[0]

    def vector(
        self, act: str, value: bpy.types.NodeSocket, other: bpy.types.NodeSocket | None = None
    ) -> bpy.types.NodeSocket:
        node = self.add("ShaderNodeVectorMath", operation=act)
        self.link(value, node.inputs[0])
        if other is not None:
            self.link(other, node.inputs["Scale"] if act == "SCALE" else node.inputs[1])
        return node.outputs["Value" if act == "DOT_PRODUCT" else "Vector"]

    def compare(self, small: bpy.types.NodeSocket, large: bpy.types.NodeSocket) -> bpy.types.NodeSocket:
        node = self.add("FunctionNodeCompare", data_type="FLOAT", operation="LESS_THAN")
        for value, into in zip((small, large), [s for s in node.inputs if s.enabled], strict=False):
            self.link(value, into)
        return node.outputs[0]

    def both(self, first: bpy.types.NodeSocket, second: bpy.types.NodeSocket) -> bpy.types.NodeSocket:
        node = self.add("FunctionNodeBooleanMath", operation="AND")
        self.link(first, node.inputs[0])
        self.link(second, node.inputs[1])
        return node.outputs[0]

    def switch(
        self, kind: str, which: bpy.types.NodeSocket, no: bpy.types.NodeSocket, yes: bpy.types.NodeSocket
    ) -> bpy.types.NodeSocket:
        node = self.add("GeometryNodeSwitch", input_type=kind)
        for value, into in zip((which, no, yes), [s for s in node.inputs if s.enabled], strict=True):
            self.link(value, into)
        return next(socket for socket in node.outputs if socket.enabled)

    def position(self, offset: int) -> bpy.types.NodeSocket:
        """Returns the vertex position of a corner, or of a later corner around the face."""
        corner = self.add("GeometryNodeInputIndex").outputs[0]
        if offset:
            moved = self.add("GeometryNodeOffsetCornerInFace")
            self.link(corner, moved.inputs["Corner Index"])
            moved.inputs["Offset"].default_value = offset
            corner = moved.outputs[0]
        vertex = self.add("GeometryNodeVertexOfCorner")
        self.link(corner, vertex.inputs[0])
        place = self.add("GeometryNodeFieldAtIndex", data_type="FLOAT_VECTOR", domain="POINT")
        self.link(self.add("GeometryNodeInputPosition").outputs[0], place.inputs["Value"])
        self.link(vertex.outputs[0], place.inputs["Index"])
        return place.outputs[0]
