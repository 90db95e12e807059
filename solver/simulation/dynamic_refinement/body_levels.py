# SPDX-License-Identifier: GPL-3.0-or-later
"""The tets that a body can have whose levels are switched, and those that it has at a moment."""

from __future__ import annotations

import functools
from dataclasses import dataclass, replace

import numpy as np

from ...mesh.embedding import Binding, interpolate
from ...mesh.tet_levels import TetLevels
from ...mesh.tet_mesh import TetMesh
from ...mesh.tetrahedralize.leaf_tets import LeafTets, binding_in_leaves, leaf_tets
from ...runtime.arrays import Bools, Floats, Indices, floats
from ...scene.scene import Body


@dataclass(frozen=True, eq=False)
class BodyLevels:
    """A body whose levels are switched.

    Attributes:
        number, key: Of the body.
        levels: All c tets that it can have.
        finest: The smallest of them, in which its vertices are bound in files.
        max_variation: How much the deformation may vary within a tet before it becomes eight.
        is_frozen: Which tets stay as they are at the start, since what is held is in them, (c,).
        is_split: Which are split now, (c,).
        leaves: The tets that it has now.
    """

    number: int
    key: str
    levels: TetLevels
    finest: LeafTets
    max_variation: float
    is_frozen: Bools
    is_split: Bools
    leaves: LeafTets

    def switched(self, is_split: Bools) -> BodyLevels:
        """Returns the body with other tets split, (c,)."""
        return replace(self, is_split=is_split, leaves=leaf_tets(self.levels, is_split))

    def leaf_mesh(self, finest: TetMesh) -> TetMesh:
        """Returns the tets that it has now, given those of the smallest size."""
        nodes, tets, fill, junctions = self.leaves.filling
        return replace(finest, nodes=nodes, tets=tets, fill=fill, junctions=junctions, levels=None)

    def leaf_binding(self, finest: Binding) -> Binding:
        """Returns points that are bound in its smallest tets, bound in those that it has now."""
        return binding_in_leaves(self.levels, finest, self.finest.cell, self.leaves, self.is_split)

    def finest_positions(self, x: Floats) -> Floats:
        """Returns where the nodes of its smallest tets are [m], (k, 3), with its nodes at x [m], (n, 3)."""
        out = np.empty((len(self.finest.points), 3))
        interpolate(floats(x), self.leaves.filling.tets, self._finest_nodes, out)
        return out

    @functools.cached_property
    def _finest_nodes(self) -> Binding:
        """The nodes of the smallest tets in those that it has now."""
        tets = self.finest.filling.tets
        tet = np.empty(len(self.finest.points), np.int32)
        tet[tets.ravel()] = np.repeat(np.arange(len(tets), dtype=np.int32), 4)
        is_own = tets[tet] == np.arange(len(tet), dtype=np.int64)[:, None]
        return self.leaf_binding(Binding(tet, is_own.astype(np.float64)))

    def leaf_numbers(self, tet: Indices) -> Indices:
        """Returns the present tets, (k,), that some of its smallest are in, (k,)."""
        leaf = self.levels.leaf_above(self.is_split)[self.finest.cell[tet]]
        return self.leaves.number_of_cells(len(self.is_split))[leaf].astype(np.int32)


def levels_at_start(number: int, body: Body, mesh: TetMesh, binding: Binding) -> BodyLevels:
    """Returns a body of the scene with the tets that it has at the start.

    Args:
        number, body: Of the body.
        mesh: Its smallest tets, with those of all levels.
        binding: Its vertices in the smallest tets.
    """
    levels = mesh.levels
    assert levels is not None
    finest = leaf_tets(levels, ~levels.is_finest)
    held = np.concatenate([body.pinned[body.pin_weights > 0.0], body.attached]).astype(np.int64)
    is_frozen = _with_those_above(levels, finest.cell[binding.tet[held]])
    is_split = levels.is_split_at_start
    return BodyLevels(
        number=number,
        key=body.key,
        levels=levels,
        finest=finest,
        max_variation=body.meshing.max_strain_variation,
        is_frozen=is_frozen,
        is_split=is_split,
        leaves=leaf_tets(levels, is_split),
    )


def _with_those_above(levels: TetLevels, cells: np.ndarray) -> Bools:
    """Returns which tets are some of the smallest, or have some of these in them, (c,)."""
    out = np.zeros(len(levels.parent), np.bool_)
    for _ in range(levels.level_count + 1):
        out[cells] = True
        cells = np.unique(levels.parent[cells])
        cells = cells[cells >= 0]
    return out
