# SPDX-License-Identifier: GPL-3.0-or-later
"""Lets the colliders of a scene have the forces and torques that the present bake tells of."""

from __future__ import annotations

from pathlib import Path

import bpy

from ...solver.cache import layout
from ...solver.cache.reader import read_report
from .. import force_curves, roles
from ..keys import body_key, keys_of
from ..reading.inputs import is_ever_felt
from ..remapped_time import stretch_of


def attach(scene: bpy.types.Scene, folder: Path, lost_ones: bool = True) -> None:
    """Gives every collider the curves of a cache, and takes them off those that it says nothing of.

    With `lost_ones` false, nothing is taken off where there is no report: the drive may come back.
    """
    colliders = [obj for obj in roles.colliders(scene) if is_ever_felt(obj)]
    shown = [obj for obj in scene.objects if force_curves.find_track(obj) is not None]
    stamp = _stamp(folder)
    if stamp is None and not lost_ones:
        return
    keys = keys_of(colliders, map(body_key, roles.bodies(scene))) if stamp is not None else {}
    wanted = {obj: f"{stamp} {key} {stretch_of(obj):g}" for obj, key in keys.items()}
    if any(force_curves.stamp_of(obj) != mark for obj, mark in wanted.items()):
        told = _told(folder)
        for obj, mark in wanted.items():
            if keys[obj] in told and force_curves.stamp_of(obj) != mark:
                force_curves.show(obj, *force_curves.rows(told[keys[obj]], stretch_of(obj)), mark)
    for obj in shown:
        if obj not in wanted or force_curves.stamp_of(obj) != wanted[obj]:
            force_curves.hide(obj)


def _stamp(folder: Path) -> str | None:
    """Returns which file the report of a cache is; None where there is none."""
    try:
        found = (folder / layout.REPORT_FILE).stat()
    except OSError:
        return None
    return f"{found.st_mtime_ns} {found.st_size}"


def _told(folder: Path) -> dict[str, dict[int, list[float]]]:
    """Returns six numbers by key of the collider and by frame."""
    told: dict[str, dict[int, list[float]]] = {}
    for line in read_report(folder / layout.REPORT_FILE):
        for key, numbers in line.get("colliders", {}).items():
            if "frame" in line and len(numbers) == 6:
                told.setdefault(key, {})[line["frame"]] = numbers
    return told
