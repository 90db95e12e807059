# SPDX-License-Identifier: GPL-3.0-or-later
"""Reads the frames of a cache for one body: its nodes and tets at every sample, numbered from zero."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from ...mechanics.topology_state import Topology, stored_topology
from ...mesh.embedding import Binding
from ...mesh.mesh_npz import from_arrays
from ...mesh.tet_mesh import TetMesh
from ...runtime.arrays import Floats, Indices, floats, indices
from ..cache import CachedBody, CacheReader, Frame, layout
from . import breakable_frame_fields


@dataclass(frozen=True)
class BodySample:
    """A body at one sample.

    Attributes:
        number: Of the sample in the cache.
        frame: Its frame.
        is_frame: Whether it is the last sample of the frame, at the frame itself.
        part: Number of the sample in its frame.
        fields: Of the frame.
        nodes: Node positions [m], (n, 3).
        tets: Nodes of the tets, (m, 4); the same array until nodes split.
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
        mesh, binding: Its intact tets, and its render vertices in them.
        numbers: The topologies of the cache, without the intact one.
    """

    def __init__(self, reader: CacheReader, key: str) -> None:
        """Reads the tets of the body `key`.

        Raises:
            StorageFailed: The cache is damaged.
        """
        self.reader, self.key = reader, key
        node_count = tet_count = 0
        whole = []
        for body in reader.metadata.bodies:
            mesh, binding = self._read_model(body)
            whole.append(mesh.tets + np.int32(node_count))
            if body.key == key:
                self.mesh, self.binding = mesh, binding
                self._nodes = np.array([node_count, node_count + len(mesh.nodes)], np.int64)
                self._tets = slice(tet_count, tet_count + len(mesh.tets))
            node_count, tet_count = node_count + len(mesh.nodes), tet_count + len(mesh.tets)
        self._whole_tets, self._whole_node_count = np.concatenate(whole), node_count
        self.numbers = reader.topologies()

    def topology(self, number: int) -> Indices:
        """Returns the nodes of the body's tets, (m, 4), in the topology of that number (0: intact)."""
        if not number:
            return self.mesh.tets
        stored = self._stored_topology(number)
        start = np.count_nonzero(stored.origin < self._nodes[0])
        return indices(stored.tets[self._tets] - start, -1, 4)

    def final(self) -> Indices:
        """Returns the nodes of the tets at the last frame, (m, 4)."""
        return self.topology(self.numbers[-1] if self.numbers else 0)

    def frame_path(self, frame: int) -> Path:
        """Returns the file of a frame."""
        return layout.numbered_path(self.reader.folder / layout.FRAME_FOLDER, frame)

    def has_broken(self) -> bool:
        """Whether nodes of the body are split at the last frame."""
        return int(self.final().max(initial=-1)) >= len(self.mesh.nodes)

    def samples(self) -> Iterator[BodySample]:
        """Yields all samples up to the last complete frame.

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
                nodes = self._nodes_at(frame, fields, part, tets)
                if nodes is None:
                    nodes = self._interpolated_nodes(self.reader.read_frame(frame), before, (part + 1) / count)
                yield BodySample(number, frame, part == count - 1, part, fields, nodes, tets)
            before = nodes

    def pin_errors(self, sample: BodySample, pins: str, count: int) -> Floats | None:
        """Returns the offsets of the tets from `count` exact targets [m], (e, 3), or None; raises as `samples`."""
        offsets: Floats | None = self.reader.read_checked(
            self.frame_path(sample.frame),
            lambda: breakable_frame_fields.stored_pin_errors(sample.fields, pins, sample.part, count),
        )
        return offsets

    def attribute(self, sample: BodySample, name: str) -> npt.NDArray:
        """Returns the field behind an attribute at a sample, a row per node or tet; raises as `samples`."""
        counts = len(sample.nodes), len(sample.tets)
        values: npt.NDArray = self.reader.read_checked(
            self.frame_path(sample.frame),
            lambda: breakable_frame_fields.stored_attribute(sample.fields, self.key, name, *counts),
        )
        return values

    def _read_model(self, body: CachedBody) -> tuple[TetMesh, Binding]:
        def read() -> tuple[TetMesh, Binding]:
            mesh, binding = from_arrays(self.reader.read_model(body.key))
            if len(binding.tet) != body.vertices:
                raise ValueError(f"binding_tet has {len(binding.tet)} rows for {body.vertices} vertices")
            return mesh, binding

        made: tuple[TetMesh, Binding] = self.reader.read_checked(layout.model_path(self.reader.folder, body.key), read)
        return made

    def _stored_topology(self, number: int) -> Topology:
        path = layout.numbered_path(self.reader.folder / layout.TOPOLOGY_FOLDER, number)
        arrays = self.reader.read_topology(number)
        made: Topology = self.reader.read_checked(
            path, lambda: stored_topology(arrays, self._whole_tets, self._whole_node_count)
        )
        return made

    def _nodes_at(self, frame: int, fields: dict[str, npt.NDArray], part: int, tets: Indices) -> Floats | None:
        count = max(len(self.mesh.nodes), int(tets.max(initial=-1)) + 1)
        nodes: Floats | None = self.reader.read_checked(
            self.frame_path(frame), lambda: breakable_frame_fields.stored_nodes(fields, self.key, part, count)
        )
        return nodes

    def _interpolated_nodes(self, stored: Frame, before: Floats | None, share: float) -> Floats:
        """Returns interpolated node positions [m] for a frame that was baked while the body was not breakable.

        Args:
            stored: The frame.
            before: Node positions a frame earlier.
            share: Fraction of the way from there to the frame.
        """
        count = self._whole_node_count
        origin = self._stored_topology(stored.topology).origin if stored.topology else np.arange(count, dtype=np.int32)
        own = (origin >= self._nodes[0]) & (origin < self._nodes[1])

        def own_nodes() -> Floats:
            return floats(floats(stored.x, len(origin), 3)[own], len(self.mesh.nodes), 3)

        nodes: Floats = self.reader.read_checked(self.frame_path(stored.frame), own_nodes)
        return nodes if before is None else before + share * (nodes - before)
