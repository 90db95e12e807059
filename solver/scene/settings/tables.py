# SPDX-License-Identifier: GPL-3.0-or-later
"""All settings of objects and of the scene, by subject, with the role of the objects that have them."""

from __future__ import annotations

from dataclasses import dataclass

from .body_settings import DISPLAY_SETTINGS, PIN_SETTINGS, START_SETTINGS, TET_SETTINGS
from .collision_settings import BODY_COLLISION_SETTINGS, COLLIDER_SETTINGS, COLLISION_COLLECTION
from .flesh_settings import BONE_SETTINGS, FLESH_SETTINGS
from .formulation_settings import FORMULATION_SETTINGS
from .fracture_settings import FRACTURE_SETTINGS, RESULT_SETTINGS
from .heat_settings import HEAT_SETTINGS, HEAT_SOURCE_SETTINGS
from .material_settings import MATERIAL_SETTINGS
from .plasticity_settings import PLASTICITY_SETTINGS
from .preset_settings import FRICTION_PRESET, MATERIAL_PRESET
from .rigid_core_settings import CORE_SETTINGS
from .setting import Setting
from .simulation_settings import (
    AIR_TEMPERATURE,
    CACHE_SETTINGS,
    FRAME_SETTINGS,
    REST_SETTINGS,
    SOLVER_SETTINGS,
    STEP_SETTINGS,
)

# roles of objects; NONE: an object without a role
BODY, COLLIDER, HEAT_SOURCE, BONE, NONE = "BODY", "COLLIDER", "HEAT", "BONE", "NONE"


@dataclass(frozen=True)
class Subject:
    """Settings of one subject.

    Attributes:
        title: The heading in the manual.
        roles: Of the objects that have them; none: the scene has them.
        settings: In the order of the properties.
    """

    title: str
    roles: tuple[str, ...]
    settings: tuple[Setting, ...]


SUBJECTS = (
    Subject("Material", (BODY,), (MATERIAL_PRESET, *MATERIAL_SETTINGS)),
    Subject("Flesh", (BODY,), FLESH_SETTINGS),
    Subject("Plasticity", (BODY,), PLASTICITY_SETTINGS),
    Subject("Heat", (BODY,), HEAT_SETTINGS),
    Subject("Fracture", (BODY,), (*FRACTURE_SETTINGS, *RESULT_SETTINGS)),
    Subject("Rigid Core", (BODY,), CORE_SETTINGS),
    Subject("Tets", (BODY,), (*TET_SETTINGS, *DISPLAY_SETTINGS)),
    Subject("Pins", (BODY,), PIN_SETTINGS),
    Subject("Size and Start", (BODY,), START_SETTINGS),
    Subject("Collision", (BODY,), BODY_COLLISION_SETTINGS),
    Subject("Collision of Bodies and Colliders", (BODY, COLLIDER), (FRICTION_PRESET, COLLISION_COLLECTION)),
    Subject("Advanced", (BODY,), FORMULATION_SETTINGS),
    Subject("Collider", (COLLIDER,), COLLIDER_SETTINGS),
    Subject("Heat Source", (HEAT_SOURCE,), HEAT_SOURCE_SETTINGS),
    Subject("Bone Mesh", (BONE,), BONE_SETTINGS),
    Subject("Frames", (), FRAME_SETTINGS),
    Subject("Solver", (), (*STEP_SETTINGS, AIR_TEMPERATURE, *REST_SETTINGS, *SOLVER_SETTINGS)),
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
