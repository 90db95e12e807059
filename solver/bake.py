# SPDX-License-Identifier: GPL-3.0-or-later
"""The loop of a bake: a frame is computed, written, then told."""

from __future__ import annotations

import dataclasses
import time as clock
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from .advance import FrameReport, advance_frame, begin_frame, render_positions
from .break_up import pieces_at_limit
from .cache import CacheHead, CacheWriter
from .errors import Cancelled, SinewError, StorageFailed
from .event_stream import plain
from .quasistatic.newton import Progress
from .sheets_inside import sheets_inside
from .simulation import Simulation
from .taken import Taken
from .topology import Topology

OnEvent = Callable[[Mapping[str, Any]], None]
MANY_NODES = 10_000  # from here on a frame takes so long that every one gets its resume point
FEW_FRAMES = 10  # else one in so many does
SECONDS_BETWEEN = 0.2  # from one `solving` or `preroll` event to the next


class Paced:
    """Events of what takes long, at most one in `SECONDS_BETWEEN`, and the wish to stop, asked for as often."""

    def __init__(self, on_event: OnEvent, should_stop: Callable[[], bool]) -> None:
        self.on_event, self.should_stop = on_event, should_stop
        self.last = clock.monotonic()

    def stop_here(self) -> None:
        """Raises Cancelled where a person wants to stop."""
        if self.should_stop():
            raise Cancelled()

    def tell(self, event: Mapping[str, Any], is_last: bool = False) -> None:
        """Tells an event where it is time for one, or where it is the last of its kind."""
        if is_last or clock.monotonic() - self.last >= SECONDS_BETWEEN:
            self.last = clock.monotonic()
            self.on_event(event)

    def solving(self, frame: int) -> Callable[[Progress], None]:
        """Returns what is to be called before every Newton iteration of a frame."""

        def told(progress: Progress) -> None:
            self.stop_here()
            numbers = {"newton_iterations": progress.newton_iterations, "residual": progress.residual}
            self.tell({"event": "solving", "frame": frame, **numbers})

        return told


