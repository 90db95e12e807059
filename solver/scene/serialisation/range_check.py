# SPDX-License-Identifier: GPL-3.0-or-later
"""Checks the numbers of a dataclass against the ranges that its annotations declare (`schema_constraints.py`)."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from ...runtime.errors import BadInput
from .field_schema import FieldSchema, declared_fields
from .schema_constraints import Limits


@dataclass(frozen=True)
class RangedNumber:
    """A number of a dataclass that has a range.

    Attributes:
        place: Where it is.
        owner: The nearest value around it that has a name.
        value: The number.
        limits: Its range.
        is_whole: Whether it has to be a whole number.
    """

    place: str
    owner: Any
    value: float
    limits: Limits
    is_whole: bool


def check_ranges(value: Any, shows_places: bool = False) -> None:
    """Makes sure that all numbers of a dataclass are within their ranges.

    Args:
        value: The dataclass.
        shows_places: Whether the sentence says where the number is, as in "bodies[0].material.density".

    Raises:
        BadInput: "setting-out-of-range".
    """
    for number in ranged_numbers(value):
        limits = number.limits
        if not limits.contains(number.value) or (number.is_whole and not float(number.value).is_integer()):
            place = (
                f"{limits.label} ({number.place})" if limits.label and shows_places else limits.label or number.place
            )
            raise BadInput(
                "setting-out-of-range",
                setting=place,
                name="the scene" if number.owner is None else number.owner.name,
                value=f"{number.value:.6g}",
                range=("a whole number, " if number.is_whole else "") + limits.text_for(number.value),
            )


def ranged_numbers(value: Any, place: str = "", owner: Any = None) -> Iterator[RangedNumber]:
    """Yields every number of a dataclass, and of those inside it, for which a range is declared."""
    owner = value if hasattr(value, "name") and hasattr(value, "key") else owner
    cls: Any = type(value)
    for name, declared in declared_fields(cls).items():
        yield from _ranged(declared, getattr(value, name), f"{place}.{name}".lstrip("."), owner)


def _ranged(declared: FieldSchema, value: Any, place: str, owner: Any) -> Iterator[RangedNumber]:
    if value is None:
        return
    limits = declared.rule(Limits)
    if limits is not None:
        yield RangedNumber(place, owner, value, limits, declared.kind is int)
    elif dataclasses.is_dataclass(declared.kind):
        yield from ranged_numbers(value, place, owner)
    elif declared.items:
        items = declared.items * len(value) if declared.is_list else declared.items
        for number, (item, part) in enumerate(zip(items, value, strict=False)):
            yield from _ranged(item, part, f"{place}[{number}]", owner)
