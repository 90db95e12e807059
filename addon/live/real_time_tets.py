# SPDX-License-Identifier: GPL-3.0-or-later
"""How many tets the machine runs in real time, by what the present run takes, and bodies with so many."""

from __future__ import annotations

import math
from statistics import median

import bpy

from ...solver.scene.settings.tet_settings import PREVIEW_TETS
from ..baking.live_state import LiveRun

MIN_LOADS = 3  # that have to be known, half a second each
SPARE = 0.8  # of the time that is used: other motions take longer
MIN_CHANGE = 0.25  # by which a number has to be another, so that it is told, or offered
DIGITS = 2  # that are told


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


def _differs(count: int, other: int) -> bool:
    return not 1.0 - MIN_CHANGE <= count / other <= 1.0 / (1.0 - MIN_CHANGE)


def _rounded(count: float) -> int:
    step = 10 ** max(math.floor(math.log10(max(count, 1.0))) + 1 - DIGITS, 0)
    return max(int(count // step) * step, 1)


def is_slow(run: LiveRun) -> bool:
    """Whether so many fewer tets would keep up that they are offered, and bodies can have fewer."""
    wanted, tets = run.real_time_tets, run.tets
    return wanted is not None and tets is not None and wanted < (1.0 - MIN_CHANGE) * tets and bool(_shares(run))


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


def ask_for(run: LiveRun, total: int) -> None:
    """Gives bodies as many Preview Tets as they may have of a total, each as large a share as it has now."""
    shares = _shares(run)
    others = sum(run.body_tets.values()) - sum(count for _, count in shares)
    factor = max(total - others, 1) / max(sum(count for _, count in shares), 1)
    for obj, count in shares:
        obj.sinew.use_preview_tets, obj.sinew.preview_tets = True, max(int(factor * count), 1)
