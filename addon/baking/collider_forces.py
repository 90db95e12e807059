# SPDX-License-Identifier: GPL-3.0-or-later
"""Forces and torques that the present bake tells of colliders: read off its report, and as curves where asked for."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import bpy

from ...solver.cache import layout
from .. import force_curves, roles
from ..keys import body_key, keys_of
from ..reading.inputs import is_ever_felt
from ..remapped_time import stretch_of
from . import body_reports, cache_look, cache_place


def create(scene: bpy.types.Scene, colliders: Iterable[bpy.types.Object], folder: Path | None = None) -> list[str]:
    """Gives colliders curves of the present bake, or of that in `folder`; returns the names of those it tells of."""
    folder = folder or cache_place.cache_folder(scene)
    wanted, told = _wanted(scene, folder), body_reports.collider_forces(folder)
    made = []
    for obj in colliders:
        key, mark = wanted.get(obj, ("", ""))
        if key in told:
            force_curves.show(obj, *force_curves.rows(told[key], stretch_of(obj)), mark)
            made.append(obj.name)
    return made


def refresh(scene: bpy.types.Scene, folder: Path, lost_ones: bool = True) -> None:
    """Gives the colliders that have curves those of a cache, and takes them off where it says nothing of them.

    With `lost_ones` false, nothing is taken off where there is no report: the drive may come back.
    """
    shown = [obj for obj in scene.objects if force_curves.find_track(obj) is not None]
    if not shown or (_stamp(folder) is None and not lost_ones):
        return
    wanted, told = _wanted(scene, folder), body_reports.collider_forces(folder)
    for obj in shown:
        key, mark = wanted.get(obj, ("", ""))
        if key not in told:
            force_curves.hide(obj)
        elif force_curves.stamp_of(obj) != mark:
            force_curves.show(obj, *force_curves.rows(told[key], stretch_of(obj)), mark)


def are_missing(scene: bpy.types.Scene, obj: bpy.types.Object) -> bool:
    """Whether the present bake tells of a collider, and that one has no curves, or those of another bake."""
    folder = cache_place.cache_folder(scene)
    key, mark = _wanted(scene, folder).get(obj, ("", ""))
    return key in body_reports.collider_forces(folder) and force_curves.stamp_of(obj) != mark


def force_at(scene: bpy.types.Scene, obj: bpy.types.Object) -> list[float] | None:
    """Returns force [N] and torque [N m] on a collider at the playhead, or the nearest baked frame, (6,), or None."""
    folder = cache_place.cache_folder(scene)
    frame = cache_look.look(folder).frame_shown_at(scene.frame_current)
    key = _keys(scene).get(obj)
    return body_reports.collider_forces(folder).get(key, {}).get(frame) if key and frame is not None else None


def _wanted(scene: bpy.types.Scene, folder: Path) -> dict[bpy.types.Object, tuple[str, str]]:
    """Returns of each collider its key in a cache, and what tells its curves from others; nothing without a report."""
    stamp = _stamp(folder)
    keys = _keys(scene) if stamp is not None else {}
    return {obj: (key, f"{stamp} {key} {stretch_of(obj):g}") for obj, key in keys.items()}


def _keys(scene: bpy.types.Scene) -> dict[bpy.types.Object, str]:
    colliders = [obj for obj in roles.colliders(scene) if is_ever_felt(obj)]
    return keys_of(colliders, map(body_key, roles.bodies(scene)))


def _stamp(folder: Path) -> str | None:
    """Returns which file the report of a cache is; None where there is none."""
    try:
        found = (folder / layout.REPORT_FILE).stat()
    except OSError:
        return None
    return f"{found.st_mtime_ns} {found.st_size}"
