# SPDX-License-Identifier: GPL-3.0-or-later
"""Bakes what a live run has shown: the run is repeated from what was written down, and its frames are a cache.

A repetition has the same bytes as the run, so nothing but commands has to be recorded while somebody waits for the next
sample. The bake goes up to the last whole frame. It can be played and resumed as any other; a resumed one goes on
without the hand. The last seconds alone are repeated from the newest restart point before them (restart_points.py), and
the first of their frames is that at which the run began.
"""

from __future__ import annotations

import time as clock
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np

from ..bake.bake_loop import OnEvent, ThrottledEvents
from ..bake.cache import CacheMetadata, CacheWriter
from ..bake.cache.layout import SCENE_FOLDER, newest_live_restart
from ..bake.run_bake import begin_bake, done_event, exporter_settings, make_final_meshes
from ..mechanics.topology_state import Topology
from ..runtime.errors import BadInput, Cancelled, SinewError
from ..scene.scene import Scene
from ..scene.track_shapes import track_shapes
from ..scene.tracks import TrackReader
from ..simulation.simulation import FrameCallbacks, SimulatedFrame
from .commands import parse_command
from .live_run import LiveRun
from .live_steps import kept_frames
from .recording import RecordedInputs, read_inputs
from .restart_points import go_on_from, read_restart


def keep(
    folder: Path,
    scene: Scene,
    should_stop: Callable[[], bool],
    on_event: OnEvent,
    seconds: float | None = None,
) -> None:
    """Bakes the recorded run of a cache folder into that folder.

    Args:
        folder: The cache, with the scene and the inputs of the run.
        scene: The one in it.
        should_stop: Polled between steps.
        on_event: Called with the events of a bake.
        seconds: The last ones are kept [s]; None: the whole run is.

    Raises:
        BadInput: "live-nothing-to-keep": the run is shorter than a frame; "live-torn-before": a body was torn before
            the frames that are kept; or as `LiveRun`.
        SinewError: "live-replay-differs": positions or velocities are others than they were.
        SolveFailed, StorageFailed, Cancelled: As a bake.
    """
    began, recorded = clock.perf_counter(), read_inputs(folder)
    tracks = TrackReader(folder / SCENE_FOLDER, shapes=track_shapes(scene))

    def on_stage(stage: str, body: str) -> None:
        if should_stop():
            raise Cancelled()
        on_event({"event": "building", "stage": stage, "body": body})

    run = LiveRun(scene, tracks, recorded.controls, on_stage, folder)
    settings = run.scene.settings
    frames = kept_frames(recorded.steps, settings.substeps, settings.fps, seconds)
    first = frames.first
    if not frames.count:
        raise BadInput("live-nothing-to-keep")
    repetition = _Repetition(run, recorded)
    begin = None if not first else _go_to(repetition, folder, first, ThrottledEvents(on_event, should_stop))
    settings = replace(settings, frame_end=settings.frame_start + frames.count)
    kept = replace(run.scene, settings=settings)
    with CacheWriter(folder) as writer:
        digest = tracks.final_digest(settings.time(settings.frame_end + first))
        head = CacheMetadata.for_scene(kept, digest, settings=exporter_settings(folder))
        run.simulation.scene = kept
        bake = begin_bake(writer, head, run.simulation, on_event, should_stop, begin)
        bake.before_step = repetition
        bake.run(on_event, should_stop)
        make_final_meshes(folder, kept, on_event, should_stop)
        on_event(done_event(folder, kept, began))


def _go_to(repetition: _Repetition, folder: Path, frame: int, events: ThrottledEvents) -> SimulatedFrame:
    """Repeats a run up to a frame, counted from its beginning, and returns that frame.

    Raises:
        BadInput: "live-torn-before".
        SinewError, SolveFailed, StorageFailed, Cancelled: As `keep`.
    """
    run, in_frame = repetition.run, repetition.run.scene.settings.substeps
    # a frame earlier: the one that it comes to says how its steps went
    step = newest_live_restart(folder, (frame - 1) * in_frame)
    if step is None:
        run.simulation.start(events.callbacks())
    else:
        go_on_from(run, read_restart(folder, step), repetition.recorded.commands)
    begin = run.step // in_frame

    def before_step() -> None:
        events.raise_if_cancelled()
        repetition()

    for number in range(begin, frame):
        _check_whole(run)
        found = run.simulation.advance(FrameCallbacks(before_step=before_step))
        fraction = (number + 1 - begin) / (frame - begin)
        events.emit({"event": "preroll", "fraction": fraction}, is_last=number + 1 == frame)
    _check_whole(run)
    return found


def _check_whole(run: LiveRun) -> None:
    """Raises BadInput where a body is torn: the frames of a bake begin with whole bodies."""
    simulation = run.simulation
    topology, start = Topology.from_state(simulation.state), 0
    if topology is None:
        return
    for body in simulation.built.bodies:
        count = len(body.mesh.nodes)
        own = (topology.origin >= start) & (topology.origin < start + count)
        if np.count_nonzero(own) > count:
            raise BadInput("live-torn-before", name=body.name)
        start += count


class _Repetition:
    """Called before every step: does what was done then, after it has made sure that all is as it was."""

    def __init__(self, run: LiveRun, recorded: RecordedInputs) -> None:
        self.run, self.recorded = run, recorded

    def __call__(self) -> None:
        run = self.run
        run.step = round(run.simulation.state.time * run.scene.settings.fps * run.scene.settings.substeps)
        wanted = self.recorded.digests.get(run.step)
        if wanted is not None and run.digest() != wanted:
            raise SinewError("live-replay-differs", step=run.step)
        for given in self.recorded.commands.get(run.step, ()):
            run.apply(parse_command(given))
