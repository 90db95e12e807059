# SPDX-License-Identifier: GPL-3.0-or-later
"""The factor of the stiffness of displacements that are linear in every tet, of which a crack step changes a little.

The tets of a body are halved again and again, by planes; that tree stays while the body cracks. A node is eliminated in
the smallest part that has all tets at it. Each part has a front, the dense matrix of the nodes that it eliminates and
of those that it shares with others: of its tets in the smallest parts, of the Schur complements of both halves in
others. A crack step changes nodes of a few tets, and so only the fronts of the parts that these are in: ten or twenty
of 250. All others are kept, also those of what is left when something has come off.

Source: Duff and Reid (1983), the multifrontal method; George (1973), nested dissection.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
import scipy.linalg.blas
import scipy.linalg.lapack

from ..runtime.arrays import Bools, Floats, Indices, floats, indices
from .elastic_solid import ElasticSolid
from .front_kernels import add_dense_blocks, add_linear_stiffness, solve_fronts
from .nested_dissection import TetTree


@dataclass(frozen=True, eq=False)
class Front:
    """A part of a piece.

    Attributes:
        nodes: Labels of its nodes, those first that it eliminates, (n,).
        own: How many it eliminates.
        rows: Of Uᵀ U, (3 own, 3 n).
        schur: What is left of the matrix of the others, (3 (n − own), 3 (n − own)).
    """

    nodes: Indices
    own: int
    rows: Floats
    schur: Floats


@dataclass(frozen=True, eq=False)
class Fronts:
    """The fronts of a piece, and of what: they are those of its parts in another piece that has the same there.

    Attributes:
        labels: Of the nodes of each tet of the body, −1 of tets that the piece does not have, (m, 4).
        parts: The smallest part with all tets at each, −1 where it is held, (m, 4).
        of_part: Part → front.
    """

    labels: Indices
    parts: Indices
    of_part: Mapping[int, Front] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class PieceNodes:
    """Which corners of the mesh of a piece there are, by labels that stay while nodes do not split.

    Attributes:
        tree: Of the body.
        tets: Of the body, that the piece has, rising, (k,).
        label: Of the nodes at the corners of the piece, (c,).
    """

    tree: TetTree
    tets: Indices
    label: Indices


@dataclass(frozen=True, eq=False)
class CornerFactor:
    """The factor of a piece.

    Attributes:
        fronts: Its fronts.
        node_start, nodes, own, value_start: See `solve_fronts`.
        values: In half the digits, which halves what a solve reads, and is enough for a preconditioner.
        most: Nodes of the largest front.
    """

    fronts: Fronts
    node_start: Indices
    nodes: Indices
    own: Indices
    value_start: Indices
    values: npt.NDArray[np.float32]
    most: int

    def __call__(self, f: Floats) -> Floats:
        """Returns displacements under forces at corners, (3 c,) each; held corners have none."""
        x = f.copy()
        solve_fronts(self.node_start, self.nodes, self.own, self.value_start, self.values, x, np.empty(3 * self.most))
        return x


def no_fronts(tree: TetTree) -> Fronts:
    """Returns those of a body of which no piece has been factored."""
    none = np.full((len(tree.leaf), 4), -1, np.int32)
    return Fronts(none, none)


def corner_factor(
    solid: ElasticSolid, is_held: Bools, piece: PieceNodes, shift: float, known: Fronts | None = None
) -> CornerFactor | None:
    """Returns the factor of a piece; None: it has none to the precision of numbers.

    Args:
        solid: The piece.
        is_held: Corners that do not move, (c,).
        piece: Its corners.
        shift: Of its diagonal, by which the matrix is stiffer.
        known: Of the piece with fewer cracks, or of what it was a part of; None: of nothing.
    """
    fronts = _FrontMaker(solid, is_held, piece, shift, known or no_fronts(piece.tree)).fronts()
    if fronts is None:
        return None
    order = sorted(fronts.of_part, reverse=True)  # halves before their wholes
    chosen = [fronts.of_part[part] for part in order if fronts.of_part[part].own]
    lengths = np.array([len(front.nodes) for front in chosen], np.int32)
    sizes = np.array([front.rows.size for front in chosen], np.int32)
    place = np.full(int(piece.label.max(initial=-1)) + 1, -1, np.int32)
    place[piece.label] = np.arange(len(piece.label), dtype=np.int32)
    values = np.empty(int(sizes.sum()), np.float32)
    ends = np.cumsum(sizes, dtype=np.int64)
    for end, front in zip(ends.tolist(), chosen, strict=True):
        values[end - front.rows.size : end] = front.rows.ravel()
    return CornerFactor(
        fronts=fronts,
        node_start=indices(np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)])),
        nodes=place[np.concatenate([front.nodes for front in chosen])] if chosen else place[:0],
        own=np.array([front.own for front in chosen], np.int32),
        value_start=indices(np.concatenate([[0], ends])),
        values=values,
        most=int(lengths.max(initial=0)),
    )


class _FrontMaker:
    """Makes the fronts of a piece, but for those that are known."""

    def __init__(self, solid: ElasticSolid, is_held: Bools, piece: PieceNodes, shift: float, known: Fronts) -> None:
        """Finds where the nodes are eliminated."""
        self.solid, self.shift, self.known, self.piece = solid, shift, known, piece
        corners = solid.mesh.tets[:, :4]
        parts = piece.tree.smallest_parts(corners, piece.tets, len(piece.label))
        parts[is_held] = -1
        self.corner_labels, self.corner_parts = piece.label[corners], parts[corners]
        self.part_of_label = np.full(int(piece.label.max(initial=-1)) + 1, -1, np.int32)
        self.part_of_label[piece.label] = parts

    def fronts(self) -> Fronts | None:
        """Returns all of them; None: one has no factor."""
        known, tree, tets = self.known, self.piece.tree, self.piece.tets
        labels, parts = np.full((2, *known.labels.shape), -1, np.int32)
        labels[tets], parts[tets] = self.corner_labels, self.corner_parts
        has_changed = (labels != known.labels).any(axis=1) | (parts != known.parts).any(axis=1)
        changed = np.unique(tree.leaf[has_changed]).tolist()
        made, leaf = dict(known.of_part), tree.leaf[tets]
        for part in changed:
            rows = np.flatnonzero(leaf == part)
            if not self._put(made, part, self._leaf(part, rows) if len(rows) else None, len(rows) > 0):
                return None
        while changed and changed != [1]:
            changed = sorted({part >> 1 for part in changed})
            for part in changed:
                halves = [made[half] for half in (2 * part, 2 * part + 1) if half in made]
                if not self._put(made, part, self._whole(part, halves) if halves else None, len(halves) > 0):
                    return None
        return Fronts(labels, parts, made)

    @staticmethod
    def _put(made: dict[int, Front], part: int, front: Front | None, is_there: bool) -> bool:
        """Puts the front of a part among the others, if the piece has tets there; returns whether it has a factor."""
        made.pop(part, None)
        if front is not None:
            made[part] = front
        return front is not None or not is_there

    def _leaf(self, part: int, rows: npt.NDArray[np.int64]) -> Front | None:
        """Returns the front of one of the smallest parts, with these rows of tets."""
        labels, is_free = self.corner_labels[rows], self.corner_parts[rows] >= 0
        nodes, own = self._ordered(np.unique(labels[is_free]), part)
        F = np.zeros((3 * len(nodes), 3 * len(nodes)))
        places = np.full(labels.shape, -1, np.int32)
        places[is_free] = _places(nodes, labels[is_free])
        solid, of = self.solid, self.solid.elements
        add_linear_stiffness(places, of.gradients[rows], of.weight[rows], solid.mu, solid.lam, self.shift, F)
        return _eliminated(nodes, own, F)

    def _whole(self, part: int, halves: list[Front]) -> Front | None:
        """Returns the front of what has these halves."""
        shared = [half.nodes[half.own :] for half in halves]
        nodes, own = self._ordered(np.unique(np.concatenate(shared)), part)
        F = np.zeros((3 * len(nodes), 3 * len(nodes)))
        for half, labels in zip(halves, shared, strict=True):
            add_dense_blocks(_places(nodes, labels), half.schur, F)
        return _eliminated(nodes, own, F)

    def _ordered(self, labels: Indices, part: int) -> tuple[Indices, int]:
        """Returns labels, rising, those first that a part eliminates, and how many these are."""
        is_own = self.part_of_label[labels] == part
        return indices(np.concatenate([labels[is_own], labels[~is_own]])), int(is_own.sum())


def _places(nodes: Indices, labels: Indices) -> Indices:
    """Returns where labels, (l,), are among those of nodes, (n,)."""
    order = np.argsort(nodes, kind="stable")
    return indices(order[np.searchsorted(nodes, labels, sorter=order)])


def _eliminated(nodes: Indices, own: int, F: Floats) -> Front | None:
    """Returns a front whose matrix is F, (3 n, 3 n), when its own nodes are eliminated; None: it has no factor."""
    k = 3 * own
    if not own:
        return Front(nodes, own, np.zeros((0, len(F))), F)
    U, failed = scipy.linalg.lapack.dpotrf(F[:k, :k], lower=0)
    if failed:
        return None
    rows = np.empty((k, len(F)))
    rows[:, :k] = U
    if len(F) == k:
        return Front(nodes, own, rows, np.zeros((0, 0)))
    across = scipy.linalg.blas.dtrsm(1.0, U, F[:k, k:], lower=0, trans_a=1)
    rows[:, k:] = across
    return Front(nodes, own, rows, floats(F[k:, k:] - across.T @ across))
