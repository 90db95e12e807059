# SPDX-License-Identifier: GPL-3.0-or-later
"""The muscle tets of a model as an `AnisotropicTerm`: fibres with activations, shear beside them, fascia."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ...runtime.arrays import Floats, Indices, floats
from ..hyperelastic.law_numbers import EXTENSION_STRETCH
from .muscle_kernels import MuscleArrays, muscle_energies, muscle_stresses, muscle_tangents


@dataclass(frozen=True, eq=False)
class MuscleTerm:
    """Muscle beside the isotropic law of some tets; a `TermWithStress`.

    Attributes:
        tets: The tets, ascending, (k,).
        arrays: What they are made of, in their order.
        activation: Of every contractile unit, 0 to 1, (u,).
        threshold: Stretch t; below a volume ratio of t³ the powers of J go on as cubics.
    """

    tets: Indices
    arrays: MuscleArrays
    activation: Floats
    threshold: float = EXTENSION_STRETCH

    def energy(self, own: slice, stretches: Floats, V: Floats) -> Floats:
        """Returns ψ [J/m³] of some of the tets, (c,); see `AnisotropicTerm`."""
        psi = np.empty(len(stretches))
        muscle_energies(own.start, stretches, V, self.arrays, self.activation, self.threshold**3, psi)
        return psi

    def stress_and_tangent(self, own: slice, stretches: Floats, V: Floats) -> tuple[Floats, Floats]:
        """Returns P̂, (c, 9), and T, (c, 9, 9) [Pa]; see `AnisotropicTerm`."""
        count = len(stretches)
        stress, tangent = np.empty((count, 9)), np.empty((count, 9, 9))
        arguments = self.arrays, self.activation, self.threshold**3
        muscle_tangents(own.start, stretches, V, *arguments, stress, tangent)
        return stress, tangent

    def stress(self, own: slice, stretches: Floats, V: Floats) -> Floats:
        """Returns P̂ [Pa], (c, 9); see `TermWithStress`."""
        stress = np.empty((len(stretches), 9))
        muscle_stresses(own.start, stretches, V, self.arrays, self.activation, self.threshold**3, stress)
        return stress

    def of_tets(self, tets: Indices) -> MuscleTerm | None:
        """Returns the term for a model of these tets alone, ascending; None where none of them has it."""
        own = np.isin(self.tets, tets)
        if not own.any():
            return None
        rows = MuscleArrays(*(np.ascontiguousarray(values[own]) for values in self.arrays))
        return replace(self, tets=np.searchsorted(tets, self.tets[own]).astype(np.int32), arrays=rows)

    def with_activation(self, activation: Floats) -> MuscleTerm:
        """Returns the same muscle with other activations of its units, (u,)."""
        return replace(self, activation=floats(activation))
