# SPDX-License-Identifier: GPL-3.0-or-later
"""Repairs PC2 files that are missing, truncated or have a damaged head: keeps intact samples and restores the others.

A sample is intact if the PC2 head counts it, the file contains it and the checksum in its frame matches. All others are
computed from the node positions of the frame, the binding in model/ and the animation in scene/. Frames store node
positions in float32 (for breakable bodies in float64, at each sample), so restored samples differ by rounding; their
frame gets a new checksum.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path

import numpy as np
import numpy.typing as npt

from ..constraints.pins import PIN_ERROR_FIELD
from ..mechanics.state import State
from ..mechanics.state_fields import CUT_PREFIX, DETAIL_PREFIX
from ..mechanics.topology_state import ORIGIN_FIELD, TETS_FIELD, stored_topology
from ..runtime.arrays import Floats, floats
from ..runtime.atomic_files import write_atomic
from ..runtime.checksums import npz_bytes, sha256
from ..runtime.errors import SinewError, StorageFailed
from ..runtime.storage_errors import named_errors
from ..simulation.advance_frame import render_positions
from ..simulation.assembled_scene import AssembledScene
from ..simulation.cutting.body_cut import stored_cut
from ..simulation.cutting.cut_bodies import apply_cuts
from ..simulation.fracture_topology import apply_topology
from ..simulation.simulation import Simulation
from .cache import CachedBody, CacheReader, Frame, layout
from .cache.frame_npz import frame_arrays, stored_checksums
from .cache.pc2 import HEADER_BYTES, AtomicPc2Writer
from .cache.pc2_check import complete_samples
from .played_vertices import played_positions
from .postprocess import breakable_frame_fields


class CompleteSamples:
    """The intact samples of a cache."""

    def __init__(self, reader: CacheReader) -> None:
        """Reads the heads of a cache's PC2 files."""
        self.reader, self.metadata = reader, reader.metadata
        self.sample_counts = {b.key: complete_samples(reader.folder, self.metadata, b) for b in self.metadata.bodies}

    def body_samples(self, body: CachedBody, frame: int) -> npt.NDArray[np.float32] | None:
        """Returns the samples of a body in a frame, (k, vertices, 3), or None if they are not intact."""
        first, after = self._range(frame)
        data = self._read(body, first, after)
        if data is None:
            return None
        if after > self.sample_counts[body.key]:
            expected = self.checksums(frame).get(layout.relative_play_path(body.key))
            if expected is None or sha256(data) != expected:
                return None
        return np.frombuffer(data, "<f4").reshape(after - first, body.vertices, 3)

    def last_frame(self) -> int | None:
        """Returns the last frame up to which all samples are intact or can be restored, or None."""
        last = self.reader.last_frame()
        there = set(self.reader.frames())
        frame = self.metadata.frame_start if last is None else last + 1
        while frame in there and all(
            self.body_samples(b, frame) is not None or self._can_redraw(b, frame) for b in self.metadata.bodies
        ):
            last, frame = frame, frame + 1
        return last

    def checksums(self, frame: int) -> dict[str, str]:
        """Returns the checksums in a frame; none in a damaged frame, or in one from an earlier version."""
        path = layout.numbered_path(self.reader.folder / layout.FRAME_FOLDER, frame)
        try:
            return stored_checksums(self.reader.read_arrays(path)) or {}
        except (StorageFailed, ValueError):
            return {}

    def _can_redraw(self, body: CachedBody, frame: int) -> bool:
        try:
            stored = self.reader.read_frame(frame)
        except StorageFailed:
            return False
        first, after = self._range(frame)
        between = range(after - first - 1)
        return all(f"nodes.{body.key}.{part}" in stored.fields for part in between)

    def _range(self, frame: int) -> tuple[int, int]:
        """Returns the number of the first sample of a frame, and of the one after its last."""
        return 0 if frame == self.metadata.frame_start else self.metadata.sample_count(
            frame - 1
        ), self.metadata.sample_count(frame)

    def _read(self, body: CachedBody, first: int, after: int) -> bytes | None:
        size = 12 * body.vertices
        try:
            with open(layout.play_path(self.reader.folder, body.key), "rb") as file:
                file.seek(HEADER_BYTES + first * size)
                data = file.read((after - first) * size)
        except OSError:
            return None
        return data if len(data) == (after - first) * size else None


def repair_pc2_files(reader: CacheReader, simulation: Simulation, until: int) -> list[SinewError]:
    """Restores the PC2 files of a cache up to a frame; returns a note for every body with restored samples.

    Args:
        reader: The cache.
        simulation: Of its scene, built with the tets of the cache.
        until: The last frame; at most `CompleteSamples.last_frame`.

    Raises:
        StorageFailed: A frame is damaged, or the disk failed.
    """
    played, head, notes = CompleteSamples(reader), reader.metadata, []
    drawn: _RedrawnFrames | None = None
    for body in head.bodies:
        if played.sample_counts[body.key] >= head.sample_count(until):
            continue
        drawn = drawn or _RedrawnFrames(reader, simulation)
        first_drawn = _rewrite_pc2(reader.folder, body, played, drawn, until)
        if first_drawn is not None:
            notes.append(SinewError("cache-play-drawn", name=body.name, path=str(reader.folder), frame=first_drawn))
    return notes


