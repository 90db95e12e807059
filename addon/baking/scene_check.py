# SPDX-License-Identifier: GPL-3.0-or-later
"""Check: what is wrong or doubtful about the objects of a scene before a bake.

Blender's side is looked at here and at once. The meshes at rest go to a child process, `sinew check`, which looks
through them and fills them with tets as a bake does.
"""

from __future__ import annotations

import shutil
import time as clock
import uuid
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import bpy
import numpy as np

from ...solver.runtime.errors import BadInput, SinewError, SolveFailed
from ...solver.scene.attachment import WRAP_SUFFIX
from ...solver.scene.scene import Scene
from ..blender_data.scene_by_session_uid import find_scene
from ..evaluation.sample_times import SampleTime, rest_frame
from ..evaluation.unkeyed_value_snapshot import UnkeyedValues
from ..export import input_warnings, validation
from ..export.export_scene import ExportPart, export_part
from ..export.input_digest import settings_digest
from ..export.participant_subset import only_bodies
from ..export.participants import Participants, find_participants
from ..objects import roles
from ..objects.muscle_end_diagnostics import end_findings, posed_twice_findings
from ..objects.object_size_diagnostics import scale_findings, size_findings
from ..objects.skeleton import skeleton_bones
from . import bake_status, bake_timer
from .addon_session import session
from .check_process import FINDINGS_FILE, SCENE_FOLDER, CheckedObject, CheckProcess, CheckResult, CheckRow
from .child_process import child_command, fallback_command
from .error_messages import error_text
from .last_failure import store_error_event

INTERVAL_SECONDS = 0.1
NO_OBJECT = CheckedObject(0)
HEADS_KIND = "muscle-heads-share-tets"


def start(context: bpy.types.Context) -> None:
    """Begins to look through the scene of a context, instead of the one that was being looked through.

    Raises:
        BadInput: Nothing is simulated.
        StorageFailed: The temporary folder cannot be written.
        SolveFailed: No process can be started.
    """
    scene = context.scene
    if not roles.bodies(scene):
        raise BadInput("nothing-to-check", name=scene.name)
    session.end_check()
    digest, found = settings_digest(scene), list(_problems_in_blender(context))
    # if nothing else removes it, Blender does at its end
    folder = Path(bpy.app.tempdir) / f"sinew-check-{uuid.uuid4().hex[:12]}"
    folder.mkdir()
    objects, refused = _export(scene, folder / SCENE_FOLDER, found)
    rows = [_row(problem, obj) for obj, problem in [*found, *refused]]
    if not objects:
        shutil.rmtree(folder, ignore_errors=True)
        session.check_results[scene.session_uid] = CheckResult(digest, tuple(rows))
        return
    words = ["check", str(folder / SCENE_FOLDER), "--out", str(folder / FINDINGS_FILE), "--json"]
    commands = [child_command(words), fallback_command(words, bpy.app.binary_path)]
    session.check = CheckProcess(scene.session_uid, CheckResult(digest, tuple(rows)), objects, folder, commands)
    if not bpy.app.background and not bpy.app.timers.is_registered(_tick):
        bpy.app.timers.register(_tick, first_interval=INTERVAL_SECONDS, persistent=True)


def _problems_in_blender(context: bpy.types.Context) -> Iterator[tuple[bpy.types.Object | None, SinewError]]:
    """Yields what Blender's objects say by themselves, each with its object where there is one."""
    scene = context.scene
    for problem in validation.object_problems(scene):
        yield _named_object(scene, problem), problem
    yield from object_findings(context)
    for warning in input_warnings.input_warnings(scene):
        yield _named_object(scene, warning), warning


def object_findings(context: bpy.types.Context) -> Iterator[tuple[bpy.types.Object, SinewError]]:
    """Yields objects of the scene and what is doubtful about each."""
    scene = context.scene
    bodies, bones = roles.bodies(scene), skeleton_bones(context, set(roles.bodies(scene)))
    for obj in dict.fromkeys([*bodies, *roles.bones(scene)]):
        yield from ((obj, problem) for problem in scale_findings(obj))
    for obj in bodies:
        if roles.is_flesh(obj):
            yield from ((obj, problem) for problem in size_findings(obj, bones, scene.unit_settings.scale_length))
            if obj.sinew.use_muscle:
                yield from ((obj, problem) for problem in end_findings(obj, bones))
                yield from ((obj, problem) for problem in posed_twice_findings(obj))


def _named_object(scene: bpy.types.Scene, problem: SinewError) -> bpy.types.Object | None:
    """Returns the object that a problem names, or None."""
    return scene.objects.get(str(problem.details.get("name", "")))


def _export(
    scene: bpy.types.Scene, folder: Path, found: list[tuple[bpy.types.Object | None, SinewError]]
) -> tuple[dict[str, CheckedObject], list[tuple[bpy.types.Object | None, SinewError]]]:
    """Writes what can be read of a scene at rest; returns its objects by their keys, and why others cannot be read."""
    refused: list[tuple[bpy.types.Object | None, SinewError]] = []
    unreadable = {obj for obj, problem in found if isinstance(problem, BadInput) and obj is not None}
    moment, unkeyed = SampleTime(rest_frame(scene), 0.0, 0.0), UnkeyedValues(scene.objects)
    while True:
        try:
            inputs = _without(find_participants(scene), unreadable)
            if not inputs.bodies:
                return {}, refused
            written = export_part(scene, folder, ExportPart(inputs, [moment], _at_rest, unkeyed=unkeyed))
            return _checked_objects(inputs, written), refused
        except BadInput as problem:
            obj = _named_object(scene, problem)
            refused.append((obj, problem))
            if obj is None or obj in unreadable:
                return {}, refused
            unreadable.add(obj)


