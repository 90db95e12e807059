# SPDX-License-Identifier: GPL-3.0-or-later
"""Bakes what a live run has shown: the run is repeated from what was written down, and its frames are a cache.

A repetition has the same bytes as the run, so nothing but commands has to be recorded while somebody waits for the next
sample. The bake goes up to the last whole frame. It can be played and resumed as any other; a resumed one goes on
without the hand.
"""

from __future__ import annotations

import time as clock
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from ..bake.bake_loop import OnEvent
from ..bake.cache import CacheMetadata, CacheWriter
from ..bake.cache.layout import SCENE_FOLDER
from ..bake.run_bake import begin_bake, done_event, exporter_settings, make_final_meshes
from ..runtime.errors import BadInput, SinewError
from ..scene.scene import Scene
from ..scene.track_shapes import track_shapes
from ..scene.tracks import TrackReader
from .commands import parse_command
from .live_run import LiveRun
from .recording import RecordedInputs, read_inputs


def keep(folder: Path, scene: Scene, should_stop: Callable[[], bool], on_event: OnEvent) -> None:
    """Bakes the recorded run of a cache folder into that folder.

    Args:
        folder: The cache, with the scene and the inputs of the run.
        scene: The one in it.
        should_stop: Polled between steps.
        on_event: Called with the events of a bake.

    Raises:
        BadInput: "live-nothing-to-keep": the run is shorter than a frame; or as `LiveRun`.
        SinewError: "live-replay-differs": positions or velocities are others than they were.
        SolveFailed, StorageFailed, Cancelled: As a bake.
    """
    began, recorded = clock.perf_counter(), read_inputs(folder)
    tracks = TrackReader(folder / SCENE_FOLDER, shapes=track_shapes(scene))
    run = LiveRun(scene, tracks, recorded.controls, lambda stage, body: on_event(_building(stage, body)), folder)
    settings = run.scene.settings
    frames = recorded.steps // settings.substeps
    if not frames:
        raise BadInput("live-nothing-to-keep")
    settings = replace(settings, frame_end=settings.frame_start + frames)
    kept = replace(run.scene, settings=settings)
    run.simulation.scene = kept
    with CacheWriter(folder) as writer:
        digest = tracks.final_digest(settings.time(settings.frame_end))
        head = CacheMetadata.for_scene(kept, digest, settings=exporter_settings(folder))
        bake = begin_bake(writer, head, run.simulation, on_event, should_stop)
        bake.before_step = _Repetition(run, recorded)
        bake.run(on_event, should_stop)
        make_final_meshes(folder, kept, on_event, should_stop)
        on_event(done_event(folder, kept, began))


class _Repetition:
    """Called before every step: does what was done then, after it has made sure that all is as it was."""

    def __init__(self, run: LiveRun, recorded: RecordedInputs) -> None:
        self._run, self._recorded, self._steps = run, recorded, 0

    def __call__(self) -> None:
        step = self._run.step = self._steps
        self._steps += 1
        wanted = self._recorded.digests.get(step)
        if wanted is not None and self._run.digest() != wanted:
            raise SinewError("live-replay-differs", step=step)
        for given in self._recorded.commands.get(step, ()):
            self._run.apply(parse_command(given))


def _building(stage: str, body: str) -> Mapping[str, Any]:
    return {"event": "building", "stage": stage, "body": body}
