# SPDX-License-Identifier: GPL-3.0-or-later
"""Lets a scene have the digest that it had before it had settings that were added later, where these do nothing."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from ..settings.tables import later_fields


def drop_later_defaults(value: Any, tree: Any, arrays: dict[str, np.ndarray]) -> None:
    """Takes settings out of a tree that were added after 0.2.0 and have their default, as in bakes of before."""
    if dataclasses.is_dataclass(value):
        later = later_fields(type(value).__name__)
        for declared in dataclasses.fields(value):
            own, name = getattr(value, declared.name), declared.name
            if name in later and (not len(own) if isinstance(own, np.ndarray) else own == declared.default):
                stored = tree.pop(name)
                if isinstance(own, np.ndarray):
                    del arrays[stored["array"]]
            elif name in tree:
                drop_later_defaults(own, tree[name], arrays)
    elif isinstance(value, tuple):
        for item, part in zip(value, tree, strict=True):
            drop_later_defaults(item, part, arrays)
