# SPDX-License-Identifier: GPL-3.0-or-later
"""Reads the tets of a body in the frames of a cache, intact and cracked. Knows no Blender."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from ...solver.bake.cache import CacheReader
from ...solver.runtime.arrays import Indices
from ...solver.runtime.errors import StorageFailed


@dataclass(frozen=True)
class BodyTets:
    """The intact tets of a body, and their position among those of all bodies.

    Attributes:
        tets: Nodes of the body, (m, 4).
        joined: Tets that join surfaces far apart along the mesh, (j,).
        first_node, first_tet: First node and tet of the body, among all bodies.
        node_count: Of the intact body.
    """

    tets: Indices
    joined: Indices
    first_node: int
    first_tet: int
    node_count: int

    def tets_and_nodes(self, reader: CacheReader, topology: int) -> tuple[Indices, tuple[int, int]]:
        """Returns the tets (m, 4) in a topology (0: intact), and the range of the body's nodes in its frames.

        After a cut these are copies of the intact ones (`parents`).

        Raises:
            StorageFailed: The topology is damaged.
        """
        if topology == 0:
            return self.tets, (self.first_node, self.first_node + self.node_count)
        stored = reader.read_topology(topology)
        nodes = self._nodes(stored["origin"])
        return (stored["tets"][self._rows(stored)] - nodes[0]).astype(np.int32), nodes

    def parents(self, reader: CacheReader, topology: int) -> Indices:
        """Returns for the tets in a topology the intact ones that they are or, after a cut, are copies of, (m,).

        Raises:
            StorageFailed: The topology is damaged.
        """
        stored = reader.read_topology(topology) if topology else {}
        if "parent" not in stored:
            return np.arange(len(self.tets), dtype=np.int32)
        return (stored["parent"][self._rows(stored)] - self.first_tet).astype(np.int32)

    def _rows(self, stored: Mapping[str, npt.NDArray]) -> slice:
        """Returns which tets of a topology are the body's."""
        bounds = self.first_tet, self.first_tet + len(self.tets)
        if "parent" in stored:  # bodies were cut, so others have more tets before them
            bounds = tuple(np.searchsorted(stored["parent"], bounds).tolist())
        return slice(*bounds)

    def has_split_nodes(self, reader: CacheReader, topology: int) -> bool:
        """Whether nodes of the body are split in a topology.

        Raises:
            StorageFailed: The topology is damaged.
        """
        first, last = self._nodes(reader.read_topology(topology)["origin"])
        return last - first > self.node_count

    def _nodes(self, origin: npt.NDArray) -> tuple[int, int]:
        bounds = np.searchsorted(origin, [self.first_node, self.first_node + self.node_count])
        return int(bounds[0]), int(bounds[1])


def body_tets(reader: CacheReader, key: str) -> BodyTets | None:
    """Returns the tets of a body, or None if the cache has none yet."""
    first_node = first_tet = 0
    try:
        for body in reader.metadata.bodies:
            model = reader.read_model(body.key)
            tets = np.asarray(model["tets"], np.int32)
            if body.key == key:
                joined = np.asarray(model.get("joined_tets", np.zeros(0)), np.int32)
                return BodyTets(tets, joined, first_node, first_tet, len(model["nodes"]))
            first_node, first_tet = first_node + len(model["nodes"]), first_tet + len(tets)
    except StorageFailed:
        pass
    return None


def first_crack(folder: Path, key: str) -> float | None:
    """Returns the first frame, possibly fractional, with cracks in a body, or None."""
    try:
        reader = CacheReader(folder)
        topologies = reader.topologies()
        body = body_tets(reader, key) if topologies else None
        if body is not None:
            for topology in topologies:
                if body.has_split_nodes(reader, topology):
                    return reader.metadata.frame_of_sample(topology)
    except StorageFailed:
        pass
    return None
