# SPDX-License-Identifier: GPL-3.0-or-later
"""Buttons of notes: where in the viewport a note is about, and the numbers behind it."""

from __future__ import annotations

from typing import Any

import bpy
from bpy.props import FloatVectorProperty, IntProperty, StringProperty
from mathutils import Vector

from ..baking.addon_session import MAX_PLACES

# of the longest side of the object: how much of it the view shows around a place, and how near the cursor is to one
VIEW_SHARE, SAME_PLACE_SHARE = 0.5, 1.0e-3


class SINEW_OT_show_place(bpy.types.Operator):
    """Move the view and the 3D cursor to the place that this note is about; press again for the next one"""

    bl_idname = "sinew.show_place"
    bl_label = "Show"
    bl_options = {"REGISTER", "UNDO"}

    places: FloatVectorProperty(
        name="Places", description="World coordinates", size=3 * MAX_PLACES, options={"HIDDEN", "SKIP_SAVE"}
    )
    count: IntProperty(name="Count", description="Number of places", min=1, max=MAX_PLACES, options={"HIDDEN"})

    def execute(self, context: bpy.types.Context) -> set[str]:
        """Goes to the place after that of the 3D cursor, or to the first."""
        places = [Vector(self.places[3 * i : 3 * i + 3]) for i in range(self.count)]
        obj, cursor = context.object, context.scene.cursor
        size = max(obj.dimensions) if obj is not None and max(obj.dimensions) > 0.0 else 1.0
        near = [(cursor.location - place).length <= SAME_PLACE_SHARE * size for place in places]
        number = (near.index(True) + 1) % len(places) if any(near) else 0
        cursor.location = places[number]
        for area in context.screen.areas if context.screen is not None else ():
            if area.type == "VIEW_3D":
                view = area.spaces.active.region_3d
                view.view_location, view.view_distance = places[number], VIEW_SHARE * size
        self.report({"INFO"}, f"Place {number + 1} of {len(places)}")
        return {"FINISHED"}


class SINEW_OT_explain_note(bpy.types.Operator):
    """The numbers behind this note"""

    bl_idname = "sinew.explain_note"
    bl_label = "Numbers"
    bl_options = {"INTERNAL"}

    measured: StringProperty(name="Numbers", options={"HIDDEN", "SKIP_SAVE"})

    @classmethod
    def description(cls, _context: bpy.types.Context, properties: Any) -> str:
        """Returns the numbers as the tooltip."""
        return properties.measured or cls.__doc__ or ""

    def execute(self, context: bpy.types.Context) -> set[str]:
        """Copies the numbers, for a message to somebody else."""
        context.window_manager.clipboard = self.measured
        self.report({"INFO"}, f"Copied: {self.measured}")
        return {"FINISHED"}


CLASSES = (SINEW_OT_show_place, SINEW_OT_explain_note)
