# SPDX-License-Identifier: GPL-3.0-or-later
"""Checks the values of lines of `report.jsonl`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

INTEGER_KEYS = (
    "iterations", "not_converged", "unsettled", "solves", "contacts", "inverted_tets", "newton_iterations",
    "poses_not_converged",
)  # fmt: skip
WORDS = ("kind", "sentence", "next_step")  # of a warning
NUMBER_KEYS = ("residual", "pose_residual", "milliseconds", "deepest_contact")  # null: not finite


def is_report_line(line: Any) -> bool:
    """Whether a JSON value is a line of a report, with the right type of every value."""
    if not isinstance(line, dict):
        return False
    bodies, colliders = line.get("bodies", {}), line.get("colliders", {})
    return (
        _is_integer(line.get("frame", 0))
        and isinstance(line.get("converged", True), bool)
        and all(_is_integer(line.get(name, 0)) and line.get(name, 0) >= 0 for name in INTEGER_KEYS)
        and all(_is_number(line.get(name)) for name in NUMBER_KEYS)
        and isinstance(bodies, Mapping)
        and all(isinstance(own, Mapping) and all(map(_is_number, own.values())) for own in bodies.values())
        and isinstance(colliders, Mapping)
        and all(isinstance(own, list) and all(map(_is_number, own)) for own in colliders.values())
        and is_list_of_warnings(line.get("warnings", []))
        and _is_depths_by_pair(line.get("deep_contacts", {}))
        and _is_loads_by_row(line.get("attachments", {}))
    )


def _is_loads_by_row(value: Any) -> bool:
    return isinstance(value, Mapping) and all(
        isinstance(own, Mapping) and all(map(_is_load, own.values())) for own in value.values()
    )


def _is_load(value: Any) -> bool:
    return isinstance(value, list) and is_load_count(len(value)) and all(map(_is_number, value))


def is_load_count(count: int) -> bool:
    """Whether what an attachment carries may be so many numbers: seven, and six more for each of its edges."""
    return count >= 7 and count % 6 == 1


def _is_depths_by_pair(value: Any) -> bool:
    return isinstance(value, Mapping) and all(
        isinstance(own, Mapping) and all(depth is not None and _is_number(depth) for depth in own.values())
        for own in value.values()
    )


def is_list_of_warnings(value: Any) -> bool:
    """Whether a JSON value is a list of warnings, as `SinewError.as_warning` says them."""
    return isinstance(value, list) and all(
        isinstance(each, Mapping)
        and all(isinstance(each.get(word), str) for word in WORDS)
        and isinstance(each.get("measured", ""), str)
        and _is_list_of_points(each.get("places", []))
        and isinstance(each.get("is_minor", False), bool)
        for each in value
    )


def _is_list_of_points(value: Any) -> bool:
    return isinstance(value, list) and all(
        isinstance(point, list) and len(point) == 3 and all(x is not None and _is_number(x) for x in point)
        for point in value
    )


def _is_integer(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_number(value: Any) -> bool:
    return value is None or (isinstance(value, int | float) and not isinstance(value, bool))
