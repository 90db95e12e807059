# SPDX-License-Identifier: GPL-3.0-or-later
"""What a hand may do while a simulation runs, one JSON object each.

{"command": "grab", "grab": 1, "body": KEY, "place": [x, y, z], "radius": 0}    takes a place of a body
{"command": "move", "grab": 1, "place": [x, y, z]}                              pulls it
{"command": "release", "grab": 1}                                               lets go
{"command": "set", "track": "collider.KEY.matrix", "value": [[…], …]}           sets a track that may be handled
{"command": "deform", "collider": KEY, "sample": 12}                            gives a collider a shape of its file
{"command": "rate", "rate": 0.25}                                               slow motion; changes no result
{"command": "pause"}    or "step": takes one step, and pauses; or "resume"       the same
{"command": "keep_starts"}      writes what bodies would begin as (start_files.py); changes no result
{"command": "heat", "brush": 1, "place": [x, y, z], "radius": 0.1, "temperature": 200}    or "watts": 50; also "cool"
{"command": "soften", "brush": 2, "place": [x, y, z], "radius": 0.1, "strength": 1}       or "harden"
{"command": "push", "brush": 3, "place": [x, y, z], "radius": 0.1}                        presses with a ball
{"command": "lift", "brush": 1}                                                           takes a brush away

A command may have more values, which are recorded and not read: Blender adds what its keys are made of. A collider goes
where it is set with a bounded speed (collider_jumps.py), or within a step with "at_once": true, as what is animated. A
brush acts until it is lifted; the same command with another place moves it. Places and lengths are in metres,
temperatures in °C. A brush that cools by watts takes them away; one of a temperature may have an "exchange", its heat
transfer coefficient in W/(m² K), as a heat source. The strength is how often in a second the stiffness is halved, or
doubled. A grab or a move may also have a strength, a factor on the stiffness of its spring, at first 1.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..runtime.arrays import Floats, Indices, indices
from ..runtime.errors import BadInput
from ..scene.settings.heat_settings import SOURCE_EXCHANGE

ABSOLUTE_ZERO = -273.15  # [°C]


@dataclass(frozen=True, eq=False)
class TakeGrab:
    """Takes vertices of a body by their shares, as whoever grabs has seen them beside `place` [m], (k,) and (k,).

    Without vertices, and of a body that is torn, it takes what is nearest to `place`, with what is within `radius` [m].
    """

    grab: int
    body: str
    place: Floats
    radius: float
    strength: float = 1.0
    vertices: Indices = field(default_factory=lambda: np.zeros(0, np.int32))
    shares: Floats = field(default_factory=lambda: np.zeros(0))


@dataclass(frozen=True, eq=False)
class MoveGrab:
    """Moves the hand of a grab to `place` [m], and gives it another strength; None: the same."""

    grab: int
    place: Floats
    strength: float | None = None


@dataclass(frozen=True)
class ReleaseGrab:
    """Lets a grab go."""

    grab: int


@dataclass(frozen=True, eq=False)
class SetTrack:
    """Sets a track that may be handled; a collider is there after a step if `at_once`."""

    track: str
    value: Floats
    at_once: bool = False


@dataclass(frozen=True)
class DeformCollider:
    """Gives a collider that deforms the shape of a sample in its file (collider_shapes.py), in a step if `at_once`."""

    collider: str
    sample: int
    at_once: bool = False


@dataclass(frozen=True)
class SetRate:
    """Lets the run take so many seconds of the scene in a second of the clock, `rate` > 0."""

    rate: float


@dataclass(frozen=True)
class Pause:
    """Takes no more steps."""


@dataclass(frozen=True)
class TakeStep:
    """Takes one step, and pauses."""


@dataclass(frozen=True)
class Resume:
    """Goes on by the clock."""


@dataclass(frozen=True, eq=False)
class HoldHeatGun:
    """Heats or cools what is within `radius` of `place` [m].

    Attributes:
        brush, place, radius: Its number, and its ball.
        temperature: Of what it blows [°C]; None: it has a power.
        watts: The power [W].
        exchange: Heat transfer coefficient of what it blows [W/(m² K)].
    """

    brush: int
    place: Floats
    radius: float
    temperature: float | None
    watts: float
    exchange: float


@dataclass(frozen=True, eq=False)
class HoldStiffnessBrush:
    """Lets the stiffness within `radius` of `place` [m] double so many times a second; below zero it is halved."""

    brush: int
    place: Floats
    radius: float
    doublings: float


@dataclass(frozen=True, eq=False)
class HoldBall:
    """Presses with a ball of `radius` around `place` [m]."""

    brush: int
    place: Floats
    radius: float


@dataclass(frozen=True)
class LiftBrush:
    """Takes a brush away."""

    brush: int


@dataclass(frozen=True)
class KeepStarts:
    """Writes what bodies would begin as, if a bake began as they are now."""


ClockCommand = SetRate | Pause | TakeStep | Resume
Command = (
    TakeGrab
    | MoveGrab
    | ReleaseGrab
    | SetTrack
    | DeformCollider
    | HoldHeatGun
    | HoldStiffnessBrush
    | HoldBall
    | LiftBrush
    | ClockCommand
    | KeepStarts
)


def parse_command(given: Mapping[str, Any]) -> Command:
    """Returns what a JSON object asks for.

    Raises:
        BadInput: "live-command-invalid": it is no such command, or a value is missing or cannot be that.
    """
    name = given.get("command")
    try:
        match name:
            case "grab":
                return _take_grab(given)
            case "move":
                changed = _above_zero(given["strength"], "strength") if "strength" in given else None
                return MoveGrab(_whole(given, "grab"), _point(given), changed)
            case "release":
                return ReleaseGrab(_whole(given, "grab"))
            case "set":
                return SetTrack(_text(given, "track"), _numbers(given.get("value"), "value"), _switch(given, "at_once"))
            case "deform":
                return DeformCollider(_text(given, "collider"), _count(given, "sample"), _switch(given, "at_once"))
            case "rate":
                return SetRate(_above_zero(given.get("rate"), "rate"))
            case "pause":
                return Pause()
            case "step":
                return TakeStep()
            case "resume":
                return Resume()
            case "keep_starts":
                return KeepStarts()
            case "heat" | "cool":
                return _heat_gun(given, is_cold=name == "cool")
            case "soften" | "harden":
                doublings = _above_zero(given.get("strength", 1.0), "strength") * (-1.0 if name == "soften" else 1.0)
                return HoldStiffnessBrush(_whole(given, "brush"), _point(given), _brush_radius(given), doublings)
            case "push":
                return HoldBall(_whole(given, "brush"), _point(given), _brush_radius(given))
            case "lift":
                return LiftBrush(_whole(given, "brush"))
        raise ValueError("there is no such command")
    except (TypeError, ValueError) as problem:
        raise BadInput("live-command-invalid", command=str(name)[:40], problem=str(problem)) from problem


def _take_grab(given: Mapping[str, Any]) -> TakeGrab:
    vertices, shares = (_numbers(given.get(name, []), name) for name in ("vertices", "shares"))
    if vertices.ndim != 1 or vertices.shape != shares.shape or (vertices != np.floor(vertices)).any():
        raise ValueError("vertices have to be whole numbers, each with a share")
    if (vertices < 0.0).any() or (shares < 0.0).any() or (len(shares) and not shares.sum() > 0.0):
        raise ValueError("vertices and shares have to be at least 0, and their sum above")
    radius, strength = _length(given.get("radius", 0.0)), _above_zero(given.get("strength", 1.0), "strength")
    number, body, place = _whole(given, "grab"), _text(given, "body"), _point(given)
    return TakeGrab(number, body, place, radius, strength, indices(vertices), shares)


def _whole(given: Mapping[str, Any], name: str) -> int:
    value = given.get(name)
    if not isinstance(value, int) or isinstance(value, bool):
        raise ValueError(f"{name} has to be a whole number")
    return value


def _count(given: Mapping[str, Any], name: str) -> int:
    value = _whole(given, name)
    if value < 0:
        raise ValueError(f"{name} has to be at least 0")
    return value


def _switch(given: Mapping[str, Any], name: str) -> bool:
    value = given.get(name, False)
    if not isinstance(value, bool):
        raise ValueError(f"{name} has to be true or false")
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
    if not _is_number(value) or value < 0.0:
        raise ValueError("radius has to be a number of at least 0")
    return float(value)


def _above_zero(value: Any, name: str) -> float:
    if not _is_number(value) or value <= 0.0:
        raise ValueError(f"{name} has to be a number above 0")
    return float(value)


def _brush_radius(given: Mapping[str, Any]) -> float:
    return _above_zero(given.get("radius"), "radius")


def _heat_gun(given: Mapping[str, Any], is_cold: bool) -> HoldHeatGun:
    temperature, watts = given.get("temperature"), given.get("watts")
    if (temperature is None) == (watts is None):
        raise ValueError("it needs a temperature or watts, one of them")
    if temperature is not None and (not _is_number(temperature) or temperature < ABSOLUTE_ZERO):
        raise ValueError(f"temperature has to be a number of at least {ABSOLUTE_ZERO:g}")
    power = 0.0 if watts is None else _above_zero(watts, "watts") * (-1.0 if is_cold else 1.0)
    warmth = None if temperature is None else float(temperature)
    exchange = _above_zero(given.get("exchange", SOURCE_EXCHANGE.default), "exchange")
    return HoldHeatGun(_whole(given, "brush"), _point(given), _brush_radius(given), warmth, power, exchange)


def _is_number(value: Any) -> bool:
    return not isinstance(value, bool) and isinstance(value, int | float) and math.isfinite(value)


def _numbers(value: Any, name: str) -> Floats:
    try:
        found = np.asarray(value, np.float64)
    except (TypeError, ValueError):
        found = np.full(1, np.nan)
    if not np.isfinite(found).all():
        raise ValueError(f"{name} has to be numbers")
    return found
