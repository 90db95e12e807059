# SPDX-License-Identifier: GPL-3.0-or-later
"""What acts at contacts; see `solver/contact/contact_step.py` for the formulas."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...runtime.arrays import Bools, Floats, Indices
from ..detection.contact_attachment import ContactAttachment
from ..detection.multi_tet_contacts import MAX_TETS_PER_CONTACT


@dataclass
class ContactState:
    """What acts at each contact of a `Touching`, k of them.

    Attributes:
        on: Whether it pushes, (k,).
        ends: Tet of the point, and up to three that the place on the other side hangs on, −1 for none, (k, 4).
        weights: Their weights in these, (k, 16); those of the place add up to 1 over all three.
        size: Edge length of the tets, of the smaller ones of two bodies [m], (k,).
        k: Normal and sticking stiffness [N/m], (k,).
        mu: Coefficient of friction, (k,).
        shear: s0 [m], (k, 3).
        kappa: κ [N/m], (k,).
        slip: Friction along s0 instead of κ's there, in the first solve; 0: none [N], (k,).
        shift: Gap at which it begins to push [m], (k,).
        base: The same without what lifts it in this step alone [m], (k,).
        lift: Gap that it keeps while it lasts [m]: bodies in balance at the first frame need not touch quite, (k,).
            Below zero, with a shift as low, it is a depth from which what overlaps at the start is let out gently.
    """

    is_active: Bools
    ends: Indices
    weights: Floats
    size: Floats
    k: Floats
    mu: Floats
    shear: Floats
    kappa: Floats
    sliding_friction: Floats
    shift: Floats
    start_shift: Floats
    lift: Floats

    @staticmethod
    def allocate(count: int) -> ContactState:
        """Returns what is to be written, of `count` contacts."""
        numbers, rows = np.empty((8, count)), np.empty((count, 4 * MAX_TETS_PER_CONTACT))
        ends, shear = np.empty((count, MAX_TETS_PER_CONTACT), np.int32), np.empty((count, 3))
        size, k, mu, kappa, slip, shift, base, lift = numbers
        return ContactState(np.ones(count, bool), ends, rows, size, k, mu, shear, kappa, slip, shift, base, lift)

    def attach(self, tie: ContactAttachment, which: np.ndarray) -> None:
        """Ties some contacts."""
        self.ends[which], self.weights[which] = tie.ends, tie.weights
        self.size[which], self.k[which], self.mu[which] = tie.parameters

    def insert(self, others: ContactState, order: np.ndarray) -> None:
        """Takes other contacts in, and then all in an order, (k,)."""
        for name, values in vars(others).items():
            setattr(self, name, np.concatenate([getattr(self, name), values])[order])
