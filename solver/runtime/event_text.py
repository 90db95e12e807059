# SPDX-License-Identifier: GPL-3.0-or-later
"""What people read of an event: its residuals as text, and its warnings."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def residual_text(event: Mapping[str, Any]) -> str:
    """Returns the residuals of steps and poses in a `frame` event, for people."""
    steps, newton, pose = event["residual"], event.get("newton_iterations", 0), event.get("pose_residual", 0.0)
    words = [f"residual {_number(steps)}"] if event.get("solves", 1) or not newton else []
    if pose != 0.0:
        words.append(f"{newton} Newton iterations, pose residual {_number(pose)}")
    return ", ".join(words) or "nothing to do"


def _number(value: float | None) -> str:
    return "infinite" if value is None else f"{value:.1e}"


WARNING_FIELDS = ("kind", "sentence", "next_step", "measured", "places", "is_minor")


def warnings_in(event: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Returns the warnings in an event, as `SinewError.as_warning` says them."""
    warnings = [event] if event.get("event") == "warning" else []
    if event.get("event") == "built":
        warnings = [warning for body in event["bodies"] for warning in body["warnings"]]
    return [{name: warning[name] for name in WARNING_FIELDS if name in warning} for warning in warnings]
