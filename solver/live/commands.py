# SPDX-License-Identifier: GPL-3.0-or-later
"""What a hand may do while a simulation runs, one JSON object each.

{"command": "grab", "grab": 1, "body": KEY, "place": [x, y, z], "radius": 0}    takes a place of a body
{"command": "move", "grab": 1, "place": [x, y, z]}                              pulls it
{"command": "release", "grab": 1}                                               lets go
{"command": "set", "track": "collider.KEY.matrix", "value": [[…], …]}           sets a track that may be handled
{"command": "rate", "rate": 0.25}                                               slow motion; changes no result
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..runtime.arrays import Floats
from ..runtime.errors import BadInput


@dataclass(frozen=True, eq=False)
class TakeGrab:
    """Takes the place of a body that is nearest to `place` [m], with what is within `radius` [m]."""

    grab: int
    body: str
    place: Floats
    radius: float


@dataclass(frozen=True, eq=False)
class MoveGrab:
    """Moves the hand of a grab to `place` [m]."""

    grab: int
    place: Floats


@dataclass(frozen=True)
class ReleaseGrab:
    """Lets a grab go."""

    grab: int


@dataclass(frozen=True, eq=False)
class SetTrack:
    """Sets a track that may be handled."""

    track: str
    value: Floats


@dataclass(frozen=True)
class SetRate:
    """Lets the run take so many seconds of the scene in a second of the clock, `rate` > 0."""

    rate: float


Command = TakeGrab | MoveGrab | ReleaseGrab | SetTrack | SetRate


def parse_command(given: Mapping[str, Any]) -> Command:
    """Returns what a JSON object asks for.

    Raises:
        BadInput: "live-command-invalid": it is no such command, or a value is missing or cannot be that.
    """
    name = given.get("command")
    try:
        match name:
            case "grab":
                return TakeGrab(
                    _whole(given, "grab"), _text(given, "body"), _point(given), _length(given.get("radius", 0.0))
                )
            case "move":
                return MoveGrab(_whole(given, "grab"), _point(given))
            case "release":
                return ReleaseGrab(_whole(given, "grab"))
            case "set":
                return SetTrack(_text(given, "track"), _numbers(given.get("value"), "value"))
            case "rate":
                return SetRate(_rate(given.get("rate")))
        raise ValueError("there is no such command")
    except (TypeError, ValueError) as problem:
        raise BadInput("live-command-invalid", command=str(name)[:40], problem=str(problem)) from problem


def _whole(given: Mapping[str, Any], name: str) -> int:
    value = given.get(name)
    if not isinstance(value, int) or isinstance(value, bool):
        raise ValueError(f"{name} has to be a whole number")
    return value


def _text(given: Mapping[str, Any], name: str) -> str:
    value = given.get(name)
    if not isinstance(value, str):
        raise ValueError(f"{name} has to be a text")
    return value


def _point(given: Mapping[str, Any]) -> Floats:
    found = _numbers(given.get("place"), "place")
    if found.shape != (3,):
        raise ValueError("place has to be three numbers")
    return found


def _length(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value) or value < 0.0:
        raise ValueError("radius has to be a number of at least 0")
    return float(value)


def _rate(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value) or value <= 0.0:
        raise ValueError("rate has to be a number above 0")
    return float(value)


def _numbers(value: Any, name: str) -> Floats:
    try:
        found = np.asarray(value, np.float64)
    except (TypeError, ValueError):
        found = np.full(1, np.nan)
    if not np.isfinite(found).all():
        raise ValueError(f"{name} has to be numbers")
    return found
