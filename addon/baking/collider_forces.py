# SPDX-License-Identifier: GPL-3.0-or-later
"""Forces and torques that the present bake tells of colliders: read off its report, and as curves where asked for."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import bpy

from ...solver.bake.cache import layout
from ..blender_data import collider_force_curves
from ..blender_data.object_keys import body_key, unique_keys
from ..blender_data.time_remapping import time_stretch
from ..cache import cache_folder_status, cache_paths
from ..export.participants import is_ever_collider
from ..objects import roles
from . import body_reports


def create_curves(
    scene: bpy.types.Scene, colliders: Iterable[bpy.types.Object], folder: Path | None = None
) -> list[str]:
    """Gives colliders curves of the present bake, or of that in `folder`; returns the names of those it tells of."""
    folder = folder or cache_paths.cache_folder(scene)
    wanted, forces = _curve_sources(scene, folder), body_reports.collider_forces(folder)
    made = []
    for obj in colliders:
        key, mark = wanted.get(obj, ("", ""))
        if key in forces:
            collider_force_curves.add_curves(
                obj, *collider_force_curves.curve_samples(forces[key], time_stretch(obj)), mark
            )
            made.append(obj.name)
    return made


def refresh_curves(scene: bpy.types.Scene, folder: Path, detach_missing: bool = True) -> None:
    """Gives the colliders that have curves those of a cache, and removes them where the report lacks a collider.

    Args:
        scene: The scene.
        folder: The cache.
        detach_missing: Whether curves go when there is no report on disk. False where the drive may come back.
    """
    shown = [obj for obj in scene.objects if collider_force_curves.find_track(obj) is not None]
    if not shown or (_stamp(folder) is None and not detach_missing):
        return
    wanted, forces = _curve_sources(scene, folder), body_reports.collider_forces(folder)
    for obj in shown:
        key, mark = wanted.get(obj, ("", ""))
        if key not in forces:
            collider_force_curves.remove_curves(obj)
        elif collider_force_curves.curves_stamp(obj) != mark:
            collider_force_curves.add_curves(
                obj, *collider_force_curves.curve_samples(forces[key], time_stretch(obj)), mark
            )


def are_curves_missing(scene: bpy.types.Scene, obj: bpy.types.Object) -> bool:
    """Whether the present bake tells of a collider, and that one has no curves, or those of another bake."""
    folder = cache_paths.cache_folder(scene)
    key, mark = _curve_sources(scene, folder).get(obj, ("", ""))
    return key in body_reports.collider_forces(folder) and collider_force_curves.curves_stamp(obj) != mark


def force_at(scene: bpy.types.Scene, obj: bpy.types.Object) -> list[float] | None:
    """Returns force [N] and torque [N m] on a collider at the playhead, or the nearest baked frame, (6,), or None."""
    folder = cache_paths.cache_folder(scene)
    frame = cache_folder_status.read_status(folder).frame_shown_at(scene.frame_current)
    key = _collider_keys(scene).get(obj)
    return body_reports.collider_forces(folder).get(key, {}).get(frame) if key and frame is not None else None


def _curve_sources(scene: bpy.types.Scene, folder: Path) -> dict[bpy.types.Object, tuple[str, str]]:
    """Returns of each collider its key in a cache, and what tells its curves from others; nothing without a report."""
    stamp = _stamp(folder)
    keys = _collider_keys(scene) if stamp is not None else {}
    return {obj: (key, f"{stamp} {key} {time_stretch(obj):g}") for obj, key in keys.items()}


def _collider_keys(scene: bpy.types.Scene) -> dict[bpy.types.Object, str]:
    colliders = [obj for obj in roles.colliders(scene) if is_ever_collider(obj)]
    return unique_keys(colliders, map(body_key, roles.bodies(scene)))


def _stamp(folder: Path) -> str | None:
    """Returns which file the report of a cache is; None where there is none."""
    try:
        found = (folder / layout.REPORT_FILE).stat()
    except OSError:
        return None
    return f"{found.st_mtime_ns} {found.st_size}"
