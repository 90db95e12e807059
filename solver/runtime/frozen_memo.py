# SPDX-License-Identifier: GPL-3.0-or-later
"""Memoisation on frozen objects: what is derived from one is kept in it, and dropped with it.

The functions are pure and their results are never written to. Threads that ask at the same time may compute one twice;
both get the same numbers.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np

Owner = TypeVar("Owner")
Result = TypeVar("Result")


def derived(compute: Callable[[Owner], Result]) -> Callable[[Owner], Result]:
    """Returns a pure function of one frozen object that computes its result once per object.

    It is for functions what `functools.cached_property` is for methods: modules above the object's own may add to it.
    """
    name = f"{compute.__module__}.{compute.__qualname__}"

    @functools.wraps(compute)
    def result_of(owner: Owner) -> Result:
        results = vars(owner)
        if name not in results:
            return results.setdefault(name, compute(owner))
        return results[name]

    return result_of


@dataclass(frozen=True)
class _Derived:
    """A result, and what it was computed from."""

    inputs: tuple[object, ...]
    values: tuple[np.ndarray, ...]
    result: Any

    def is_of(self, inputs: tuple[object, ...], values: tuple[np.ndarray, ...]) -> bool:
        """Returns whether these inputs give the same result."""
        is_same = len(inputs) == len(self.inputs) and all(a is b for a, b in zip(inputs, self.inputs, strict=True))
        return is_same and all(map(np.array_equal, values, self.values))


def derived_from(
    owner: object,
    name: str,
    compute: Callable[[], Result],
    *,
    inputs: tuple[object, ...] = (),
    values: tuple[np.ndarray, ...] = (),
    key: int | None = None,
) -> Result:
    """Returns the result of a pure function of a frozen object and of other inputs, kept for the last inputs.

    Args:
        owner: The frozen object.
        name: Of the function.
        compute: Computes the result.
        inputs: What else the result follows from, compared by identity: arrays among them are never written to.
        values: Arrays that it follows from and that are written to later, compared by their numbers.
        key: Which of several results this is, such as the number of a body; each has last inputs of its own.
    """
    results, entry = vars(owner), f"{name} {key}"
    kept = results.get(entry)
    if kept is None or not kept.is_of(inputs, values):
        kept = results[entry] = _Derived(inputs, tuple(array.copy() for array in values), compute())
    return kept.result
