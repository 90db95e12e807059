# SPDX-License-Identifier: GPL-3.0-or-later
"""The loop of a bake: computes frames, and writes each in the background while it computes the next one."""

from __future__ import annotations

import dataclasses
import time as clock
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from ..brittle.crack_progress import CrackProgress
from ..mechanics.state import State
from ..runtime.arrays import Floats
from ..runtime.errors import Cancelled, SinewError, StorageFailed
from ..runtime.event_stream import json_value
from ..simulation.advance_frame import FrameReport
from ..simulation.attachment_report import attachment_report
from ..simulation.enclosed_collider_sheets import find_enclosed_sheets
from ..simulation.recently_moved_colliders import find_jumped_colliders
from ..simulation.simulation import FrameCallbacks, SimulatedFrame, Simulation
from ..simulation.solve_progress import SolveProgress
from ..simulation.tet_face_separation import pieces_at_limit
from .cache import BackgroundWriter, CacheMetadata, CacheWriter
from .frame_recorder import FrameRecorder
from .preroll_recorder import PrerollRecorder

OnEvent = Callable[[Mapping[str, Any]], None]
RESUME_EVERY_FRAME_NODES = 10_000  # from here on frames are so slow that each gets a checkpoint
RESUME_INTERVAL_FRAMES = 10  # frames between checkpoints otherwise
MIN_SECONDS_BETWEEN_EVENTS = 0.2  # between `solving` or `preroll` events


class ThrottledEvents:
    """Progress events, at most one in `MIN_SECONDS_BETWEEN_EVENTS`; polls for cancellation as often.

    Calls `report_written` as often, which reports the frames that were written meanwhile.
    """

    def __init__(
        self, on_event: OnEvent, should_stop: Callable[[], bool], tell_written: Callable[[], None] = lambda: None
    ) -> None:
        self.on_event, self.should_stop, self.report_written = on_event, should_stop, tell_written
        self.last = clock.monotonic()

    def raise_if_cancelled(self) -> None:
        """Raises Cancelled after a cancellation."""
        self.report_written()
        if self.should_stop():
            raise Cancelled()

    def emit(self, event: Mapping[str, Any], is_last: bool = False) -> None:
        """Emits an event if it is due, or the last of its kind."""
        if is_last or clock.monotonic() - self.last >= MIN_SECONDS_BETWEEN_EVENTS:
            self.last = clock.monotonic()
            self.on_event(event)

    def callbacks(self, on_sample: Callable[[dict[str, Floats]], None] = lambda positions: None) -> FrameCallbacks:
        """Returns what a simulation is to call while it moves on."""
        return FrameCallbacks(on_sample, self.raise_if_cancelled, self._emit_solving, self._emit_preroll)

    def _emit_solving(self, frame: int, progress: SolveProgress) -> None:
        self.raise_if_cancelled()
        if isinstance(progress, CrackProgress):
            self.emit({"event": "cracking", "frame": frame, **dataclasses.asdict(progress)})
        else:
            numbers = {"newton_iterations": progress.newton_iterations, "residual": progress.residual}
            self.emit({"event": "solving", "frame": frame, **numbers})

    def _emit_preroll(self, fraction: float) -> None:
        self.emit({"event": "preroll", "fraction": fraction}, fraction == 1.0)


