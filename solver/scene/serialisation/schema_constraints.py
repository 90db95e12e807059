# SPDX-License-Identifier: GPL-3.0-or-later
"""Constraints on the values of a stored dataclass, declared in its annotations.

    youngs_modulus: Annotated[float, greater_than(0.0, "Stiffness", "Pa")] = 1.0e5
    law: Annotated[str, OneOf(LAWS)] = "multiplicative"
    triangles: Annotated[Indices, Shape("t", 3), RowsOf("vertices")]

`typed_json.py` reads these annotations.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

MAX_COORDINATE = 1.0e12  # [m]: squares and cubes of it stay far from the end of float64
MAX_SETTING = 1.0e20  # of any setting, in its unit: products of some of them stay finite


@dataclass(frozen=True)
class Limits:
    """The range of a number.

    Attributes:
        label: What the window calls the number; "": it has no label there.
        words: The range for people, as in "it has to be WORDS".
        low, high: Its ends.
        includes_low, includes_high: Whether the ends themselves are allowed.
    """

    label: str
    words: str
    low: float = -MAX_SETTING
    high: float = MAX_SETTING
    includes_low: bool = True
    includes_high: bool = True

    def contains(self, value: float) -> bool:
        """Whether a number is within the range; what is not finite never is."""
        above_low = value >= self.low if self.includes_low else value > self.low
        below_high = value <= self.high if self.includes_high else value < self.high
        return math.isfinite(value) and above_low and below_high

    def text_for(self, value: float) -> str:
        """Returns the words for the range in the sentence that refuses a number."""
        return f"{self.words} and at most {MAX_SETTING:g}" if value > self.high == MAX_SETTING else self.words


@dataclass(frozen=True)
class OneOf:
    """A text is one of these words."""

    words: tuple[str, ...]


@dataclass(frozen=True)
class Shape:
    """The shape of an array.

    Attributes:
        lengths: A length per axis. Lengths of one dataclass that have the same name are equal.
        may_be_empty: Whether the array may have no rows instead.
        largest: No number of the array is farther from zero.
    """

    lengths: tuple[str | int, ...]
    may_be_empty: bool = False
    largest: float = MAX_SETTING


@dataclass(frozen=True)
class RowsOf:
    """An array holds row numbers of another array of the same dataclass."""

    array: str


def shape(*lengths: str | int) -> Shape:
    """Returns the rule of an array of finite numbers."""
    return Shape(lengths)


def shape_or_empty(*lengths: str | int) -> Shape:
    """Returns the rule of an array of finite numbers that may have no rows."""
    return Shape(lengths, may_be_empty=True)


def points(*lengths: str | int) -> Shape:
    """Returns the rule of an array of coordinates [m]."""
    return Shape(lengths, largest=MAX_COORDINATE)


def finite_number(label: str = "") -> Limits:
    """Returns the rule of any finite number."""
    return Limits(label, "a number")


def coordinate(label: str = "") -> Limits:
    """Returns the rule of a coordinate [m]."""
    words = f"between {-MAX_COORDINATE:g} and {MAX_COORDINATE:g} m"
    return Limits(label, words, -MAX_COORDINATE, MAX_COORDINATE)


def greater_than(low: float, label: str = "", unit: str = "") -> Limits:
    """Returns the rule of a number above `low`."""
    return Limits(label, f"above {low:g} {unit}".strip(), low, includes_low=False)


def at_least(low: float, label: str = "", unit: str = "") -> Limits:
    """Returns the rule of a number of `low` or more."""
    return Limits(label, f"{low:g} {unit}".strip() + " or more", low)


def open_range(low: float, high: float, label: str = "") -> Limits:
    """Returns the rule of a number between two others that it must not reach."""
    return Limits(label, f"between {low:g} and {high:g}", low, high, False, False)


def closed_range(low: float, high: float, label: str = "") -> Limits:
    """Returns the rule of a number between two others that it may reach."""
    return Limits(label, f"from {low:,.7g} to {high:,.7g}", low, high)


def right_open_range(low: float, high: float, label: str = "") -> Limits:
    """Returns the rule of a number of `low` or more and below `high`."""
    return Limits(label, f"from {low:g} to below {high:g}", low, high, True, False)


def left_open_range(low: float, high: float, label: str = "") -> Limits:
    """Returns the rule of a number above `low` and up to `high`."""
    return Limits(label, f"above {low:g} and at most {high:,g}", low, high, False, True)
