# SPDX-License-Identifier: GPL-3.0-or-later
"""Steps of a live run whose contacts did not settle, and whether there are so many that it may be seen."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...solver.runtime.errors import SinewError
from ..baking import error_messages
from ..baking.live_state import LiveRun

MAX_SHARE = 0.05  # of the steps of the last seconds, up to which nothing is said, as of a bake
MIN_STEPS = 60  # over which it is measured: a blow leaves some


def count(run: LiveRun, event: Mapping[str, Any]) -> None:
    """Takes the numbers of a `live` event."""
    run.unsettled_counts.append((int(event["step"]), int(event.get("unsettled", 0))))
    (first, before), (last, now) = run.unsettled_counts[0], run.unsettled_counts[-1]
    if last - first >= MIN_STEPS and now - before > MAX_SHARE * (last - first):
        run.has_trembled = True  # for the rest of the run: a row that came and went would move the others


def note(run: LiveRun) -> str:
    """Returns what there is to say of it, or ""."""
    return error_messages.error_text(SinewError("live-unsettled")) if run.has_trembled else ""
