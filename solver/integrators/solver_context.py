# SPDX-License-Identifier: GPL-3.0-or-later
"""What the steps of one simulation reuse: work arrays, and results that later steps need again.

A simulation owns one `SolverContext` and passes it to its steps. No result depends on what it holds, but two
simulations that are stepped at the same time must not share one.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from ..constraints.rigid_core.reduced_pattern import ReducedPatterns
from ..linalg.block_pattern import BlockPattern
from ..linalg.block_system import PcgWorkspace
from ..linalg.bound_node_elimination import EliminatedPatterns
from ..linalg.multigrid.hierarchy_reuse import ReusedHierarchy
from ..linalg.pair_stiffness_assembly import PairPatterns
from ..mechanics.elements.record_layout import record_length
from ..mechanics.model import Model
from ..mechanics.vertex_warp import WarpedSystem
from ..runtime.arrays import Bools, Floats, Indices

if TYPE_CHECKING:  # modules with kernels are loaded only where a scene needs them
    from ..linalg.pattern_union import WidenedPattern
    from ..mechanics.submodel import Submodel
    from .dynamic_flesh_forces import DynamicFlesh, FleshGroup, GroupArrays


class SavedBlocks(NamedTuple):
    """Arrays for `linalg.point_stiffness_assembly.save_blocks`: which blocks are saved, where they are, and they."""

    is_saved: Bools
    places: Indices
    blocks: Floats


class CachedRows(NamedTuple):
    """Rows of a linear body, (b, 9), and what they depend on: Δt [s], arrays of the model, arrays that BDF2 scales."""

    dt: float
    model_arrays: tuple[Floats, ...]
    scaled_arrays: tuple[Floats, ...]
    values: Floats


@dataclass(eq=False)
class StepWorkspace:
    """Work arrays for the models of one sparsity pattern. Fresh memory costs more to touch.

    Attributes:
        pattern: The pattern.
        multigrid_levels: Multigrid levels that steps of a frame share; None: every solve sets up its own.
        values: Blocks of the system matrix, (b, 9).
        force: Elastic forces [N], (n, 3).
        impulse: All other forces times Δt [N s], (n, 3).
        saved: For blocks that contacts change.
        all_free: That no node is fixed, (n,); nothing writes to it.
        warped: Blocks and impulses of bodies that are warped vertex by vertex.
        pcg: Work arrays of linear solves.
        pair_patterns: Patterns widened by pairs of tets.
        eliminated_patterns: Patterns of systems without bound nodes.
        reduced_patterns: Patterns of systems without the nodes of rigid cores.
        cached_rows: Rows of linear bodies, by number of the body.
        scaled_model: A model, its bodies by BDF2, (bodies,), and the model with their masses scaled.
        nonlinear_bodies: Bodies with a nonlinear formulation, and the arrays of the model that they depend on.
        flesh_arrays: Work arrays of groups of flesh.
        submodels: Some bodies as a model of their own, by their numbers.
        two_ring_union: Two patterns, and the first with the blocks of the second.
    """

    pattern: BlockPattern
    multigrid_levels: ReusedHierarchy | None = None
    values: Floats = field(init=False)
    force: Floats = field(init=False)
    impulse: Floats = field(init=False)
    saved: SavedBlocks = field(init=False)
    all_free: Bools = field(init=False)
    warped: WarpedSystem = field(init=False)
    pcg: PcgWorkspace = field(default_factory=PcgWorkspace)
    pair_patterns: PairPatterns = field(default_factory=PairPatterns)
    eliminated_patterns: EliminatedPatterns = field(default_factory=EliminatedPatterns)
    reduced_patterns: ReducedPatterns = field(default_factory=ReducedPatterns)
    cached_rows: dict[int, CachedRows] = field(default_factory=dict)
    scaled_model: tuple[Model, Bools, Model] | None = None
    nonlinear_bodies: tuple[tuple[object, ...], DynamicFlesh] | None = None
    flesh_arrays: WeakKeyDictionary[FleshGroup, GroupArrays] = field(default_factory=WeakKeyDictionary)
    submodels: dict[tuple[int, ...], Submodel] = field(default_factory=dict)
    two_ring_union: tuple[BlockPattern, BlockPattern, WidenedPattern] | None = None
    _records: Floats | None = field(default=None, repr=False)
    _constant_values: Floats | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        """Makes the arrays that every step needs."""
        blocks, nodes = self.pattern.block_count, self.pattern.node_count
        self.values, self.force, self.impulse = np.empty((blocks, 9)), np.empty((nodes, 3)), np.empty((nodes, 3))
        self.saved = SavedBlocks(np.zeros(blocks, bool), np.empty(blocks, np.int32), np.empty((blocks, 9)))
        self.all_free = np.ones(nodes, bool)
        self.warped = WarpedSystem.for_pattern(self.pattern)

    def element_records(self, model: Model) -> Floats:
        """Returns an array for the records of all tets, long enough for what the model has, (m, …).

        Its content is that of the last use, or arbitrary.
        """
        length = record_length(bool(model.stiffness_damping.any()), len(model.pressure_modulus) > 0)
        if self._records is None or self._records.shape[1] < length:
            self._records = None  # for the memory
            self._records = np.empty((model.tet_count, length))
        return self._records

    def constant_values(self) -> Floats:
        """Returns an array for the blocks that stay constant during Newton's method, (b, 9)."""
        if self._constant_values is None:
            self._constant_values = np.zeros((self.pattern.block_count, 9))
        return self._constant_values


class SolverContext:
    """What the steps of one simulation reuse.

    Attributes:
        multigrid_levels: Multigrid levels that steps of a frame share; None: every solve sets up its own.
    """

    def __init__(self, multigrid_levels: ReusedHierarchy | None = None) -> None:
        self.multigrid_levels = multigrid_levels
        self._workspace: StepWorkspace | None = None

    def drop_multigrid_levels(self) -> None:
        """Forgets the levels. Every frame begins with this, so that a resumed bake has the same bytes."""
        if self.multigrid_levels is not None:
            self.multigrid_levels.drop()

    def workspace(self, model: Model) -> StepWorkspace:
        """Returns the work arrays for a model; those of another pattern are dropped."""
        if self._workspace is None or self._workspace.pattern is not model.pattern:
            self._workspace = StepWorkspace(model.pattern, self.multigrid_levels)
        return self._workspace
