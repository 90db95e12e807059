# SPDX-License-Identifier: GPL-3.0-or-later
"""Every method, and every switch of it thrown: what has to bake, to play and to resume."""

from __future__ import annotations

import dataclasses
from typing import Any

from sinew.solver.method import METHODS, SWITCHES, Method
from sinew.solver.scene import Body

# another value than the default of every switch
OTHER: dict[str, Any] = {
    "rotation": "higham",
    "rotations_every": 3,
    "rotation_field": "edges",
    "keeps_momentum": False,
    "network": "springs",
    "is_stale": True,
    "is_matrix_free": True,
    "one_step": True,
    "levels": 2,
    "coarse_solver": "lu",
    "scheme": "bdf2",
}
CHOICES = [
    Method(name, **({switch: OTHER[switch]} if switch else {})) for name in METHODS for switch in ("", *SWITCHES[name])
]


def words(method: Method) -> str:
    """Returns a method and what of it is not by default: "polar, rotation=higham"."""
    changed = [
        f"{field.name}={getattr(method, field.name)}"
        for field in dataclasses.fields(Method)
        if field.name != "name" and getattr(method, field.name) != field.default
    ]
    return ", ".join([method.name, *changed])


def resisting(body: Body, method: Method) -> Body:
    """Returns the body with another method."""
    return dataclasses.replace(body, method=method)
