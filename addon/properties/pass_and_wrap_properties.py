# SPDX-License-Identifier: GPL-3.0-or-later
"""Properties of the layers of a character."""

from __future__ import annotations

from typing import Any

import bpy

from ...solver.scene.settings.pass_and_wrap_settings import PASS_AND_WRAP_SETTINGS, WRAP
from .property_factory import make_property, settings_group
from .role_definitions import WRAP as WRAP_ROLE


def _is_wrap(_settings: bpy.types.PropertyGroup, obj: bpy.types.Object) -> bool:
    return obj.type == "MESH" and obj.sinew.role == WRAP_ROLE


PassAndWrapProperties: Any = settings_group(
    "PassAndWrapProperties",
    "The pass of a body, and the Wrap at which fat ends.",
    PASS_AND_WRAP_SETTINGS,
    more={WRAP.name: make_property(WRAP, poll=_is_wrap)},
)