@dataclass
class Bake:
    """A simulation between two frames, and the cache that it is written into.

    Attributes:
        frame: The frame that the simulation is at; every frame up to it counts.
        topology: Number of the first sample with the present topology, 0 while all bodies are whole.
        at_limit: Keys of the bodies of which a person knows that they are in as many pieces as they may.
        crushed: Keys of bodies with names of bones of which a person knows that they turn flesh inside out.
    """

    writer: CacheWriter
    head: CacheHead
    simulation: Simulation
    frame: int
    topology: int = 0
    at_limit: set[str] = dataclasses.field(default_factory=set)
    crushed: set[tuple[str, str, str]] = dataclasses.field(default_factory=set)

    @property
    def resume_interval(self) -> int:
        """Frames from one resume point to the next; not by the clock, so that the same bake has the same files."""
        built = self.simulation.built
        return 1 if (built.whole or built).model.node_count >= MANY_NODES else FEW_FRAMES

    def write_start(self, on_event: OnEvent, should_stop: Callable[[], bool]) -> dict[str, Any]:
        """Writes the first frame and returns its event: the start state, after the pre-roll and in its pose.

        Raises:
            SolveFailed, StorageFailed, Cancelled: As `run`; there is nothing yet that could be resumed.
        """
        began = clock.perf_counter()
        told = self._preroll(on_event, should_stop)
        taken = self._taken(self.frame)
        taken.take(render_positions(self.simulation.built, self.simulation.state))
        report = self._write(taken, told, began)
        for warning in self._impaled(is_first=True):
            on_event(warning)
        return report

    def _preroll(self, on_event: OnEvent, should_stop: Callable[[], bool]) -> FrameReport:
        """Goes from the rest pose to the first frame; returns how that frame went."""
        settings, paced = self.simulation.scene.settings, Paced(on_event, should_stop)
        told = begin_frame(self.simulation, paced.solving(settings.frame_start - settings.preroll))
        for number in range(1, settings.preroll + 1):
            frame = settings.frame_start - settings.preroll + number
            told = advance_frame(self.simulation, frame, None, paced.stop_here, paced.solving(frame))
            paced.tell({"event": "preroll", "fraction": number / settings.preroll}, number == settings.preroll)
        return told

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
                report = self._advance(frame, Paced(on_event, should_stop))
            except BaseException as problem:
                if self.frame < frame and not isinstance(problem, StorageFailed):
                    self.simulation.put_back(before)
                    self._write_resume()
                raise
            on_event(report)
            for warning in (*self._at_limits(), *self._crushed(), *self._impaled(is_first=False)):
                on_event(warning)
        self._complete_head()
        self._write_resume()

    def _advance(self, frame: int, paced: Paced) -> dict[str, Any]:
        """Moves on by one frame, writes it, and returns its event."""
        began = clock.perf_counter()
        taken = self._taken(frame)
        paced.stop_here()
        told = advance_frame(self.simulation, frame, taken.take, paced.stop_here, paced.solving(frame))
        self.frame = frame
        return self._write(taken, told, began)

    def _at_limits(self) -> list[dict[str, Any]]:
        """Returns a warning for every body that has just fallen into as many pieces as it may."""
        warnings = []
        for key, numbers in pieces_at_limit(self.simulation).items():
            if key not in self.at_limit:
                self.at_limit.add(key)
                warnings.append(_warning(SinewError("pieces-at-limit", frame=self.frame, **numbers)))
        return warnings

    def _crushed(self) -> list[dict[str, Any]]:
        """Returns a warning for every bone, or two of them, that have just begun to turn flesh inside out."""
        simulation = self.simulation
        bones, built = simulation.built.bones, simulation.built
        if not bones:
            return []
        time = simulation.scene.settings.time(self.frame)
        alone = bones.turned_inside_out(simulation.tracks, time)
        told = [("flesh-crushed", body, (bone, ""), count) for body, bone, count in alone]
        between = bones.crushed_between(built.model, simulation.state.x)
        armature = {bone.name for bone in simulation.scene.bones if not len(bone.triangles)}
        kinds = ("flesh-crushed-between", "flesh-crushed-between-both", "flesh-crushed-between-armature")
        for number, one, other, count in between:
            told.append((kinds[len(armature & {one, other})], number, (one, other), count))
        warnings = []
        for kind, number, names, count in told:
            body = built.bodies[number]
            if (body.key, *names) not in self.crushed:
                self.crushed.add((body.key, *names))
                details = {"frame": self.frame, "name": body.name, "bone": names[0], "other": names[1]}
                warnings.append(_warning(SinewError(kind, count=count, **details)))
        return warnings

    def _impaled(self, is_first: bool) -> list[dict[str, Any]]:
        """Returns a warning for every sheet that is inside a body all at once."""
        found = sheets_inside(self.simulation, self.frame, is_first)
        return [_warning(SinewError("sheet-in-body", name=n, body=b, frame=self.frame)) for n, b in found]

    def _taken(self, frame: int) -> Taken:
        """Returns what is to be written of a frame, with nothing in it yet."""
        return Taken(self.simulation, self.head, frame, self.topology, Topology.of(self.simulation.state))

    def _write(self, taken: Taken, told: FrameReport, began: float) -> dict[str, Any]:
        """Writes the frame that the simulation is at, with a resume point where one is due, and returns its event."""
        line = plain({"frame": self.frame, **dataclasses.asdict(told)})
        frame, samples, attributes = taken.complete()
        self.writer.write_frame(frame, samples, line, taken.topologies, attributes, taken.contacts())
        self.topology = taken.number
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


def _warning(told: SinewError) -> dict[str, Any]:
    return {"event": "warning", "kind": told.kind, "sentence": told.sentence, "next_step": told.next_step}
