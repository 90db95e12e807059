# SPDX-License-Identifier: GPL-3.0-or-later
"""Where the animation wants the pinned vertices of a body, and whether pins hold at all."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Self

import numpy as np

from ..runtime.arrays import Floats
from ..runtime.errors import SolveFailed
from ..scene.tracks import TrackReader
from .force import Force, ForceStep

DEFAULT_PIN_STIFFNESS = 1000.0  # [1/s²], where the scene has no track of it


@dataclass(frozen=True)
class PinTargets(Force):
    """The pinned vertices of one body, p of them.

    Attributes:
        key, name: The body's.
        body: Which of the model's bodies it is.
        rest: The vertices at rest [m], (p, 3): their targets where the scene has no track of them.
    """

    key: str
    name: str
    body: int
    rest: Floats

    def restricted_to(self, bodies: Collection[int]) -> Self | None:
        """Returns these pins if their body is one of those; else None."""
        return self if self.body in bodies else None

    def stiffness(self, tracks: TrackReader, time: float) -> float:
        """Returns pin_stiffness at a time [1/s²]; 0 releases everything."""
        name = f"body.{self.key}.pin_stiffness"
        return max(0.0, float(tracks.sample(name, time))) if tracks.has(name) else DEFAULT_PIN_STIFFNESS

    def targets(self, tracks: TrackReader, time: float) -> Floats:
        """Returns where the animation wants the pinned vertices at a time [m], (p, 3).

        Raises:
            SolveFailed: The animation gives no numbers.
        """
        name = f"body.{self.key}.targets"
        targets = tracks.sample(name, time) if tracks.has(name) else self.rest
        if not np.isfinite(targets).all():
            raise SolveFailed("targets-not-finite", name=self.name, time=round(time, 3))
        return targets

    def targets_at_end(self, step: ForceStep) -> Floats | None:
        """Returns the targets at the end of a step [m], (p, 3); None where the pins are released."""
        return self.targets(step.tracks, step.end) if self.stiffness(step.tracks, step.end) > 0.0 else None
