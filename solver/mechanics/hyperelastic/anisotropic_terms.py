# SPDX-License-Identifier: GPL-3.0-or-later
"""Anisotropic terms, such as those of fibres, which some tets have beside their isotropic law.

A term gives its energy, and P̂ and T in the diagonal frame: 3×3 and 9×9 numbers per tet. They are added to those of the
law before the sum is made positive semi-definite: fibres that are pressed are no harm where the law outweighs them.
Of such tets everything is written here, whether the tet pass has passed over them or not. Scenes without a term compile
and compute nothing of it.

Source: S07, sections 2.5 and A.3, which clamps two factors of T apart; the whole has the nearer semi-definite one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, runtime_checkable

import numpy as np

from ...mesh.local_tet_numbering import TET_EDGES
from ...runtime.arrays import Floats, Indices
from ...runtime.threads.index_partition import partition
from ...runtime.threads.thread_pool import run_parts
from ..model import Model
from .anisotropic_kernels import (
    SCRATCH_SIZE,
    compute_diagonal_frames,
    write_anisotropic_blocks,
    write_anisotropic_forces,
)
from .jacobi_eigen_dense import project_semidefinite_dense
from .tet_kernels import ENERGY_ONLY, WITH_TANGENT, RestShapes

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


@runtime_checkable
class TermWithStress(Protocol):
    """An `AnisotropicTerm` that takes less time for P̂ alone than for P̂ and T: a line search needs no T."""

    def stress(self, own: slice, stretches: Floats, V: Floats) -> Floats:
        """Returns P̂ [Pa], (c, 9); see `AnisotropicTerm.stress_and_tangent`."""


def has_only_term_tets(term: AnisotropicTerm | None, begin: int, end: int) -> bool:
    """Returns whether all tets from one to another have the term, so that the tet pass need not pass over them."""
    if term is None:
        return False
    first, last = np.searchsorted(term.tets, (begin, end))
    return int(last - first) == end - begin


def add_anisotropic_term(model: Model, law: Hyperelastic, x: Floats, work: TetArrays, wanted: int, clamp: bool) -> None:
    """Writes what the tet pass leaves of tets with the term of a law into `work`; arguments are that pass's."""
    term = law.anisotropic_term
    assert term is not None
    rows = term.tets
    parts = partition(len(rows))
    rest = RestShapes(model.tets, model.Dm_inverse, model.volume)

    def run(part: int) -> None:
        own = slice(*parts[part])
        tets = rows[own]
        count = len(tets)
        stretches, frames = np.empty((count, 3)), np.empty((count, 2, 3, 3))
        stress = np.empty((0 if wanted == ENERGY_ONLY else count, 9))
        tangent = np.empty((count if wanted == WITH_TANGENT else 0, 9, 9))
        found = stretches, frames, stress, tangent
        scratch = np.empty(SCRATCH_SIZE)
        compute_diagonal_frames(tets, wanted, law.arrays, x, rest, scratch, work.energy, work.smallest, *found)
        V = frames[:, 1]
        work.energy[tets] += model.volume[tets] * term.energy(own, stretches, V)
        if wanted == ENERGY_ONLY:
            return
        if wanted == WITH_TANGENT:
            P, T = term.stress_and_tangent(own, stretches, V)
            tangent += T
            if clamp:
                project_semidefinite_dense(tangent)
            write_anisotropic_blocks(tets, model.Dm_inverse, model.volume, UPPER, frames, tangent, work.record)
        elif isinstance(term, TermWithStress):
            P = term.stress(own, stretches, V)
        else:
            P = term.stress_and_tangent(own, stretches, V)[0]
        stress += P
        write_anisotropic_forces(tets, model.Dm_inverse, model.volume, frames, stress, work.record)

    run_parts(len(parts), run)
