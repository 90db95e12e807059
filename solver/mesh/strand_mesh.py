# SPDX-License-Identifier: GPL-3.0-or-later
"""Strands of a sheet: its edges without faces, which are strings and ropes, as tets of three nodes.

Where two strands meet, a tet has the node between them, then their other ends; its last two corners are one node. Of
several strands at a node those that leave it most nearly in opposite directions go through it in pairs, as two threads
do in the knot of a net; pairs turn freely against each other. Each strand belongs to one tet, where it is the edge from
the first node to the second or to the third. One that meets no other gets a tet of its own two nodes.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ..runtime.arrays import Floats, Indices, floats, indices
from ..runtime.errors import BadInput
from .geometry.orient_outward import orient_outward
from .geometry.triangle_surface import Surface

MIN_LENGTH_SHARE = 1.0e-9  # of the longest strand, below which one has no length


class StrandTets(NamedTuple):
    """The tets of e strands.

    Attributes:
        tets: Their nodes, (s, 4).
        owner: The tet of each strand, (e,).
        side: Whether it leads there to the second node, 0, or to the third one, 1, (e,).
        is_pair: Whether a tet has two strands, which bend against each other, (s,).
    """

    tets: Indices
    owner: npt.NDArray[np.int64]
    side: npt.NDArray[np.int64]
    is_pair: npt.NDArray[np.bool_]


def strand_lengths(nodes: Floats, strands: Indices, name: str) -> Floats:
    """Returns the lengths of strands [m], (e,), for nodes [m], (n, 3), and two nodes of each, (e, 2).

    Raises:
        BadInput: One has none.
    """
    length = np.linalg.norm(nodes[strands[:, 1]] - nodes[strands[:, 0]], axis=1)
    short = ~(length > MIN_LENGTH_SHARE * length.max(initial=0.0))
    if short.any():
        raise BadInput("strand-no-length", name=name, count=int(short.sum()))
    return floats(length)


def strand_tets(nodes: Floats, strands: Indices) -> StrandTets:
    """Returns the tets of strands, (e, 2), between nodes [m], (n, 3)."""
    pairs = _pairs_through_nodes(nodes, strands)
    count = len(strands)
    owner, side = np.full(count, -1, np.int64), np.zeros(count, np.int64)
    tets = []
    for number, (node, first, second) in enumerate(pairs):
        for place, strand in enumerate((first, second)):
            if owner[strand] < 0:
                owner[strand], side[strand] = number, place
        a, c = (int(strands[strand].sum()) - node for strand in (first, second))
        tets.append((node, a, c, c))
    alone = np.flatnonzero(owner < 0)
    owner[alone] = len(tets) + np.arange(len(alone), dtype=np.int64)
    own = np.concatenate([np.array(tets, np.int64).reshape(-1, 4), strands[alone][:, [0, 1, 1, 1]]])
    return StrandTets(indices(own, -1, 4), owner, side, np.arange(len(own), dtype=np.int64) < len(tets))


def _pairs_through_nodes(nodes: Floats, strands: Indices) -> list[tuple[int, int, int]]:
    """Returns the node and both strands of all pairs that bend against each other, by the numbers of the nodes."""
    at_node: dict[int, list[int]] = defaultdict(list)
    for strand, ends in enumerate(strands.tolist()):
        for node in ends:
            at_node[node].append(strand)
    pairs = []
    for node in sorted(at_node):
        own = at_node[node]
        others = strands[own].sum(axis=1) - node
        away = nodes[others] - nodes[node]
        away /= np.linalg.norm(away, axis=1)[:, None]
        cosine = away @ away.T
        first, second = np.triu_indices(len(own), 1)
        is_free = np.ones(len(own), bool)
        for k in np.lexsort((second, first, cosine[first, second])).tolist():
            one, other = int(first[k]), int(second[k])
            if is_free[one] and is_free[other] and others[one] != others[other]:
                is_free[[one, other]] = False
                pairs.append((node, own[one], own[other]))
    return pairs


def strand_faces(strands: Indices) -> Indices:
    """Returns a triangle without area for each strand, whose last two corners are one, (e, 3).

    Among those of a surface they let what looks for its nearest place find strands too.
    """
    return indices(strands[:, [0, 1, 1]], -1, 3)


def outward_and_strand_faces(surface: Surface) -> tuple[Indices, npt.NDArray[np.int64]]:
    """Returns the triangles of `orient_outward`, then those of strands, (t, 3), and which of all each is, (t,)."""
    is_strand = surface.triangles[:, 1] == surface.triangles[:, 2]
    faces, strands = np.flatnonzero(~is_strand), np.flatnonzero(is_strand)
    of_strands = surface.triangles[strands]
    if not len(faces):
        return indices(of_strands), strands
    outward = orient_outward(replace(surface, triangles=surface.triangles[faces]))
    triangles = indices(np.concatenate([outward.surface.triangles, of_strands]), -1, 3)
    return triangles, np.concatenate([faces[outward.face], strands])
