# SPDX-License-Identifier: GPL-3.0-or-later
"""All settings of objects and of the scene, by the panel that shows them and the role of their owners."""

from __future__ import annotations

from dataclasses import dataclass

from .activation_settings import ACTIVATION_SETTINGS
from .collision_settings import BODY_COLLISION_SETTINGS, COLLIDER_SETTINGS, COLLISION_COLLECTION
from .fibre_settings import FIBRE_DISPLAY_SETTINGS, FIBRE_SETTINGS
from .field_settings import FIELD_SETTINGS
from .flesh_settings import ATTACHMENT_SETTINGS, BONE_SETTINGS, ELASTICITY_SETTINGS, MOTION, SELF_CONTACT
from .formulation_settings import FORMULATION_SETTINGS
from .fracture_settings import ATTRIBUTES_SETTING, BROKEN_MATERIAL, FRACTURE_SETTINGS, SEPARATE_PIECES
from .goal_settings import GOAL_SETTINGS
from .heat_settings import HEAT_SETTINGS, HEAT_SOURCE_SETTINGS
from .material_settings import MATERIAL_PAINTS, MATERIAL_SETTINGS
from .muscle_settings import MUSCLE_SETTINGS
from .muscle_shape_settings import MUSCLE_SHAPE_SETTINGS
from .pass_and_wrap_settings import PASS_AND_WRAP_SETTINGS
from .pin_settings import PIN_SETTINGS
from .plasticity_settings import PLASTICITY_SETTINGS
from .preset_settings import FRICTION_PRESET, MATERIAL_PRESET, MUSCLE_PRESET, SHEET_PRESET
from .pressure_settings import PRESSURE_SETTINGS
from .rest_scale_settings import REST_SCALE_SETTINGS
from .rigid_body_settings import RIGID_BODY_SETTINGS
from .rigid_core_settings import CORE_SETTINGS
from .seam_settings import SEAM_SETTINGS
from .setting import Setting
from .sheet_settings import SHEET_SETTINGS
from .simulation_settings import (
    AIR_TEMPERATURE,
    CACHE_SETTINGS,
    DETAIL,
    FRAME_SETTINGS,
    LOCK_BAKE,
    REST_SETTINGS,
    SHOW_CONTACTS,
    SOLVER_SETTINGS,
    STEP_SETTINGS,
)
from .size_and_start_settings import START_SETTINGS
from .stretch_limit_settings import STRETCH_LIMIT_SETTINGS
from .surface_attachment_settings import ATTACHMENTS
from .surface_detail_settings import SURFACE_DETAIL_SETTINGS
from .tet_settings import DISPLAY_SETTINGS, TET_SETTINGS

# roles of objects; NONE: an object without a role
BODY, COLLIDER, HEAT_SOURCE, BONE, WRAP, NONE = "BODY", "COLLIDER", "HEAT", "BONE", "WRAP", "NONE"

# the titles of subjects that are not in one panel with a label of its own
MAIN_PANEL, COLLISION_PANELS = "Main Panel", "Shared by Collision and Collider"


@dataclass(frozen=True)
class Subject:
    """Settings of one owner in one panel.

    Attributes:
        title: The label of the panel, which is a heading in the manual; subjects may share it.
        roles: Of the objects that have them; none: the scene has them.
        settings: In the order of the manual.
    """

    title: str
    roles: tuple[str, ...]
    settings: tuple[Setting, ...]


