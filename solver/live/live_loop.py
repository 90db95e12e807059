# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs a scene live in a cache folder, as a hand wants it, and once more as it was written down."""

from __future__ import annotations

import math
import time as clock
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Any

import numpy as np
import numpy.typing as npt

from ..bake.cache.layout import LIVE_FOLDER, SCENE_FOLDER
from ..bake.cache.lock import CacheLock
from ..bake.played_vertices import played_positions
from ..mesh.world_to_object import to_object_space
from ..runtime.errors import BadInput, Cancelled, SinewError, StorageFailed
from ..scene.scene import Scene
from ..scene.track_shapes import track_shapes
from ..scene.tracks import TrackReader
from ..simulation.advance_frame import FrameReport
from ..simulation.build import OnStage
from .commands import ClockCommand, KeepStarts, Pause, Resume, SetRate, TakeStep, parse_command
from .live_run import LiveRun, LiveSample
from .pacing import Pace
from .recording import DIGEST_INTERVAL, InputRecorder, RecordedInputs, read_controls, read_inputs
from .restart_points import INTERVAL_SECONDS, RestartWriter
from .sample_files import SampleWriter, remove_samples
from .start_files import write_starts
from .torn_meshes import TornMeshes

OnEvent = Callable[[Mapping[str, Any]], None]
EVENT_SECONDS = 0.5  # between events that say how it goes
HOLD_SECONDS = 0.05  # that a run waits for a command at a time while it is paused


class _Ended(Exception):
    """Ends a run between two steps."""


@dataclass(frozen=True)
class LiveOptions:
    """How a run goes on.

    Attributes:
        steps: After how many it ends; None: when it is told to.
        make_pace: Makes what it waits for, for Δt [s].
    """

    steps: int | None = None
    make_pace: Callable[[float], Pace] = Pace


def run_live(
    folder: Path,
    scene: Scene,
    commands: SimpleQueue[Mapping[str, Any]],
    should_stop: Callable[[], bool],
    on_event: OnEvent,
    options: LiveOptions,
) -> None:
    """Runs the scene in a cache folder until it is told to stop; meanwhile it has the cache's lock.

    Args:
        folder: The cache; samples and inputs are written into its folder "live".
        scene: What is in it.
        commands: What the hand does, as it comes.
        should_stop: Asked before every step.
        on_event: Called with `live` events and warnings.
        options: How it goes on.

    Raises:
        BadInput, SolveFailed, StorageFailed: As `LiveRun`, the files and the lock.
    """
    with ExitStack() as held:
        held.callback(CacheLock(folder).release)
        remove_samples(folder / LIVE_FOLDER)  # of a run that was killed
        controls = read_controls(folder)
        run = LiveRun(scene, _tracks_of(folder, scene), controls, _announcing(on_event), folder)
        recorder = InputRecorder(folder, controls)
        pace = options.make_pace(1.0 / (scene.settings.fps * run.scene.settings.substeps))
        around = _StepCallbacks(run, recorder, pace, on_event)
        held.callback(around.close)

        def before_step() -> None:
            if pace.holds:
                on_event({"event": "paused", "step": run.step})
            while pace.holds and not should_stop():
                around.take(commands, HOLD_SECONDS)
            if should_stop() or (options.steps is not None and run.step >= options.steps):
                around.keep_starts()
                recorder.end(run.step, run.digest())  # here: an exception takes the state back to the last frame
                raise _Ended
            pace.wait(lambda seconds: around.take(commands, seconds))
            around.take(commands)

        try:
            run.run(before_step, around.show, around.report)
        except _Ended:
            on_event({"event": "done", "steps": run.step, **around.counts()})


