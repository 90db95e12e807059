# SPDX-License-Identifier: GPL-3.0-or-later
"""Counts the components of tets of a connected surface: it falls apart where it is thinner than a tet."""

from __future__ import annotations

import numpy as np

from ...runtime.arrays import Indices
from ..geometry.connected_components import connected_components
from ..geometry.triangle_surface import Surface
from ..geometry.welding import weld


def excess_component_count(surface: Surface, tets: Indices) -> int:
    """Returns the number of components of the tets, (m, 4), or 0 if it does not exceed that of the surface."""
    pieces = _component_count(tets)
    return pieces if pieces > 1 and pieces > _component_count(weld(surface)) else 0


def _component_count(cells: Indices) -> int:
    """Returns the number of components of cells (m, k), connected by nodes."""
    used, numbered = np.unique(cells, return_inverse=True)
    numbered = numbered.reshape(cells.shape)
    first = np.repeat(numbered[:, 0], cells.shape[1] - 1)
    return int(connected_components(first, numbered[:, 1:].ravel(), len(used)).max(initial=-1)) + 1
