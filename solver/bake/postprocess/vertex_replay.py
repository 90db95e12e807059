# SPDX-License-Identifier: GPL-3.0-or-later
"""Computes the vertex positions of a final mesh, sample by sample."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

import numpy as np

from ...runtime.arrays import Floats
from .body_frames import BodyFrameReader, BodySample
from .crack_binding import CrackBinding
from .crack_opening_times import CrackOpening, TearOpening

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix


def replay_samples(
    frames: BodyFrameReader,
    ties: CrackBinding,
    corrections: Mapping[str, csr_matrix],
    opening: CrackOpening | TearOpening,
) -> Iterator[tuple[BodySample, Floats]]:
    """Yields every sample with the positions in world space [m], (k, 3).

    Args:
        frames: The baked frames.
        ties: The binding of the vertices.
        corrections: Their weights for offsets of exact pins, by the key of the pins.
        opening: Records when faces part.
    """
    tets, nodes = None, np.zeros((0, 4), np.int32)
    for sample in frames.samples():
        if sample.tets is not tets:
            tets, nodes = sample.tets, ties.nodes(sample.tets)
            opening.record(sample.number, tets)
        positions = ties.positions(sample.nodes, nodes)
        for pins, matrix in corrections.items():
            offsets = frames.pin_errors(sample, pins, matrix.shape[1])
            if offsets is not None:
                positions += matrix @ offsets
        yield sample, positions
