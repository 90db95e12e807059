# SPDX-License-Identifier: GPL-3.0-or-later
"""Which islands of a model are rigid bodies, and which ones are sheets."""

from __future__ import annotations

import numpy as np

from ..runtime.arrays import Bools
from ..runtime.frozen_memo import derived
from .model import Model


@derived
def rigid_islands(model: Model) -> Bools:
    """Returns which islands are rigid bodies, (islands,)."""
    out = np.zeros(model.pattern.island_count, bool)
    out[[int(model.pattern.island_of_row[core.nodes[0]]) for core in model.cores if core.is_whole]] = True
    return out


def sheet_islands(model: Model) -> Bools:
    """Returns which islands are sheets, (islands,)."""
    out = np.zeros(model.pattern.island_count, bool)
    if model.sheets is not None:
        out[model.pattern.island_of_row[model.tets[model.sheets.tets, 0]]] = True
    return out
