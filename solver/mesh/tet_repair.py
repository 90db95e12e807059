# SPDX-License-Identifier: GPL-3.0-or-later
"""Repairs tets from a file: turns inverted ones, drops flat and repeated ones, and drops nodes without tets."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..runtime.arrays import Floats, Indices, floats, indices
from ..runtime.errors import BadInput, SinewError
from .geometry.coordinate_range import check_extent
from .tet_quality import DEGENERATE_TET_RATIO, first_of_duplicates, signed_volumes


@dataclass(frozen=True)
class RepairedTets:
    """Tets from a file, all positively oriented.

    Attributes:
        nodes: Positions [m], (n, 3); each is used by a tet.
        tets: Node indices, (m, 4).
        flipped: How many came negatively oriented and got two nodes swapped.
        degenerate: How many had no volume and were left out.
        duplicates: How many had the nodes of another one and were left out.
        file_point: Which point of the file each node is, (n,).
        point_count: Number of points in the file.
    """

    nodes: Floats
    tets: Indices
    flipped: int
    degenerate: int
    duplicates: int
    file_point: Indices
    point_count: int

    def notes(self, name: str) -> list[SinewError]:
        """Returns what was repaired, as warnings about the body `name`."""
        counts = (("tets-turned", self.flipped), ("tets-dropped", self.degenerate), ("tets-doubled", self.duplicates))
        return [SinewError(kind, name=name, count=count) for kind, count in counts if count]


def repair_tets(nodes: Floats, tets: Indices, name: str) -> RepairedTets:
    """Returns the tets with a volume, each once, those of negative orientation with two nodes swapped, and their nodes.

    Raises:
        BadInput: "tets-without-nodes", "tets-without-volume" where no tet is left, or as `check_extent`.
    """
    nodes = floats(nodes, -1, 3)
    if tets.min() < 0 or tets.max() >= len(nodes):
        raise BadInput("tets-without-nodes", name=name)
    point_count, all_count = len(nodes), len(tets)
    tets = indices(tets, -1, 4)[first_of_duplicates(tets)]
    used, number = np.unique(tets, return_inverse=True)
    check_extent(nodes[used], name)
    nodes, tets, of_file = nodes[used], number.reshape(-1, 4).astype(np.int32), used
    corners = nodes[tets]
    longest = np.linalg.norm(corners[:, [0, 0, 0, 1, 1, 2]] - corners[:, [1, 2, 3, 2, 3, 3]], axis=2).max(axis=1)
    volumes = signed_volumes(nodes, tets)
    is_flat = 6.0 * np.abs(volumes) <= DEGENERATE_TET_RATIO * longest**3
    if is_flat.all():
        raise BadInput("tets-without-volume", name=name)
    is_negative = ~is_flat & (volumes < 0.0)
    tets[is_negative] = tets[is_negative][:, [0, 1, 3, 2]]
    used, number = np.unique(tets[~is_flat], return_inverse=True)
    kept = number.reshape(-1, 4).astype(np.int32)
    counts = int(is_negative.sum()), int(is_flat.sum()), all_count - len(tets)
    return RepairedTets(nodes[used], kept, *counts, indices(of_file[used]), point_count)
