# SPDX-License-Identifier: GPL-3.0-or-later
"""Named tuples of the fields of dataclasses: kernels take tuples, and no other objects."""

from __future__ import annotations

import dataclasses
from collections import namedtuple
from typing import Any


def kernel_tuple(name: str, of: type) -> Any:
    """Returns the named tuple type `name` with the fields of a dataclass, for a variable `name` of the same module.

    Compiled kernels are stored with the types of their parameters, which are found again by module and name.
    """
    names = [field.name for field in dataclasses.fields(of)]
    return namedtuple(name, names, module=of.__module__)
