# SPDX-License-Identifier: GPL-3.0-or-later
"""How far the load of a piece rises: until the motion of what hits it is stored in the contacts and in the piece.

All forces rise together, to a share s of their peaks by Hertz's law alone. Contacts then store E s^(5/3), and the
piece, which is linear, U s². A pane that bends takes most of the energy, so that the force stays far below that of a
solid block. Each crack makes it softer, and the load falls while what hits stays where it is; then it rises again.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import scipy.optimize


@dataclass(frozen=True)
class ImpactEnergy:
    """A piece while hits press on it.

    Attributes:
        budget: Energy of motion of the hits, of the contacts and of the piece together [J].
        in_contacts: E, what contacts store at s = 1 [J], above 0.
        in_piece: U, what the piece stores at s = 1 [J].
        share: s by now.
    """

    budget: float
    in_contacts: float
    in_piece: float
    share: float = 0.0

    def stored(self, share: float) -> float:
        """Returns E s^(5/3) + U s² [J]."""
        return self.in_contacts * share ** (5.0 / 3.0) + self.in_piece * share**2

    @property
    def peak_share(self) -> float:
        """The s at which all is stored."""
        if not self.budget > 0.0:
            return 0.0
        most = (self.budget / self.in_contacts) ** 0.6
        if not self.in_piece > 0.0:
            return most
        return float(scipy.optimize.brentq(lambda s: self.stored(s) - self.budget, 0.0, most, xtol=1e-14))

    def equivalent_duration(self, power: float, exponent: float) -> float:
        """Returns ∫ (s / s_peak)ⁿ dt [s] over the whole impact: how long the peak alone would do as much.

        With W = E s^(5/3) + U s² = B sin² φ, of which the hits have lost that much speed,

            ∫ = 4 B / (P s_peak) ∫ (s / s_peak)^(n − 1) sin φ dφ from 0 to π/2,

        where s / s_peak = (W / B)^(1/p) with p = d ln W / d ln s at the peak: exactly so where E or U is zero, and
        else near to the peak, which is what a large n takes.

        Args:
            power: P = Σ F v of the peak forces of Hertz's law and the speeds at s = 0 [W], above 0.
            exponent: n.
        """
        peak = self.peak_share
        p = (5.0 / 3.0 * self.in_contacts * peak ** (5.0 / 3.0) + 2.0 * self.in_piece * peak**2) / self.budget
        k = 2.0 * (exponent - 1.0) / p + 1.0
        mean_power = 0.5 * math.sqrt(math.pi) * math.exp(math.lgamma(0.5 * (k + 1.0)) - math.lgamma(0.5 * k + 1.0))
        return 4.0 * self.budget / (power * peak) * mean_power

    @property
    def motion(self) -> float:
        """What is left of the energy of motion [J]."""
        return max(self.budget - self.stored(self.share), 0.0)

    def at_share(self, share: float) -> ImpactEnergy:
        """Returns the same where the load is a share s of the peak of Hertz's law."""
        return ImpactEnergy(self.budget, self.in_contacts, self.in_piece, share)

    def after_crack(self, in_piece: float) -> tuple[ImpactEnergy, float]:
        """Returns the same when a crack has made the piece softer, and the energy that this has released [J].

        A crack runs much faster than what hits moves: all stays where it is, 5/2 E s^(2/3) + 2 U s, which is the force
        at s = 1 times the way that the hit has come. So the load falls, and the energy of motion stays as it is.

        Args:
            in_piece: U by now [J].
        """
        softer = ImpactEnergy(self.budget, self.in_contacts, in_piece)
        share = self.share
        if in_piece > self.in_piece and share > 0.0:
            way = self._way(share)
            share = float(scipy.optimize.brentq(lambda s: softer._way(s) - way, 0.0, share, xtol=1e-15))
        released = max(self.stored(self.share) - softer.stored(share), 0.0)
        return ImpactEnergy(self.budget - released, self.in_contacts, in_piece, share), released

    def _way(self, share: float) -> float:
        """Returns the force at s = 1 times the way that the hit has come, of contacts and piece [J]."""
        return 2.5 * self.in_contacts * share ** (2.0 / 3.0) + 2.0 * self.in_piece * share
