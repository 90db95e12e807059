# SPDX-License-Identifier: GPL-3.0-or-later
"""Groups of bodies with one step length in a Newton iteration: flesh that touches, and all that is coupled to it."""

from __future__ import annotations

import numpy as np

from ...constraints.pair_forces import PairForces
from ...linalg.coupled_islands import island_coupling
from ...mechanics.model import Model
from ...mechanics.submodel import Submodel
from ...runtime.arrays import Bools, Floats
from ...runtime.row_dot_products import row_dot_products


class CoupledGroups:
    """Groups of bodies, k of them, each with flesh in it."""

    def __init__(self, model: Model, part: Submodel | None, pairs: PairForces) -> None:
        self.model, self.part = model, part
        self.flesh = np.array(part.bodies if part else (), np.int64)  # its numbers in the model
        self.group_of: np.ndarray | None = None  # of every body, or −1; None: each of flesh is alone
        starts = np.array([body.tets.start for body in model.bodies], np.int64)
        one, two = (np.searchsorted(starts, tets, side="right") - 1 for tets in (pairs.tet, pairs.other))
        if model.bound is not None:
            first = np.array([body.nodes.start for body in model.bodies], np.int64)
            nodes = np.repeat(model.bound.nodes, np.diff(model.bound.start))
            own, others = (np.searchsorted(first, each, side="right") - 1 for each in (nodes, model.bound.parents))
            one, two = np.concatenate([one, own]), np.concatenate([two, others])
        coupling = island_coupling(one, two, len(starts)) if len(one) and part else None
        if coupling is not None:
            cluster = np.empty(len(starts), np.int64)
            cluster[coupling.members] = np.repeat(
                np.arange(len(coupling.start) - 1, dtype=np.int64), np.diff(coupling.start)
            )
            found = np.full(len(starts), -1, np.int64)
            found[np.unique(cluster[self.flesh])] = np.arange(len(np.unique(cluster[self.flesh])), dtype=np.int64)
            self.group_of = found[cluster]

    def nodes_with_sheets(self) -> Bools:
        """Returns which nodes are of groups with a sheet, (n,)."""
        out = np.zeros(self.model.node_count, bool)
        if self.part is None or self.part.model.sheets is None:
            return out
        starts = [body.tets.start for body in self.part.model.bodies]
        own = np.unique(np.searchsorted(starts, self.part.model.sheets.tets, side="right") - 1)
        flesh = self.flesh[own]
        bodies = flesh
        if self.group_of is not None:
            has_sheet = np.zeros(self.group_of.max() + 2, bool)  # the last one for bodies without a group, −1
            has_sheet[self.group_of[flesh]] = True
            bodies = np.flatnonzero(has_sheet[self.group_of])
        for number in bodies.tolist():
            out[self.model.bodies[number].nodes] = True
        return out

    def products(self, a: Floats, b: Floats) -> Floats:
        """Returns a·b of every group, (k,), for values of nodes, (n, 3)."""
        if self.part is None:
            return np.zeros(0)
        along = row_dot_products(a, b)
        if self.group_of is None:
            return np.add.reduceat(along[self.part.nodes], [body.nodes.start for body in self.part.model.bodies])
        of_bodies = np.add.reduceat(along, [body.nodes.start for body in self.model.bodies])
        return self._added(of_bodies, self.group_of)

    def sums(self, values: Floats) -> Floats:
        """Returns the sums over every group of values of bodies of flesh, (k,)."""
        return values if self.group_of is None else self._added(values, self.group_of[self.flesh])

    def to_nodes(self, values: np.ndarray) -> Floats:
        """Returns values of groups, (k,), for all nodes, (n,); 1 for all other bodies."""
        out = np.ones(self.model.node_count)
        bodies = zip(self.flesh, values, strict=True) if self.group_of is None else self._body_values(values)
        for number, value in bodies:
            out[self.model.bodies[number].nodes] = value
        return out

    def _body_values(self, values: np.ndarray) -> list[tuple[int, float]]:
        assert self.group_of is not None
        return [(number, values[k]) for number, k in enumerate(self.group_of.tolist()) if k >= 0]

    @staticmethod
    def _added(values: Floats, set_of: np.ndarray) -> Floats:
        """Returns the sums of values by group."""
        own = set_of >= 0
        return np.asarray(np.bincount(set_of[own], values[own], int(set_of.max(initial=-1)) + 1), float)
