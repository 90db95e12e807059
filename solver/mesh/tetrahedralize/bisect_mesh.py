# SPDX-License-Identifier: GPL-3.0-or-later
"""Tets that fill a surface, bisected, with how full the smallest are: as much is in the parts of a tet as was in it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ...runtime.arrays import Floats, floats, indices
from ..geometry.orient_outward import orient_outward
from ..geometry.triangle_bvh import build_bvh
from ..geometry.triangle_surface import Surface
from ..tet_bisection import TetForest, bisected_tets
from ..tet_mesh import BisectedTets, TetMesh
from ..tet_quality import dihedral_range
from .volume_fraction import FRACTURE_SAMPLES_PER_TET, filled_fractions


def bisect_mesh(mesh: TetMesh, surface: Surface, levels: int) -> TetMesh:
    """Returns the smallest tets of a mesh that is refined so many times; its report keeps the size of the coarse ones.

    Args:
        mesh: The coarse tets.
        surface: Which they fill.
        levels: How often, by three bisections each.
    """
    forest = bisected_tets(mesh.nodes, mesh.tets, levels)
    fill = _fine_fill(forest, mesh.fill, surface)
    low, high = dihedral_range(forest.nodes, forest.fine_tets)
    joined = indices(np.flatnonzero(np.isin(forest.root_of_fine, mesh.report.joined_tets)))
    report = replace(mesh.report, min_dihedral=low, max_dihedral=high, joined_tets=joined)
    return TetMesh(forest.nodes, forest.fine_tets, fill, report, bisected=BisectedTets(forest, mesh.fill))


def _fine_fill(forest: TetForest, coarse: Floats, surface: Surface) -> Floats:
    """Returns how full the smallest tets are, (m,), given how full the coarse ones are, (M,)."""
    root, volume = forest.root_of_fine, forest.volume[forest.fine]
    fill = np.ones(len(forest.fine))
    partly = np.flatnonzero(coarse[root] < 1.0)
    if not len(partly):
        return fill
    outward = orient_outward(surface).surface
    corners = forest.nodes[forest.fine_tets[partly]]
    is_sheet, bvh = np.zeros(len(partly), bool), build_bvh(outward.vertices, outward.triangles)
    fill[partly] = filled_fractions(floats(corners), partly, is_sheet, bvh, FRACTURE_SAMPLES_PER_TET)
    # scaled down, or what is empty scaled down, by which what is in them is as much as in the coarse tet
    total, found = coarse * forest.volume[: forest.root_count], np.bincount(root, fill * volume)
    empty, found_empty = forest.volume[: forest.root_count] - total, np.bincount(root, (1.0 - fill) * volume)
    is_less = (total <= found)[root]
    down = fill * (total / found)[root]
    up = 1.0 - (1.0 - fill) * (empty / np.where(found_empty > 0.0, found_empty, 1.0))[root]
    scaled = np.where(is_less, down, up)
    return floats(np.where(coarse[root] < 1.0, scaled, 1.0))
