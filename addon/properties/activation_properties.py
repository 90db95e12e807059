# SPDX-License-Identifier: GPL-3.0-or-later
"""Properties of what activates a muscle: its heads, and sources with their via points and poses."""

from __future__ import annotations

from typing import Any

import bpy
from bpy.props import CollectionProperty, FloatVectorProperty, IntProperty, PointerProperty

from ...solver.scene.settings.activation_settings import (
    ACTIVATION_COLUMN,
    ACTIVATION_POSES,
    ACTIVATION_SETTINGS,
    HEAD_SETTINGS,
    MUSCLE_HEADS,
    POINT_SETTINGS,
    POSE_RIG,
    POSE_SETTINGS,
    RESPONSE_POINTS,
    VIA_OBJECT,
    VIA_POINTS,
)
from ...solver.scene.settings.setting import Setting
from .property_factory import OVERRIDABLE, make_property, settings_group


def _is_other(row: bpy.types.PropertyGroup, obj: bpy.types.Object) -> bool:
    return bool(obj != row.id_data)


def _is_armature(_settings: bpy.types.PropertyGroup, obj: bpy.types.Object) -> bool:
    return bool(obj.type == "ARMATURE")


def _columns(settings: bpy.types.PropertyGroup, _context: bpy.types.Context, _typed: str) -> list[str]:
    """Returns the columns of the chosen file; none where it cannot be read, which a bake says."""
    from ..export.activation_inputs import columns_of_file

    return columns_of_file(settings.id_data)


def _table(setting: Setting, row: type) -> Any:
    """Returns the declaration of a table of rows of a class."""
    override = {*OVERRIDABLE, "USE_INSERTION"}
    return CollectionProperty(
        type=row, name=setting.label, description=setting.description, options=set(), override=override
    )


def _row_index(setting: Setting) -> Any:
    return IntProperty(name=f"{setting.label}: Row", options={"HIDDEN"}, override=OVERRIDABLE)


_HeadProperties: Any = settings_group("HeadProperties", "A head and how active it is.", HEAD_SETTINGS)
_ViaProperties: Any = settings_group(
    "ViaProperties",
    "An object that the path runs through.",
    (VIA_OBJECT,),
    more={VIA_OBJECT.name: make_property(VIA_OBJECT, poll=_is_other)},
)
_PointProperties: Any = settings_group("PointProperties", "A point of a response curve.", POINT_SETTINGS)
_PoseProperties: Any = settings_group("PoseProperties", "The activation in a pose.", POSE_SETTINGS)


class SinewMuscleHead(_HeadProperties, bpy.types.PropertyGroup):
    """One head of a muscle."""


class SinewViaPoint(_ViaProperties, bpy.types.PropertyGroup):
    """One point of the path of a muscle."""


class SinewResponsePoint(_PointProperties, bpy.types.PropertyGroup):
    """One point of the curve of activation over length."""


class SinewJointRotation(bpy.types.PropertyGroup):
    """How a bone was turned against its parent, by its name."""

    rotation: FloatVectorProperty(
        name="Rotation",
        description="Turn of the bone against its parent from the rest position, as a quaternion",
        size=4,
        default=(1.0, 0.0, 0.0, 0.0),
        options=set(),
        override=OVERRIDABLE,
    )


class SinewActivationPose(_PoseProperties, bpy.types.PropertyGroup):
    """A pose of the rig with its activation."""

    rotations: CollectionProperty(
        type=SinewJointRotation,
        name="Rotations",
        description="The turns of bones that make the pose",
        options=set(),
        override={*OVERRIDABLE, "USE_INSERTION"},
    )


ROW_CLASSES = (SinewMuscleHead, SinewViaPoint, SinewResponsePoint, SinewJointRotation, SinewActivationPose)
_TABLES = (
    (MUSCLE_HEADS, SinewMuscleHead),
    (VIA_POINTS, SinewViaPoint),
    (RESPONSE_POINTS, SinewResponsePoint),
    (ACTIVATION_POSES, SinewActivationPose),
)

ActivationProperties: Any = settings_group(
    "ActivationProperties",
    "Heads and strength of a muscle, and what activates it beside its keys.",
    ACTIVATION_SETTINGS,
    more={
        ACTIVATION_COLUMN.name: make_property(ACTIVATION_COLUMN, search=_columns),
        POSE_RIG.name: make_property(POSE_RIG, poll=_is_armature),
        "via_point_of": PointerProperty(
            type=bpy.types.Object,
            name="Via Point of",
            description="The muscle that Make Muscle or Draw Muscle has found this via point for",
            options={"HIDDEN"},
            override=OVERRIDABLE,
        ),
        **{setting.name: _table(setting, row) for setting, row in _TABLES},
        **{f"{setting.name}_index": _row_index(setting) for setting, _ in _TABLES},
    },
)
