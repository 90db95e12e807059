# SPDX-License-Identifier: GPL-3.0-or-later
"""Counts the pieces into which tets fall where the surface holds together: its necks were thinner than a tet."""

from __future__ import annotations

import numpy as np

from ...runtime.arrays import Indices
from ..geometry.connected_components import connected_components
from ..geometry.triangle_surface import Surface
from ..geometry.welding import weld


def excess_component_count(surface: Surface, tets: Indices) -> int:
    """Returns into how many pieces the tets, (m, 4), fall, or 0 where they are no more than the surface's own."""
    pieces = _component_count(tets)
    return pieces if pieces > 1 and pieces > _component_count(weld(surface)) else 0


def _component_count(cells: Indices) -> int:
    """Returns how many sets of cells share no node, cells (m, k)."""
    used, numbered = np.unique(cells, return_inverse=True)
    numbered = numbered.reshape(cells.shape)
    first = np.repeat(numbered[:, 0], cells.shape[1] - 1)
    return int(connected_components(first, numbered[:, 1:].ravel(), len(used)).max(initial=-1)) + 1
