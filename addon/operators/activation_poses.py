# SPDX-License-Identifier: GPL-3.0-or-later
"""Operators that store the pose of a rig with the activation of a muscle, and store it anew."""

from __future__ import annotations

import bpy
from bpy.props import EnumProperty, FloatProperty

from ...solver.runtime.errors import BadInput
from ..export.activation_inputs import joint_rotations, rig_of
from ..objects.muscle_joints import joints_of_muscle
from ..properties.table_editing import add_row
from .error_reporting import reporting_errors
from .selected_objects import active_mesh

BETWEEN, SELECTED, ALL = "BETWEEN", "SELECTED", "ALL"


class SINEW_OT_store_activation_pose(bpy.types.Operator):
    """Store how the rig is posed now, with the activation that the muscle has in this pose"""

    bl_idname = "sinew.store_activation_pose"
    bl_label = "Store Pose"
    bl_options = {"REGISTER", "UNDO"}

    activation: FloatProperty(
        name="Activation", description="Of the muscle in this pose", default=1.0, min=0.0, max=1.0, subtype="FACTOR"
    )
    bones: EnumProperty(
        name="Bones",
        description="Whose turns make the pose. The first stored pose decides it for all",
        items=(
            (BETWEEN, "Between the Ends", "Those between the bones of origin and insertion"),
            (SELECTED, "Selected", "The selected bones of the rig"),
            (ALL, "All", "All bones of the rig"),
        ),
        default=BETWEEN,
    )

    @reporting_errors
    def execute(self, context: bpy.types.Context) -> set[str]:
        """Adds a pose and chooses it."""
        obj = active_mesh(context)
        rig, table = _rig(obj), obj.sinew.activation_poses
        joints = [each.name for each in table[0].rotations] if len(table) else _joints(context, obj, rig, self.bones)
        _evaluated(context, rig, joints, obj)
        row = add_row(table)
        row.name, row.activation = _free_name(table, f"Pose {len(table)}"), self.activation
        _write_pose(context, row, rig, joints)
        obj.sinew.activation_poses_index = len(table) - 1
        self.report({"INFO"}, f"Stored {row.name} of {len(joints)} bones: {', '.join(joints[:5])}")
        return {"FINISHED"}


class SINEW_OT_update_activation_pose(bpy.types.Operator):
    """Store how the rig is posed now in the chosen pose; its activation stays"""

    bl_idname = "sinew.update_activation_pose"
    bl_label = "Update Pose"
    bl_options = {"REGISTER", "UNDO"}

    @reporting_errors
    def execute(self, context: bpy.types.Context) -> set[str]:
        """Writes the rotations of the joints of the first pose into the chosen one."""
        obj = active_mesh(context)
        rig, table, index = _rig(obj), obj.sinew.activation_poses, obj.sinew.activation_poses_index
        if not 0 <= index < len(table):
            raise BadInput("poses-none", name=obj.name)
        _write_pose(context, table[index], rig, [each.name for each in table[0].rotations])
        return {"FINISHED"}


def _rig(obj: bpy.types.Object) -> bpy.types.Object:
    rig = rig_of(obj)
    if rig is None:
        raise BadInput("pose-rig-none", name=obj.name)
    return rig


def _joints(context: bpy.types.Context, obj: bpy.types.Object, rig: bpy.types.Object, bones: str) -> list[str]:
    """Returns the bones whose turns make poses.

    Raises:
        BadInput: None is selected.
    """
    if bones == BETWEEN:
        return joints_of_muscle(context.scene, obj, rig)
    chosen = [bone.name for bone in rig.pose.bones if bones == ALL or _is_selected(bone)]
    if not chosen:
        raise BadInput("pose-bones-none", rig=rig.name)
    return chosen


def _is_selected(bone: bpy.types.PoseBone) -> bool:
    # before Blender 5.0, the armature has the selection
    return bool((bone if hasattr(bone, "select") else bone.bone).select)


def _evaluated(
    context: bpy.types.Context, rig: bpy.types.Object, joints: list[str], obj: bpy.types.Object
) -> list[list[float]]:
    """Returns how the joints are turned now, quaternions."""
    posed = rig.evaluated_get(context.evaluated_depsgraph_get())
    return [list(each) for each in joint_rotations(posed, joints, obj.name).tolist()]


def _write_pose(
    context: bpy.types.Context, row: bpy.types.PropertyGroup, rig: bpy.types.Object, joints: list[str]
) -> None:
    rotations = _evaluated(context, rig, joints, row.id_data)
    row.rotations.clear()
    for joint, rotation in zip(joints, rotations, strict=True):
        stored = row.rotations.add()
        stored.name, stored.rotation = joint, rotation


def _free_name(table: bpy.types.bpy_prop_collection, wanted: str) -> str:
    taken = {row.name for row in table}
    return next(
        name for name in [wanted, *(f"{wanted}.{i:03d}" for i in range(1, len(taken) + 2))] if name not in taken
    )


CLASSES = (SINEW_OT_store_activation_pose, SINEW_OT_update_activation_pose)