SUBJECTS = (
    Subject("Material", (BODY,), (MATERIAL_PRESET, SHEET_PRESET, *MATERIAL_SETTINGS)),
    Subject("Paint", (BODY,), MATERIAL_PAINTS),
    Subject("Stretch Limit", (BODY,), STRETCH_LIMIT_SETTINGS),
    Subject("Rest Scale", (BODY,), REST_SCALE_SETTINGS),
    Subject(MAIN_PANEL, (BODY,), (MOTION,)),
    Subject("Flesh", (BODY,), ELASTICITY_SETTINGS),
    Subject("Bones", (BODY,), ATTACHMENT_SETTINGS),
    Subject("Muscle", (BODY,), (MUSCLE_PRESET, *MUSCLE_SETTINGS)),
    Subject("Muscle Shape", (BODY,), MUSCLE_SHAPE_SETTINGS),
    Subject("Activation", (BODY,), ACTIVATION_SETTINGS),
    Subject("Fibres", (BODY,), (*FIBRE_SETTINGS, *FIBRE_DISPLAY_SETTINGS)),
    Subject("Plasticity", (BODY,), PLASTICITY_SETTINGS),
    Subject("Surface Detail", (BODY,), SURFACE_DETAIL_SETTINGS),
    Subject("Heat", (BODY,), HEAT_SETTINGS),
    Subject("Fracture", (BODY,), (*FRACTURE_SETTINGS, BROKEN_MATERIAL, SEPARATE_PIECES)),
    Subject("Attributes", (BODY,), (ATTRIBUTES_SETTING,)),
    Subject("Rigid Body", (BODY, COLLIDER), RIGID_BODY_SETTINGS),
    Subject("Rigid Core", (BODY,), CORE_SETTINGS),
    Subject("Tets", (BODY,), (*TET_SETTINGS, *DISPLAY_SETTINGS)),
    Subject("Sheet", (BODY,), (*SHEET_SETTINGS, *SEAM_SETTINGS)),
    Subject("Pins", (BODY,), PIN_SETTINGS),
    Subject("Attachments", (BODY, WRAP), (ATTACHMENTS,)),
    Subject("Layers", (BODY,), PASS_AND_WRAP_SETTINGS),
    Subject("Goal", (BODY,), GOAL_SETTINGS),
    Subject("Pressure", (BODY,), PRESSURE_SETTINGS),
    Subject("Field Weights", (BODY,), FIELD_SETTINGS),
    Subject("Size and Start", (BODY,), START_SETTINGS),
    Subject("Collision", (BODY,), (*BODY_COLLISION_SETTINGS, SELF_CONTACT)),
    Subject(COLLISION_PANELS, (BODY, COLLIDER), (FRICTION_PRESET, COLLISION_COLLECTION)),
    Subject("Advanced", (BODY,), FORMULATION_SETTINGS),
    Subject("Collider", (COLLIDER,), COLLIDER_SETTINGS),
    Subject("Heat Source", (HEAT_SOURCE,), HEAT_SOURCE_SETTINGS),
    Subject("Bone Mesh", (BONE,), BONE_SETTINGS),
    Subject(MAIN_PANEL, (), (DETAIL, LOCK_BAKE)),
    Subject("Solver", (), (*FRAME_SETTINGS, *REST_SETTINGS, *STEP_SETTINGS, *SOLVER_SETTINGS)),
    Subject("Heat", (), (AIR_TEMPERATURE,)),
    Subject(COLLISION_PANELS, (), (SHOW_CONTACTS,)),
    Subject("Cache", (), CACHE_SETTINGS),
)
OBJECT_SETTINGS: dict[str, Setting] = {each.name: each for s in SUBJECTS if s.roles for each in s.settings}
SCENE_SETTINGS: dict[str, Setting] = {each.name: each for s in SUBJECTS if not s.roles for each in s.settings}


def settings_of_role(role: str) -> list[Setting]:
    """Returns the settings that an object of a role has."""
    return [setting for subject in SUBJECTS if role in subject.roles for setting in subject.settings]


def later_fields(part: str) -> set[str]:
    """Returns the fields of a dataclass of the scene whose settings were added after 0.2.0."""
    later = (setting for setting in (OBJECT_SETTINGS | SCENE_SETTINGS).values() if setting.since)
    return {field for owner, _, field in (setting.field.partition(".") for setting in later) if owner == part}
