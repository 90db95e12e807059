# SPDX-License-Identifier: GPL-3.0-or-later
"""All bodies of a step whose energy is looked up between iterates: flesh, and hierarchical ones."""

from __future__ import annotations

from weakref import WeakKeyDictionary

import numpy as np

from ...linalg.block_pattern import BlockPattern
from ...mechanics.model import Model
from ...mechanics.submodel import Submodel, make_submodel
from ...runtime.arrays import Floats
from .dynamic_flesh import FleshEvaluator, FleshGroup
from .hierarchical_solve import HierarchicalSolver


class EnergyEvaluator:
    """Flesh, where there is any, and hierarchical bodies, in the order of the model.

    Attributes:
        part: All of them.
    """

    def __init__(
        self, model: Model, group: FleshGroup | None, flesh: FleshEvaluator | None, levels: HierarchicalSolver
    ) -> None:
        self.model, self.group, self.flesh, self.levels = model, group, flesh, levels
        own = np.array([*(group.part.bodies if group else ()), *levels.numbers], np.int64)
        self.order, self.part = np.argsort(own), _submodel(model, tuple(sorted(own.tolist())))

    def last_energies(self) -> Floats:
        """Returns the energies of the bodies at the last look [J], (k,)."""
        return self.ordered(self.flesh.last_energies() if self.flesh else np.zeros(0), self.levels.energy)

    def energies(self, x: Floats) -> Floats:
        """Returns the energies where the nodes of these bodies are at x [m], (n, 3), in joules, (k,)."""
        every = np.zeros((self.model.node_count, 3))
        every[self.part.nodes] = x
        of_flesh = self.flesh.energies(every[self.group.part.nodes]) if self.flesh and self.group else np.zeros(0)
        return self.ordered(of_flesh, self.levels.energies(every))

    def ordered(self, of_flesh: Floats, of_levels: Floats) -> Floats:
        """Returns what belongs to bodies of flesh and to hierarchical ones in the order of the model, (k,)."""
        return np.asarray(np.concatenate([of_flesh, of_levels])[self.order])


_cache: WeakKeyDictionary[BlockPattern, dict[tuple[int, ...], Submodel]] = WeakKeyDictionary()


def _submodel(model: Model, numbers: tuple[int, ...]) -> Submodel:
    """Returns some bodies as a model of their own, kept with the pattern of the whole."""
    kept = _cache.setdefault(model.pattern, {})
    if numbers not in kept:
        kept[numbers] = make_submodel(model, numbers)
    return kept[numbers]
