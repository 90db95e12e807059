# SPDX-License-Identifier: GPL-3.0-or-later
"""All settings of one object, subject by subject."""

from __future__ import annotations

import bpy
from bpy.props import EnumProperty, IntProperty, StringProperty

from .body_settings import BodySettings
from .bone_settings import BoneSettings
from .collider_settings import ColliderSettings, CollisionSettings
from .enum_items import ROLES
from .flesh_settings import FleshSettings
from .formulation_settings import FormulationProperties
from .fracture_settings import FractureSettings, ResultSettings
from .heat_settings import HeatSettings, HeatSourceSettings
from .material_settings import MaterialSettings
from .plasticity_settings import PlasticSettings
from .property_options import FIXED_OPTIONS
from .restore_data import RestoreData
from .rigid_core_settings import CoreSettings


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
        name="Role", items=ROLES, default="NONE", description="What this object is to Sinew", **FIXED_OPTIONS
    )
    key: StringProperty(
        name="Key",
        description="The name of this object's files in the cache",
        options={"HIDDEN"},
        override=FIXED_OPTIONS["override"],
    )

    modifier_uid: IntProperty(
        name="Modifier",
        description="Which of this object's modifiers is Sinew's place in the stack, by its persistent_uid",
        options={"HIDDEN"},
        override=FIXED_OPTIONS["override"],
    )
