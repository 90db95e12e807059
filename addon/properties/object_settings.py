# SPDX-License-Identifier: GPL-3.0-or-later
"""All settings of one object, subject by subject."""

from __future__ import annotations

import bpy
from bpy.props import EnumProperty, IntProperty, StringProperty

from .body_settings import BodySettings, CoreSettings, FormulationProperties
from .collider_settings import ColliderSettings, CollisionSettings
from .flesh_settings import BoneSettings, FleshSettings
from .fracture_settings import FractureSettings, ResultSettings
from .heat_settings import HeatSettings, HeatSourceSettings
from .material_settings import MaterialSettings
from .object_roles import EXTRA_ROLE_ITEMS, NONE, ROLE_ITEMS
from .plasticity_settings import PlasticSettings
from .property_factory import OVERRIDABLE
from .restore_data import RestoreData


class SinewObject(
    MaterialSettings,
    BodySettings,
    FleshSettings,
    PlasticSettings,
    HeatSettings,
    FractureSettings,
    ResultSettings,
    RestoreData,
    ColliderSettings,
    CollisionSettings,
    HeatSourceSettings,
    BoneSettings,
    FormulationProperties,
    CoreSettings,
    bpy.types.PropertyGroup,
):
    """What one object is to Sinew and how it behaves; filled in by the panels, read by the exporter."""

    role: EnumProperty(
        name="Role",
        items=ROLE_ITEMS,
        default=NONE,
        description="What this object is to Sinew",
        options=set(),
        override=OVERRIDABLE,
    )
    extra_roles: EnumProperty(
        name="Also",
        items=EXTRA_ROLE_ITEMS,
        default=set(),
        description="What this object is to Sinew beside its role, such as a bone that other bodies collide with",
        options={"ENUM_FLAG"},
        override=OVERRIDABLE,
    )
    key: StringProperty(
        name="Key",
        description="The name of this object's files in the cache",
        options={"HIDDEN"},
        override=OVERRIDABLE,
    )

    modifier_uid: IntProperty(
        name="Modifier",
        description="Which of this object's modifiers is Sinew's place in the stack, by its persistent_uid",
        options={"HIDDEN"},
        override=OVERRIDABLE,
    )
