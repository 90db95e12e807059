# SPDX-License-Identifier: GPL-3.0-or-later
"""The layout of an element record: the row of numbers that a pass over the tets writes for each of them.

The assembly reads every record several times, from memory where there are many tets. So rows are as short as possible:
24 numbers without damping of deformation, 48 with it, and `MAX_RECORD_LENGTH` with a pressure by volume as well.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ...runtime.arrays import Floats, Indices

if TYPE_CHECKING:
    from ..model import Model

# Offsets in every record: R g0 … R g3; V λ, V μ [N m]; the forces f1 … f3 [N] on the nodes, that on node 0 being
# minus their sum.
ROTATED_GRADIENTS, V_LAMBDA, V_MU, FORCE, UNDAMPED_LENGTH = 0, 12, 13, 15, 24
# With damping: F g0 … F g3; xx, yy, zz, xy, yz, zx of F Fᵀ; V λ and V μ times the β that acts [N m s].
DEFORMED_GRADIENTS, LEFT_CAUCHY_GREEN, DAMPING_LAMBDA, DAMPING_MU, DAMPED_LENGTH = 24, 36, 42, 43, 48
# With pressure: h0 … h3 = ∂J/∂x_a of tets that have it, nothing for the others; what h hᵀ is multiplied with in the
# stiffness [N/m · m²], zero where there is none, and that times β.
VOLUME_GRADIENTS, BULK_STIFFNESS, BULK_DAMPING, MAX_RECORD_LENGTH = 48, 60, 61, 64


def record_length(has_damping: bool, has_pressure: bool) -> int:
    """Returns the length of a record, in numbers."""
    return MAX_RECORD_LENGTH if has_pressure else DAMPED_LENGTH if has_damping else UNDAMPED_LENGTH


class ElementArrays(NamedTuple):
    """The arrays of a `Model` that the passes over linear tets read, for all m tets or for some.

    Attributes:
        tets, Dm_inverse, volume, mu: Its own.
        lam: Its `lam_by_strain` [Pa], (m,).
        damping: Its `stiffness_damping` [s], (m,).
        initial_strain: Its own, (m, 6), or (0, 6) for none.
    """

    tets: Indices
    Dm_inverse: Floats
    volume: Floats
    mu: Floats
    lam: Floats
    damping: Floats
    initial_strain: Floats

    def select(self, tets: slice) -> ElementArrays:
        """Returns those of some tets."""
        return ElementArrays(
            self.tets[tets],
            self.Dm_inverse[tets],
            self.volume[tets],
            self.mu[tets],
            self.lam[tets],
            self.damping[tets],
            self.initial_strain[tets] if len(self.initial_strain) else self.initial_strain,
        )


def element_arrays(model: Model) -> ElementArrays:
    """Returns those of all tets of a model."""
    return ElementArrays(
        model.tets,
        model.Dm_inverse,
        model.volume,
        model.mu,
        model.lam_by_strain,
        model.stiffness_damping,
        model.initial_strain,
    )
