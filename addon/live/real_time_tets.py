# SPDX-License-Identifier: GPL-3.0-or-later
"""How many tets the machine runs in real time, by what the present run takes, and bodies with so many."""

from __future__ import annotations

import math
from collections.abc import Callable
from statistics import median

import bpy

from ...solver.scene.settings.tet_settings import PREVIEW_TETS
from ..baking.live_state import LiveRun
from ..blender_data.scene_by_session_uid import find_scene
from ..objects.tet_estimate import preview_tet_count, tet_count

MIN_LOADS = 3  # that have to be known, half a second each
SPARE = 0.8  # of the time that is used: other motions take longer
MIN_CHANGE = 0.25  # by which a number has to be another, so that it is told, or offered
DIGITS = 2  # that are told
MIN_BODY_TETS = 200  # that a body is asked to have at least: with fewer it does not bend, and a thin one has none
BISECTIONS = 12


def hear_load(run: LiveRun, load: float) -> None:
    """Takes how many seconds a second of a run took, and thinks anew about how many tets would keep up with the clock.

    The time of a step is taken to grow with the tets. The median of the last seconds counts: some of them compile. The
    number stays until it is another by more than `MIN_CHANGE`: one that jumped about could not be read.
    """
    run.loads.append(load)
    if len(run.loads) < MIN_LOADS or not run.tets:
        return
    found = _rounded(SPARE * run.tets / median(run.loads))
    if run.real_time_tets is None or _differs(found, run.real_time_tets):
        run.real_time_tets = found
        run.offered_tets = _offer(run, found)[1]  # without measures of meshes, for which Blender's window would stand


def _differs(count: int, other: int) -> bool:
    return not 1.0 - MIN_CHANGE <= count / other <= 1.0 / (1.0 - MIN_CHANGE)


def _rounded(count: float) -> int:
    step = 10 ** max(math.floor(math.log10(max(count, 1.0))) + 1 - DIGITS, 0)
    return max(int(count // step) * step, 1)


def is_slow(run: LiveRun) -> bool:
    """Whether bodies can have so many fewer tets, to keep up or to come nearer to that, that they are offered."""
    wanted, offered, tets = run.real_time_tets, run.offered_tets, run.tets
    if wanted is None or offered is None or tets is None:
        return False
    return max(wanted, offered) < (1.0 - MIN_CHANGE) * tets


def offered_ratio(run: LiveRun) -> float:
    """Returns how much of real time the offered tets are expected to reach, 1 at most."""
    wanted, offered = run.real_time_tets, run.offered_tets
    return 1.0 if not wanted or not offered or not _differs(wanted, offered) else min(wanted / offered, 1.0)


def _shares(run: LiveRun) -> list[tuple[bpy.types.Object, int]]:
    """Returns the bodies that Sinew fills with tets, and how many each has."""
    found = []
    for key, handle in run.bodies.items():
        obj = handle.find()
        if obj is not None and key in run.body_tets and _is_filled(obj):
            found.append((obj, run.body_tets[key]))
    return found


def _is_filled(obj: bpy.types.Object) -> bool:
    """Whether Preview Tets would count for a body if they were on."""
    return PREVIEW_TETS.counts(lambda name: True if name == "use_preview_tets" else getattr(obj.sinew, name))


def ask_for(run: LiveRun, total: int) -> int:
    """Gives bodies so many Preview Tets that there are a total of tets, or as few as there can be.

    Each body gets as large a share as it has now. Returns about how many tets there will be. More come than are asked
    for where a body is thin: what the estimate of a body differs now from the tets that it has, it is taken to differ
    by with others. This measures meshes, which takes a third of a second for 50,000 vertices.
    """
    scene = find_scene(run.scene_uid)
    unit = 1.0 if scene is None else float(scene.unit_settings.scale_length)
    errors = {obj: count / max(tet_count(obj, unit, is_preview=True), 1) for obj, count in _shares(run)}
    asked, expected = _offer(run, total, lambda obj, count: errors[obj] * preview_tet_count(obj, unit, count))
    for obj, count in asked:
        obj.sinew.use_preview_tets, obj.sinew.preview_tets = True, count
    return expected


def _as_asked(_obj: bpy.types.Object, count: int) -> float:
    return float(count)


def _offer(
    run: LiveRun, total: int, arriving: Callable[[bpy.types.Object, int], float] = _as_asked
) -> tuple[list[tuple[bpy.types.Object, int]], int]:
    """Returns how many Preview Tets bodies are asked to have for a total of tets, and how many there will be.

    Args:
        run: The run; each of its bodies is asked for `MIN_BODY_TETS` at least.
        total: Of all tets.
        arriving: Returns how many tets a body gets where it is asked to have some.
    """
    shares = _shares(run)
    others = sum(run.body_tets.values()) - sum(count for _, count in shares)

    def asked(factor: float) -> list[tuple[bpy.types.Object, int]]:
        return [(obj, max(int(factor * count), min(MIN_BODY_TETS, count))) for obj, count in shares]

    def expected(factor: float) -> int:
        return others + round(sum(arriving(obj, count) for obj, count in asked(factor)))

    low, high = 0.0, 1.0
    for _ in range(BISECTIONS if expected(low) < total < expected(high) else 0):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if expected(middle) <= total else (low, middle)
    factor = high if expected(high) <= total else low
    return asked(factor), _rounded(expected(factor))
