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

from ...solver.bake.cache import layout
from ...solver.bake.cache.scene_folder import replace_scene
from ...solver.runtime.atomic_files import PART_SUFFIX, make_folder, named_errors, sync_tree
from ...solver.runtime.errors import BadInput
from ...solver.scene.scene import Scene
from ...solver.scene.tracks import TrackWriter
from ..blender_data.object_keys import body_key
from ..evaluation.live_scene import LiveScene
from ..evaluation.sample_times import SampleTime, frame_range, sample_times
from ..evaluation.scene_copy import SceneCopy, input_modifier_counts
from ..objects import roles
from . import validation
from .colliders import ColliderSampler
from .history_dependence import first_frame_needed, follows_rigid_bodies
from .input_digest import settings_digest
from .participants import ParticipantHandles, find_participants
from .rest_pose import read_rest_pose
from .rest_shape_animation import RestShapeReader
from .scene_objects import read_scene, sample_tracks
from .track_recorder import TrackRecorder

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
    part = target.with_name(layout.SCENE_FOLDER + PART_SUFFIX)
    made = _make_folder(cache)
    try:
        context.view_layer.update()
        digest = settings_digest(scene)
        yield from _write_scene(scene, part, threads)
        with named_errors(cache):
            (part / layout.SETTINGS_FILE).write_text(digest, newline="\n")
            sync_tree(part)
            replace_scene(part, target)
    finally:
        shutil.rmtree(part, ignore_errors=True)
        for folder in made:
            if folder.is_dir() and not any(folder.iterdir()):
                folder.rmdir()


def _write_scene(scene: bpy.types.Scene, part: Path, threads: int | None) -> Iterator[float]:
    if not roles.bodies(scene):
        raise BadInput("no-bodies", name=scene.name)
    validation.check_objects(scene)
    inputs = find_participants(scene)
    handles = ParticipantHandles(inputs)
    asked = sample_times(scene)
    make_stage = LiveScene if follows_rigid_bodies(scene) else SceneCopy
    first_needed = first_frame_needed(
        scene, input_modifier_counts(list(inputs.bodies), [*inputs.bones, *inputs.colliders])
    )
    built: Scene | None = None
    recorder: TrackRecorder | None = None
    done = 0
    while done < len(asked):
        if done:
            inputs = handles.find()
        begun = clock.monotonic()
        with (
            make_stage(inputs.scene, inputs.modifier_counts) as stage,
            RestShapeReader(inputs, asked[0].frame, first_needed) as shapes,
        ):
            _evaluate(stage, asked[done], None, first_needed)
            # what depends on the frames before cannot be taken up again in another slice
            until = slice_end(begun) if first_needed is None else math.inf
            if built is None or recorder is None:
                built = read_scene(stage, inputs, threads)
                rest = read_rest_pose(stage, inputs, built)
                with named_errors(part.parent):
                    shutil.rmtree(part, ignore_errors=True)
                    built.save(part)
                    recorder = TrackRecorder(TrackWriter(part, is_durable=False))
                    colliders = ColliderSampler(built, recorder)
            while True:
                with named_errors(part.parent):
                    sample_tracks(stage, shapes, inputs, built, rest, asked[done], recorder)
                    colliders.sample(stage, inputs, asked[done])
                    half_way = colliders.halfway_time()
                    if half_way is not None and first_needed is None:
                        stage.set_frame(half_way.frame, half_way.subframe)
                        colliders.sample_halfway(stage, inputs, half_way)
                done += 1
                if done == len(asked) or clock.monotonic() > until:
                    break
                _evaluate(stage, asked[done], asked[done - 1], first_needed)
        yield done / len(asked)
    if recorder is not None:
        with named_errors(part.parent):
            recorder.close()
            if colliders.has_deforming:
                colliders.with_world_vertices().save(part)


def _evaluate(stage: SceneCopy, moment: SampleTime, before: SampleTime | None, first_needed: int | None) -> None:
    """Evaluates a moment; what remembers frames sees all from the first that it needs, in their order."""
    if first_needed is not None and (before is None or moment.frame < before.frame):
        stage.evaluate_frames(first_needed, moment.frame)
    stage.set_frame(moment.frame, moment.subframe)


def slice_end(begun: float) -> float:
    """Returns when a slice is to end that began at a time and is set up by now: setting up is a third at most."""
    now = clock.monotonic()
    return math.inf if bpy.app.background else now + max(SLICE_SECONDS, 2.0 * (now - begun))


def _make_folder(folder: Path) -> list[Path]:
    """Makes a folder and returns those that were not there, the innermost first."""
    made = [f for f in [folder, *folder.parents] if not f.exists()]
    make_folder(folder)
    return made