@dataclass
class Bake:
    """A simulation between two frames, and its cache.

    Attributes:
        writer, metadata: Of the cache.
        simulation: At the last frame that was written.
        topology: Number of the first sample with the present topology, 0 while all bodies are intact.
        skipped: Frames of the simulation before the first one of the cache, by which its frame numbers are larger.
        warnings: Warnings of the build that the next line of the report will contain.
        bodies_at_piece_limit: Keys of the bodies for which the piece limit was reported.
        reported_inversions: Keys of bodies with the bones for which inverted flesh was reported.
        reported_jumps: Names of the colliders for which it was reported that they jump into a body.
        before_step: Called before every step of `run`.
    """

    writer: CacheWriter
    metadata: CacheMetadata
    simulation: Simulation
    topology: int = 0
    skipped: int = 0
    warnings: list[dict[str, str]] = dataclasses.field(default_factory=list)
    bodies_at_piece_limit: set[str] = dataclasses.field(default_factory=set)
    reported_inversions: set[tuple[str, str, str]] = dataclasses.field(default_factory=set)
    reported_jumps: set[str] = dataclasses.field(default_factory=set)
    before_step: Callable[[], None] = lambda: None

    @property
    def frame(self) -> int:
        """The frame of the cache that the simulation is at. Every frame whose event was sent counts."""
        return self.simulation.frame - self.skipped

    @property
    def resume_interval(self) -> int:
        """Frames between checkpoints; independent of time, so that the same bake has the same files."""
        built = self.simulation.built
        whole = built.stored if built.pieces else built.unbroken or built.stored
        return 1 if whole.model.node_count >= RESUME_EVERY_FRAME_NODES else RESUME_INTERVAL_FRAMES

    def write_first_frame(
        self, on_event: OnEvent, should_stop: Callable[[], bool], first: SimulatedFrame | None = None
    ) -> dict[str, Any]:
        """Writes the first frame, and returns its event.

        Args:
            on_event: Called with events.
            should_stop: Polled meanwhile.
            first: What the simulation has come to; None: it starts now, and this is its state after the pre-roll.

        Raises:
            SolveFailed, StorageFailed, Cancelled: As `run`, but nothing can be resumed yet.
        """
        began = clock.perf_counter()
        if first is None:
            first = self._start(on_event, should_stop)
        recorder = self._frame_recorder(self.frame)
        recorder.record_sample(first.positions)
        write, report = self._write_and_event(recorder, first.report, began)
        write()
        for warning in self._sheet_warnings(is_first=True):
            on_event(warning)
        return report

    def _start(self, on_event: OnEvent, should_stop: Callable[[], bool]) -> SimulatedFrame:
        callbacks = ThrottledEvents(on_event, should_stop).callbacks()
        preroll = PrerollRecorder(self.simulation)
        if self.simulation.scene.settings.writes_preroll:
            callbacks = dataclasses.replace(callbacks, on_preroll_sample=preroll.record_sample)
        first = self.simulation.start(callbacks)
        for key, positions in preroll.arrays().items():
            self.writer.write_preroll(key, positions)
        return first

    def run(self, on_event: OnEvent, should_stop: Callable[[], bool]) -> None:
        """Computes and writes all frames up to the last.

        Raises:
            SolveFailed: A step failed. The bake can resume from the last complete frame.
            StorageFailed: The disk failed. Every reported frame is on disk.
            Cancelled: By `should_stop`. The bake can resume from the last complete frame.
        """
        with BackgroundWriter() as behind:
            paced = ThrottledEvents(on_event, should_stop, behind.run_callbacks)
            while self.frame < self.metadata.frame_end:
                began = clock.perf_counter()
                recorder = self._frame_recorder(self.frame + 1)
                try:
                    paced.raise_if_cancelled()
                    advanced = self.simulation.advance(self._callbacks(paced, recorder))
                except BaseException as problem:
                    if not isinstance(problem, StorageFailed):
                        behind.finish()
                        self._write_resume(self.frame, self.simulation.state)
                    raise
                write, report = self._write_and_event(recorder, advanced.report, began)
                warnings = (
                    *self._piece_limit_warnings(),
                    *self._inversion_warnings(),
                    *self._sheet_warnings(is_first=False),
                    *self._jump_warnings(advanced.report),
                )
                behind.submit(write, partial(_emit_all, on_event, (report, *warnings)))
            behind.finish()
        self._complete_head()
        self.writer.write_head(self.metadata)
        self._write_resume(self.frame, self.simulation.state)

    def _callbacks(self, paced: ThrottledEvents, recorder: FrameRecorder) -> FrameCallbacks:
        callbacks = paced.callbacks(recorder.record_sample)

        def before_step() -> None:
            callbacks.before_step()
            self.before_step()

        return dataclasses.replace(callbacks, before_step=before_step)

    def _piece_limit_warnings(self) -> list[dict[str, Any]]:
        """Returns a warning for every body that has just reached its piece limit."""
        warnings = []
        for key, numbers in pieces_at_limit(self.simulation).items():
            if key not in self.bodies_at_piece_limit:
                self.bodies_at_piece_limit.add(key)
                warnings.append(_warning_event(SinewError("pieces-at-limit", frame=self.frame, **numbers)))
        return warnings

    def _inversion_warnings(self) -> list[dict[str, Any]]:
        """Returns a warning for every bone, or pair of bones, that has just begun to invert flesh."""
        simulation = self.simulation
        bones, built = simulation.built.bones, simulation.built
        if not bones:
            return []
        time = simulation.scene.settings.time(simulation.frame)
        alone = bones.inverted_tets(simulation.tracks, time)
        inversions = [("flesh-crushed", body, (bone, ""), count) for body, bone, count in alone]
        between = bones.inverted_between(built.model, simulation.state.x, simulation.tracks, time)
        armature = {bone.name for bone in simulation.scene.bones if not len(bone.triangles)}
        kinds = ("flesh-crushed-between", "flesh-crushed-between-both", "flesh-crushed-between-armature")
        for number, one, other, count in between:
            inversions.append((kinds[len(armature & {one, other})], number, (one, other), count))
        warnings = []
        for kind, number, names, count in inversions:
            body = built.bodies[number]
            if (body.key, *names) not in self.reported_inversions:
                self.reported_inversions.add((body.key, *names))
                details = {"frame": self.frame, "name": body.name, "bone": names[0], "other": names[1]}
                warnings.append(_warning_event(SinewError(kind, count=count, **details)))
        return warnings

    def _sheet_warnings(self, is_first: bool) -> list[dict[str, Any]]:
        """Returns a warning for every sheet that is suddenly inside a body."""
        found = find_enclosed_sheets(self.simulation, self.simulation.frame, is_first)
        return [_warning_event(SinewError("sheet-in-body", name=n, body=b, frame=self.frame)) for n, b in found]

    def _jump_warnings(self, report: FrameReport) -> list[dict[str, Any]]:
        """Returns a warning for every collider that has jumped and whose contacts did not settle, once for each."""
        at = self.simulation.frame
        found = set(find_jumped_colliders(self.simulation, at)) if report.unsettled else set()
        news = sorted(found - self.reported_jumps)
        self.reported_jumps.update(news)
        return [_warning_event(SinewError("collider-jumps-in", name=name, frame=self.frame)) for name in news]

    def _frame_recorder(self, frame: int) -> FrameRecorder:
        """Returns an empty recorder for a frame."""
        topology = self.simulation.built.stored_tets(self.simulation.state)
        return FrameRecorder(self.simulation, self.metadata, frame, self.topology, topology, skipped=self.skipped)

    def _write_and_event(
        self, recorder: FrameRecorder, report: FrameReport, began: float
    ) -> tuple[Callable[[], None], dict[str, Any]]:
        """Returns a function that writes the present frame, with a checkpoint if one is due, and the frame's event.

        Another thread may call it while the simulation advances.
        """
        number, line = self.frame, json_value({"frame": self.frame, **dataclasses.asdict(report)})
        if not report.deep_contacts:
            del line["deep_contacts"]  # most bakes have none, and lines of earlier versions do not say it
        if not report.let_in:
            del line["let_in"]
        loads = attachment_report(self.simulation)
        line |= {"attachments": json_value(loads)} if loads else {}
        warned, self.warnings = {"warnings": self.warnings} if self.warnings else {}, []
        frame, samples, attributes = recorder.frame_data()
        contacts = recorder.contacts()
        self.topology = recorder.first_sample
        is_due = (number - self.metadata.frame_start) % self.resume_interval == 0
        if is_due:
            self._complete_head()
        head, state = self.metadata, self.simulation.state.copy() if is_due else None

        def write() -> None:
            self.writer.write_frame(frame, samples, line | warned, recorder.topologies, attributes, contacts)
            if state is not None:
                self.writer.write_head(head)
                self._write_resume(number, state)

        ends = {"frame_start": head.frame_start, "frame_end": head.frame_end}
        return write, {"event": "frame", **ends, **line, "seconds": clock.perf_counter() - began}

    def _write_resume(self, frame: int, state: State) -> None:
        time = self.simulation.scene.settings.time(frame)  # of the cache, which may have skipped frames
        self.writer.write_resume(frame, dataclasses.replace(state, time=time).to_arrays(), self.resume_interval)

    def _complete_head(self) -> None:
        """Stores the digest of tracks that were still being written when the bake started."""
        if not self.metadata.tracks:
            self.metadata = dataclasses.replace(self.metadata, tracks=self._tracks_digest())

    def _tracks_digest(self) -> str:
        last = self.metadata.frame_end + self.skipped
        return self.simulation.tracks.final_digest(self.simulation.scene.settings.time(last))


def _emit_all(on_event: OnEvent, events: Iterable[Mapping[str, Any]]) -> None:
    for event in events:
        on_event(event)


def _warning_event(problem: SinewError) -> dict[str, Any]:
    return {"event": "warning", **problem.as_warning()}
