# SPDX-License-Identifier: GPL-3.0-or-later
"""The local numbering of the edges and faces of a tet, by its nodes 0 to 3."""

from __future__ import annotations

import numpy as np

TET_EDGES = ((0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3))
EDGE_STARTS, EDGE_ENDS = np.array(TET_EDGES, np.int64).T

# counterclockwise as seen from outside
TET_FACES = ((0, 2, 1), (0, 1, 3), (1, 2, 3), (0, 3, 2))
FACES_OPPOSITE_NODES = ((1, 2, 3), (0, 3, 2), (0, 1, 3), (0, 2, 1))  # the same, opposite to node 0, 1, 2, 3
