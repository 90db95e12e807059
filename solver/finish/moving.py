# SPDX-License-Identifier: GPL-3.0-or-later
"""Draws the vertices of a final mesh, sample by sample."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

import numpy as np

from ..arrays import Floats
from . import kept
from .body_frames import BodyFrames, BodySample
from .opening import Opening
from .ties import Ties

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix


def drawn_samples(
    frames: BodyFrames, ties: Ties, corrections: Mapping[str, csr_matrix], opening: Opening
) -> Iterator[tuple[BodySample, Floats]]:
    """Yields every sample with the positions [m], world, (k, 3).

    Args:
        frames: What was baked.
        ties: The vertices.
        corrections: How they follow what exact pins missed, by the key of the pins.
        opening: Notes when the faces open that part.
    """
    tets, nodes = None, np.zeros((0, 4), np.int32)
    for sample in frames.samples():
        if sample.tets is not tets:
            tets, nodes = sample.tets, ties.nodes(sample.tets)
            opening.look(sample.number, tets)
        positions = ties.draw(sample.nodes, nodes)
        for pins, matrix in corrections.items():
            missed = kept.missed(sample.fields, pins, sample.part)
            if missed is not None:
                positions += matrix @ missed
        yield sample, positions
