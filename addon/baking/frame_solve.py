# SPDX-License-Identifier: GPL-3.0-or-later
"""Solve This Frame: brings flesh to rest in the pose of one frame, without a bake.

It is a bake of one frame into a temporary folder, from the rest pose by some poses of the animation to the present one,
in which all flesh follows its pose. The child process is that of bakes, and the one that waits where there is one.
"""

from __future__ import annotations

import math
import shutil
import time as clock
import uuid
from collections.abc import Collection, Iterator
from dataclasses import replace
from pathlib import Path

import bpy
import numpy as np

from ...solver.bake.cache import layout
from ...solver.bake.cache.pc2 import read_samples
from ...solver.runtime.errors import BadInput, SinewError
from ...solver.scene.flesh import QUASISTATIC
from ...solver.scene.scene import Body, Scene
from ...solver.scene.settings.activation_settings import NO_SOURCE
from ..blender_data.object_keys import body_key
from ..blender_data.scene_by_session_uid import find_scene
from ..evaluation.matrix_units import scale_to_metres, transform_points
from ..evaluation.sample_times import SampleTime, frame_range, frames_per_second, rest_frame
from ..evaluation.unkeyed_value_snapshot import UnkeyedValues
from ..export import validation
from ..export.activation_inputs import source_of
from ..export.export_scene import ExportPart, export_part
from ..export.participant_subset import only_bodies, with_attached_flesh
from ..export.participants import find_participants
from ..objects import flesh_supports, roles
from ..objects.attachment_rows import attachment_targets
from ..playback import solved_frame
from ..properties import preferences
from . import bake_summary, last_failure
from .addon_session import FrameSolve, session
from .bake_driver import BakeDriver
from .child_process import child_command, fallback_command
from .error_messages import error_text
from .solver_warm_up import solver_in_waiting

SETTLE_SECONDS = 10.0  # of each step on the way: activation that rises and falls gets there
STILL_SHARE = 1.0e-4  # of the size of a body
WAY_TOLERANCE = 0.3  # residual at which flesh counts as at rest on the way
MOST_POSES = 12  # of the animation, on the way from the rest pose to the frame
FOLDER_PREFIX = "sinew-solve-"


def start(scene: bpy.types.Scene, chosen: Collection[bpy.types.Object]) -> FrameSolve:
    """Begins to solve the present frame for some flesh and what it is attached to.

    Args:
        scene: The scene.
        chosen: Bodies; those that are no flesh are left out.

    Raises:
        BadInput: None of them is flesh, one is attached to a soft body, something cannot be simulated as it is, or a
            bake runs.
    """
    if session.bake is not None or session.frame_solve is not None:
        raise BadInput("bake-running", name=scene.name)
    flesh = with_attached_flesh(obj for obj in chosen if roles.is_flesh(obj))
    if not flesh:
        raise BadInput("no-flesh-to-solve", name=scene.name)
    _check_objects(scene, flesh)
    soft_bodies = set(roles.bodies(scene)) - flesh
    for obj in flesh:
        for target in soft_bodies.intersection(attachment_targets(obj)):
            raise BadInput("solve-attached-to-soft-body", name=obj.name, target=target.name)
        if not flesh_supports.is_held(scene, obj):
            raise BadInput(flesh_supports.not_held_kind(obj), name=obj.name)
    folder = Path(bpy.app.tempdir) / f"{FOLDER_PREFIX}{uuid.uuid4().hex[:12]}"
    uids = {body_key(obj): obj.session_uid for obj in flesh}
    words, log = ["simulate", str(folder), "--child", "--json"], folder / layout.LOG_FILE
    threads = preferences.threads()
    words += ["--threads", str(threads)] if threads else []
    commands = [child_command(words), fallback_command(words, bpy.app.binary_path)]
    driver = BakeDriver(
        lambda: _export(solve, set(uids.values())), commands, log, None, lambda: solver_in_waiting.take_over(words, log)
    )
    frame, subframe = scene.frame_current, scene.frame_subframe
    remapped = float(scene.frame_current_final)
    solve = FrameSolve(scene.session_uid, folder, driver, frame, subframe, remapped, uids, clock.monotonic())
    session.frame_solve = solve
    driver.start(frame, frame)
    return solve


def _check_objects(scene: bpy.types.Scene, flesh: Collection[bpy.types.Object]) -> None:
    """Raises BadInput where an object cannot be read; other bodies than those that are solved do not matter."""
    others = {obj.name for obj in roles.bodies(scene) if obj not in flesh}
    for problem in validation.object_problems(scene):
        if problem.details.get("name") not in others:
            raise problem


def _export(solve: FrameSolve, uids: set[int]) -> Iterator[float]:
    """Writes the rest pose and the frame."""
    scene = find_scene(solve.scene_uid)
    if scene is None:
        raise BadInput("no-such-scene", name="", path=bpy.data.filepath)
    solve.folder.mkdir(parents=True)
    inputs = find_participants(scene)
    inputs = only_bodies(inputs, {obj for obj in inputs.bodies if obj.session_uid in uids})
    inputs = replace(inputs, heat_sources={}, force_fields={})
    has_source = any(source_of(obj) != NO_SOURCE for obj in inputs.bodies)
    most = MOST_POSES if len(inputs.bodies) > 1 else 1  # one body alone does without
    rest, present = rest_frame(scene), solve.frame + solve.subframe
    steps = max(min(math.ceil(abs(present - rest)), most), 1)
    moments = _way_there(rest, present, steps, settles=has_source)
    shift = (solve.frame + solve.subframe - frame_range(scene)[0]) / frames_per_second(scene)
    unkeyed = UnkeyedValues(scene.objects)
    part = ExportPart(inputs, moments, lambda read: _one_frame(read, solve.frame, steps), shift, unkeyed)
    written = export_part(scene, solve.folder / layout.SCENE_FOLDER, part)
    solve.rest = {body.key: body.vertices[: body.played_count] for body in written.bodies}
    yield 1.0


