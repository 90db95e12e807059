# SPDX-License-Identifier: GPL-3.0-or-later
"""Reads from the annotations of a dataclass what each of its fields may be (`schema_constraints.py`)."""

from __future__ import annotations

import dataclasses
import functools
import types
import typing
from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class FieldSchema:
    """What a field of a dataclass may be.

    Attributes:
        kind: Its type without None and rules.
        rules: Of `schema_constraints.py`.
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
