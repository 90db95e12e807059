# SPDX-License-Identifier: GPL-3.0-or-later
"""Warnings about a whole bake at its end, from its report."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..runtime.errors import SinewError

MAX_UNSETTLED_SHARE = 0.5  # fraction of the steps with contact


def bake_warnings(lines: Sequence[Mapping[str, Any]], substeps: int) -> list[SinewError]:
    """Returns warnings about a bake.

    Args:
        lines: Of its report, one per frame.
        substeps: Steps per frame.
    """
    warnings = []
    let_in = [line["frame"] for line in lines if line.get("let_in", 0)]
    if let_in:
        warnings.append(SinewError("exact-contact-let-in", count=len(let_in), frame=let_in[0]))
    touching = [line for line in lines if line.get("contacts", 0) or line.get("unsettled", 0)]
    steps, unsettled = substeps * len(touching), sum(int(line.get("unsettled", 0)) for line in touching)
    if unsettled > MAX_UNSETTLED_SHARE * steps:
        warnings.append(SinewError("most-steps-unsettled", count=unsettled, steps=steps))
    return warnings
