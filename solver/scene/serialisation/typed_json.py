# SPDX-License-Identifier: GPL-3.0-or-later
"""Frozen dataclasses as trees of plain values. Their arrays lie beside them, named by their path in the tree.

The annotations of a dataclass are the schema of what is read back: types, None, words, ranges
(`schema_constraints.py`), and the types and shapes of arrays. A value that is left out has its default.
"""

from __future__ import annotations

import dataclasses
import json
import sys
import typing
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from .field_schema import FieldSchema, declared_fields
from .schema_constraints import OneOf, RowsOf, Shape

MAX_QUOTED_CHARACTERS = 40  # of a wrong value that a sentence repeats
MAX_EXACT_INTEGER = 2**53  # as a float64 holds it exactly
MAX_INDEX = 2**31 - 1


class InvalidValue(ValueError):
    """A value of a tree is not what its dataclass declares.

    Attributes:
        place: Where it is, as in "bodies[0].material.youngs_modulus".
        found, wanted: What it is and what it has to be, for people.
    """

    def __init__(self, place: str, found: str, wanted: str) -> None:
        super().__init__(f"{place} is {found}; it has to be {wanted}")
        self.place, self.found, self.wanted = place, found, wanted


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


def from_tree(wanted: type, tree: Any, arrays: Mapping[str, npt.NDArray], place: str = "") -> Any:
    """Returns the dataclass `wanted` that `to_tree` took apart.

    Raises:
        InvalidValue: A value is not what the dataclass declares; ranges are left to `check_ranges`.
    """
    return _read_object(wanted, tree, arrays, place)


def _read_object(wanted: type, tree: Any, arrays: Mapping[str, npt.NDArray], place: str) -> Any:
    if not isinstance(tree, dict):
        raise InvalidValue(place or "it", _quoted(tree), "an object")
    declared = declared_fields(wanted)
    for name in tree:
        if name not in declared:
            raise InvalidValue(_child_path(place, name), "there", "left out: there is no such value")
    values = {}
    lengths: dict[str, tuple[int, str]] = {}
    for name, each in declared.items():
        at = _child_path(place, name)
        if name in tree:
            values[name] = _read(each, tree[name], arrays, at)
            if isinstance(each.kind, np.dtype) and values[name] is not None:
                _check_array(each, values[name], at, lengths)
        elif each.is_required:
            raise InvalidValue(at, "missing", "there")
    for name, each in declared.items():
        rows = each.rule(RowsOf)
        if rows is not None and values.get(name) is not None:
            _check_rows(values[name], values.get(rows.array), _child_path(place, name), rows.array)
    return wanted(**values)


def _read(declared: FieldSchema, tree: Any, arrays: Mapping[str, npt.NDArray], place: str) -> Any:
    kind = declared.kind
    if tree is None and declared.may_be_none:
        return None
    if isinstance(kind, np.dtype):
        return _array(tree, arrays, place)
    if kind is tuple:
        return _tuple(declared, tree, arrays, place)
    if dataclasses.is_dataclass(kind):
        return _read_object(typing.cast(type, kind), tree, arrays, place)
    if kind is float:
        return _number(tree, place)
    if kind is int:
        if not isinstance(tree, int) or isinstance(tree, bool) or abs(tree) > MAX_EXACT_INTEGER:
            raise InvalidValue(place, _quoted(tree), "a whole number")
        return tree
    if not isinstance(tree, kind):
        raise InvalidValue(place, _quoted(tree), "true or false" if kind is bool else "text")
    words = declared.rule(OneOf)
    if words is not None and tree not in words.words:
        raise InvalidValue(place, _quoted(tree), "one of " + ", ".join(words.words))
    return tree


def _number(tree: Any, place: str) -> float:
    is_number = isinstance(tree, int | float) and not isinstance(tree, bool)
    if not is_number or not abs(tree) <= sys.float_info.max:
        raise InvalidValue(place, _quoted(tree), "a number")
    return float(tree)