def _way_there(rest: int, frame: float, steps: int, settles: bool) -> list[SampleTime]:
    """Returns moments from the rest pose to the present one, with poses of the animation between.

    Muscles that jump by a whole bend come to lie in each other, and take long to find out.

    Args:
        rest: Frame of the rest pose.
        frame: The present one.
        steps: How many lead there, of `SETTLE_SECONDS` each.
        settles: Whether half of the last one is left to settle there.
    """
    moments = [SampleTime(rest, 0.0, -SETTLE_SECONDS * steps)]
    for number in range(1, steps):
        at = rest + number / steps * (frame - rest)
        moments.append(SampleTime(math.floor(at), at - math.floor(at), SETTLE_SECONDS * (number - steps)))
    present = SampleTime(math.floor(frame), frame - math.floor(frame), 0.0)
    return [*moments, *([replace(present, time=-0.5 * SETTLE_SECONDS)] if settles else []), present]


def _one_frame(scene: Scene, frame: int, steps: int) -> Scene:
    """Returns a scene of one frame, to which some steps of `SETTLE_SECONDS` lead from the rest pose."""
    settings = replace(
        scene.settings,
        frame_start=frame,
        frame_end=frame,
        fps=1.0 / SETTLE_SECONDS,
        substeps=1,
        samples_per_frame=1,
        preroll=steps,
        preroll_tolerance=WAY_TOLERANCE,
    )
    return replace(scene, settings=settings, bodies=tuple(map(_at_rest, scene.bodies)))


def _at_rest(body: Body) -> Body:
    """Returns flesh that comes to rest, without what does not act on flesh that follows a pose."""
    assert body.flesh is not None
    flesh = replace(body.flesh, motion=QUASISTATIC)
    return replace(body, flesh=flesh, pressure=None, goal=None, animated=False, attributes=())


def poll() -> bool:
    """Lets the solve go on without waiting, and returns whether it still runs."""
    solve = session.frame_solve
    if solve is None:
        return False
    solve.driver.poll()
    return bool(solve.driver.job.is_running)


def finish(solve: FrameSolve) -> tuple[str, str]:
    """Shows what was solved, and returns Blender's report level and the message.

    An operator calls this, whose undo step it is part of.
    """
    session.frame_solve = None
    scene, job = find_scene(solve.scene_uid), solve.driver.job
    if scene is None or job.phase != "done":
        shutil.rmtree(solve.folder, ignore_errors=True)
        if scene is not None and job.error is not None:
            last_failure.store_error_event(scene, job.error)
        return ("INFO", "Cancelled") if job.error is None else bake_summary.ending_message(job)
    shown = [obj for obj in roles.bodies(scene) if solve.bodies.get(body_key(obj)) == obj.session_uid]
    unkeyed = UnkeyedValues(scene.objects)
    for obj in shown:
        solved_frame.show(obj, solve.folder, body_key(obj), solve.remapped_frame)
    bpy.context.view_layer.update()  # a new driver lets the animation of its object be evaluated again
    unkeyed.restore()
    is_still = not any(_has_moved(scene, obj, solve) for obj in shown)
    _keep_played_files(solve.folder)
    seconds, unsolved = clock.monotonic() - solve.started, bake_summary.unconverged_text(job.convergence)
    what = f'"{shown[0].name}"' if len(shown) == 1 else f"{len(shown)} bodies"
    line = f"Solved {what} at frame {solve.frame} in {seconds:.1f} s"
    if unsolved:
        return "WARNING", f"{line}. {unsolved}"
    still = error_text(SinewError("solved-at-rest", frame=solve.frame, rest=rest_frame(scene)))
    return "INFO", f"{line}. {still}" if is_still else line


def _has_moved(scene: bpy.types.Scene, obj: bpy.types.Object, solve: FrameSolve) -> bool:
    """Whether a body is not where it is in the rest pose."""
    key = body_key(obj)
    solved = read_samples(layout.play_path(solve.folder, key), 0, 1)[0]
    matrix = scale_to_metres(obj.matrix_world, scene.unit_settings.scale_length)
    way = np.abs(transform_points(matrix, solved) - solve.rest[key]).max()
    return bool(way > STILL_SHARE * np.ptp(solve.rest[key], axis=0).max())


def _keep_played_files(folder: Path) -> None:
    """Deletes what playing does not need; undo and redo may show the rest as long as Blender runs."""
    for path in folder.iterdir():
        if path.name == layout.PLAY_FOLDER:
            continue
        if path.is_dir():
            shutil.rmtree(path, ignore_errors=True)
        else:
            path.unlink(missing_ok=True)


def wait(pause: float = 0.005) -> None:
    """Waits until the frame is solved; only operators without a window do."""
    while poll():
        clock.sleep(pause)


def is_solving(scene: bpy.types.Scene) -> bool:
    """Whether a frame of a scene is being solved."""
    return session.frame_solve is not None and session.frame_solve.scene_uid == scene.session_uid
