# SPDX-License-Identifier: GPL-3.0-or-later
"""How settings behave in Blender: read once, or sampled on every frame; both may be changed on library overrides."""

from __future__ import annotations

from typing import Any

# a setting that is read once, and one that is sampled on every frame
FIXED_OPTIONS: dict[str, Any] = {"options": set(), "override": {"LIBRARY_OVERRIDABLE"}}
ANIMATED_OPTIONS: dict[str, Any] = {"options": {"ANIMATABLE"}, "override": {"LIBRARY_OVERRIDABLE"}}
