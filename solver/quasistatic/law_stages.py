# SPDX-License-Identifier: GPL-3.0-or-later
"""Which law a solve goes by, from a tangle to the equilibrium.

0. Ordering, of starts that are kept though they are in disorder (`newton.solve`). As untangling, but rotations of tets
   count by a weight, P = 2 μ (F − w R), w ≤ 1 (`energy_densities.rotation_weight`), until one tet in 200 is inside out.
   Under the corotated law every strewn tet pulls with its own rotation R, however far it is drawn out: long limbs
   become chains of pieces that are turned by chance, and where these add up to a whole turn, the limb ends twisted.
   With the weight, first iterates are smooth, and order spreads from what is held. Measured on bars of 3 × 3 × 30
   cells, held at both ends: of 50 scatters 40 came back untwisted without this stage, in a median of 27 iterations, and
   50 with it, in 19.
1. Untangling. Where more than one tet in 2000 is inside out, the law is the corotated one with λ = 0 until none is.
   Its stress, 2 μ (σ_i − 1) along each axis, leads a flat or inverted tet straight back. λ does not: of tets that are
   drawn out it pulls the shortest axis through zero, and under the constant extension holds it there. Measured,
   50,000 tets from a random scatter: none is inverted after 28 iterations; under neo-Hookean itself 500 were after 150.
   Where the start was forgotten (`harmonic_reset.py`) until forces are small as well: threads have volume to win back.
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

from ..mechanics.hyperelastic.hyperelastic_bodies import EvaluationResult, Hyperelastic
from ..mechanics.hyperelastic.law_numbers import COROTATED, NO_EXTENSION, WEIGHTED_COROTATED
from ..runtime.arrays import Floats

TANGLED_SHARE = 1.0 / 2000.0  # share of inverted tets from which the first stage is passed
ENERGETIC_TANGLED_SHARE = 1.0 / 50.0  # the same where the law has an energy everywhere: it leads tets back itself
ORDERED_SHARE = 1.0 / 200.0  # share of inverted tets at which the stage of ordering ends
MAX_UNTANGLING_ITERATIONS = 150  # iterations of the first stage at most
MAX_EXTENDED_ITERATIONS = 100  # iterations of the second before the fourth, while the extension has hold of tets
DIVERGED_SHARE = 0.05  # share of inverted tets from which the second leads nowhere
SMOOTH_RESIDUAL = 1.0e-2  # residual at which the first stage ends when it is passed again
MIN_THRESHOLD = 0.05  # stretch below which tets count as flat
THRESHOLD_RATIO = 0.9  # the new threshold, of the smallest stretch

# of λ: shear modulus that unfolds tets of a law without one, whose shear is that of an anisotropic term
SHEARLESS_SHARE = 1.0e-2


def _untangling_modulus(law: Hyperelastic) -> Floats:
    """Returns the shear modulus with which tets are unfolded [Pa], (m,)."""
    if (law.mu > 0.0).all():
        return law.mu
    whole = law.lam if law.left is None else law.lam + law.left.lam
    return np.where(law.mu > 0.0, law.mu, SHEARLESS_SHARE * whole)


class LawStages:
    """The law of the present stage.

    Attributes:
        law: What the solve goes by now.
        requested: The law that was asked for.
        unextended: The same without an extension: most solves begin with it.
        is_untangling: Whether that is the first stage, or ordering before it.
        is_repeated: Whether the first stage is done for a second time.
        has_harmonic_start: Whether the start has been forgotten (`harmonic_reset.py`): threads need the first stage,
            inverted or not.
        was_ordered: Whether the first stage came after that of ordering, which leaves threads too.
    """

    def __init__(self, law: Hyperelastic, orders: bool = False) -> None:
        """`orders`: whether the first stage comes after that of ordering."""
        self.requested = law
        self.unextended = law if law.extension == NO_EXTENSION else replace(law, extension=NO_EXTENSION)
        self.untangling = replace(
            law,
            law=np.full_like(law.law, COROTATED),
            mu=_untangling_modulus(law),
            lam=np.zeros_like(law.lam),
            extension=NO_EXTENSION,
            left=None,
            anisotropic_term=None,
        )
        self.ordering = replace(self.untangling, law=np.full_like(law.law, WEIGHTED_COROTATED))
        self.law = self.ordering if orders else self.untangling
        self.is_untangling = True
        self.is_repeated = False
        self.has_harmonic_start = False
        self.was_ordered = False
        self.stage_start = 0

    @property
    def is_ordering(self) -> bool:
        """Whether rotations count by their weight now."""
        return self.law is self.ordering

    def next_stage(self, answer: EvaluationResult, residual: float, tolerance: float, iteration: int) -> bool:
        """Goes to the next stage where this one is over; returns whether it did.

        Args:
            answer: How the positions are, under the present law.
            residual: The same.
            tolerance: Residual to reach.
            iteration: Newton iterations so far.
        """
        passed = iteration - self.stage_start
        if self.is_ordering:
            is_over = (
                answer.inverted <= ORDERED_SHARE * len(self.requested.law)
                or residual <= tolerance
                or passed >= MAX_UNTANGLING_ITERATIONS
            )
            self.was_ordered = is_over
            return is_over and self._enter(self.untangling, True, iteration)
        if self.is_untangling:
            is_energetic = self.requested.extension == NO_EXTENSION
            is_thin = self.has_harmonic_start or (self.was_ordered and is_energetic)
            is_smooth = residual <= SMOOTH_RESIDUAL or not (self.is_repeated or is_thin)
            leads_back = is_energetic and not (self.is_repeated or self.was_ordered)
            few = ENERGETIC_TANGLED_SHARE * len(self.requested.law) if leads_back else 0.0
            if (
                residual > tolerance
                and passed < MAX_UNTANGLING_ITERATIONS
                and not (answer.inverted <= few and is_smooth)
            ):
                return False
            extension = NO_EXTENSION if self.is_repeated and answer.inverted == 0 else self.requested.extension
            return self._enter(self.unextended if extension == NO_EXTENSION else self.requested, False, iteration)
        if not answer.extended_count:
            return False
        if residual <= tolerance and min(answer.smallest, self.law.threshold) > MIN_THRESHOLD:
            threshold = max(THRESHOLD_RATIO * answer.smallest, MIN_THRESHOLD)
            return self._enter(replace(self.law, threshold=threshold), False, iteration)
        is_lost = answer.inverted > DIVERGED_SHARE * len(self.requested.law)
        if self.is_repeated or (residual > tolerance and passed < MAX_EXTENDED_ITERATIONS and not is_lost):
            return False
        self.is_repeated = True
        return self._enter(self.untangling, True, iteration)

    def begin(self, answer: EvaluationResult) -> None:
        """Skips the first stage where hardly a tet is inverted in the beginning, as `answer` says.

        Where none is even flat, the law has an energy and needs no extension: its own stress keeps tets from inverting.
        A law that has an energy everywhere takes over all the same, but where tets have no volume at all, such as those
        of a body that is pressed to a plane: nothing tells it which way out is.
        """
        if answer.smallest > MIN_THRESHOLD:
            self._enter(self.unextended, False, 0)
        elif self.requested.extension != NO_EXTENSION:
            if answer.inverted <= TANGLED_SHARE * len(self.requested.law):
                self._enter(self.requested, False, 0)
        elif answer.inverted <= ENERGETIC_TANGLED_SHARE * len(self.requested.law) and answer.smallest != 0.0:
            self._enter(self.requested, False, 0)

    def _enter(self, law: Hyperelastic, is_untangling: bool, iteration: int) -> bool:
        self.law, self.is_untangling, self.stage_start = law, is_untangling, iteration
        return True