def _rewrite_pc2(
    folder: Path, body: CachedBody, played: CompleteSamples, drawn: _RedrawnFrames, until: int
) -> int | None:
    """Rewrites the PC2 file of a body; returns the first restored frame, or None."""
    head, first_drawn = played.metadata, None
    with named_errors(folder):
        path = layout.play_path(folder, body.key)
        path.parent.mkdir(exist_ok=True)
        file = AtomicPc2Writer(path, body.vertices, head.frame_start, 1.0 / head.samples_per_frame)
        try:
            for frame in range(head.frame_start, until + 1):
                samples = played.body_samples(body, frame)
                if samples is None:
                    samples = drawn.samples(body.key, frame)
                    _store_checksum(played, body.key, frame, samples)
                    first_drawn = frame if first_drawn is None else first_drawn
                for sample in samples:
                    file.append(sample)
            file.finish()
        finally:
            file.discard()
    return first_drawn


def _store_checksum(played: CompleteSamples, key: str, frame: int, samples: npt.NDArray[np.float32]) -> None:
    """Stores the checksum of restored samples in their frame, if it has checksums."""
    checksums = played.checksums(frame)
    if checksums:
        checksums[layout.relative_play_path(key)] = sha256(np.ascontiguousarray(samples).data.cast("B"))
        path = layout.numbered_path(played.reader.folder / layout.FRAME_FOLDER, frame)
        write_atomic(path, npz_bytes(frame_arrays(played.reader.read_frame(frame), checksums)))


class _RedrawnFrames:
    """Render positions of all bodies, computed from frames; caches the last frame."""

    def __init__(self, reader: CacheReader, simulation: Simulation) -> None:
        self.reader, self.simulation = reader, simulation
        built = simulation.built
        self._whole = built.stored if built.pieces else built.unbroken or built.uncut or built.stored
        self._last_frame: tuple[int, dict[str, npt.NDArray[np.float32]]] = (reader.metadata.frame_start - 1, {})
        self._topology: tuple[int, AssembledScene] = (0, self._whole)

    def samples(self, key: str, frame: int) -> npt.NDArray[np.float32]:
        """Returns the samples of a body in a frame, (k, n, 3), in object space."""
        if self._last_frame[0] != frame:
            drawn: dict[str, list[npt.NDArray[np.float32]]] = {}
            path = layout.numbered_path(self.reader.folder / layout.FRAME_FOLDER, frame)
            stored = self.reader.read_frame(frame)
            for number, positions in self.reader.read_checked(path, lambda: list(self._positions(stored))):
                time = self.simulation.scene.settings.time(self.reader.metadata.frame_of_sample(number))
                for name, world in positions.items():
                    local = played_positions(self.simulation, name, world, time)
                    drawn.setdefault(name, []).append(local)
            self._last_frame = (frame, {name: np.stack(parts) for name, parts in drawn.items()})
        return self._last_frame[1][key]

    def _positions(self, stored: Frame) -> Iterator[tuple[int, dict[str, Floats]]]:
        """Yields the number of every sample of a frame, and render positions by key in world space [m], (n, 3)."""
        head = self.reader.metadata
        count = 1 if stored.frame == head.frame_start else head.samples_per_frame
        built = self._built(stored.topology)
        for part in range(count):
            number = head.sample_count(stored.frame) - count + part
            x = floats(stored.x, built.model.node_count, 3)
            for body in built.bodies:
                rows = body.range.nodes.stop - body.range.nodes.start
                stored_rows = len(stored.fields.get(f"nodes.{body.key}.{part}", ()))
                # a sample before nodes split has fewer
                own = breakable_frame_fields.stored_nodes(stored.fields, body.key, part, stored_rows)
                if own is not None and stored_rows == rows:
                    x[body.range.nodes] = own
            dents = {name: values for name, values in stored.fields.items() if name.startswith(DETAIL_PREFIX)}
            state = State(x, np.zeros_like(x), fields=dents)
            self._restore_pin_offsets(built, state, stored, number, part)
            yield number, render_positions(built, state)

    def _restore_pin_offsets(self, built: AssembledScene, state: State, stored: Frame, number: int, part: int) -> None:
        """Restores the offsets of tets from exact pin targets: from the frame, or else from the targets themselves.

        The decay of a correction after a release is not restored.
        """
        tracks = self.simulation.tracks
        settings = self.simulation.scene.settings
        time = settings.time(self.reader.metadata.frame_of_sample(number))
        for pins in built.pins:
            missed = breakable_frame_fields.stored_pin_errors(stored.fields, pins.key, part, len(pins.exact))
            if missed is not None:
                state.fields[PIN_ERROR_FIELD.format(key=pins.key)] = missed
            elif (number or settings.preroll) and pins.stiffness(tracks, time) > 0.0:  # before a step nothing is missed
                pins.store_error(state, built.model, pins.targets(tracks, time), 0.0)

    def _stored_topology(self, number: int) -> dict[str, npt.NDArray]:
        path = layout.numbered_path(self.reader.folder / layout.TOPOLOGY_FOLDER, number)
        arrays, whole = self.reader.read_topology(number), self._whole.model
        if any(name.startswith(CUT_PREFIX) for name in arrays):
            for body in self._whole.bodies:
                self.reader.read_checked(path, partial(stored_cut, arrays, body.key, body.mesh))
            return {name: values for name, values in arrays.items() if name.startswith(CUT_PREFIX)}
        made = self.reader.read_checked(path, lambda: stored_topology(arrays, whole.tets, whole.node_count))
        return {TETS_FIELD: made.tets, ORIGIN_FIELD: made.origin}

    def _built(self, number: int) -> AssembledScene:
        """Returns the assembled scene with the topology of that number."""
        if self._topology[0] != number:
            fields = self._stored_topology(number) if number else {}
            state = State(np.zeros((0, 3)), np.zeros((0, 3)), fields=fields)
            self._topology = (number, apply_cuts(apply_topology(self._whole, state), state))
        return self._topology[1]
