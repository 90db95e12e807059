# SPDX-License-Identifier: GPL-3.0-or-later
"""Pieces of a brittle body that are dust, as particles: where they are, how fast, how large, and since when.

Each is a rigid body as other pieces are, with its mass, its contacts and its friction, so nothing is lost where one
comes off. In the mesh of the broken body its faces shrink to a point from then on.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ...mesh.geometry.connected_components import mesh_components
from ...mesh.node_splitting.minimum_fragment import min_fragment_volume
from ...mesh.tet_mesh import TetMesh
from ...runtime.arrays import Bools, Floats, Indices, floats, indices
from ..attributes.point_ply import ply_bytes
from .body_frames import BodySample

ToLocal = Callable[[Floats, float], npt.NDArray[np.float32]]
NEVER_OFF = -1
NO_DUST = -1


@dataclass(frozen=True, eq=False)
class DustPieces:
    """Pieces of a body that are dust at the end, d of them.

    Attributes:
        of_tet: Number of the piece of each tet, (m,), `NO_DUST` in others.
        tet_volume: Of material in each tet [m³], (m,).
        volume: Of each piece [m³], (d,).
        first_tet: Of each, (d,).
        tet_count: Of each, (d,).
    """

    of_tet: Indices
    tet_volume: Floats
    volume: Floats
    first_tet: Indices
    tet_count: Indices

    @property
    def size(self) -> Floats:
        """Diameters of balls with as much material [m], (d,)."""
        return floats(np.cbrt(6.0 * self.volume / np.pi))

    def is_off(self, tets: Indices) -> Bools:
        """Returns which are pieces of their own, (d,), while the nodes of the tets are these, (m, 4)."""
        piece = mesh_components(tets, int(tets.max()) + 1)[tets[:, 0]]
        return np.asarray(np.bincount(piece)[piece[self.first_tet]] == self.tet_count)

    def centres(self, nodes: Floats, tets: Indices) -> Floats:
        """Returns the centres of mass [m], (d, 3), for positions [m], (n, 3), and nodes of the tets, (m, 4)."""
        own = np.flatnonzero(self.of_tet != NO_DUST)
        weighted = self.tet_volume[own, None] * nodes[tets[own]].mean(axis=1)
        sums = [np.bincount(self.of_tet[own], weighted[:, axis], len(self.volume)) for axis in range(3)]
        return floats(np.stack(sums, axis=1) / self.volume[:, None])


def find_dust(mesh: TetMesh, final: Indices) -> DustPieces:
    """Returns the pieces that are dust.

    Args:
        mesh: The tets while they are whole.
        final: Their nodes at the end, (m, 4).
    """
    corners = mesh.nodes[mesh.tets]
    whole = np.linalg.det(corners[:, 1:] - corners[:, :1]) / 6.0
    volume = floats(mesh.fill * whole)
    least = min_fragment_volume(floats(np.cbrt(12.0 * whole)), volume)
    piece = mesh_components(final, int(final.max()) + 1)[final[:, 0]]
    held = np.bincount(piece, volume)
    dust = np.flatnonzero((held < least) & (np.bincount(piece) > 0))
    number = np.full(len(held), NO_DUST, np.int32)
    number[dust] = np.arange(len(dust), dtype=np.int32)
    of_tet = number[piece]
    own = np.flatnonzero(of_tet != NO_DUST)
    _, first = np.unique(of_tet[own], return_index=True)
    counts = np.bincount(of_tet[own], minlength=len(dust))
    return DustPieces(indices(of_tet), volume, floats(held[dust]), indices(own[first]), indices(counts))


class DustReplay:
    """The dust of a body, sample by sample.

    Attributes:
        pieces: It.
        off_at: The sample at which each came off, `NEVER_OFF` until then, (d,).
    """

    def __init__(self, pieces: DustPieces) -> None:
        """Begins before the first sample."""
        self.pieces = pieces
        self.off_at = np.full(len(pieces.volume), NEVER_OFF, np.int64)
        self._tets: Indices | None = None

    def record(self, sample: int, tets: Indices) -> Indices:
        """Returns which have come off by a sample, (k,), while the nodes of the tets are these, (m, 4)."""
        if tets is not self._tets:
            self._tets = tets
            self.off_at[(self.off_at == NEVER_OFF) & self.pieces.is_off(tets)] = sample
        return indices(np.flatnonzero(self.off_at != NEVER_OFF))


class DustWriter:
    """Shrinks the dust in the mesh of a body, and writes its particles frame by frame."""

    def __init__(self, pieces: DustPieces, tet_of_vertex: Indices, to_local: ToLocal) -> None:
        """Begins before the first sample.

        Args:
            pieces: The dust.
            tet_of_vertex: The tet of each vertex of the mesh, (k,).
            to_local: From the world [m] to the space of the object at a time [s].
        """
        self.pieces, self.replay = pieces, DustReplay(pieces)
        self._of_vertex, self._to_local = pieces.of_tet[tet_of_vertex], to_local
        self._off: Indices = np.zeros(0, np.int32)
        self._now: _Centres | None = None
        self._before: _Centres | None = None
        self._begin = np.zeros(len(pieces.volume))

    def shrink(self, sample: BodySample, time: float, world: Floats) -> None:
        """Moves the vertices of dust to its centres, in positions in the world [m], (k, 3), of a sample at a time [s].

        Call it for every sample in order.
        """
        was_off = self.replay.off_at != NEVER_OFF
        self._off = self.replay.record(sample.number, sample.tets)
        self._begin[self._off[~was_off[self._off]]] = time
        centres = self.pieces.centres(sample.nodes, sample.tets)
        self._before, self._now = self._now, _Centres(time, self._to_local(centres, time), centres)
        is_off = np.zeros(len(was_off) + 1, bool)
        is_off[self._off] = True
        rows = np.flatnonzero(is_off[self._of_vertex])  # NO_DUST is the last one
        world[rows] = centres[self._of_vertex[rows]]

    def particles(self) -> bytes | None:
        """Returns the file of the particles at the last sample; None: there are none yet."""
        now, off = self._now, self._off
        if now is None or not len(off):
            return None
        velocity = np.zeros((len(off), 3))
        if self._before is not None:
            moved = now.local[off].astype(np.float64) - self._before.local[off]
            velocity = moved / (now.time - self._before.time)
        one = self._to_local(floats(now.world[off] + [1.0, 0.0, 0.0]), now.time).astype(np.float64)
        unit = np.linalg.norm(one - now.local[off], axis=1)
        columns = {f"velocity_{axis}": velocity[:, k] for k, axis in enumerate("xyz")}
        columns |= {"size": unit * self.pieces.size[off], "age": now.time - self._begin[off], "number": floats(off + 1)}
        return ply_bytes(now.local[off], columns)


@dataclass(frozen=True, eq=False)
class _Centres:
    """Where dust is at a time [s], in the space of its object and in the world [m], (d, 3) each."""

    time: float
    local: npt.NDArray[np.float32]
    world: Floats
