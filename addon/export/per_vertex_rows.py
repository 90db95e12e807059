# SPDX-License-Identifier: GPL-3.0-or-later
"""Rows per vertex of dataclasses of the scene, for bodies that have more vertices than their mesh."""

from __future__ import annotations

import dataclasses
from typing import Any, TypeVar, get_args, get_type_hints

import numpy as np

from ...solver.runtime.arrays import Indices
from ...solver.scene.serialisation.schema_constraints import Shape

PER_VERTEX = "n"  # the length of arrays with a row per vertex, as dataclasses of the scene declare them
Part = TypeVar("Part")


def with_more_vertices(part: Part, count: int, nearest: Indices) -> Part:
    """Returns a dataclass of the scene whose arrays of `count` rows per vertex have rows for more vertices.

    Args:
        part: The dataclass, or what one has.
        count: How many vertices it is of.
        nearest: The vertex whose row each further one gets, (k,).
    """
    if isinstance(part, tuple):
        return tuple(with_more_vertices(each, count, nearest) for each in part)  # type: ignore[return-value]
    if not dataclasses.is_dataclass(part) or isinstance(part, type):
        return part
    hints = get_type_hints(type(part), include_extras=True)
    changed: dict[str, Any] = {}
    for field in dataclasses.fields(part):
        value = getattr(part, field.name)
        if isinstance(value, np.ndarray):
            if len(value) == count and _is_per_vertex(hints[field.name]):
                changed[field.name] = np.concatenate([value, value[nearest]])
        elif (more := with_more_vertices(value, count, nearest)) is not value:
            changed[field.name] = more
    return dataclasses.replace(part, **changed) if changed else part


def _is_per_vertex(hint: Any) -> bool:
    """Whether the annotation of a field says that it has a row per vertex, also where it may be None."""
    rules = [rule for each in (hint, *get_args(hint)) for rule in getattr(each, "__metadata__", ())]
    return any(isinstance(rule, Shape) and rule.lengths[0] == PER_VERTEX for rule in rules)
