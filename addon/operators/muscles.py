# SPDX-License-Identifier: GPL-3.0-or-later
"""The operators that make muscles."""

from __future__ import annotations

import bpy

from ...solver.runtime.errors import SinewError
from ..baking.error_messages import error_text
from ..export.fibre_objects import fibre_objects
from ..objects import mirrored_muscles, muscle_setup, roles
from .error_reporting import reporting_errors
from .selected_objects import selected_unshared_meshes


class SINEW_OT_make_muscle(bpy.types.Operator):
    """Make the selected meshes muscles. Each ends on the two bones nearest to its ends, which move with them"""

    bl_idname = "sinew.make_muscle"
    bl_label = "Make Muscle"
    bl_options = {"REGISTER", "UNDO"}

    end_share: bpy.props.FloatProperty(
        name="End Length",
        description="How much of its length each bone holds",
        default=4.0,
        min=1.0,
        max=45.0,
        subtype="PERCENTAGE",
    )

    @reporting_errors
    def execute(self, context: bpy.types.Context) -> set[str]:
        """Makes every selected mesh a muscle, or none, and tells what is doubtful."""
        meshes = selected_unshared_meshes(context)
        doubts = muscle_setup.make_muscles(context, meshes, self.end_share / 100.0)
        for doubt in doubts:
            self.report({"WARNING"}, error_text(doubt))
        if not doubts:
            what = f'"{meshes[0].name}" a muscle' if len(meshes) == 1 else f"{len(meshes)} meshes muscles"
            self.report({"INFO"}, f"Made {what}. Key Activation in the panel Muscle, and simulate")
        return {"FINISHED"}


class SINEW_OT_mirror_muscle(bpy.types.Operator):
    """Make the selected muscles on the other side. Names that end in .L or .R name what is there, or else its place"""

    bl_idname = "sinew.mirror_muscle"
    bl_label = "Mirror Muscle"
    bl_options = {"REGISTER", "UNDO"}

    @reporting_errors
    def execute(self, context: bpy.types.Context) -> set[str]:
        """Mirrors every selected muscle, or none."""
        muscles = [obj for obj in selected_unshared_meshes(context) if roles.is_flesh(obj) and obj.sinew.use_muscle]
        made = mirrored_muscles.mirror_muscles(context, muscles)
        for obj, other in zip(muscles, made, strict=True):
            for setting, source in fibre_objects(obj).items():
                if getattr(other.sinew, setting.name) == source:
                    words = {"other": source.name, "setting": setting.label}
                    self.report({"WARNING"}, error_text(SinewError("mirror-fibre-object", name=other.name, **words)))
        self.report({"INFO"}, "Made " + ", ".join(f'"{obj.name}"' for obj in made))
        return {"FINISHED"}


CLASSES = (SINEW_OT_make_muscle, SINEW_OT_mirror_muscle)
