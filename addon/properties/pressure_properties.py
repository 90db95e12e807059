# SPDX-License-Identifier: GPL-3.0-or-later
"""Properties of the pressure in a body."""

from __future__ import annotations

from typing import Any

from ...solver.scene.settings.pressure_settings import PRESSURE_SETTINGS
from .property_factory import settings_group
from .unit_proxies import proxy_properties

PressureProperties: Any = settings_group(
    "PressureProperties",
    "The pressure in a closed body or in the hollows of a shell.",
    PRESSURE_SETTINGS,
    more=proxy_properties(PRESSURE_SETTINGS),
)
