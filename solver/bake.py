# SPDX-License-Identifier: GPL-3.0-or-later
"""The loop of a bake: a frame is computed, written, then told."""

from __future__ import annotations

import dataclasses
import time as clock
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from .advance import FrameReport, advance_frame, render_positions
from .arrays import Floats
from .cache import CacheHead, CacheWriter, Frame
from .errors import Cancelled, StorageFailed
from .event_stream import plain
from .simulation import Simulation

OnEvent = Callable[[Mapping[str, Any]], None]
MANY_NODES = 10_000  # from here on a frame takes so long that every one gets its resume point
FEW_FRAMES = 10  # else one in so many does


@dataclass
class Bake:
    """A simulation between two frames, and the cache that it is written into.

    Attributes:
        frame: The frame that the simulation is at; every frame up to it counts.
    """

    writer: CacheWriter
    head: CacheHead
    simulation: Simulation
    frame: int

    @property
    def resume_interval(self) -> int:
        """Frames from one resume point to the next; not by the clock, so that the same bake has the same files."""
        return 1 if self.simulation.built.model.node_count >= MANY_NODES else FEW_FRAMES

    def write_start(self) -> dict[str, Any]:
        """Writes the first frame, which is the start state, and returns its event."""
        began = clock.perf_counter()
        positions = render_positions(self.simulation.built, self.simulation.state)
        samples = {key: [self.in_object_space(key, p, self.frame)] for key, p in positions.items()}
        still = FrameReport(0, 0.0, True, 0, 0, 0, 0, 0, 0.0)
        return self._write(samples, still, began)

    def run(self, on_event: OnEvent, should_stop: Callable[[], bool]) -> None:
        """Computes and writes all frames up to the last.

        Raises:
            SolveFailed: A step failed; the last whole frame can be resumed from.
            StorageFailed: The disk refused; every frame told so far counts.
            Cancelled: `should_stop` said so; the last whole frame can be resumed from.
        """
        for frame in range(self.frame + 1, self.simulation.scene.settings.frame_end + 1):
            before = self.simulation.copy()
            try:
                report = self._advance(frame, should_stop)
            except BaseException as problem:
                if self.frame < frame and not isinstance(problem, StorageFailed):
                    self.simulation.put_back(before)
                    self._write_resume()
                raise
            on_event(report)
        self._complete_head()
        self._write_resume()

    def _advance(self, frame: int, should_stop: Callable[[], bool]) -> dict[str, Any]:
        """Moves on by one frame, writes it, and returns its event."""
        began = clock.perf_counter()
        samples: dict[str, list[npt.NDArray]] = {body.key: [] for body in self.head.bodies}
        per_frame = self.head.samples_per_frame

        def take(positions: Mapping[str, Floats]) -> None:
            for key, world in positions.items():
                at = frame - 1 + (len(samples[key]) + 1) / per_frame
                samples[key].append(self.in_object_space(key, world, at))

        def stop_here() -> None:
            if should_stop():
                raise Cancelled()

        stop_here()
        told = advance_frame(self.simulation, frame, take, stop_here)
        self.frame = frame
        return self._write(samples, told, began)

    def in_object_space(self, key: str, world: Floats, frame: float) -> npt.NDArray[np.float32]:
        """Returns world positions [m], (n, 3), as the body's object has to show them at a (sub)frame."""
        name = f"body.{key}.matrix"
        tracks, settings = self.simulation.tracks, self.simulation.scene.settings
        if not tracks.has(name):
            return world.astype(np.float32)
        matrix = tracks.sample(name, settings.time(frame))
        local = np.linalg.solve(matrix[:3, :3], (world - matrix[:3, 3]).T).T
        return local.astype(np.float32)

    def _write(self, samples: Mapping[str, list[npt.NDArray]], told: FrameReport, began: float) -> dict[str, Any]:
        """Writes the frame that `state` is at, with a resume point where one is due, and returns its event."""
        line = plain({"frame": self.frame, **dataclasses.asdict(told)})
        frame = Frame(self.frame, self.simulation.state.x.astype(np.float32))
        self.writer.write_frame(frame, {key: np.stack(drawn) for key, drawn in samples.items()}, line)
        if (self.frame - self.head.frame_start) % self.resume_interval == 0:
            self._complete_head()
            self._write_resume()
        settings = self.simulation.scene.settings
        ends = {"frame_start": settings.frame_start, "frame_end": settings.frame_end}
        return {"event": "frame", **ends, **line, "seconds": clock.perf_counter() - began}

    def _write_resume(self) -> None:
        self.writer.write_resume(self.frame, self.simulation.state.to_arrays(), self.resume_interval)

    def _complete_head(self) -> None:
        """Notes the digest of tracks that were still being written when the bake began."""
        if not self.head.tracks:
            self.head = dataclasses.replace(self.head, tracks=self._tracks_digest())
            self.writer.write_head(self.head)

    def _tracks_digest(self) -> str:
        return self.simulation.tracks.final_digest(self.simulation.scene.settings.time(self.head.frame_end))
