# SPDX-License-Identifier: GPL-3.0-or-later
"""Small tets where the held part of an adaptive body ends.

A pin holds whole tets, so with large ones it holds more of the body. Of what an arm and a head of adaptive tets sag
otherwise than with even ones, small tets along that border leave a third to a half.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..runtime.arrays import Indices
from ..scene.fine_regions import FineRegions
from ..scene.meshing import Meshing
from ..scene.scene import Body


def meshing_with_pin_borders(body: Body) -> Meshing:
    """Returns how a body is filled, with small tets along the edges where exactly held vertices end."""
    fine = body.meshing.fine or FineRegions()
    return replace(body.meshing, fine=replace(fine, edges=_border_edges(body)))


def _border_edges(body: Body) -> Indices:
    """Returns edges between held vertices of faces that also have free ones, (e, 2); of lone ones, to themselves."""
    is_held = np.zeros(len(body.vertices), bool)
    is_held[body.pinned[body.pin_weights >= 1.0]] = True
    is_held[body.attached] = True
    held = is_held[body.triangles]
    mixed = body.triangles[held.any(axis=1) & ~held.all(axis=1)]
    edges = np.concatenate([mixed[:, [0, 1]], mixed[:, [1, 2]], mixed[:, [2, 0]], np.repeat(mixed, 2).reshape(-1, 2)])
    return np.unique(np.sort(edges[is_held[edges].all(axis=1)], axis=1), axis=0).astype(np.int32)
