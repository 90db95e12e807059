# SPDX-License-Identifier: GPL-3.0-or-later
"""The block of NPF05 figure 4: 3430 tets over 512 nodes."""

from __future__ import annotations

import numpy as np

from sinew.solver.mesh.shapes import box_tets
from sinew.solver.runtime.arrays import Floats, Indices
from sinew.solver.scene.scene import Material

CELLS = (7, 7, 7)
MATERIAL = Material(1.0e5, 0.33, 1000.0, 0.0, 0.0)


def block_mesh() -> tuple[Floats, Indices]:
    """Returns nodes [m], (512, 3), and tets, (3430, 4), of a block of 1 m.

    8³ nodes have 7³ cubes, of ten tets each: both ways to make five of a cube, on top of each other. No other count of
    tets per cube gives the paper's numbers.
    """
    nodes, tets = box_tets(CELLS, (1.0, 1.0, 1.0))
    place = np.rint(nodes * CELLS).astype(np.int64)
    mirror = np.ravel_multi_index(((CELLS[0] - place[:, 0]), place[:, 1], place[:, 2]), [c + 1 for c in CELLS])
    others = mirror[tets][:, [0, 1, 3, 2]].astype(np.int32)
    return nodes, np.concatenate([tets, others])
