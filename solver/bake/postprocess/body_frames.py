# SPDX-License-Identifier: GPL-3.0-or-later
"""The frames of a cache as one body sees them: its nodes and tets at every sample, numbered from zero."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from ...mesh.mesh_npz import from_arrays
from ...runtime.arrays import Floats, Indices, floats, indices
from ...runtime.lazy_dataclass import dataclass
from ..cache import CacheReader, Frame
from . import breakable_frames


@dataclass(frozen=True)
class BodySample:
    """A body at one sample.

    Attributes:
        number: Which of all samples of the cache it is.
        frame: The frame that it belongs to.
        is_frame: Whether it is the last of the frame: the frame itself.
        part: Which of the frame's samples it is.
        fields: What the frame keeps.
        nodes: Node positions [m], (n, 3).
        tets: Nodes of the tets, (m, 4); the same array as long as nothing splits.
    """

    number: int
    frame: int
    is_frame: bool
    part: int
    fields: dict[str, npt.NDArray]
    nodes: Floats
    tets: Indices


class BodyFrameReader:
    """Reads the frames of one body.

    Attributes:
        mesh, binding: Its tets while it was whole, and its render vertices in them.
        numbers: The topologies of the cache, without the whole one.
    """

    def __init__(self, reader: CacheReader, key: str) -> None:
        """Reads the tets of the body `key`.

        Raises:
            StorageFailed: The cache is damaged.
        """
        self.reader, self.key = reader, key
        node_start = tet_start = 0
        for body in reader.metadata.bodies:
            self.mesh, self.binding = from_arrays(reader.read_model(body.key))
            if body.key == key:
                break
            node_start, tet_start = node_start + len(self.mesh.nodes), tet_start + len(self.mesh.tets)
        self._nodes = np.array([node_start, node_start + len(self.mesh.nodes)], np.int64)
        self._tets = slice(tet_start, tet_start + len(self.mesh.tets))
        self.numbers = reader.topologies()

    def topology(self, number: int) -> Indices:
        """Returns the nodes of the body's tets, (m, 4), in the topology of that number; 0 is the whole one."""
        if not number:
            return self.mesh.tets
        stored = self.reader.read_topology(number)
        start = np.count_nonzero(stored["origin"] < self._nodes[0])
        return indices(stored["tets"][self._tets] - start, -1, 4)

    def final(self) -> Indices:
        """Returns the nodes of the tets at the last frame, (m, 4)."""
        return self.topology(self.numbers[-1] if self.numbers else 0)

    def has_broken(self) -> bool:
        """Whether nodes of the body have split up to the last frame."""
        return int(self.final().max(initial=-1)) >= len(self.mesh.nodes)

    def samples(self) -> Iterator[BodySample]:
        """Yields all samples up to the last whole frame.

        Raises:
            StorageFailed: A frame is damaged.
        """
        head, baked = self.reader.metadata, self.reader.baked_range()
        coming, tets = [*reversed(self.numbers)], self.topology(0)
        before: Floats | None = None
        for frame in range(baked[0], baked[1] + 1) if baked else ():
            fields = self.reader.read_fields(frame, self.key)
            count = 1 if frame == head.frame_start else head.samples_per_frame
            for part in range(count):
                number = head.sample_count(frame) - count + part
                while coming and coming[-1] <= number:
                    tets = self.topology(coming.pop())
                nodes = breakable_frames.stored_nodes(fields, self.key, part)
                if nodes is None:
                    nodes = self._interpolated_nodes(self.reader.read_frame(frame), before, (part + 1) / count)
                yield BodySample(number, frame, part == count - 1, part, fields, nodes, tets)
            before = nodes

    def _interpolated_nodes(self, stored: Frame, before: Floats | None, share: float) -> Floats:
        """Returns node positions [m] of a frame that was baked when the body could not break, so whole as it was.

        Args:
            stored: The frame.
            before: Node positions a frame earlier.
            share: How far after that.
        """
        origin = (
            self.reader.read_topology(stored.topology)["origin"]
            if stored.topology
            else np.arange(len(stored.x), dtype=np.int64)
        )
        own = (origin >= self._nodes[0]) & (origin < self._nodes[1])
        nodes = floats(stored.x[own], -1, 3)
        return nodes if before is None else before + share * (nodes - before)
