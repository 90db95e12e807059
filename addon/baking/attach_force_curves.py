# SPDX-License-Identifier: GPL-3.0-or-later
"""Gives colliders the forces and torques of a bake as curves, and keeps these curves up to date."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import bpy

from ...solver.bake.cache import layout
from ..blender_data import collider_force_curves
from ..blender_data.time_remapping import time_stretch
from ..cache import cache_paths
from ..export.participants import collider_keys
from . import frame_report_reader


def create_curves(
    scene: bpy.types.Scene, colliders: Iterable[bpy.types.Object], folder: Path | None = None
) -> list[str]:
    """Gives colliders the curves of the present bake or of that in `folder`; returns the names of those with curves."""
    folder = folder or cache_paths.cache_folder(scene)
    wanted, forces = _curve_sources(scene, folder), frame_report_reader.collider_forces(folder)
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
    """Replaces existing curves by those of a cache, and removes them from colliders that its report lacks.

    Args:
        scene: The scene.
        folder: The cache.
        detach_missing: Whether to remove curves when no report is on disk. False where the drive may come back.
    """
    shown = [obj for obj in scene.objects if collider_force_curves.find_track(obj) is not None]
    if not shown or (_stamp(folder) is None and not detach_missing):
        return
    wanted, forces = _curve_sources(scene, folder), frame_report_reader.collider_forces(folder)
    for obj in shown:
        key, mark = wanted.get(obj, ("", ""))
        if key not in forces:
            collider_force_curves.remove_curves(obj)
        elif collider_force_curves.curves_stamp(obj) != mark:
            collider_force_curves.add_curves(
                obj, *collider_force_curves.curve_samples(forces[key], time_stretch(obj)), mark
            )


def are_curves_missing(scene: bpy.types.Scene, obj: bpy.types.Object) -> bool:
    """Whether the present bake has forces on a collider that has no curves, or those of another bake."""
    folder = cache_paths.cache_folder(scene)
    key, mark = _curve_sources(scene, folder).get(obj, ("", ""))
    return key in frame_report_reader.collider_forces(folder) and collider_force_curves.curves_stamp(obj) != mark


def _curve_sources(scene: bpy.types.Scene, folder: Path) -> dict[bpy.types.Object, tuple[str, str]]:
    """Returns the key of each collider in a cache and the stamp of its curves; {} without a report."""
    stamp = _stamp(folder)
    keys = collider_keys(scene) if stamp is not None else {}
    return {obj: (key, f"{stamp} {key} {time_stretch(obj):g}") for obj, key in keys.items()}


def _stamp(folder: Path) -> str | None:
    """Returns the time and size of the report of a cache as text, or None without a report."""
    try:
        found = (folder / layout.REPORT_FILE).stat()
    except OSError:
        return None
    return f"{found.st_mtime_ns} {found.st_size}"
