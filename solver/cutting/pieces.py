# SPDX-License-Identifier: GPL-3.0-or-later
"""Which tets hold together by material."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import scipy.sparse
import scipy.sparse.csgraph

from ..arrays import Bools, Indices
from .crossings import Crossings
from .tet_complex import TetComplex


def tet_pieces(whole: TetComplex, crossings: Crossings, windings: Indices, is_parted: Bools) -> npt.NDArray:
    """Returns the number of the piece of each tet, (m,): tets hold together across faces with material in them."""
    has_material = (windings[whole.face_nodes] != 0).any(axis=1)
    has_material[crossings.face] = True
    a, b = whole.face_tets[whole.is_inner & has_material & ~is_parted].T
    count = len(whole.tets)
    graph = scipy.sparse.coo_matrix((np.ones(len(a), np.int8), (a, b)), shape=(count, count))
    return np.asarray(scipy.sparse.csgraph.connected_components(graph, directed=False)[1])