class _StepCallbacks:
    """What is done around the steps of a run."""

    def __init__(self, run: LiveRun, recorder: InputRecorder, pace: Pace, on_event: OnEvent) -> None:
        self.run, self.recorder, self.pace, self.on_event = run, recorder, pace, on_event
        self.samples: SampleWriter | None = None
        self.torn = TornMeshes(run.simulation)
        interval = INTERVAL_SECONDS * run.scene.settings.fps * run.scene.settings.substeps
        self.restarts = RestartWriter(recorder.path.parent.parent, math.ceil(interval))
        self.command_count = self.not_converged = self.unsettled = 0
        self.last_event = clock.monotonic()

    def take(self, commands: SimpleQueue[Mapping[str, Any]], seconds: float = 0.0) -> None:
        """Applies all commands that have come; what cannot be done is a warning.

        Args:
            commands: Which come at any time.
            seconds: How long it waits for a first one [s].
        """
        while True:
            try:
                given = commands.get(timeout=seconds) if seconds > 0.0 else commands.get_nowait()
            except Empty:
                return
            seconds = 0.0
            self.command_count += 1
            try:
                command = parse_command(given)
                if isinstance(command, ClockCommand):  # a repetition has no clock
                    self._set_pace(command)
                    continue
                if isinstance(command, KeepStarts):
                    self.keep_starts()
                    continue
                arrives = self.run.apply(command)
            except BadInput as problem:
                self.on_event({"event": "warning", **problem.as_warning()})
            else:
                later = {"arrives": arrives} if arrives > self.run.step + 1 else {}
                self.recorder.record(self.run.step, {**given, **later})

    def keep_starts(self) -> None:
        """Writes what bodies would begin as, if a bake began as they are now, and says so."""
        write_starts(self.recorder.path.parent.parent, self.run.simulation)
        self.on_event({"event": "starts", "step": self.run.step})

    def _set_pace(self, command: ClockCommand) -> None:
        match command:
            case SetRate():
                self.pace.rate = command.rate
            case Pause():
                self.pace.pause()
            case TakeStep():
                self.pace.ask_for_step()
            case Resume():
                self.pace.resume()

    def show(self, sample: LiveSample) -> None:
        """Writes a sample where the other process sees it, and says how it goes."""
        simulation = self.run.simulation
        played = {key: played_positions(simulation, key, world, sample.time) for key, world in sample.positions.items()}
        if self.samples is None:
            self.samples = SampleWriter(self.recorder.path.parent, played)
            self._say(sample, is_first=True)
        torn = self._show_tears(sample)
        self.samples.write(sample.step, self.command_count, sample.time, played, torn)
        if sample.step and sample.step % DIGEST_INTERVAL == 0:
            self.recorder.record_digest(sample.step, self.run.digest())
        if clock.monotonic() - self.last_event >= EVENT_SECONDS:
            self._say(sample)

    def _show_tears(self, sample: LiveSample) -> dict[str, npt.NDArray[np.float32]]:
        """Returns what torn meshes play; gives those that have torn further files of their own, and says so."""
        found = self.torn.cut_anew(lambda problem: self.on_event({"event": "warning", **problem.as_warning()}))
        world = {key: self.torn.positions(key) for key in self.torn.meshes}
        played = {key: to_object_space(self.run.tracks, key, world[key], sample.time) for key in world}
        if found and self.samples is not None:
            self.samples.begin_generation({key: (mesh.to_bytes(), played[key]) for key, mesh in found.items()})
            told = [{"key": key, **mesh.counts()} for key, mesh in found.items()]
            self.on_event({"event": "torn", "step": sample.step, "generation": self.samples.generation, "bodies": told})
        return played

    def report(self, report: FrameReport) -> None:
        """Counts what did not converge or settle, and writes a restart point where one is due."""
        self.not_converged += report.not_converged
        self.unsettled += report.unsettled
        try:
            self.restarts.write_if_due(self.run)
        except StorageFailed as problem:  # such as a full disk: without points the last seconds take longer to keep
            self.restarts.stop()
            self.on_event({"event": "warning", **problem.as_warning()})

    def counts(self) -> dict[str, int]:
        """Returns how many steps so far did not converge, and in how many contacts did not settle."""
        return {"not_converged": self.not_converged, "unsettled": self.unsettled}

    def close(self) -> None:
        """Lets the files go."""
        self.recorder.release()
        self.restarts.close()
        if self.samples is not None:
            self.samples.close()

    def _say(self, sample: LiveSample, is_first: bool = False) -> None:
        self.last_event = clock.monotonic()
        bodies = self.run.simulation.built.bodies
        counts = {body.key: body.range.tets.stop - body.range.tets.start for body in bodies}
        tets = {"tets": sum(counts.values()), "body_tets": counts} if is_first else {}
        numbers = {"ratio": self.pace.ratio, "load": self.pace.load, **self.counts()}
        touched = self.run.touched()
        held = self.run.held_grabs()
        found: dict[str, object] = {"touched": touched} if touched else {}
        found |= {"held_grabs": held} if held else {}
        self.on_event({"event": "live", "step": sample.step, "time": sample.time, **numbers, **tets, **found})


def replay(folder: Path, scene: Scene, should_stop: Callable[[], bool], on_event: OnEvent) -> None:
    """Repeats the run of a cache folder and compares it with what it was.

    Raises:
        StorageFailed: "live-inputs-unreadable".
        SinewError: "live-replay-differs": positions or velocities are others.
        BadInput, SolveFailed: As `LiveRun`.
        Cancelled: By `should_stop`.
    """
    recorded, last_event = read_inputs(folder), clock.monotonic()
    run = LiveRun(scene, _tracks_of(folder, scene), recorded.controls, _announcing(on_event), folder)
    compared = 0

    def before_step() -> None:
        nonlocal compared, last_event
        if should_stop():
            raise Cancelled
        if clock.monotonic() - last_event >= EVENT_SECONDS:
            last_event = clock.monotonic()
            on_event({"event": "replaying", "step": run.step, "steps": recorded.steps, "compared": compared})
        compared += _compare(run, recorded)
        if run.step >= recorded.steps:
            raise _Ended
        for given in recorded.commands.get(run.step, ()):
            try:
                run.apply(parse_command(given))
            except BadInput as problem:
                raise StorageFailed(
                    "live-inputs-unreadable", path=str(folder / LIVE_FOLDER), problem=problem.sentence
                ) from problem

    try:
        run.run(before_step, lambda sample: None)
    except _Ended:
        on_event({"event": "done", "steps": run.step, "compared": compared})


def _compare(run: LiveRun, recorded: RecordedInputs) -> int:
    """Returns how many digests were compared at this step, 0 or 1."""
    wanted = recorded.digests.get(run.step)
    if wanted is None:
        return 0
    if run.digest() != wanted:
        raise SinewError("live-replay-differs", step=run.step)
    return 1


def _tracks_of(folder: Path, scene: Scene) -> TrackReader:
    return TrackReader(folder / SCENE_FOLDER, shapes=track_shapes(scene))


def _announcing(on_event: OnEvent) -> OnStage:
    return lambda stage, body: on_event({"event": "building", "stage": stage, "body": body})
