# SPDX-License-Identifier: GPL-3.0-or-later
"""The schema that the annotations of a dataclass declare (`field_constraints.py`), and the check of its ranges."""

from __future__ import annotations

import dataclasses
import functools
import types
import typing
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...runtime.errors import BadInput
from .field_constraints import Limits, is_key


@dataclass(frozen=True)
class FieldSchema:
    """What a field of a dataclass may be.

    Attributes:
        kind: Its type without None and rules.
        rules: Of `field_constraints.py`.
        may_be_none: Whether None is allowed.
        items: Of each item of a tuple; one of any number of items where `is_list`.
        is_list: Whether it is a tuple of any length.
        is_required: Whether there is no default.
    """

    kind: Any
    rules: tuple[Any, ...] = ()
    may_be_none: bool = False
    items: tuple[FieldSchema, ...] = ()
    is_list: bool = False
    is_required: bool = True

    def rule(self, wanted: type) -> Any:
        """Returns the rule of a type, or None."""
        return next((rule for rule in self.rules if isinstance(rule, wanted)), None)


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


def check_keys(named: Sequence[Any]) -> None:
    """Makes sure that keys of named values can be part of file names, and that no two are equal.

    Raises:
        BadInput: "body-key".
    """
    keys = [each.key for each in named]
    for each in named:
        if not is_key(each.key) or keys.count(each.key) > 1:
            raise BadInput("body-key", name=each.name, key=each.key)


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


@functools.cache
def declared_fields(cls: type) -> dict[str, FieldSchema]:
    """Returns what a dataclass declares, by the names of its fields."""
    hints = typing.get_type_hints(cls, include_extras=True)
    missing = dataclasses.MISSING
    return {
        f.name: _field_schema(hints[f.name], f.default is missing and f.default_factory is missing)
        for f in dataclasses.fields(cls)
    }


def _field_schema(hint: Any, is_required: bool = True) -> FieldSchema:
    rules: tuple[Any, ...] = ()
    may_be_none = False
    while True:
        origin, inner = typing.get_origin(hint), typing.get_args(hint)
        if origin is typing.Annotated:
            hint, rules = inner[0], rules + inner[1:]
        elif origin in (typing.Union, types.UnionType):
            hint, may_be_none = next(option for option in inner if option is not type(None)), True
        else:
            break
    if origin is np.ndarray:
        return FieldSchema(np.dtype(typing.get_args(inner[1])[0]), rules, may_be_none, is_required=is_required)
    if origin is tuple:
        is_list = inner[-1] is Ellipsis
        items = tuple(map(_field_schema, inner[:-1] if is_list else inner))
        return FieldSchema(tuple, rules, may_be_none, items, is_list, is_required)
    return FieldSchema(hint, rules, may_be_none, is_required=is_required)
