# SPDX-License-Identifier: GPL-3.0-or-later
"""Converts the lists of a frozen dataclass to the arrays and tuples that it declares."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...runtime.arrays import indices
from .field_schema import declared_fields


def convert_sequences(value: Any) -> None:
    """Makes the arrays and tuples that a frozen dataclass declares of whatever sequences it was given.

    Arrays of whole numbers stay as they are; positions and weights become float64.

    Raises:
        ValueError: A sequence cannot be made an array of numbers.
    """
    cls: Any = type(value)
    for name, declared in declared_fields(cls).items():
        given = getattr(value, name)
        if given is None:
            continue
        if declared.kind is tuple and not isinstance(given, tuple):
            object.__setattr__(value, name, tuple(given))
        elif isinstance(declared.kind, np.dtype):
            is_whole = declared.kind.kind == "i"
            if not (is_whole and isinstance(given, np.ndarray)):
                object.__setattr__(value, name, indices(given) if is_whole else np.asarray(given, np.float64))
