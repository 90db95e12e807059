# SPDX-License-Identifier: GPL-3.0-or-later
"""Operators of Check: look through the scene, go to what was found, and fix it."""

from __future__ import annotations

import bmesh
import bpy
import numpy as np
from bpy.props import IntProperty

from ...solver.runtime.errors import BadInput
from ..baking import last_failure, scene_check
from ..baking.addon_session import session
from ..baking.check_process import CheckRow
from ..objects import diagnostic_fixes
from .error_reporting import reporting_errors


class SINEW_OT_check(bpy.types.Operator):
    """Look through all bodies before a bake: their meshes, tets, muscles and bones. Nothing is changed"""

    bl_idname = "sinew.check"
    bl_label = "Check"
    bl_options = {"INTERNAL"}

    @reporting_errors
    def execute(self, context: bpy.types.Context) -> set[str]:
        """Begins to look, and without a window waits for the end."""
        if context.mode != "OBJECT" and bpy.ops.object.mode_set.poll():
            bpy.ops.object.mode_set(mode="OBJECT")  # meshes cannot be read in Edit Mode
        scene_check.start(context)
        if bpy.app.background:
            scene_check.wait()
            problem = last_failure.failure_text(context.scene)
            if problem:
                self.report({"ERROR"}, problem)
                return {"CANCELLED"}
        return {"FINISHED"}


class SINEW_OT_stop_check(bpy.types.Operator):
    """Stop looking through the scene"""

    bl_idname = "sinew.stop_check"
    bl_label = "Stop"
    bl_options = {"INTERNAL"}

    def execute(self, _context: bpy.types.Context) -> set[str]:
        """Ends the process."""
        session.end_check()
        return {"FINISHED"}


class _RowOperator:
    """What operators share that act on a row of the list."""

    index: IntProperty(name="Row", min=0, options={"HIDDEN", "SKIP_SAVE"})

    def row(self, context: bpy.types.Context) -> tuple[CheckRow, bpy.types.Object]:
        """Returns the row, and its object.

        Raises:
            BadInput: The object is not there any more.
        """
        result = scene_check.result_of(context.scene)
        rows = result.rows if result is not None else ()
        row = rows[self.index] if self.index < len(rows) else None
        found = [each for each in context.scene.objects if row is not None and each.session_uid == row.object_uid]
        if row is None or not found:
            raise BadInput("object-gone", name="What was found")
        return row, found[0]


class SINEW_OT_check_select(_RowOperator, bpy.types.Operator):
    """Select the object and, in Edit Mode, the vertices that this is about"""

    bl_idname = "sinew.check_select"
    bl_label = "Select"
    bl_options = {"REGISTER", "UNDO"}

    @reporting_errors
    def execute(self, context: bpy.types.Context) -> set[str]:
        """Makes the object the only one that is selected, and shows it."""
        row, obj = self.row(context)
        if context.mode != "OBJECT" and bpy.ops.object.mode_set.poll():
            bpy.ops.object.mode_set(mode="OBJECT")
        for other in context.selected_objects:
            other.select_set(False)
        obj.hide_set(False)
        if not obj.visible_get():
            raise BadInput("body-not-in-view-layer", name=obj.name)
        obj.select_set(True)
        context.view_layer.objects.active = obj
        if len(row.vertices) and row.vertices.max() < len(obj.data.vertices) and obj.data.library is None:
            _select_vertices(context, obj, row.vertices)
        _view_selected(context)
        return {"FINISHED"}


def _select_vertices(context: bpy.types.Context, obj: bpy.types.Object, vertices: np.ndarray) -> None:
    """Enters Edit Mode with some vertices selected, and no others."""
    context.scene.tool_settings.mesh_select_mode = (True, False, False)
    bpy.ops.object.mode_set(mode="EDIT")
    # not foreach_set in Object Mode: it crashes Blender 5.0 on meshes whose elements were never selected one by one
    mesh = bmesh.from_edit_mesh(obj.data)
    for items in (mesh.verts, mesh.edges, mesh.faces):
        for item in items:
            item.hide = False
            item.select = False
    mesh.verts.ensure_lookup_table()
    for number in vertices.tolist():
        mesh.verts[number].select = True
    mesh.select_flush_mode()
    bmesh.update_edit_mesh(obj.data)


def _view_selected(context: bpy.types.Context) -> None:
    """Lets the 3D views of the window show what is selected."""
    for area in context.screen.areas if context.screen is not None else ():
        region = next((each for each in area.regions if each.type == "WINDOW"), None)
        if area.type == "VIEW_3D" and region is not None:
            with context.temp_override(area=area, region=region):
                bpy.ops.view3d.view_selected()


class SINEW_OT_check_fix(_RowOperator, bpy.types.Operator):
    """Fix this, and look through the scene again"""

    bl_idname = "sinew.check_fix"
    bl_label = "Fix"
    bl_options = {"REGISTER", "UNDO"}

    @reporting_errors
    def execute(self, context: bpy.types.Context) -> set[str]:
        """Fixes it, and says what that was."""
        if context.mode != "OBJECT" and bpy.ops.object.mode_set.poll():
            bpy.ops.object.mode_set(mode="OBJECT")
        row, obj = self.row(context)
        said = diagnostic_fixes.fix(
            context, row.kind, diagnostic_fixes.FixTarget(obj, row.triangles, row.wanted, row.moves)
        )
        context.view_layer.update()
        self.report({"INFO"}, said)
        scene_check.start(context)
        if bpy.app.background:
            scene_check.wait()
        return {"FINISHED"}


CLASSES = (SINEW_OT_check, SINEW_OT_stop_check, SINEW_OT_check_select, SINEW_OT_check_fix)
