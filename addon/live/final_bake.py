# SPDX-License-Identifier: GPL-3.0-or-later
"""Bake at Final: bakes the frames of a kept run once more with the final tets, as what the hand did is in the scene.

The inputs are read at the steps of the run, so that colliders have its very matrices there.
"""

from __future__ import annotations

import functools
import math
from typing import Any

import bpy

from ...solver.bake.cache import delete_bake, layout
from ...solver.runtime.errors import BadInput, SinewError
from ...solver.scene.settings.simulation_settings import FINAL
from ..baking import bake_control, bake_status
from ..baking.addon_session import RunningBake, session
from ..cache import cache_folder_status, cache_paths, takes
from ..cache.cache_folder_status import CacheStatus
from ..runtime.memo import Throttle

MAX_SCENES = 100  # that are remembered
CHANGED = ("take", "bake_detail", "use_scene_range", "frame_start", "frame_end", "samples_per_frame", "substeps")

_kept: Throttle[CacheStatus | None] = Throttle(MAX_SCENES, cache_folder_status.MAX_AGE_SECONDS)


def can_bake(scene: bpy.types.Scene) -> bool:
    """Whether the take that plays is a run that was kept, which Bake at Final repeats."""
    if session.bake is not None or session.live is not None:
        return False
    # panels ask many times a second, and a network drive answers slowly
    stamp = (cache_folder_status.invalidation_count(), scene.sinew.take)
    return _kept.result(scene.session_uid, lambda: _kept_run(scene), stamp) is not None


def start(scene: bpy.types.Scene) -> RunningBake:
    """Begins to bake the frames of the run that plays into a new take; whoever calls this is an operator.

    Raises:
        BadInput: There is no such run, the artist has chosen a folder, or the scene cannot be baked; nothing was
            changed.
        StorageFailed: The folder cannot be written.
    """
    kept = _kept_run(scene)
    if kept is None or kept.metadata is None or kept.last_frame is None:
        raise BadInput("live-not-kept", name=scene.name)
    if scene.sinew.cache_path:
        raise BadInput("live-keep-folder", name=scene.name)
    own, head = scene.sinew, kept.metadata
    before = {name: getattr(own, name) for name in CHANGED}
    steps = head.samples_per_frame
    _set(
        own,
        take=takes.next_name(scene),
        bake_detail=FINAL,
        use_scene_range=False,
        frame_start=head.frame_start,
        frame_end=kept.last_frame,
        samples_per_frame=steps,
        substeps=steps * math.ceil(own.substeps / steps),
    )
    try:
        bake = bake_control.start(scene)
    except SinewError:
        _set(own, **before)
        raise
    bake.on_empty = functools.partial(_play_kept_run_again, take=own.take, before=before)
    return bake


def _play_kept_run_again(scene: bpy.types.Scene, take: str, before: dict[str, Any]) -> None:
    """Gives the scene back its settings, and deletes the take without frames, unless the artist has chosen another."""
    if scene.sinew.take != take:
        return
    empty = cache_paths.own_folder(scene)
    _set(scene.sinew, **before)
    delete_bake(empty)


def _kept_run(scene: bpy.types.Scene) -> CacheStatus | None:
    """Returns the bake that plays where it is a run that was kept."""
    folder = cache_paths.cache_folder(scene)
    seen = cache_folder_status.read_status(folder)
    is_run = seen.metadata is not None and (folder / layout.LIVE_FOLDER / layout.LIVE_INPUTS_FILE).is_file()
    return seen if is_run and seen.last_frame is not None else None


def _set(own: bpy.types.PropertyGroup, **values: Any) -> None:
    for name, value in values.items():
        setattr(own, name, value)
    cache_folder_status.invalidate()
    bake_status.invalidate()
