# SPDX-License-Identifier: GPL-3.0-or-later
"""Where the Wrap and the closed holes of fat are in the frames of a cache: its object plays the skin alone."""

from __future__ import annotations

import numpy as np

from ...solver.bake.cache import CacheReader
from ...solver.runtime.arrays import Floats
from .baked_tets import BodyTets


class WrapVertices:
    """The last vertices of the surface of fat, which are those of its Wrap, or of its closed holes and its Wrap."""

    def __init__(self, reader: CacheReader, tets: BodyTets, key: str, count: int) -> None:
        """Reads where they are in the tets.

        Args:
            reader: The cache.
            tets: Of the body.
            key: Of the body.
            count: How many vertices, k ≥ 1: those of the Wrap, or of the holes and the Wrap.

        Raises:
            StorageFailed: The tets cannot be read.
        """
        model = reader.read_model(key)
        self._reader, self._tets = reader, tets
        self._around: dict[int, Floats] = {}
        self._bound, self._weights = model["binding_tet"][-count:], model["binding_weights"][-count:]

    def positions_between(self, first: int, number: int, per_frame: int) -> Floats:
        """Returns where they are at a sample [m], world, (k, 3): between frames, which alone have tets, along lines.

        Args:
            first: The frame of sample 0.
            number: Of the sample; samples are asked for in their order.
            per_frame: Samples per frame.

        Raises:
            StorageFailed: A frame cannot be read.
        """
        frame, share = first + number // per_frame, (number % per_frame) / per_frame
        wanted = (frame, frame + 1) if share else (frame,)
        self._around = {each: self._around[each] if each in self._around else self.positions(each) for each in wanted}
        if not share:
            return self._around[frame]
        return (1.0 - share) * self._around[frame] + share * self._around[frame + 1]

    def positions(self, frame: int) -> Floats:
        """Returns where they are at a frame [m], world, (k, 3).

        Raises:
            StorageFailed: The frame cannot be read.
        """
        found = self._reader.read_frame(frame)
        tets, (first, end) = self._tets.tets_and_nodes(self._reader, found.topology)
        x = np.asarray(found.x[first:end], np.float64)
        return np.einsum("va,vai->vi", self._weights, x[tets[self._bound]])
