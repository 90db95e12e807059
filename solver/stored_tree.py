# SPDX-License-Identifier: GPL-3.0-or-later
"""Frozen dataclasses as trees of plain values, with their arrays beside them under the names of their places."""

from __future__ import annotations

import dataclasses
import types
import typing
from typing import Any

import numpy as np


def to_tree(value: Any, path: str, arrays: dict[str, np.ndarray]) -> Any:
    """Returns a value as JSON can hold it; its arrays go into `arrays`, named "bodies.0.vertices"."""
    if dataclasses.is_dataclass(value):
        names = [f.name for f in dataclasses.fields(value)]
        return {name: to_tree(getattr(value, name), f"{path}.{name}".lstrip("."), arrays) for name in names}
    if isinstance(value, np.ndarray):
        arrays[path] = value
        return {"array": path}
    if isinstance(value, tuple):
        return [to_tree(item, f"{path}.{i}", arrays) for i, item in enumerate(value)]
    return value


def from_tree(wanted: Any, tree: Any, arrays: Any) -> Any:
    """Returns the value of the type `wanted` that `to_tree` took apart."""
    if tree is None:
        return None
    if isinstance(tree, dict) and "array" in tree:
        return arrays[tree["array"]]
    if isinstance(wanted, types.UnionType):
        wanted = next(option for option in wanted.__args__ if option is not type(None))
    if dataclasses.is_dataclass(wanted) and isinstance(wanted, type):
        hints = typing.get_type_hints(wanted)
        return wanted(**{name: from_tree(hints[name], item, arrays) for name, item in tree.items()})
    if isinstance(tree, list):
        inner = typing.get_args(wanted)
        return tuple(from_tree(inner[0] if inner else None, item, arrays) for item in tree)
    return tree
