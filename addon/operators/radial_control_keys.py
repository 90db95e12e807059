# SPDX-License-Identifier: GPL-3.0-or-later
"""F and Shift F in the keymaps of the tools for live runs."""

from __future__ import annotations

from typing import Any

OPERATOR = "sinew.radial_control"


def radial_control_keys(radius: str, strength: str) -> tuple[tuple[Any, ...], ...]:
    """Returns the keys of a tool: F sets its radius, Shift F its strength, both by their names in the scene."""
    return (
        (OPERATOR, {"type": "F", "value": "PRESS"}, {"properties": [("setting", radius)]}),
        (OPERATOR, {"type": "F", "value": "PRESS", "shift": True}, {"properties": [("setting", strength)]}),
    )
