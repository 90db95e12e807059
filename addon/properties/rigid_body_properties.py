# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether an object has what Blender's own rigid body settings say."""

from __future__ import annotations

from typing import Any

from ...solver.scene.settings.rigid_body_settings import RIGID_BODY_SETTINGS
from .property_factory import settings_group

RigidBodyProperties: Any = settings_group(
    "RigidBodyProperties", "Whether Blender's Rigid Body settings count.", RIGID_BODY_SETTINGS
)
