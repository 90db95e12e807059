# SPDX-License-Identifier: GPL-3.0-or-later
"""Operators that add and remove the rows of the list of attachments."""

from __future__ import annotations

from dataclasses import replace

import bpy

from ...solver.runtime.errors import BadInput
from ...solver.scene.settings.surface_attachment_settings import ATTACHMENT_KIND, ATTACHMENT_REACH, FIXED
from ..export.new_edge_ends import new_edge_ends
from ..export.rest_frame_meshes import modeled_meshes
from ..objects import fascia, new_attachment_edges, new_attachments, role_checks, roles
from ..objects.attachment_rows import is_without_target, row_about_armature
from ..properties.property_factory import make_property
from ..properties.role_definitions import BODY, BONE, COLLIDER, WRAP
from .error_reporting import reporting_errors
from .selected_objects import active_mesh, selected_and_active, selected_objects
from .table_rows import remove_chosen_row

TARGET_TYPES = {"MESH", "ARMATURE", "EMPTY"}


class SINEW_OT_add_attachment(bpy.types.Operator):
    """Attach the active body to the other selected mesh or empty, or to the active bone of a selected armature"""

    bl_idname = "sinew.add_attachment"
    bl_label = "Add Attachment"
    bl_options = {"REGISTER", "UNDO"}

    @reporting_errors
    def execute(self, context: bpy.types.Context) -> set[str]:
        """Adds a row, and chooses it."""
        obj = active_mesh(context)
        others = [each for each in context.selected_objects if each.type in TARGET_TYPES and each != obj]
        new_attachments.add_attachment(obj, others[0] if len(others) == 1 else None)
        return {"FINISHED"}


class SINEW_OT_attach(bpy.types.Operator):
    """Attach the other selected bodies to the active object"""

    bl_idname = "sinew.attach"
    bl_label = "Attach to Active"
    bl_options = {"REGISTER", "UNDO"}

    kind: make_property(replace(ATTACHMENT_KIND, default=FIXED))
    reach: make_property(ATTACHMENT_REACH)

    @reporting_errors
    def execute(self, context: bpy.types.Context) -> set[str]:
        """Adds a row to the attachments of every body, or to none."""
        target, chosen = context.object, selected_objects(context)
        bodies = [obj for obj in chosen if obj != target and roles.has_role(obj, BODY)]
        if target is None or not bodies:
            raise BadInput("attach-nothing", name=chosen[0].name if target is None else target.name)
        if not any(roles.has_role(target, role) for role in (BODY, BONE, COLLIDER, WRAP)) and target.type != "EMPTY":
            raise BadInput("attach-to-nothing", name=target.name)
        for obj in bodies:
            role_checks.check_changeable(obj)
        chosen_kind = self.kind if self.properties.is_property_set("kind") else None
        chosen_reach = self.reach if self.properties.is_property_set("reach") else None
        count = len(new_attachments.attach(bodies, target, chosen_kind, chosen_reach))
        added = f"Attached {count} bodies" if count != 1 else "Attached a body"
        self.report(
            {"INFO"}, f'{added} to "{target.name}"' if count else f'All are attached to "{target.name}" already'
        )
        return {"FINISHED"}


class SINEW_OT_list_bone_attachments(bpy.types.Operator):
    """Add a row for each bone mesh that may hold the active flesh, and for its armature, as they hold it now"""

    bl_idname = "sinew.list_bone_attachments"
    bl_label = "List Bones"
    bl_options = {"REGISTER", "UNDO"}

    @reporting_errors
    def execute(self, context: bpy.types.Context) -> set[str]:
        """Adds the rows that are missing."""
        obj = active_mesh(context)
        if not roles.is_flesh(obj):
            raise BadInput("bones-hold-flesh-only", name=obj.name)
        count = new_attachments.add_bones(context.scene, obj)
        added = f"Added {count} rows" if count != 1 else "Added a row"
        self.report({"INFO"}, added if count else f'No bone that holds "{obj.name}" is without a row')
        return {"FINISHED"}


class SINEW_OT_add_fascia(bpy.types.Operator):
    """Let the selected muscles slide along the bone meshes and colliders beside them, which they then do not leave"""

    bl_idname = "sinew.add_fascia"
    bl_label = "Add Fascia"
    bl_options = {"REGISTER", "UNDO"}

    @reporting_errors
    def execute(self, context: bpy.types.Context) -> set[str]:
        """Adds rows to the attachments of every selected muscle, or of none."""
        scene, chosen = context.scene, selected_and_active(context)
        muscles = [obj for obj in chosen if roles.is_flesh(obj) and obj.sinew.use_muscle]
        if not muscles:
            raise BadInput("fascia-of-nothing", name=chosen[0].name)
        for obj in muscles:
            role_checks.check_changeable(obj)
        bones, unit = fascia.bones_beside_muscles(scene), scene.unit_settings.scale_length
        meshes = modeled_meshes(scene, [*muscles, *bones])
        placed = [
            fascia.PlacedMesh(obj, vertices / unit, triangles)
            for obj, (vertices, triangles) in zip([*muscles, *bones], meshes, strict=True)
        ]
        count = fascia.slide_on_bones(placed[: len(muscles)], placed[len(muscles) :])
        added = f"Added {count} rows" if count != 1 else "Added a row"
        self.report({"INFO"}, f"{added} to Attachments" if count else "All bones beside them have rows")
        return {"FINISHED"}


class SINEW_OT_make_edges(bpy.types.Operator):
    """Draw an edge from each selected vertex to the nearest place of the target, and add it to the Edges of this row"""

    bl_idname = "sinew.make_edges"
    bl_label = "Make Edges"
    bl_options = {"REGISTER", "UNDO"}

    @reporting_errors
    def execute(self, context: bpy.types.Context) -> set[str]:
        """Makes a mesh of edges, or adds to that of the chosen row."""
        obj = active_mesh(context)
        rows, index = obj.sinew.attachments, obj.sinew.attachments_index
        if not 0 <= index < len(rows) or is_without_target(rows[index]):
            raise BadInput("attachment-without-target", name=obj.name)
        begins, ends = new_edge_ends(context.scene, obj, rows[index])
        count = new_attachment_edges.add_edges(obj, rows[index], begins, ends)
        drawn = f"Drew {count} edges" if count != 1 else "Drew an edge"
        self.report({"INFO"}, f'{drawn} in "{rows[index].edges.name}"')
        return {"FINISHED"}


class SINEW_OT_remove_attachment(bpy.types.Operator):
    """Remove the chosen attachment"""

    bl_idname = "sinew.remove_attachment"
    bl_label = "Remove Attachment"
    bl_options = {"REGISTER", "UNDO"}

    @reporting_errors
    def execute(self, context: bpy.types.Context) -> set[str]:
        """Removes the row; the one above it is chosen next."""
        obj = active_mesh(context)
        had_armature = row_about_armature(obj) is not None
        remove_chosen_row(obj, "attachments", "attachment-linked")
        if had_armature and row_about_armature(obj) is None:
            obj.sinew.use_armature_bones = False
        return {"FINISHED"}


CLASSES = (
    SINEW_OT_add_attachment,
    SINEW_OT_attach,
    SINEW_OT_list_bone_attachments,
    SINEW_OT_add_fascia,
    SINEW_OT_make_edges,
    SINEW_OT_remove_attachment,
)
