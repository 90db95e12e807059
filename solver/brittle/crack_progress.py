# SPDX-License-Identifier: GPL-3.0-or-later
"""What is told while a body breaks: a hard hit may take as long as many frames."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class CrackProgress:
    """How far the breaking of a body under one hit is: its name, stress solves and pieces so far."""

    body: str
    stress_solves: int
    pieces: int


OnStressSolve = Callable[[int, int], None]  # takes the number of stress solves and of pieces so far; it may raise
