# SPDX-License-Identifier: GPL-3.0-or-later
"""The setting that lets objects keep what Blender's own rigid bodies have."""

from __future__ import annotations

from .setting import switch

USE_RIGID_BODY = switch(
    "use_rigid_body",
    "Blender's Rigid Body",
    "Take mass, friction, damping, shape, Passive, Dynamic and Animated from the Rigid Body settings that Blender has "
    "for this object. Of a collider, the friction. Make Rigid switches it on",
    since="0.3",
)

RIGID_BODY_SETTINGS = (USE_RIGID_BODY,)
