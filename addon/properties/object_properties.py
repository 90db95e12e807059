# SPDX-License-Identifier: GPL-3.0-or-later
"""All settings of one object, subject by subject."""

from __future__ import annotations

import bpy
from bpy.props import EnumProperty, IntProperty, StringProperty

from .activation_properties import ActivationProperties
from .attachment_properties import AttachmentProperties
from .body_properties import BodyProperties, CoreProperties, FormulationProperties
from .collision_properties import ColliderProperties, CollisionProperties
from .field_properties import FieldProperties
from .flesh_properties import BoneProperties, FleshProperties
from .fracture_properties import FractureProperties, ResultProperties
from .goal_properties import GoalProperties
from .heat_properties import HeatProperties, HeatSourceProperties
from .material_properties import MaterialProperties
from .muscle_properties import FibreProperties, MuscleProperties
from .muscle_shape_properties import MuscleShapeProperties
from .pass_and_wrap_properties import PassAndWrapProperties
from .plasticity_properties import PlasticityProperties
from .pressure_properties import PressureProperties
from .property_factory import OVERRIDABLE
from .restore_data import RestoreData
from .rigid_body_properties import RigidBodyProperties
from .role_definitions import EXTRA_ROLE_ITEMS, NONE, ROLE_ITEMS
from .sheet_properties import SheetProperties
from .stretch_limit_properties import StretchLimitProperties
from .surface_detail_properties import SurfaceDetailProperties


class SinewObject(
    MaterialProperties,
    BodyProperties,
    FleshProperties,
    PlasticityProperties,
    HeatProperties,
    FractureProperties,
    ResultProperties,
    RestoreData,
    ColliderProperties,
    CollisionProperties,
    HeatSourceProperties,
    BoneProperties,
    FormulationProperties,
    CoreProperties,
    RigidBodyProperties,
    FieldProperties,
    GoalProperties,
    PressureProperties,
    MuscleProperties,
    MuscleShapeProperties,
    ActivationProperties,
    StretchLimitProperties,
    SurfaceDetailProperties,
    SheetProperties,
    FibreProperties,
    AttachmentProperties,
    PassAndWrapProperties,
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
    baked_name: StringProperty(
        name="Baked Name",
        description="What this object was called at its first bake, which stays up to date when it is renamed",
        options={"HIDDEN"},
        override=OVERRIDABLE,
    )

    modifier_uid: IntProperty(
        name="Modifier",
        description="Which of this object's modifiers is Sinew's place in the stack, by its persistent_uid",
        options={"HIDDEN"},
        override=OVERRIDABLE,
    )

    start_data: StringProperty(
        name="Start",
        description="Shape and plastic strain in which this body begins, as base64",
        options={"HIDDEN"},
        override=OVERRIDABLE,
    )
    start_digest: StringProperty(
        name="Digest of the Start",
        description="Changes with the start of this body; empty: it begins in the shape of its mesh",
        options={"HIDDEN"},
        override=OVERRIDABLE,
    )
