# SPDX-License-Identifier: GPL-3.0-or-later
"""Rows of attachments in place of what bones said of themselves: Distance, Springs and Mask of bone meshes, and Hold by
Armature.

Flesh whose `bones_are_rows` is set is held by its rows alone. New flesh is, and flesh of files of earlier versions
becomes so when its file is loaded. What cannot be written, since it is linked, keeps to the settings of its bones.
Scripts may go on setting these: rows follow them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import dataclass

import bpy

from ...solver.scene.settings.surface_attachment_settings import FIXED, SPRING, TO_ARMATURE, TO_BONES, TO_OBJECT
from ..blender_data.animation_curves import shift_row_curves
from ..properties.role_definitions import BONE
from ..properties.table_editing import remove_row
from . import flesh_supports, roles
from .attachment_rows import counting_rows, has_edges, row_about_armature, row_about_bone
from .new_attachments import add_attachment


@dataclass(frozen=True)
class Hold:
    """How a bone holds flesh: exactly or by springs of a stiffness per mass [1/s²], within a reach [Blender units]."""

    kind: str
    reach: float
    stiffness: float

    @staticmethod
    def of_bone(bone: bpy.types.Object) -> Hold:
        """Returns what a bone mesh says of itself."""
        own = bone.sinew
        return Hold.of(own.use_bone_spring, own.bone_distance, own.bone_stiffness)

    @staticmethod
    def of_armature(obj: bpy.types.Object) -> Hold:
        """Returns what flesh says of the bones of its armature."""
        own = obj.sinew
        return Hold.of(own.use_armature_bone_spring, own.armature_bone_radius, own.armature_bone_stiffness)

    @staticmethod
    def of(has_springs: bool, reach: float, stiffness: float) -> Hold:
        """Returns how a bone holds; the stiffness counts where there are springs."""
        return Hold(SPRING, reach, stiffness) if has_springs else Hold(FIXED, reach, 0.0)

    @staticmethod
    def of_row(row: bpy.types.PropertyGroup) -> Hold:
        """Returns how a row holds, but for its strength and its paint."""
        return Hold(row.kind, row.reach, row.stiffness if row.kind == SPRING else 0.0)

    def write(self, row: bpy.types.PropertyGroup) -> None:
        """Makes a row hold so."""
        row.kind, row.reach = self.kind, self.reach
        if self.kind == SPRING:
            row.stiffness = self.stiffness


def convert_flesh_of_file(objects: Iterable[bpy.types.Object]) -> None:
    """Gives flesh of an earlier version the rows that its bones were settings of, where it can be written."""
    for obj in objects:
        if obj.library is None and obj.override_library is None and roles.is_flesh(obj):
            write_bone_rows(obj)


def write_bone_rows(obj: bpy.types.Object) -> None:
    """Adds rows that hold flesh as the settings of its bones do, from then on in place of these.

    The row All Bones holds as most bone meshes do. Each that holds otherwise, or has a Mask, has a row of its own,
    which need not reach the flesh.
    """
    if obj.sinew.bones_are_rows:
        return
    scenes = obj.users_scene
    free = {b for scene in scenes for b in flesh_supports.bones_of(scene, obj) if row_about_bone(obj, b) is None}
    bones = sorted(free, key=lambda bone: bone.name)
    common = Counter(Hold.of_bone(bone) for bone in bones if not bone.sinew.bone_mask_group).most_common(1)
    of_all = common[0][0] if common else Hold(FIXED, 0.0, 0.0)
    if not any(row.target_type == TO_BONES for _, row in counting_rows(obj, obj.sinew)):
        row = add_attachment(obj, None)
        row.target_type = TO_BONES
        of_all.write(row)
    for bone in bones:
        if bone.sinew.bone_mask_group or Hold.of_bone(bone) != of_all:
            _write_row(obj, bone)
    obj.sinew.bones_are_rows = True
    follow_armature(obj)


def follow_bone(bone: bpy.types.Object) -> None:
    """Makes rows of flesh say what the settings of a bone mesh do, which a script has changed."""
    if not roles.has_role(bone, BONE):
        return
    for obj in {each for scene in bone.users_scene for each in roles.bodies(scene) if _has_rows(each)}:
        if bone.sinew.bone_body in (None, obj):
            _write_row(obj, bone)


def follow_armature(obj: bpy.types.Object) -> None:
    """Makes the row about the armature's bones say what the settings of flesh do, which a script has changed."""
    if not _has_rows(obj):
        return
    hold, row = Hold.of_armature(obj), row_about_armature(obj)
    # springs without stiffness have held nothing
    if not obj.sinew.use_armature_bones or (hold.kind == SPRING and hold.stiffness == 0.0):
        _remove_rows_about_armature(obj)
        return
    if row is None:
        row = add_attachment(obj, None)
        row.target_type = TO_ARMATURE
    hold.write(row)


