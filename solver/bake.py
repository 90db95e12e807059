# SPDX-License-Identifier: GPL-3.0-or-later
"""The loop of a bake: a frame is computed, written while the next one is computed, then told."""

from __future__ import annotations

import dataclasses
import time as clock
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any

from .advance import FrameReport, advance_frame, begin_frame, render_positions
from .break_up import pieces_at_limit
from .cache import CacheHead, CacheWriter, WritesBehind
from .errors import Cancelled, SinewError, StorageFailed
from .event_stream import plain
from .late_dataclass import dataclass
from .quasistatic.progress import Progress
from .sheets_inside import sheets_inside
from .simulation import Simulation
from .state import State
from .taken import Taken
from .topology import Topology

OnEvent = Callable[[Mapping[str, Any]], None]
MANY_NODES = 10_000  # from here on a frame takes so long that every one gets its resume point
FEW_FRAMES = 10  # else one in so many does
SECONDS_BETWEEN = 0.2  # from one `solving` or `preroll` event to the next


class Paced:
    """Events of what takes long, at most one in `SECONDS_BETWEEN`, and the wish to stop, asked for as often.

    `tell_written` is called as often: it tells of frames that have been written meanwhile.
    """

    def __init__(
        self, on_event: OnEvent, should_stop: Callable[[], bool], tell_written: Callable[[], None] = lambda: None
    ) -> None:
        self.on_event, self.should_stop, self.tell_written = on_event, should_stop, tell_written
        self.last = clock.monotonic()

    def stop_here(self) -> None:
        """Raises Cancelled where a person wants to stop."""
        self.tell_written()
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
        frame: The frame that the simulation is at. Every frame that was told of counts.
        topology: Number of the first sample with the present topology, 0 while all bodies are whole.
        warnings: What was warned of when it was built and is not in the report yet: the next line has it.
        at_limit: Keys of the bodies of which a person knows that they are in as many pieces as they may.
        crushed: Keys of bodies with names of bones of which a person knows that they turn flesh inside out.
    """

    writer: CacheWriter
    head: CacheHead
    simulation: Simulation
    frame: int
    topology: int = 0
    warnings: list[dict[str, str]] = dataclasses.field(default_factory=list)
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
        write, report = self._written(taken, told, began, self.simulation.state)
        write()
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
        with WritesBehind() as behind:
            paced = Paced(on_event, should_stop, behind.tell)
            before = self.simulation.copy()
            for frame in range(self.frame + 1, self.simulation.scene.settings.frame_end + 1):
                try:
                    taken, told, began = self._advance(frame, paced)
                except BaseException as problem:
                    if self.frame < frame and not isinstance(problem, StorageFailed):
                        self.simulation.put_back(before)
                        behind.finish()
                        self._write_resume(self.frame, before.state)
                    raise
                before = self.simulation.copy()
                write, report = self._written(taken, told, began, before.state)
                warnings = (*self._at_limits(), *self._crushed(), *self._impaled(is_first=False))
                behind.do(write, partial(_tell, on_event, (report, *warnings)))
            behind.finish()
        self._complete_head()
        self.writer.write_head(self.head)
        self._write_resume(self.frame, self.simulation.state)

    def _advance(self, frame: int, paced: Paced) -> tuple[Taken, FrameReport, float]:
        """Moves on by one frame; returns what is to be written of it, how it went, and when it began."""
        began = clock.perf_counter()
        taken = self._taken(frame)
        paced.stop_here()
        told = advance_frame(self.simulation, frame, taken.take, paced.stop_here, paced.solving(frame))
        self.frame = frame
        return taken, told, began

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

    def _written(
        self, taken: Taken, told: FrameReport, began: float, state: State
    ) -> tuple[Callable[[], None], dict[str, Any]]:
        """Returns what writes the frame that the simulation is at, with a resume point where one is due, and its event.

        It may be called by another thread, while the simulation moves on: `state` has to stay as it is.
        """
        number, line = self.frame, plain({"frame": self.frame, **dataclasses.asdict(told)})
        warned, self.warnings = {"warnings": self.warnings} if self.warnings else {}, []
        frame, samples, attributes = taken.complete()
        contacts = taken.contacts()
        self.topology = taken.number
        is_due = (number - self.head.frame_start) % self.resume_interval == 0
        if is_due:
            self._complete_head()
        head = self.head

        def write() -> None:
            self.writer.write_frame(frame, samples, line | warned, taken.topologies, attributes, contacts)
            if is_due:
                self.writer.write_head(head)
                self._write_resume(number, state)

        settings = self.simulation.scene.settings
        ends = {"frame_start": settings.frame_start, "frame_end": settings.frame_end}
        return write, {"event": "frame", **ends, **line, "seconds": clock.perf_counter() - began}

    def _write_resume(self, frame: int, state: State) -> None:
        self.writer.write_resume(frame, state.to_arrays(), self.resume_interval)

    def _complete_head(self) -> None:
        """Takes the digest of tracks that were still being written when the bake began into the head."""
        if not self.head.tracks:
            self.head = dataclasses.replace(self.head, tracks=self._tracks_digest())

    def _tracks_digest(self) -> str:
        return self.simulation.tracks.final_digest(self.simulation.scene.settings.time(self.head.frame_end))


def _tell(on_event: OnEvent, events: Iterable[Mapping[str, Any]]) -> None:
    for event in events:
        on_event(event)


def _warning(told: SinewError) -> dict[str, Any]:
    return {"event": "warning", "kind": told.kind, "sentence": told.sentence, "next_step": told.next_step}
