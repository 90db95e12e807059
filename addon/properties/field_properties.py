# SPDX-License-Identifier: GPL-3.0-or-later
"""Properties of how much a body feels gravity and force fields."""

from __future__ import annotations

from typing import Any

from ...solver.scene.settings.field_settings import FIELD_SETTINGS
from .property_factory import settings_group

FieldProperties: Any = settings_group(
    "FieldProperties", "Field weights, charge and particle size of a body.", FIELD_SETTINGS
)
