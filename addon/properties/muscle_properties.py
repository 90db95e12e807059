# SPDX-License-Identifier: GPL-3.0-or-later
"""Properties of muscle in flesh."""

from __future__ import annotations

from typing import Any

from ...solver.scene.settings.muscle_settings import MUSCLE_SETTINGS
from .property_factory import settings_group
from .unit_proxies import proxy_properties

MuscleProperties: Any = settings_group(
    "MuscleProperties",
    "The fibres of a muscle: where they run, how hard they pull, and how active they are.",
    MUSCLE_SETTINGS,
    more=proxy_properties(MUSCLE_SETTINGS),
)
