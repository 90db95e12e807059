# SPDX-License-Identifier: GPL-3.0-or-later
"""Which law a solve goes by, from a tangle to the equilibrium.

0. Ordering, of starts that are kept though they are in disorder (`newton.solve`). As untangling, but rotations of tets
   count by a weight, P = 2 μ (F − w R), w ≤ 1 (`invariants.rotation_weight`), until one tet in 200 is inside out. Under
   the corotated law itself every strewn tet pulls with its own rotation R, however far it is drawn out: long limbs
   become chains of pieces that are turned by chance, and where these add up to a whole turn, the limb ends twisted.
   With the weight, first iterates are smooth, and order spreads from what is held. Measured on bars of 3 × 3 × 30
   cells, held at both ends: of 50 scatters 40 came back untwisted without this stage, in a median of 27 iterations, and
   50 with it, in 19.
1. Untangling. Where more than one tet in 2000 is inside out, the law is the corotated one with λ = 0 until none is.
   Its stress, 2 μ (σ_i − 1) along each axis, leads a flat or inverted tet straight back. λ does not: of tets that are
   drawn out it pulls the shortest axis through zero, and under the constant extension holds it there. Measured,
   50,000 tets from a random scatter: none is inverted after 28 iterations; under neo-Hookean itself 500 were after 150.
   Where the start was forgotten (`forgetting.py`) until forces are small as well: threads have volume to win back.
   So too after ordering, for laws with an energy everywhere, which have shapes at rest without volume.
2. The law itself, with its extension; without it, where no tet is flat in the beginning.
3. Where the constant extension still has hold of tets at rest, a lower threshold, so that in the end the law holds.
4. A body that is pressed together by more than the threshold has no equilibrium under the constant extension: tets
   give way without end. Where the second stage does not arrive, turns tets inside out, or leaves some flat, the first
   is passed again, to its own equilibrium this time, and from there the law without an extension, whose energy has to
   fall at every step.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..hyperelastic.element import Answer, Hyperelastic
from ..hyperelastic.laws import COROTATED, NONE, WEIGHTED_COROTATED

TANGLED = 1.0 / 2000.0  # share of inverted tets from which the first stage is passed
CROWDED = 1.0 / 50.0  # the same where the law has an energy everywhere: it leads tets back itself
ORDERED = 1.0 / 200.0  # share of inverted tets at which the stage of ordering ends
UNTANGLING = 150  # iterations of the first stage at most
PATIENCE = 100  # iterations of the second before the fourth, while the extension has hold of tets
LOST = 0.05  # share of inverted tets from which the second leads nowhere
SMOOTH = 1.0e-2  # residual at which the first stage ends when it is passed again
LEAST_THRESHOLD = 0.05  # stretch below which tets count as flat
BELOW_SMALLEST = 0.9  # the new threshold, of the smallest stretch


class Stages:
    """The law of the present stage.

    Attributes:
        law: What the solve goes by now.
        bare: The law that was asked for, without an extension: most solves begin with it.
        is_untangling: Whether that is the first stage, or ordering before it.
        is_fresh: Whether the start has been forgotten (`forgetting.py`): threads need the first stage, inverted or not.
        was_ordered: Whether the first stage came after that of ordering, which leaves threads too.
    """

    def __init__(self, law: Hyperelastic, orders: bool = False) -> None:
        """`orders`: whether the first stage comes after that of ordering."""
        self.given = law
        self.bare = law if law.extension == NONE else replace(law, extension=NONE)
        self.untangling = replace(
            law, law=np.full_like(law.law, COROTATED), lam=np.zeros_like(law.lam), extension=NONE, left=None, added=None
        )
        self.ordering = replace(self.untangling, law=np.full_like(law.law, WEIGHTED_COROTATED))
        self.law = self.ordering if orders else self.untangling
        self.is_untangling = True
        self.is_second_time = False
        self.is_fresh = False
        self.was_ordered = False
        self.began = 0

    @property
    def is_ordering(self) -> bool:
        """Whether rotations count by their weight now."""
        return self.law is self.ordering

    def go_on(self, answer: Answer, residual: float, tolerance: float, iteration: int) -> bool:
        """Goes to the next stage where this one is over; returns whether it did.

        Args:
            answer: How the positions are, under the present law.
            residual: The same.
            tolerance: Residual to reach.
            iteration: Newton iterations so far.
        """
        passed = iteration - self.began
        if self.is_ordering:
            is_over = answer.inverted <= ORDERED * len(self.given.law) or residual <= tolerance or passed >= UNTANGLING
            self.was_ordered = is_over
            return is_over and self._enter(self.untangling, True, iteration)
        if self.is_untangling:
            is_energetic = self.given.extension == NONE
            is_thin = self.is_fresh or (self.was_ordered and is_energetic)
            is_smooth = residual <= SMOOTH or not (self.is_second_time or is_thin)
            leads_back = is_energetic and not (self.is_second_time or self.was_ordered)
            few = CROWDED * len(self.given.law) if leads_back else 0.0
            if residual > tolerance and passed < UNTANGLING and not (answer.inverted <= few and is_smooth):
                return False
            extension = NONE if self.is_second_time and answer.inverted == 0 else self.given.extension
            return self._enter(self.bare if extension == NONE else self.given, False, iteration)
        if not answer.below:
            return False
        if residual <= tolerance and min(answer.smallest, self.law.threshold) > LEAST_THRESHOLD:
            threshold = max(BELOW_SMALLEST * answer.smallest, LEAST_THRESHOLD)
            return self._enter(replace(self.law, threshold=threshold), False, iteration)
        is_lost = answer.inverted > LOST * len(self.given.law)
        if self.is_second_time or (residual > tolerance and passed < PATIENCE and not is_lost):
            return False
        self.is_second_time = True
        return self._enter(self.untangling, True, iteration)

    def begin(self, answer: Answer) -> None:
        """Skips the first stage where hardly a tet is inverted in the beginning, as `answer` says.

        Where none is even flat, the law has an energy and needs no extension: its own stress keeps tets from inverting.
        A law that has an energy everywhere takes over all the same, but where tets have no volume at all, such as those
        of a body that is pressed to a plane: nothing tells it which way out is.
        """
        if answer.smallest > LEAST_THRESHOLD:
            self._enter(self.bare, False, 0)
        elif self.given.extension != NONE:
            if answer.inverted <= TANGLED * len(self.given.law):
                self._enter(self.given, False, 0)
        elif answer.inverted <= CROWDED * len(self.given.law) and answer.smallest != 0.0:
            self._enter(self.given, False, 0)

    def _enter(self, law: Hyperelastic, is_untangling: bool, iteration: int) -> bool:
        self.law, self.is_untangling, self.began = law, is_untangling, iteration
        return True
