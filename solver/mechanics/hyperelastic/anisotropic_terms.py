# SPDX-License-Identifier: GPL-3.0-or-later
"""Anisotropic terms, such as those of fibres, which some tets have beside their isotropic law.

A term gives its energy, and P̂ and T in the diagonal frame: 3×3 and 9×9 numbers per tet. They are added to those of the
law before the sum is made positive semi-definite: fibres that are pressed are no harm where the law outweighs them.
What the tet pass has left of such tets is then written anew. Scenes without a term compile and compute nothing of it.

Source: S07, sections 2.5 and A.3, which clamps two factors of T apart; the whole has the nearer semi-definite one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

import numpy as np

from ...mesh.local_tet_numbering import TET_EDGES
from ...runtime.arrays import Floats, Indices
from ...runtime.threads.index_partition import partition
from ...runtime.threads.thread_pool import run_parts
from ..model import Model
from .anisotropic_kernels import SCRATCH_SIZE, compute_diagonal_frames, write_anisotropic_records
from .jacobi_eigen_dense import project_semidefinite_dense
from .tet_kernels import ENERGY_ONLY, WITH_TANGENT

if TYPE_CHECKING:
    from .hyperelastic_bodies import Hyperelastic, TetArrays

UPPER = np.array(TET_EDGES, np.int64)  # nodes of the blocks of a tet above the diagonal


class AnisotropicTerm(Protocol):
    """A term ψ(F) that is the same after every rotation of space, so that no method needs U of F = U diag(σ) Vᵀ.

    A direction f at rest is Vᵀ f in the diagonal frame. Under the constant extension stretches are raised ones, as
    those of the law are. Methods are called by several threads at once, each for other tets.
    """

    @property
    def tets(self) -> Indices:
        """The tets that have the term, ascending, (k,)."""

    def energy(self, own: slice, stretches: Floats, V: Floats) -> Floats:
        """Returns ψ [J/m³] of some of the tets, (c,), for σ, (c, 3), and V, (c, 3, 3)."""

    def stress_and_tangent(self, own: slice, stretches: Floats, V: Floats) -> tuple[Floats, Floats]:
        """Returns P̂, (c, 9), and T = ∂P/∂F, (c, 9, 9), at F̂ = diag(σ) [Pa], matrices row by row."""

    def of_tets(self, tets: Indices) -> AnisotropicTerm | None:
        """Returns the term for a model of these tets alone, ascending; None where none of them has it."""


def add_anisotropic_term(model: Model, law: Hyperelastic, x: Floats, work: TetArrays, wanted: int, clamp: bool) -> None:
    """Adds the term of a law to what the tet pass has left in `work`; arguments are that pass's."""
    term = law.anisotropic_term
    assert term is not None
    rows = term.tets
    parts = partition(len(rows))

    def run(part: int) -> None:
        own = slice(*parts[part])
        tets = rows[own]
        stretches, frames = np.empty((len(tets), 3)), np.empty((len(tets), 2, 3, 3))
        stress, tangent = np.empty((len(tets), 9)), np.empty((len(tets), 9, 9))
        compute_diagonal_frames(
            tets,
            wanted != ENERGY_ONLY,
            law.arrays,
            x,
            model.tets,
            model.Dm_inverse,
            np.empty(SCRATCH_SIZE),
            stretches,
            frames,
            stress,
            tangent,
        )
        V = frames[:, 1]
        work.energy[tets] += model.volume[tets] * term.energy(own, stretches, V)
        if wanted == ENERGY_ONLY:
            return
        P, T = term.stress_and_tangent(own, stretches, V)
        stress += P
        tangent += T
        if wanted == WITH_TANGENT and clamp:
            project_semidefinite_dense(tangent, np.empty((9, 9)), np.empty((9, 9)))
        write_anisotropic_records(
            tets,
            wanted == WITH_TANGENT,
            model.Dm_inverse,
            model.volume,
            UPPER,
            frames,
            stress,
            tangent,
            np.empty((4, 3)),
            np.empty((3, 3)),
            work.record,
        )

    run_parts(len(parts), run)
