# SPDX-License-Identifier: GPL-3.0-or-later
"""What the panels show about a scene's bake: read off the running bake and the cache on disk."""

from __future__ import annotations

import time as clock
from collections.abc import Mapping
from typing import Any

import bpy

from .. import export, playback
from ..results.result_objects import results_of
from . import bake_job, bake_step, bakes, body_reports, cache_look, cache_place, present_bake
from .status import PHASES, Status, iteration_of

STAGES = {"tetrahedralize": "Filling with Tets", "bind": "Binding", "rest": "Finding the Rest Shape"}

# looking for changes takes at most one part of the time in so many
SLOWNESS = 20.0

# when to look again, and the digest of the settings of each scene
_digests: dict[int, tuple[float, str]] = {}
# the status of each scene that is not being baked: of which look, and until when it is good enough
_statuses: dict[int, tuple[int, float, Status]] = {}


def status(scene: bpy.types.Scene) -> Status:
    """Returns what the button shows."""
    first, last = export.frame_range(scene)
    running = bakes.running()
    if running is not None and bakes.is_running(scene):
        return _status_of(running.driver.job)
    now = clock.monotonic()
    known = _statuses.get(scene.session_uid)
    # every panel asks, many times a second, and a network drive answers slowly
    if known is None or known[0] != cache_look.times_forgotten or now > known[1]:
        known = (cache_look.times_forgotten, now + cache_look.PATIENCE / 2, _status_on_disk(scene, first, last))
        _statuses[scene.session_uid] = known
    return known[2]


def _status_on_disk(scene: bpy.types.Scene, first: int, last: int) -> Status:
    folder = cache_place.cache_folder(scene)
    seen = cache_look.look(folder)
    frame = seen.last_frame if seen.problem is None else seen.frame_files
    if seen.head is None or frame is None:
        return Status(frame_start=first, frame_end=last, problem=seen.problem, busy_elsewhere=seen.is_written)
    is_partial = seen.problem is not None or frame < last
    return Status(
        phase="partial" if is_partial else "baked",
        outdated=is_outdated(scene, seen),
        is_unfinished=body_reports.lacks_final_mesh(folder),
        is_whole=present_bake.is_whole(scene) or bake_step.is_due(),
        frame=frame,
        problem=seen.problem,
        resume_frame=seen.resume_frame(),
        frame_start=seen.head.frame_start,
        frame_end=last,
        tally=cache_look.tally(folder),
        busy_elsewhere=seen.is_written,
    )


def _status_of(job: bake_job.Job) -> Status:
    stage = STAGES.get(job.stage, "Starting")
    return Status(
        phase=PHASES[job.phase],
        frame=job.frame,
        frame_start=job.frame_start,
        frame_end=job.frame_end,
        fraction=job.fraction,
        seconds_left=job.seconds_left(clock.monotonic()),
        tets=job.tets,
        tally=job.tally,
        contacts=_contacts_of(job.last),
        prerolled=job.prerolled,
        iteration=iteration_of(job.solving),
        stage=f'{stage}: "{job.body}"' if job.body else stage,
    )


def _contacts_of(event: Mapping[str, Any] | None) -> int | None:
    """Returns how many contacts a `frame` event tells of, or None."""
    told = None if event is None else event.get("contacts")
    return told if isinstance(told, int) else None


def is_outdated(scene: bpy.types.Scene, seen: cache_look.CacheLook) -> bool:
    """Whether settings or animation changed since the bake; looked up once a second, or less often where that is slow.

    Looking takes 0.04 s with 90,000 vertices, 0.3 s where all of them are pinned.
    """
    begun = clock.monotonic()
    known = _digests.get(scene.session_uid)
    if known is None or begun > known[0]:
        found = export.settings_digest(scene)
        now = clock.monotonic()
        known = (now + max(cache_look.PATIENCE, SLOWNESS * (now - begun)), found)
        _digests[scene.session_uid] = known
    return seen.head is None or seen.head.settings != known[1]


def tet_count(scene: bpy.types.Scene, obj: bpy.types.Object) -> int | None:
    """Returns how many tets a body has in the present bake, or None."""
    known = _tet_counts(scene, obj)
    return None if known is None else known[0]


def core_tet_count(scene: bpy.types.Scene, obj: bpy.types.Object) -> int:
    """Returns how many tets of a body are a rigid core in the present bake; 0 where it has none, or is not baked."""
    return (_tet_counts(scene, obj) or (0, 0))[1]


def _tet_counts(scene: bpy.types.Scene, obj: bpy.types.Object) -> tuple[int, int] | None:
    return cache_look.tet_counts(cache_place.cache_folder(scene), present_bake.key_of(obj))


def earlier_resume_frame(scene: bpy.types.Scene) -> int | None:
    """Returns the last frame up to the playhead, and before the end, from which the bake can go on, or None."""
    seen = cache_look.look(cache_place.cache_folder(scene))
    end = export.frame_range(scene)[1]
    found = seen.resume_frame(scene.frame_current)
    if seen.head is None or found in (None, seen.resume_frame(), seen.head.frame_start) or found >= end:
        return None
    return found


def bytes_on_disk(scene: bpy.types.Scene) -> int:
    """Returns the size of the present bake."""
    return cache_look.bytes_on_disk(cache_place.cache_folder(scene))


def shape_key_bytes(scene: bpy.types.Scene, obj: bpy.types.Object) -> int:
    """Returns what a body takes as shape keys, in a file: three floats per vertex and sample, and the mesh."""
    seen = cache_look.look(cache_place.cache_folder(scene))
    if seen.head is None or seen.last_frame is None:
        return 0
    vertices = next((body.vertices for body in seen.head.bodies if body.key == present_bake.key_of(obj)), 0)
    shown = [made for made in results_of(obj) if made.type == "MESH"] if obj.sinew.is_replaced else []
    vertices = sum(len(made.data.vertices) for made in shown) or vertices
    frames = seen.last_frame - seen.head.frame_start
    return playback.shape_key_bytes(vertices, frames * seen.head.samples_per_frame + 1)


def forget() -> None:
    """Makes the next look a fresh one: another file is open, or an undo changed it."""
    _digests.clear()
    _statuses.clear()
