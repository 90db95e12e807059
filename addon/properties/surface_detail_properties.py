# SPDX-License-Identifier: GPL-3.0-or-later
"""Properties of the surface detail of a body."""

from __future__ import annotations

from typing import Any

from ...solver.scene.settings.surface_detail_settings import SURFACE_DETAIL_SETTINGS
from .property_factory import settings_group

SurfaceDetailProperties: Any = settings_group(
    "SurfaceDetailProperties", "Dents of a body that are finer than its tets.", SURFACE_DETAIL_SETTINGS
)
