# SPDX-License-Identifier: GPL-3.0-or-later
"""The operator that shows the cracks of a brittle body at one hit, before a bake."""

from __future__ import annotations

import bpy
import numpy as np
from bpy.props import FloatProperty

from ..baking.crack_preview import FoundCracks, find_cracks
from ..objects import roles
from ..panels.text_rows import count_text
from .error_reporting import reporting_errors

CRACKS_SUFFIX = " Cracks"
CRACKS_PROPERTY = "sinew_cracks_of"  # of a preview: the name of its body
LINE_COLOR = (1.0, 0.25, 0.05, 1.0)


def cracks_of(obj: bpy.types.Object) -> list[bpy.types.Object]:
    """Returns the objects that show the cracks of a body."""
    return [each for each in bpy.data.objects if each.get(CRACKS_PROPERTY) == obj.name and each.parent == obj]


def show_cracks(context: bpy.types.Context, obj: bpy.types.Object, found: FoundCracks) -> bpy.types.Object | None:
    """Shows cracks as lines in front of their body, instead of those before; None: there are none."""
    before = cracks_of(obj)
    data = [each.data for each in before]
    bpy.data.batch_remove([*before, *(each for each in data if each.users <= 1)])
    if not len(found.triangles):
        return None
    mesh = bpy.data.meshes.new(obj.name + CRACKS_SUFFIX)
    mesh.from_pydata(found.vertices.tolist(), [], found.triangles.tolist())
    made = bpy.data.objects.new(mesh.name, mesh)
    made[CRACKS_PROPERTY] = obj.name
    made.parent = obj
    made.display_type, made.show_in_front, made.color = "WIRE", True, LINE_COLOR
    made.hide_render, made.hide_select = True, True
    for collection in obj.users_collection or [context.scene.collection]:
        collection.objects.link(made)
    return made


class SINEW_OT_preview_cracks(bpy.types.Operator):
    """Show the cracks of the active brittle body if it hit hard ground at the point nearest to the 3D cursor.

    Nothing is baked. Undo, or deleting the lines, removes them
    """

    bl_idname = "sinew.preview_cracks"
    bl_label = "Preview Cracks"
    bl_options = {"REGISTER", "UNDO"}

    speed: FloatProperty(
        name="Speed",
        description="Speed at which it hits the ground [m/s]. A fall of 1 m gives 4.4 m/s",
        default=5.0,
        min=0.001,
        soft_max=50.0,
        step=10,
    )

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        """Only for brittle bodies."""
        obj = context.object
        if obj is None or not roles.is_brittle(obj) or not obj.sinew.use_fracture:
            cls.poll_message_set("Choose a body of the Type Brittle")
            return False
        return True

    @reporting_errors
    def execute(self, context: bpy.types.Context) -> set[str]:
        """Finds the cracks and shows them."""
        obj = context.object
        place = obj.matrix_world.inverted_safe() @ context.scene.cursor.location
        found = find_cracks(context.scene, obj, np.array(place), self.speed)
        made = show_cracks(context, obj, found)
        if made is None:
            self.report({"INFO"}, f'"{obj.name}" bears a hit at {self.speed:.3g} m/s there')
        elif found.piece_count < 2:
            self.report({"INFO"}, f'"{obj.name}" cracks at {self.speed:.3g} m/s, and stays in one piece')
        else:
            dust = f" and {found.dust_count:,} of dust" if found.dust_count else ""
            pieces = count_text(found.piece_count, "piece")
            self.report({"INFO"}, f'"{obj.name}" breaks into {pieces}{dust} at {self.speed:.3g} m/s')
        return {"FINISHED"}


CLASSES = (SINEW_OT_preview_cracks,)
