# SPDX-License-Identifier: GPL-3.0-or-later
"""The only reader of Blender geometry: objects and their animation → a scene folder, in metres and seconds.

The work is done in slices, so that the window stays alive. Between two slices nothing is kept of Blender's data
but identifiers, and nothing is left in the file: an undo, a deleted object or a crash finds it as it was.
"""

from __future__ import annotations

import math
import shutil
import time as clock
from collections.abc import Iterator
from pathlib import Path

import bpy

from ..solver.cache import layout
from ..solver.disk import PART, make_folder, named_errors, remove_folder, rename, sync_tree
from ..solver.errors import BadInput
from ..solver.scene import Scene
from ..solver.tracks import TrackWriter
from . import roles
from .keys import body_key
from .reading import input_checks
from .reading.input_colliders import ColliderMotions
from .reading.input_digest import settings_digest
from .reading.input_history import first_frame_needed, follows_rigid_bodies
from .reading.input_objects import read_scene, sample
from .reading.input_stage import Stage, input_cuts
from .reading.inputs import Handles, inputs_of
from .reading.live_stage import LiveStage
from .reading.moments import Moment, frame_range, moments
from .reading.rest_pose import rest_pose
from .reading.rest_shapes import RestShapes
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
            (part / layout.SETTINGS_FILE).write_text(digest, newline="\n")
            sync_tree(part)
            _replace(part, target)
    finally:
        shutil.rmtree(part, ignore_errors=True)
        for folder in made:
            if folder.is_dir() and not any(folder.iterdir()):
                folder.rmdir()


def _write(scene: bpy.types.Scene, part: Path, threads: int | None) -> Iterator[float]:
    if not roles.bodies(scene):
        raise BadInput("no-bodies", name=scene.name)
    input_checks.check_objects(scene)
    inputs = inputs_of(scene)
    handles = Handles(inputs)
    asked = moments(scene)
    make_stage = LiveStage if follows_rigid_bodies(scene) else Stage
    first_needed = first_frame_needed(scene, input_cuts(list(inputs.bodies), [*inputs.bones, *inputs.colliders]))
    built: Scene | None = None
    recorder: TrackRecorder | None = None
    done = 0
    while done < len(asked):
        if done:
            inputs = handles.find()
        begun = clock.monotonic()
        with (
            make_stage(inputs.scene, inputs.cuts) as stage,
            RestShapes(inputs, asked[0].frame, first_needed) as shapes,
        ):
            _go(stage, asked[done], None, first_needed)
            # what depends on the frames before cannot be taken up again in another slice
            until = slice_end(begun) if first_needed is None else math.inf
            if built is None or recorder is None:
                built = read_scene(stage, inputs, threads)
                rest = rest_pose(stage, inputs, built)
                with named_errors(part.parent):
                    shutil.rmtree(part, ignore_errors=True)
                    built.save(part)
                    recorder = TrackRecorder(TrackWriter(part, is_durable=False))
                    colliders = ColliderMotions(built, recorder)
            while True:
                with named_errors(part.parent):
                    sample(stage, shapes, inputs, built, rest, asked[done], recorder)
                    colliders.sample(stage, inputs, asked[done])
                    half_way = colliders.half_way()
                    if half_way is not None and first_needed is None:
                        stage.go_to(half_way.frame, half_way.part)
                        colliders.look_half_way(stage, inputs, half_way)
                done += 1
                if done == len(asked) or clock.monotonic() > until:
                    break
                _go(stage, asked[done], asked[done - 1], first_needed)
        yield done / len(asked)
    if recorder is not None:
        with named_errors(part.parent):
            recorder.close()
            if colliders.has_deforming:
                colliders.read_again().save(part)


def _go(stage: Stage, moment: Moment, before: Moment | None, first_needed: int | None) -> None:
    """Evaluates a moment; what remembers frames sees all from the first that it needs, in their order."""
    if first_needed is not None and (before is None or moment.frame < before.frame):
        stage.run_up(first_needed, moment.frame)
    stage.go_to(moment.frame, moment.part)


def slice_end(begun: float) -> float:
    """Returns when a slice is to end that began at a time and is set up by now: setting up is a third at most."""
    now = clock.monotonic()
    return math.inf if bpy.app.background else now + max(SLICE_SECONDS, 2.0 * (now - begun))


def _make_folder(folder: Path) -> list[Path]:
    """Makes a folder and returns those that were not there, the innermost first."""
    made = [f for f in [folder, *folder.parents] if not f.exists()]
    make_folder(folder)
    return made


def _replace(part: Path, target: Path) -> None:
    """Puts a finished folder where another one may be, which is away only between two renames."""
    old = target.with_name(target.name + layout.OLD)
    remove_folder(old)
    if target.exists():
        rename(target, old)
    rename(part, target)
    shutil.rmtree(old, ignore_errors=True)
