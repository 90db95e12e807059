# SPDX-License-Identifier: GPL-3.0-or-later
"""Large arrays that a step writes and throws away, kept from step to step: fresh memory costs more to touch."""

from __future__ import annotations

from dataclasses import dataclass, field
from weakref import WeakKeyDictionary

import numpy as np

from ...linalg.block_pattern import BlockPattern
from ...linalg.block_system import PcgWorkspace
from ...linalg.pair_terms import PairPatterns
from ...mechanics.elements.element_buffer import record_length
from ...mechanics.model import Model
from ...mechanics.vertex_warp import WarpedSystem
from ...runtime.arrays import Bools, Floats, Indices


@dataclass
class Workspace:
    """Work arrays for one sparsity pattern; nothing in them outlives a step.

    Attributes:
        values: Blocks of the system matrix, (b, 9).
        force: Elastic forces on nodes [N], (n, 3).
        impulse: All other forces times Δt [N s], (n, 3).
        is_kept, places, kept: For `keep_blocks`, (b,), (b,), (b, 9).
        all_free: That no node is held, (n,), never written to.
        pcg: Work arrays of linear solves.
        pair_patterns: Patterns widened by pairs of tets.
        warped: What warped bodies have in the system of the present step.
    """

    values: Floats
    force: Floats
    impulse: Floats
    is_saved: Bools
    saved_places: Indices
    kept: Floats
    all_free: Bools
    warped: WarpedSystem
    pcg: PcgWorkspace = field(default_factory=PcgWorkspace)
    pair_patterns: PairPatterns = field(default_factory=PairPatterns)
    _records: Floats | None = None

    @property
    def element_records(self) -> Floats:
        """What the tet pass writes, (m, …); before the first, `element_records` makes it.

        Raises:
            RuntimeError: It was not made: a kernel would write behind its end.
        """
        if self._records is None:
            raise RuntimeError("there are no records of tets before records_of(model) was called")
        return self._records


_cache: WeakKeyDictionary[BlockPattern, Workspace] = WeakKeyDictionary()


def workspace(pattern: BlockPattern) -> Workspace:
    """Returns the work arrays of a pattern, made at its first step and dropped with it."""
    kept = _cache.get(pattern)
    if kept is None:
        kept = _cache[pattern] = Workspace(
            np.empty((pattern.block_count, 9)),
            np.empty((pattern.node_count, 3)),
            np.empty((pattern.node_count, 3)),
            np.zeros(pattern.block_count, bool),
            np.empty(pattern.block_count, np.int32),
            np.empty((pattern.block_count, 9)),
            np.ones(pattern.node_count, bool),
            WarpedSystem.for_pattern(pattern),
        )
    return kept


def element_records(model: Model) -> Floats:
    """Returns the work array for the records of all tets, long enough for what the model has, (m, …).

    It is made anew where the model has come to need longer ones, with nothing in it.
    """
    work = workspace(model.pattern)
    length = record_length(bool(model.stiffness_damping.any()), len(model.pressure_modulus) > 0)
    if work._records is None or work._records.shape[1] < length:
        work._records = None  # for the memory
        work._records = np.empty((model.tet_count, length))
    return work._records
