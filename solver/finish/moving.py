# SPDX-License-Identifier: GPL-3.0-or-later
"""Draws the vertices of a final mesh, sample by sample."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from scipy.sparse import csr_matrix

from ..arrays import Floats, Indices
from . import kept
from .body_frames import BodyFrames, BodySample
from .opening import Opening
from .ties import Ties


def drawn_samples(
    frames: BodyFrames, ties: Ties, corrections: Mapping[str, csr_matrix], opening: Opening
) -> Iterator[tuple[BodySample, Indices, Floats]]:
    """Yields every sample with the nodes of the tets there, (m, 4), and the positions [m], world, (k, 3).

    Args:
        frames: What was baked.
        ties: The vertices.
        corrections: How they follow what exact pins missed, by the key of the pins.
        opening: Notes when the faces open that part.
    """
    coming = [*reversed(frames.numbers)]
    tets = frames.topology(0)
    nodes = ties.nodes(tets)
    for sample in frames.samples():
        while coming and coming[-1] <= sample.number:
            tets = frames.topology(coming.pop())
            nodes = ties.nodes(tets)
            opening.look(sample.number, tets)
        positions = ties.draw(sample.nodes, nodes)
        for pins, matrix in corrections.items():
            missed = kept.missed(sample.fields, pins, sample.part)
            if missed is not None:
                positions += matrix @ missed
        yield sample, tets, positions
