# SPDX-License-Identifier: GPL-3.0-or-later
"""An impact by Hertz's law: how long two bodies touch, and how hard they press on each other.

The approach δ of the bodies follows m δ̈ = −K δ^(3/2) with the effective mass m of both at the place. All of it follows
from the energy: ½ m v² = 2/5 K δ^(5/2) where they are nearest. 1 kg of glass at 3.1 m/s touches for a quarter of a
millisecond: a step of 10 ms knows the impulse, but not the force.

Source: Johnson (1985), section 11.4.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

# T v / δ of an impact that begins where the bodies touch, ∫ 2 dx / √(1 − x^(5/2)) from 0 to 1
DURATION_FACTOR = 0.8 * math.sqrt(math.pi) * math.gamma(0.4) / math.gamma(0.9)


@dataclass(frozen=True)
class HertzImpact:
    """Two bodies that come nearer to each other.

    Attributes:
        stiffness: K of F = K δ^(3/2) [N m^(−3/2)], above 0.
        mass: Effective mass m of both at the place, in the direction of their normal [kg], above 0.
        speed: By which they come nearer [m/s], at least 0.
        approach: δ by then [m]; 0: they just touch.
    """

    stiffness: float
    mass: float
    speed: float
    approach: float = 0.0

    @property
    def energy(self) -> float:
        """What the contact stores where the bodies are nearest [J]."""
        return 0.5 * self.mass * self.speed**2 + 0.4 * self.stiffness * self.approach**2.5

    @property
    def largest_approach(self) -> float:
        """δ where the bodies are nearest [m]."""
        return (2.5 * self.energy / self.stiffness) ** 0.4

    @property
    def force(self) -> float:
        """F by now [N]."""
        return self.stiffness * self.approach**1.5

    @property
    def peak_force(self) -> float:
        """F where the bodies are nearest [N]."""
        return self.stiffness * self.largest_approach**1.5

    @property
    def duration(self) -> float:
        """How long bodies that just touch now and lose no energy stay in touch [s]."""
        return DURATION_FACTOR * self.largest_approach / self.speed

    @property
    def rise_time(self) -> float:
        """How long it takes from where bodies touch to where they are nearest [s]; 0: they do not come nearer."""
        energy = self.energy
        speed = math.sqrt(2.0 * energy / self.mass)
        return 0.5 * DURATION_FACTOR * self.largest_approach / speed if speed > 0.0 else 0.0

    def at_force(self, force: float) -> HertzImpact:
        """Returns the impact where it has grown to a force of at most the peak [N]."""
        approach = min((force / self.stiffness) ** (2.0 / 3.0), self.largest_approach)
        left = self.energy - 0.4 * self.stiffness * approach**2.5
        return HertzImpact(self.stiffness, self.mass, math.sqrt(max(2.0 * left / self.mass, 0.0)), approach)

    def slowed(self, share: float, force: float) -> HertzImpact:
        """Returns the impact when its speed is a share of what it was, and its force has grown so large [N]."""
        approach = (force / self.stiffness) ** (2.0 / 3.0)
        return HertzImpact(self.stiffness, self.mass, share * self.speed, approach)

    def on_part(self, part: float, mass: float) -> HertzImpact:
        """Returns the impact on one part of a body that has broken under it: a share of the force, and a mass [kg]."""
        return HertzImpact(part * self.stiffness, mass, self.speed, self.approach)


def mass_from_impulse(impulse: float, speed: float, restitution: float) -> float:
    """Returns m = J / ((1 + e) v) [kg]: what a step found to be stopped at one of several places.

    Args:
        impulse: J along the normal [N s].
        speed: v by which the bodies came nearer before [m/s], above 0.
        restitution: e, by which share of that they part.
    """
    return impulse / ((1.0 + restitution) * speed)
