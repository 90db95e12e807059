# SPDX-License-Identifier: GPL-3.0-or-later
"""Blocks on slopes, on a collider and on another body: `make validate`, or

python -m pytest -s tests/validate_contact_friction.py
"""

from __future__ import annotations

import numpy as np
import pytest

from fixtures.claim_table import reach
from fixtures.contact_scenes import slope_on_body, slope_on_plane
from fixtures.scenes import Run, rotation

SECTION = "Contact"
G = 9.81
FRICTION = (0.1, 0.25, 0.5, 0.8, 1.2)
SLOPES = {"a plane": slope_on_plane, "another body": slope_on_body}


class Slope:
    """A block on a slope of tan θ = share · μ."""

    def __init__(self, folder, make, mu: float, share: float) -> None:
        """Lays it there."""
        angle = np.arctan(share * mu)
        scene, tracks = make(mu, angle)
        self.run = Run(folder, scene, **tracks)
        self.block = self.run.built.model.bodies[0].nodes
        self.down = rotation([0, 1, 0], angle) @ [1.0, 0.0, 0.0]
        self.expected = G * (np.sin(angle) - mu * np.cos(angle))

    def moved(self, frames: int) -> tuple[float, float]:
        """Returns how far it went down [m] and how much faster it became [m/s]."""
        x, v = self._mean()
        self.run.advance(frames)
        x1, v1 = self._mean()
        return x1 - x, v1 - v

    def _mean(self) -> tuple[float, float]:
        mass = self.run.built.model.mass[self.block]
        x, v = ((mass @ values[self.block] / mass.sum()) @ self.down for values in (self.run.state.x, self.run.state.v))
        return float(x), float(v)


@pytest.mark.parametrize("on", SLOPES)
def test_friction_holds_and_lets_go_at_its_angle(tmp_path, on):
    crept, share_off, off, mus = 0.0, 0.0, 0.0, " ".join(f"{mu:g}" for mu in FRICTION)
    for mu in FRICTION:
        below = Slope(tmp_path / f"below{mu}", SLOPES[on], mu, 0.98)
        below.moved(18)
        crept = max(crept, abs(below.moved(24)[0]))
        above = Slope(tmp_path / f"above{mu}", SLOPES[on], mu, 1.02)
        above.moved(12)
        share_off = max(share_off, abs(above.moved(24)[1] / above.expected - 1.0))
        sliding = Slope(tmp_path / f"sliding{mu}", SLOPES[on], mu, 2.0)
        sliding.moved(8)
        off = max(off, abs(sliding.moved(12)[1] / (0.5 * sliding.expected) - 1.0))
    name = f"block on {on}, μ {mus}"
    reach(SECTION, f"{name}: moves at tan θ = 0.98 μ, in a second", f"{1e3 * crept:.3f} mm", "0.1 mm", crept < 1e-4)
    line = f"{name}: acceleration at tan θ = 1.02 μ off g (sin θ − μ cos θ)"
    reach(SECTION, line, f"{share_off:.1%}", "5 %", share_off < 0.05)
    reach(SECTION, f"{name}: acceleration at tan θ = 2 μ off g (sin θ − μ cos θ)", f"{off:.2%}", "5 %", off < 0.05)
