# SPDX-License-Identifier: GPL-3.0-or-later
"""The only reader of Blender geometry: objects and their animation → a scene folder, in metres and seconds.

The work is done in slices, so that the window stays alive. Between two slices nothing is kept of Blender's data
but identifiers, and nothing is left in the file: an undo, a deleted object or a crash finds it as it was.
"""

from __future__ import annotations

import math
import os
import shutil
import time as clock
from collections.abc import Iterator
from pathlib import Path

import bpy

from ..solver.cache import layout
from ..solver.disk import PART, named_errors
from ..solver.errors import BadInput
from ..solver.scene import Scene
from ..solver.tracks import TrackWriter
from . import roles
from .keys import body_key, keys_of
from .reading import input_checks
from .reading.input_digest import settings_digest
from .reading.input_history import first_frame_needed, follows_rigid_bodies
from .reading.input_objects import Inputs, frame_range, read_scene, sample
from .reading.input_stage import Stage, input_cuts
from .reading.live_stage import LiveStage
from .reading.track_recorder import TrackRecorder

__all__ = ["body_key", "export_scene", "frame_range", "settings_digest"]

SLICE_SECONDS = 0.1


def export_scene(
    context: bpy.types.Context, scene: bpy.types.Scene, cache: Path, threads: int | None = None
) -> Iterator[float]:
    """Writes what `scene` asks for into `cache`/scene, yielding the fraction done after each slice.

    A scene that was there stays whole until the new one is complete.

    Raises:
        BadInput: Something cannot be simulated as it is; nothing was changed.
        StorageFailed: The folder cannot be written.
    """
    target = cache / layout.SCENE_FOLDER
    part = target.with_name(layout.SCENE_FOLDER + PART)
    made = _make_folder(cache)
    try:
        context.view_layer.update()
        digest = settings_digest(scene)
        yield from _write(scene, part, threads)
        with named_errors(cache):
            (part / layout.SETTINGS_FILE).write_text(digest)
            _replace(part, target)
    finally:
        shutil.rmtree(part, ignore_errors=True)
        for folder in made:
            if folder.is_dir() and not any(folder.iterdir()):
                folder.rmdir()


def _write(scene: bpy.types.Scene, part: Path, threads: int | None) -> Iterator[float]:
    bodies = roles.bodies(scene)
    colliders, sources = roles.colliders(scene), roles.heat_sources(scene)
    if not bodies:
        raise BadInput("no-bodies", name=scene.name)
    input_checks.check_objects(bodies, colliders, sources)
    inputs = Inputs(
        scene, bodies, {o: body_key(o) for o in bodies}, colliders, keys_of(colliders), sources, keys_of(sources)
    )
    start, end = frame_range(scene)
    per_frame = scene.sinew.samples_per_frame
    moments = [(frame, i / per_frame) for frame in range(start, end + 1) for i in range(per_frame)]
    moments = moments[: len(moments) - per_frame + 1]
    handles = _Handles(inputs)
    make_stage = LiveStage if follows_rigid_bodies(scene) else Stage
    first_needed = first_frame_needed(scene, bodies)
    built: Scene | None = None
    recorder: TrackRecorder | None = None
    done = 0
    while done < len(moments):
        if done:
            inputs = handles.find()
        begun = clock.monotonic()
        with make_stage(inputs.scene, input_cuts(inputs.bodies, [*inputs.colliders, *inputs.heat_sources])) as stage:
            if first_needed is not None:
                stage.run_up(first_needed, start)
            stage.go_to(*moments[done])
            # what depends on the frames before cannot be taken up again in another slice
            until = slice_end(begun) if first_needed is None else math.inf
            if built is None or recorder is None:
                built = read_scene(stage, inputs, threads)
                with named_errors(part.parent):
                    shutil.rmtree(part, ignore_errors=True)
                    built.save(part)
                    recorder = TrackRecorder(TrackWriter(part))
            while True:
                with named_errors(part.parent):
                    sample(stage, inputs, built, moments[done], recorder)
                done += 1
                if done == len(moments) or clock.monotonic() > until:
                    break
                stage.go_to(*moments[done])
        yield done / len(moments)
    if recorder is not None:
        with named_errors(part.parent):
            recorder.close()


def slice_end(begun: float) -> float:
    """Returns when a slice is to end that began at a time and is set up by now: setting up is a third at most."""
    now = clock.monotonic()
    return math.inf if bpy.app.background else now + max(SLICE_SECONDS, 2.0 * (now - begun))


class _Handles:
    """Finds the objects of an export again after other things have happened in Blender."""

    def __init__(self, inputs: Inputs) -> None:
        self._scene = (inputs.scene.session_uid, inputs.scene.name)
        self._bodies = [(o.session_uid, o.name, inputs.body_keys[o]) for o in inputs.bodies]
        self._colliders = [(o.session_uid, o.name, inputs.collider_keys[o]) for o in inputs.colliders]
        self._sources = [(o.session_uid, o.name, inputs.heat_keys[o]) for o in inputs.heat_sources]

    def find(self) -> Inputs:
        """Returns the objects as they are now.

        Raises:
            BadInput: One of them was deleted.
        """
        scenes = {s.session_uid: s for s in bpy.data.scenes}
        uid, name = self._scene
        if uid not in scenes:
            raise BadInput("object-gone", name=name)
        present = {o.session_uid: o for o in scenes[uid].objects}
        for uid, name, _ in [*self._bodies, *self._colliders, *self._sources]:
            if uid not in present:
                raise BadInput("object-gone", name=name)
        bodies = {present[uid]: key for uid, _, key in self._bodies}
        colliders = {present[uid]: key for uid, _, key in self._colliders}
        sources = {present[uid]: key for uid, _, key in self._sources}
        return Inputs(scenes[self._scene[0]], list(bodies), bodies, list(colliders), colliders, list(sources), sources)


def _make_folder(folder: Path) -> list[Path]:
    """Makes a folder and returns those that were not there, the innermost first."""
    made = [f for f in [folder, *folder.parents] if not f.exists()]
    with named_errors(folder):
        folder.mkdir(parents=True, exist_ok=True)
    return made


def _replace(part: Path, target: Path) -> None:
    """Puts a finished folder where another one may be, which is away only between two renames."""
    old = target.with_name(target.name + layout.OLD)
    shutil.rmtree(old, ignore_errors=True)
    if target.exists():
        os.replace(target, old)
    os.replace(part, target)
    shutil.rmtree(old, ignore_errors=True)