def _tuple(declared: FieldSchema, tree: Any, arrays: Mapping[str, npt.NDArray], place: str) -> tuple[Any, ...]:
    wanted = "a list" if declared.is_list else f"a list of {len(declared.items)} values"
    if not isinstance(tree, list) or not (declared.is_list or len(tree) == len(declared.items)):
        raise InvalidValue(place, _quoted(tree), wanted)
    items = declared.items * len(tree) if declared.is_list else declared.items
    return tuple(_read(items[i], item, arrays, f"{place}[{i}]") for i, item in enumerate(tree))


def _array(tree: Any, arrays: Mapping[str, npt.NDArray], place: str) -> npt.NDArray:
    name = tree.get("array") if isinstance(tree, dict) and len(tree) == 1 else None
    if not isinstance(name, str):
        raise InvalidValue(place, _quoted(tree), 'an array, {"array": NAME}')
    if name not in arrays:
        raise InvalidValue(place, f"{_quoted(name)}, which is not among the arrays", "one of them")
    return arrays[name]


def _check_array(declared: FieldSchema, array: npt.NDArray, place: str, lengths: dict[str, tuple[int, str]]) -> None:
    """Checks type, shape and numbers of an array; `lengths` are those that have a name, and where they were found."""
    kinds, wanted = ("iu", "whole numbers") if declared.kind.kind == "i" else ("f", "floats")
    if array.dtype.kind not in kinds and array.size:
        raise InvalidValue(place, f"an array of {array.dtype.name}", f"one of {wanted}")
    if declared.kind.kind == "i" and array.size and not 0 <= int(array.min()) <= int(array.max()) <= MAX_INDEX:
        wrong = int(array.min()) if array.min() < 0 else int(array.max())
        raise InvalidValue(place, f"an array with the number {wrong}", f"one of numbers from 0 to {MAX_INDEX}")
    rule = declared.rule(Shape)
    if rule is None:
        return
    if not (rule.may_be_empty and array.shape[:1] == (0,)):
        fitting = tuple(
            lengths.get(length, (-1, ""))[0] if isinstance(length, str) else length for length in rule.lengths
        )
        if array.ndim != len(fitting) or any(w not in (-1, n) for w, n in zip(fitting, array.shape, strict=True)):
            raise InvalidValue(place, f"an array of shape {array.shape}", f"one of shape {_shape_text(rule, lengths)}")
        for length, count in zip(rule.lengths, array.shape, strict=True):
            if isinstance(length, str):
                lengths.setdefault(length, (count, place))
    if array.dtype.kind == "f" and array.size:
        largest = rule.largest
        if not (float(array.min()) >= -largest and float(array.max()) <= largest):
            count = int(np.count_nonzero(~(np.abs(array) <= largest)))
            found = f"an array in which {count} values are too large or no numbers"
            raise InvalidValue(place, found, f"one of numbers from {-largest:g} to {largest:g}")


def _shape_text(rule: Shape, lengths: dict[str, tuple[int, str]]) -> str:
    words = []
    for length in rule.lengths:
        known = lengths.get(length) if isinstance(length, str) else None
        words.append(str(length) if known is None else f"{known[0]} as in {known[1]}")
    return f"({', '.join(words)})"


def _check_rows(rows: npt.NDArray, of: npt.NDArray | None, place: str, name: str) -> None:
    count = 0 if of is None else len(of)
    if rows.size and not 0 <= int(rows.min()) <= int(rows.max()) < count:
        wrong = int(rows.min()) if rows.min() < 0 else int(rows.max())
        raise InvalidValue(place, f"an array with the number {wrong}", f"one of rows of {name}, which has {count}")


def _child_path(place: str, name: Any) -> str:
    return f"{place}.{name}".lstrip(".")[:200]


def _quoted(value: Any) -> str:
    """Returns a value as a sentence repeats it: short, and without what it contains."""
    if isinstance(value, list):
        return f"a list of {len(value)} values"
    if isinstance(value, dict):
        return "an object"
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) > MAX_EXACT_INTEGER:
        return "a whole number too large for any use"
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= MAX_QUOTED_CHARACTERS else text[:MAX_QUOTED_CHARACTERS] + "…"
