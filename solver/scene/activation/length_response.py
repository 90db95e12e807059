# SPDX-License-Identifier: GPL-3.0-or-later
"""Excitation of a muscle by the length of its path from origin to insertion.

With the length L₀ at rest, the shortening s = 1 − L/L₀ and its range from s₀ to s₁:

    u = c(clamp((s − s₀) / (s₁ − s₀))) + r max(dL/dt, 0) / L₀

with c(x) = x^p, or a curve through points. The second part is the phasic stretch reflex, with which muscle spindles
answer a lengthening.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from ...runtime.arrays import Floats
from .monotone_cubic import monotone_cubic


@dataclass(frozen=True)
class LengthResponse:
    """How a muscle answers the length of its path.

    Attributes:
        start, full: s₀ and s₁, where u is 0 and 1; full below start: stretching excites.
        exponent: p, > 0, where there are no points.
        points: Of c, each x and c, x rising, (k, 2); (0, 2) for none.
        reflex: r [s], ≥ 0.
    """

    start: float
    full: float
    exponent: float
    reflex: float
    points: Floats = field(default_factory=lambda: np.zeros((0, 2)))

    def excitation(self, times: Floats, lengths: Floats, rest_length: float) -> Floats:
        """Returns u in [0, 1] at samples of the length, (k,).

        Args:
            times: Of the samples [s], rising, (k,).
            lengths: L [m], (k,); dL/dt is that of the interval before a sample, so that nothing is known ahead.
            rest_length: L₀ [m], > 0.
        """
        shortening, span = 1.0 - lengths / rest_length, self.full - self.start
        if span == 0.0:
            share = (shortening > self.start).astype(np.float64)
        else:
            share = np.clip((shortening - self.start) / span, 0.0, 1.0)
        passed = np.diff(times)
        speed = np.zeros(len(lengths))
        np.divide(np.diff(lengths), passed, out=speed[1:], where=passed > 0.0)
        return np.clip(self.curve(share) + self.reflex * np.maximum(speed, 0.0) / rest_length, 0.0, 1.0)

    def curve(self, share: Floats) -> Floats:
        """Returns c at shares of the range, in [0, 1], (k,)."""
        if len(self.points):
            return monotone_cubic(self.points[:, 0], self.points[:, 1], share)
        return share**self.exponent


def path_lengths(paths: Floats) -> Floats:
    """Returns the lengths [m] of polygons through points [m], (k, n, 3), as (k,)."""
    return np.linalg.norm(np.diff(paths, axis=1), axis=2).sum(axis=1)
