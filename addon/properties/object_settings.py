# SPDX-License-Identifier: GPL-3.0-or-later
"""All settings of one object, subject by subject."""

from __future__ import annotations

import bpy
from bpy.props import EnumProperty, IntProperty, StringProperty

from ..choices import ROLES
from .body_settings import BodySettings
from .bone_settings import BoneSettings
from .collider_settings import ColliderSettings, CollisionSettings
from .core_settings import CoreSettings
from .flesh_settings import FleshSettings
from .fracture_settings import FractureSettings, ResultSettings
from .heat_settings import HeatSettings, HeatSourceSettings
from .material_settings import MaterialSettings
from .method_settings import MethodSettings
from .plastic_settings import PlasticSettings
from .result_notes import ResultNotes
from .sampling import FIXED


class SinewObject(
    MaterialSettings,
    BodySettings,
    FleshSettings,
    PlasticSettings,
    HeatSettings,
    FractureSettings,
    ResultSettings,
    ResultNotes,
    ColliderSettings,
    CollisionSettings,
    HeatSourceSettings,
    BoneSettings,
    MethodSettings,
    CoreSettings,
    bpy.types.PropertyGroup,
):
    """What one object is to Sinew and how it behaves; filled in by the panels, read by the exporter."""

    role: EnumProperty(name="Role", items=ROLES, default="NONE", description="What this object is to Sinew", **FIXED)
    key: StringProperty(
        name="Key",
        description="The name of this object's files in the cache",
        options={"HIDDEN"},
        override=FIXED["override"],
    )

    modifier_uid: IntProperty(
        name="Modifier",
        description="Which of this object's modifiers is Sinew's place in the stack, by its persistent_uid",
        options={"HIDDEN"},
        override=FIXED["override"],
    )
