# SPDX-License-Identifier: GPL-3.0-or-later
"""Properties of the stretch limit of a body."""

from __future__ import annotations

from typing import Any

from ...solver.scene.settings.stretch_limit_settings import STRETCH_LIMIT_SETTINGS
from .property_factory import settings_group
from .unit_proxies import proxy_properties

StretchLimitProperties: Any = settings_group(
    "StretchLimitProperties",
    "How far a body stretches before its material stiffens.",
    STRETCH_LIMIT_SETTINGS,
    more=proxy_properties(STRETCH_LIMIT_SETTINGS),
)
