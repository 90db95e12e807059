# SPDX-License-Identifier: GPL-3.0-or-later
"""A stamp with raised letters is pressed into a tablet of clay, 12 tets long, and lifted: its writing stays."""

from __future__ import annotations

import bmesh
import bpy
from mathutils import Matrix

import stage

FRAMES = 52
LENGTH, WIDTH, HEIGHT = 0.24, 0.14, 0.04  # of the tablet [m]
TETS = 12  # along it
CELLS = (8, 5, 1)  # of its mesh before it is subdivided
LEVELS = 4  # halvings of these: 1.9 mm
RAISED = 0.006  # height of the letters [m]
PRESSED = 0.005  # how deep they go [m]
WORD, LETTER_SIZE = "SINEW", 0.070
CLAY, WOOD = (0.50, 0.25, 0.15), (0.30, 0.17, 0.08)


def build() -> None:
    """Builds the scene in a new file."""
    stage.empty_scene(FRAMES)
    _tablet()
    stamp = _stamp()
    low, high = HEIGHT - PRESSED, HEIGHT + 0.09
    above = (0.0, 0.0, HEIGHT + 0.02)
    stage.key_places(
        stamp, (1, above), (12, (0.0, 0.0, low)), (15, (0.0, 0.0, low)), (28, (0.0, 0.05, high)), (38, (0.0, 0.5, 0.3))
    )
    stage.add_ground()
    stage.light_and_camera((0.0, -0.32, 0.44), (0.0, 0.0, 0.035), lens=56.0)


def _tablet() -> bpy.types.Object:
    """Returns the tablet of clay, whose mesh is as fine as the writing."""
    bm = bmesh.new()
    bmesh.ops.create_cube(bm, size=1.0)
    for axis, cells in enumerate(CELLS):
        side = [edge for edge in bm.edges if abs((edge.verts[0].co - edge.verts[1].co)[axis]) > 0.5]
        if cells > 1:
            bmesh.ops.subdivide_edges(bm, edges=side, cuts=cells - 1, use_grid_fill=True)
    bm.transform(Matrix.Translation((0.0, 0.0, 0.5 * HEIGHT)) @ Matrix.Diagonal((LENGTH, WIDTH, HEIGHT, 1.0)))
    tablet = stage.add_object(bm, "Tablet")
    finer = tablet.modifiers.new("Finer", "SUBSURF")
    finer.subdivision_type, finer.levels, finer.render_levels = "SIMPLE", LEVELS, LEVELS
    stage.smooth(tablet)
    stage.paint(tablet, CLAY, 0.7)
    stage.make_body(tablet, "CLAY", divisions=TETS)
    tablet.sinew.use_surface_detail, tablet.sinew.detail_particles = True, 8
    return tablet


def _stamp() -> bpy.types.Object:
    """Returns a plate with a handle and raised letters below it; its origin is at their lower faces."""
    bm = bmesh.new()
    for size, at in (
        ((0.23, 0.10, 0.012), (0.0, 0.0, RAISED + 0.006)),
        ((0.05, 0.05, 0.08), (0.0, 0.0, RAISED + 0.012 + 0.04)),
    ):
        bmesh.ops.create_cube(bm, size=1.0, matrix=Matrix.Translation(at) @ Matrix.Diagonal((*size, 1.0)))
    letters = _letters()
    bm.from_mesh(letters)
    bpy.data.meshes.remove(letters)
    stamp = stage.add_object(bm, "Stamp")
    stage.paint(stamp, WOOD, 0.5)
    stage.make_collider(stamp)
    return stamp


def _letters() -> bpy.types.Mesh:
    """Returns closed letters from z = 0 up into the plate, as a stamp has them: seen from below they read backwards."""
    curve = bpy.data.curves.new("Word", "FONT")
    curve.body, curve.size, curve.align_x, curve.align_y = WORD, LETTER_SIZE, "CENTER", "CENTER"
    curve.extrude, curve.resolution_u, curve.offset = 0.5 * RAISED + 0.001, 3, 0.0008
    obj = bpy.data.objects.new("Word", curve)
    bpy.context.scene.collection.objects.link(obj)
    bpy.context.view_layer.update()
    mesh = bpy.data.meshes.new_from_object(obj.evaluated_get(bpy.context.evaluated_depsgraph_get()))
    bpy.data.objects.remove(obj)
    bpy.data.curves.remove(curve)
    bm = bmesh.new()
    bm.from_mesh(mesh)
    bmesh.ops.remove_doubles(bm, verts=bm.verts[:], dist=1.0e-6)  # sides and caps share no vertices
    bm.transform(Matrix.Translation((0.0, 0.0, 0.5 * RAISED + 0.001)))
    bmesh.ops.recalc_face_normals(bm, faces=bm.faces[:])
    mesh.clear_geometry()
    bm.to_mesh(mesh)
    bm.free()
    return mesh
