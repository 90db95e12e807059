# SPDX-License-Identifier: GPL-3.0-or-later
"""Warnings about a whole bake at its end, from its report."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..runtime.errors import SinewError
from ..scene.scene import EXACT_CONTACT, Settings

MAX_UNSETTLED_SHARE = 0.5  # fraction of the steps with contact


def bake_warnings(lines: Sequence[Mapping[str, Any]], settings: Settings) -> list[SinewError]:
    """Returns warnings about a bake.

    Args:
        lines: Of its report, one per frame.
        settings: Of the scene.
    """
    warnings = []
    let_in = [line["frame"] for line in lines if line.get("let_in", 0)]
    if let_in:
        warnings.append(SinewError("exact-contact-let-in", count=len(let_in), frame=let_in[0]))
    touching = [line for line in lines if line.get("contacts", 0) or line.get("unsettled", 0)]
    steps, unsettled = settings.substeps * len(touching), sum(int(line.get("unsettled", 0)) for line in touching)
    if unsettled and settings.contact == EXACT_CONTACT:
        frame = next(line["frame"] for line in touching if line.get("unsettled", 0))
        warnings.append(SinewError("exact-contact-unsettled", count=unsettled, frame=frame))
    elif unsettled > MAX_UNSETTLED_SHARE * steps:
        warnings.append(SinewError("most-steps-unsettled", count=unsettled, steps=steps))
    return warnings
