# SPDX-License-Identifier: GPL-3.0-or-later
"""Writes the scene of a live run: the bodies at the present frame, and what may be changed while it runs.

What is no flesh begins in the shape that it has now, at rest. Flesh has its rest pose, and comes into the present one
within `WAY_SECONDS` before the run begins. Bodies with Preview Tets have these.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import bpy

from ...solver.bake.cache import layout
from ...solver.runtime.errors import BadInput
from ...solver.runtime.storage_errors import named_errors
from ...solver.scene.scene import Scene
from ..baking import bake_status
from ..baking.live_state import LiveRun
from ..blender_data.object_handle import ObjectHandle
from ..blender_data.scene_by_session_uid import find_scene
from ..cache.selected_body_caches import body_settings_text
from ..evaluation.mesh_prefetch import forget_meshes, prefetch_meshes
from ..evaluation.sample_times import SampleTime, frame_range, frames_per_second, preroll, rest_frame
from ..evaluation.unkeyed_value_snapshot import UnkeyedValues
from ..export.export_scene import ExportPart, check_and_save, export_part
from ..export.input_digest import digests
from ..export.participants import ParticipantHandles, find_participants
from ..objects import roles
from . import deforming_colliders, driven_poses, handled_inputs, moved_channels, settings_of_next_run, torn_bodies

WAY_SECONDS = 1.0  # in which flesh comes from its rest pose into that of the present frame


def export(run: LiveRun) -> Iterator[float | None]:
    """Writes the scene of a run that has begun, in slices between which Blender's window answers.

    Raises:
        BadInput: Something cannot be simulated as it is.
        StorageFailed: The folder cannot be written.
    """
    scene = find_scene(run.scene_uid)
    if scene is None:
        raise BadInput("no-such-scene", name="", path=bpy.data.filepath)
    with named_errors(run.folder):
        run.folder.mkdir(parents=True, exist_ok=True)
    torn_bodies.move_modifiers(run, scene)
    run.is_preview = bake_status.has_preview_tets(scene)
    found = find_participants(scene)
    inputs = replace(found, is_preview=True, deforming_colliders=deforming_colliders.find_keys(found))
    handles, frame, subframe = ParticipantHandles(inputs), scene.frame_current, scene.frame_subframe
    try:
        yield from (0.1 for _ in prefetch_meshes(inputs.bodies))
        yield 0.2
        yield None  # Blender's window answers in between
        scene = handles.find().scene
        stamps = digests(scene, is_preview=True)
        yield 0.3
        yield None
        yield from _write(run, handles, frame + subframe, stamps)
    finally:
        forget_meshes()


def _write(
    run: LiveRun, handles: ParticipantHandles, now: float, stamps: tuple[str, dict[str, str]]
) -> Iterator[float | None]:
    """Writes the scene at a frame, the first values of what may be changed, and digests of the scene and its bodies."""
    inputs = handles.find()
    scene, frame = inputs.scene, math.floor(now)
    run.bodies = {key: ObjectHandle.of(obj) for obj, key in inputs.bodies.items()}
    moments, before = _moments(scene, frame, now - frame)
    shift = (now - frame_range(scene)[0]) / frames_per_second(scene)
    folder = run.folder / layout.SCENE_FOLDER
    part = ExportPart(
        inputs,
        moments,
        lambda read: _from_frame(read, frame, before),
        shift,
        UnkeyedValues(scene.objects),
        is_saved_later=True,
    )
    written = export_part(scene, folder, part)
    run.played_counts = {body.key: body.played_count for body in written.bodies}
    yield from torn_bodies.read_breakable(run, written, inputs.unit)
    pool = ThreadPoolExecutor(1)  # afterwards, since two threads of Python hold each other up
    saved = pool.submit(check_and_save, written, folder)
    pool.shutdown(wait=False)
    while not saved.done():
        yield None
    saved.result()
    inputs = handles.find()
    scene = inputs.scene
    run.inputs = handled_inputs.find(inputs, written, folder)
    deforming_colliders.begin(run, inputs, written)
    driven_poses.begin(run, inputs.bodies, written, inputs.unit)
    controls = handled_inputs.values(run.inputs, scene)
    run.sent = dict(controls)
    run.channels = handled_inputs.first_channels(run.inputs)
    run.first_channels = moved_channels.copied(run.channels)
    run.begun_with = settings_of_next_run.stamp(scene, run.inputs)
    with named_errors(run.folder):
        (folder / layout.SETTINGS_FILE).write_text(stamps[0], newline="\n")
        (folder / layout.BODY_SETTINGS_FILE).write_text(body_settings_text(stamps[1]), newline="\n")
        path = run.folder / layout.LIVE_FOLDER / layout.LIVE_CONTROLS_FILE
        path.parent.mkdir(exist_ok=True)
        text = json.dumps({name: value.tolist() for name, value in controls.items()})
        path.write_text(text, encoding="utf-8", newline="\n")
    yield 1.0


def _moments(scene: bpy.types.Scene, frame: int, subframe: float) -> tuple[list[SampleTime], int]:
    """Returns when the scene is read, the rest pose first, and how many frames are between it and the beginning."""
    now, rest = SampleTime(frame, subframe, 0.0), rest_frame(scene)
    if not any(map(roles.is_flesh, roles.bodies(scene))):
        return [now], 0
    rate = frames_per_second(scene)
    before = preroll(scene) if rest == frame + subframe else max(round(WAY_SECONDS * rate), 1)
    return ([SampleTime(rest, 0.0, -before / rate), now], before) if before else ([now], 0)


def _from_frame(scene: Scene, frame: int, before: int) -> Scene:
    settings = replace(
        scene.settings,
        frame_start=frame,
        frame_end=max(scene.settings.frame_end, frame + 1),
        samples_per_frame=1,
        preroll=before,
    )
    return replace(scene, settings=settings)