def says_own_settings(
    obj: bpy.types.Object, path: str, row: bpy.types.PropertyGroup, animated: Collection[str]
) -> bool:
    """Whether a row of flesh says what the settings of its bones do: then bakes of before are still up to date.

    Args:
        obj: The flesh.
        path: Data path of the row.
        row: The row.
        animated: The animated paths of the flesh.
    """
    if not _has_rows(obj) or any(each.startswith(f"{path}.") for each in animated):
        return False
    if not row.is_on or row.strength != 1.0 or row.group or row.breaking_force > 0.0 or row.spring_constant > 0.0:
        return False
    if has_edges(row):
        return False
    if row.target_type == TO_ARMATURE:
        return bool(obj.sinew.use_armature_bones) and Hold.of_row(row) == Hold.of_armature(obj)
    if row.target_type == TO_BONES:
        about = [b for scene in obj.users_scene for b in roles.bones(scene) if row_about_bone(obj, b) == row]
        return row.kind in (FIXED, SPRING) and all(Hold.of_row(row) == Hold.of_bone(bone) for bone in about)
    bone = row.target if row.target_type == TO_OBJECT else None
    if bone is None or not roles.has_role(bone, BONE) or bone.sinew.bone_body not in (None, obj):
        return False
    return Hold.of_row(row) == Hold.of_bone(bone) and row.target_group == bone.sinew.bone_mask_group


def drops_own_settings(obj: bpy.types.Object) -> list[str]:
    """Returns the names of bones whose settings held flesh before it had rows, and that no row is about."""
    if not _has_rows(obj):
        return []
    bones = {b for scene in obj.users_scene for b in roles.bones(scene) if b.sinew.bone_body in (None, obj)}
    found = sorted(bone.name for bone in bones if row_about_bone(obj, bone) is None)
    hold = Hold.of_armature(obj)
    held = obj.sinew.use_armature_bones and not (hold.kind == SPRING and hold.stiffness == 0.0)
    return found + ["armature"] * (held and row_about_armature(obj) is None)


def _has_rows(obj: bpy.types.Object) -> bool:
    return bool(obj.sinew.bones_are_rows) and roles.is_flesh(obj)


def _write_row(obj: bpy.types.Object, bone: bpy.types.Object) -> None:
    """Makes the row of flesh about a bone mesh hold as this says; adds one where there is none."""
    rows = (row for _, row in counting_rows(obj, obj.sinew) if not has_edges(row))
    row = next((each for each in rows if each.target_type == TO_OBJECT and each.target == bone), None)
    if row is None:
        row = add_attachment(obj, bone)
        row.may_miss, row.group = True, ""  # without one, the Attachment Group counts as before
    Hold.of_bone(bone).write(row)
    row.target_group = bone.sinew.bone_mask_group


def _remove_rows_about_armature(obj: bpy.types.Object) -> None:
    rows = obj.sinew.attachments
    for index in reversed(range(len(rows))):
        if rows[index].target_type == TO_ARMATURE and remove_row(rows, index):
            shift_row_curves(obj, "sinew.attachments", index)
    obj.sinew.attachments_index = max(0, min(obj.sinew.attachments_index, len(rows) - 1))