def _at_rest(scene: Scene) -> Scene:
    """Returns a scene of which there is only the rest pose."""
    settings = replace(scene.settings, frame_end=scene.settings.frame_start, preroll=0)
    return replace(scene, settings=settings)


def _checked_objects(inputs: Participants, scene: Scene) -> dict[str, CheckedObject]:
    counts: dict[str, tuple[int, ...]] = {b.key: (len(b.vertices), len(b.triangles)) for b in scene.bones}
    for body in scene.bodies:
        is_own = (body.triangles < body.played_count).all(axis=1)
        counts[body.key] = body.played_count, int(np.count_nonzero(is_own))
        counts[body.key + WRAP_SUFFIX] = (body.wrap_vertices,)
    wraps = {obj.sinew.wrap: key + WRAP_SUFFIX for obj, key in inputs.bodies.items() if obj.sinew.wrap is not None}
    objects = inputs.bodies | inputs.colliders | inputs.bones | wraps
    return {key: CheckedObject(obj.session_uid, *counts.get(key, ())) for obj, key in objects.items()}


def _without(inputs: Participants, unreadable: set[bpy.types.Object]) -> Participants:
    """Returns participants without some objects, and without what refers to them."""
    if not unreadable:
        return inputs
    kept = only_bodies(inputs, inputs.bodies.keys() - unreadable)
    return replace(
        kept,
        colliders={obj: key for obj, key in kept.colliders.items() if obj not in unreadable},
        bones={obj: key for obj, key in kept.bones.items() if obj not in unreadable},
        reads_attachments=False,
    )


def _row(problem: SinewError, obj: bpy.types.Object | None) -> CheckRow:
    uid = 0 if obj is None else obj.session_uid
    return CheckRow(problem.kind, error_text(problem), uid, isinstance(problem, BadInput | SolveFailed))


def poll() -> bool:
    """Takes what was found once it is there, and returns whether a scene is still being looked through."""
    check = session.check
    if check is None or check.poll():
        return check is not None
    scene = find_scene(check.scene_uid)
    if scene is not None:
        try:
            if check.error is not None:
                store_error_event(scene, check.error)
                more = []
            else:
                more = [_found_row(scene, check, each) for each in check.result()]
            result = replace(check.before, rows=_unique((*check.before.rows, *more)))
            session.check_results[check.scene_uid] = result
        except SinewError as problem:
            store_error_event(scene, problem.as_event())
    session.end_check()
    return False


def _found_row(scene: bpy.types.Scene, check: CheckProcess, found: dict[str, Any]) -> CheckRow:
    """Returns the row of a finding of the child."""
    details, checked = dict(found["details"]), check.objects.get(found["key"], NO_OBJECT)
    obj = next((each for each in scene.objects if each.session_uid == checked.session_uid), None)
    if obj is not None and found["kind"] == HEADS_KIND:
        details |= {name: _head_name(obj, details[name]) for name in ("one", "other")}
    is_same_mesh = obj is not None and checked.vertex_count == len(obj.data.vertices)
    return CheckRow(
        found["kind"],
        error_text(SinewError(found["kind"], **details)),
        checked.session_uid,
        bool(found["is_refused"]),
        np.array([each for each in found["vertices"] if is_same_mesh and each < checked.vertex_count], np.int32),
        np.array([each for each in found["triangles"] if is_same_mesh and each < checked.triangle_count], np.int32),
        float(details.get("wanted", 0.0)) if found["kind"] == "surface-thin" else 0.0,
        tuple((check.objects[key].session_uid, tuple(move)) for key, move in details.get("moves", {}).items()),
    )


def _head_name(obj: bpy.types.Object, number: str) -> str:
    """Returns the vertex group of a head, which are numbered from 1, or its number."""
    heads, index = obj.sinew.muscle_heads, int(number) - 1
    return heads[index].group if index < len(heads) and heads[index].group else number


def _unique(rows: tuple[CheckRow, ...]) -> tuple[CheckRow, ...]:
    """Returns rows without those that say the same, what keeps a bake from starting first."""
    found: dict[str, CheckRow] = {}
    for row in rows:
        found.setdefault(row.line, row)
    return tuple(sorted(found.values(), key=lambda row: not row.is_refused))


def wait() -> None:
    """Waits until the scene was looked through; only commands and tests without a window do."""
    while poll():
        clock.sleep(0.02)


def is_checking(scene: bpy.types.Scene) -> bool:
    """Whether a scene is being looked through."""
    return session.check is not None and session.check.scene_uid == scene.session_uid


def result_of(scene: bpy.types.Scene) -> CheckResult | None:
    """Returns what was found in a scene last, or None."""
    return session.check_results.get(scene.session_uid)


def is_current(scene: bpy.types.Scene, result: CheckResult) -> bool:
    """Whether nothing that a bake reads has changed since."""
    return result.digest == bake_status.current_digest(scene)


def _tick() -> float | None:
    goes_on = poll()
    bake_timer.redraw()
    return INTERVAL_SECONDS if goes_on else None
