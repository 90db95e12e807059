# SPDX-License-Identifier: GPL-3.0-or-later
"""Import Tets: makes a body of a file of tets, with their boundary as its mesh."""

from __future__ import annotations

from pathlib import Path

import bpy
from bpy.props import StringProperty
from bpy_extras.io_utils import ImportHelper

from ...solver.runtime.errors import BadInput
from ..baking import error_messages
from ..cache.cache_paths import portable_path
from ..export import artist_tet_files
from ..objects import roles
from .error_reporting import reporting_errors


class SINEW_OT_import_tets(bpy.types.Operator, ImportHelper):
    """Make a body from a file of tets (.msh, .vtu, .vtk, .mesh, .veg). The mesh is their outer surface"""

    bl_idname = "sinew.import_tets"
    bl_label = "Import Tets"
    bl_options = {"REGISTER", "UNDO"}

    filter_glob: StringProperty(default="*.msh;*.vtu;*.vtk;*.mesh;*.veg", options={"HIDDEN"})

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        """Whether objects can be added now."""
        return context.mode == "OBJECT"

    @reporting_errors
    def execute(self, context: bpy.types.Context) -> set[str]:
        """Reads the file and adds the object."""
        path = Path(bpy.path.abspath(self.filepath))
        obj = import_body(context, path)
        found = artist_tet_files.read_tet_file(path)
        notes = found.notes(obj.name)
        for note in notes:
            self.report({"WARNING"}, error_messages.error_text(note))
        if not notes:
            self.report({"INFO"}, f'"{obj.name}" has {len(found.tets):,} tets')
        return {"FINISHED"}


def import_body(context: bpy.types.Context, path: Path) -> bpy.types.Object:
    """Returns a new body whose mesh is the outside of the tets in a file, and makes it the active object.

    Raises:
        BadInput: The file cannot be used; nothing was added.
    """
    from ...solver.mesh.boundary_faces import boundary_surface

    found = artist_tet_files.read_tet_file(path)
    points, faces = boundary_surface(found.nodes, found.tets)
    if not len(faces):
        raise BadInput("tets-without-outside", path=str(path))
    mesh = bpy.data.meshes.new(path.stem)
    mesh.from_pydata(points.tolist(), [], faces.tolist())
    obj = bpy.data.objects.new(path.stem, mesh)
    (context.collection or context.scene.collection).objects.link(obj)
    obj.sinew.method = "GIVEN"
    obj.sinew.tets_path = portable_path(path, bpy.data.filepath)
    roles.make_body(obj)
    for other in context.selected_objects:
        other.select_set(False)
    obj.select_set(True)
    context.view_layer.objects.active = obj
    return obj


def draw_menu_entry(self: bpy.types.Menu, _context: bpy.types.Context) -> None:
    """Adds the entry to File > Import."""
    self.layout.operator(SINEW_OT_import_tets.bl_idname, text="Tets for Sinew (.msh, .vtu, .vtk, .mesh, .veg)")


CLASSES = (SINEW_OT_import_tets,)
