# SPDX-License-Identifier: GPL-3.0-or-later
"""The rule for keys, which name bodies, colliders, bones and heat sources in files and tracks."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from ..runtime.errors import BadInput

_KEY = re.compile(r"[A-Za-z0-9_-]{1,200}")  # file systems take names of 255 bytes


def is_key(text: str) -> bool:
    """Whether `text` may name something in files and tracks."""
    return _KEY.fullmatch(text) is not None


def check_keys(named: Sequence[Any]) -> None:
    """Makes sure that keys of named values can be part of file names, and that no two are equal.

    Raises:
        BadInput: "body-key".
    """
    keys = [each.key for each in named]
    for each in named:
        if not is_key(each.key) or keys.count(each.key) > 1:
            raise BadInput("body-key", name=each.name, key=each.key)
