# SPDX-License-Identifier: GPL-3.0-or-later
"""Properties of the goal of a body."""

from __future__ import annotations

from typing import Any

from ...solver.scene.settings.goal_settings import GOAL_SETTINGS
from .property_factory import settings_group

GoalProperties: Any = settings_group(
    "GoalProperties", "How strongly a body is pulled towards its animated mesh.", GOAL_SETTINGS
)
