# SPDX-License-Identifier: GPL-3.0-or-later
"""All tets that a body can have whose adaptive tets change their sizes while it is simulated.

Every tet of the largest lattice that the surface touches, or that has corners inside, has its children here, level by
level down to the smallest. At the start those are split that `adaptive_fill.py` splits.
"""

from __future__ import annotations

import numpy as np

from ...scene.fine_regions import FineRegions
from ...scene.scene import Meshing
from ..geometry.triangle_bvh import Bvh
from ..geometry.triangle_surface import Surface
from ..red_refinement import CHILD_NODES
from ..tet_levels import Keys, TetLevels
from .adaptive_fill import SplitCriteria, count_nodes_inside, filled_shares, surface_in_some
from .adaptive_lattice import PointNumbering, refine
from .bcc_lattice import lattice_around
from .surface_lattice_overlap import TOUCH_TOLERANCE
from .tet_size import tet_size
from .volume_fraction import sheet_faces

CHILDREN = len(CHILD_NODES)


def make_tet_levels(surface: Surface, bvh: Bvh, meshing: Meshing, is_closed: bool) -> TetLevels:
    """Returns the tets of all levels that cover a surface and its inside; see `fill_adaptively`."""
    finest, count = tet_size(surface, meshing), meshing.coarsest_size.bit_length() - 1
    numbering = PointNumbering(lattice_around(*surface.bounds, finest * 2**count), count)
    criteria = SplitCriteria(surface, bvh, meshing.fine or FineRegions(), finest)
    is_sheet = sheet_faces(bvh, is_closed)
    corners, parents, at_start, starts = list[Keys](), [], [], [0]
    tets = numbering.coarse_tets()
    parent = np.full(len(tets), -1, np.int64)
    may_cross = np.ones(len(tets), np.bool_)
    fill = np.zeros(0)
    for level in range(count + 1):
        size = numbering.size(level)
        found = surface_in_some(numbering, tets, may_cross, bvh, is_sheet, criteria.fine_faces, TOUCH_TOLERANCE * size)
        inside = count_nodes_inside(numbering, tets, may_cross, bvh)
        is_taken = (found.marks > 0) | (inside > 0)
        tets, parent, found, inside = tets[is_taken], parent[is_taken], found.select(is_taken), inside[is_taken]
        corners.append(tets)
        parents.append(parent)
        places = numbering.positions(tets)
        if level == count:
            fill = filled_shares(places, found.marks, inside, bvh)
            at_start.append(np.zeros(len(tets), np.bool_))
            starts.append(starts[-1] + len(tets))
            break
        at_start.append(criteria.too_large(places, found, size))
        may_cross = np.repeat((found.marks > 0) | (inside < 4), CHILDREN)
        parent = np.repeat(starts[-1] + np.arange(len(tets), dtype=np.int64), CHILDREN)
        starts.append(starts[-1] + len(tets))
        tets = refine(tets)
    parent = np.concatenate(parents)
    fill = _mean_fill(fill, parent, starts)
    kept = np.flatnonzero(fill > 0.0)  # a face may touch a tet within its tolerance, and none of its children
    number = np.searchsorted(kept, parent[kept])
    return TetLevels(
        origin=numbering.lattice.origin,
        spacing=0.5 * numbering.size(count),
        counts=numbering.counts,
        corners=_positively_oriented(np.concatenate(corners)[kept], numbering.counts),
        level_start=tuple(np.searchsorted(kept, starts).tolist()),
        parent=np.where(parent[kept] < 0, -1, number).astype(np.int32),
        fill=fill[kept],
        is_split_at_start=np.concatenate(at_start)[kept],
    )


def _mean_fill(finest: np.ndarray, parent: np.ndarray, starts: list[int]) -> np.ndarray:
    """Returns the filled shares of all tets, (c,), from those of the smallest; what was left out has none."""
    fill = np.zeros(len(parent))
    fill[starts[-2] :] = finest
    for level in range(len(starts) - 2, 0, -1):
        own = slice(starts[level], starts[level + 1])
        fill += np.bincount(parent[own], fill[own], len(parent)) / CHILDREN
    return fill


def _positively_oriented(corners: Keys, counts: tuple[int, int, int]) -> Keys:
    """Returns the corners of tets, (c, 4), the last two swapped where these are negatively oriented."""
    places = np.stack(np.unravel_index(corners, counts), axis=-1).astype(np.float64)
    is_negative = np.linalg.det(places[:, 1:] - places[:, :1]) < 0.0
    return np.where(is_negative[:, None], corners[:, [0, 1, 3, 2]], corners)
