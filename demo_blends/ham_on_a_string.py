# SPDX-License-Identifier: GPL-3.0-or-later
"""A ham hangs in a net of string by a rope, swings down against a wall, and swings back."""

from __future__ import annotations

import bmesh
import bpy
import numpy as np
from mathutils import Matrix

import stage

FRAMES = 72
HOOK = (0.0, 0.0, 1.0)  # where the rope hangs [m]
ROPE, ROPE_EDGES = 0.40, 16  # its length [m]
HAM, WIDTH = 0.30, 0.165  # height of the ham, and 1.7 times its largest half width [m]
LEAN = 50.0  # by which it begins to swing [degrees]
RINGS, MERIDIANS = 8, 10  # of the net
STRING = 0.006  # [m]
NET_GAP = 0.004  # of the net from the ham [m]
STIFF, HEAVY = 1.0e8, 900.0  # hemp, Young's modulus [Pa] and density [kg/m³]
HAM_MODULUS = 5.0e4  # [Pa]
WALL = -0.15  # its face [m]
PINK, TWINE, PLASTER = (0.55, 0.16, 0.11), (0.75, 0.62, 0.40), (0.55, 0.60, 0.62)


def build() -> None:
    """Builds the scene in a new file."""
    stage.empty_scene(FRAMES)
    ham, net = _ham(), _net()
    lean = Matrix.Translation(HOOK) @ Matrix.Rotation(np.radians(-LEAN), 4, "Y") @ Matrix.Translation(-np.array(HOOK))
    for obj in (ham, net):
        obj.data.transform(lean)
    _make_bodies(ham, net)
    _wall()
    stage.light_and_camera((0.75, -1.70, 0.80), (0.12, 0.0, 0.62), lens=50.0)


def _half_width(down: np.ndarray) -> np.ndarray:
    """Returns the half width of the ham [m] at shares of its height below its top: a shank, and a round end."""
    round_ends = np.sqrt(np.clip(1.0 - down, 0.0, 1.0) * np.clip(down / 0.03, 0.0, 1.0))
    return WIDTH * round_ends * (0.35 + 1.1 * down**1.2)


def _ham() -> bpy.types.Object:
    """Returns the ham: a sphere that is drawn out."""
    bpy.ops.mesh.primitive_uv_sphere_add(segments=32, ring_count=24, radius=1.0)
    ham = bpy.context.object
    ham.name = "Ham"
    for v in ham.data.vertices:
        down = 0.5 * (1.0 - v.co.z)
        around = np.hypot(v.co.x, v.co.y)
        width = float(_half_width(np.array(down))) / max(around, 1.0e-6) if around > 1.0e-4 else 0.0
        v.co = (v.co.x * width, 0.8 * v.co.y * width, HOOK[2] - ROPE - HAM * down)
    stage.smooth(ham)
    stage.paint(ham, PINK, 0.45)
    return ham


def _net() -> bpy.types.Object:
    """Returns the rope and the net around the ham, edges alone, with tubes along them for pictures."""
    made = bmesh.new()
    top = HOOK[2] - ROPE
    line = [made.verts.new((0.0, 0.0, z)) for z in np.linspace(HOOK[2], top + NET_GAP, ROPE_EDGES + 1)]
    for pair in zip(line, line[1:], strict=False):
        made.edges.new(pair)
    above = [line[-1]] * MERIDIANS
    for ring in range(1, RINGS + 1):
        down = ring / (RINGS + 1)
        width = float(_half_width(np.array(down))) + NET_GAP
        # every other ring is turned by half a mesh: the net has diamonds
        angles = 2.0 * np.pi * (np.arange(MERIDIANS) + 0.5 * (ring % 2)) / MERIDIANS
        own = [made.verts.new((width * np.cos(a), 0.8 * width * np.sin(a), top - HAM * down)) for a in angles]
        for k in range(MERIDIANS):
            made.edges.new((above[k], own[k]))
            if ring > 1:
                made.edges.new((above[k], own[(k + 1) % MERIDIANS] if ring % 2 == 0 else own[k - 1]))
        above = own
    bottom = made.verts.new((0.0, 0.0, top - HAM - NET_GAP))
    for v in above:
        made.edges.new((v, bottom))
    return stage.add_object(made, "Net")


def _make_bodies(ham: bpy.types.Object, net: bpy.types.Object) -> None:
    """Makes the ham soft, and the net strings that hang from the hook and are tied to the ham."""
    stage.make_body(ham, "JELLY", tet_size=0.034)
    ham.sinew.youngs_modulus, ham.sinew.density = HAM_MODULUS, 1000.0
    stage.select(net)
    bpy.ops.sinew.make_body()
    settings = net.sinew
    settings.sheet_thickness, settings.sheet_bending = STRING, 0.1
    settings.youngs_modulus, settings.density, settings.self_collision = STIFF, HEAVY, False
    group = net.vertex_groups.new(name="Hung")
    group.add([0], 1.0, "REPLACE")
    settings.pin_group = group.name
    ham.select_set(True)
    bpy.ops.sinew.attach(kind="FIXED", reach=3.0 * NET_GAP)
    _draw_tubes(net)


def _draw_tubes(net: bpy.types.Object) -> None:
    """Adds a modifier that draws a tube along every edge."""
    tree = bpy.data.node_groups.new("Tubes", "GeometryNodeTree")
    for name, way in (("Geometry", "INPUT"), ("Geometry", "OUTPUT")):
        tree.interface.new_socket(name, in_out=way, socket_type="NodeSocketGeometry")
    kinds = ("NodeGroupInput", "GeometryNodeMeshToCurve", "GeometryNodeCurveToMesh", "GeometryNodeSetMaterial",
             "NodeGroupOutput")  # fmt: skip
    nodes = [tree.nodes.new(kind) for kind in kinds]
    circle = tree.nodes.new("GeometryNodeCurvePrimitiveCircle")
    circle.inputs["Resolution"].default_value = 8
    circle.inputs["Radius"].default_value = 0.5 * STRING
    nodes[3].inputs["Material"].default_value = stage.loose_material("Twine", TWINE, 0.9)
    links = ((0, 1, "Mesh"), (1, 2, "Curve"), (2, 3, "Geometry"), (3, 4, "Geometry"))
    for source, target, socket in links:
        tree.links.new(nodes[source].outputs[0], nodes[target].inputs[socket])
    tree.links.new(circle.outputs["Curve"], nodes[2].inputs["Profile Curve"])
    net.modifiers.new("Tubes", "NODES").node_group = tree


def _wall() -> None:
    """Adds the wall, and the beam from which the rope hangs."""
    bpy.ops.mesh.primitive_cube_add(size=1.0, location=(WALL - 0.05, 0.0, 0.55), scale=(0.1, 1.2, 1.1))
    wall = bpy.context.object
    wall.name = "Wall"
    stage.paint(wall, PLASTER)
    stage.make_collider(wall)
    bpy.ops.mesh.primitive_cube_add(size=1.0, location=(0.0, 0.0, HOOK[2] + 0.02), scale=(0.5, 0.05, 0.04))
    beam = bpy.context.object
    beam.name = "Beam"
    stage.paint(beam, TWINE)
