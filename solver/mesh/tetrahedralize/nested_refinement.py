# SPDX-License-Identifier: GPL-3.0-or-later
"""Refines the tets that fill a surface: a finer body that is nested in a coarse one."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ...runtime.arrays import indices
from ..red_refinement import interpolate_from_coarse, red_refinement
from ..tet_mesh import TetMesh
from ..tet_quality import dihedral_range


def refine(mesh: TetMesh, count: int) -> TetMesh:
    """Returns the tets after `count` red refinements; each is filled as its coarse one is."""
    tets, levels = red_refinement(mesh.tets, len(mesh.nodes), count)
    nodes, per = interpolate_from_coarse(levels, mesh.nodes), levels.children_per_coarse_tet
    low, high = dihedral_range(nodes, tets)
    joined = mesh.report.joined_tets.astype(np.int64)[:, None] * per + np.arange(per, dtype=np.int64)
    report = replace(
        mesh.report,
        tet_size=mesh.report.tet_size / 2**count,
        min_dihedral=low,
        max_dihedral=high,
        joined_tets=indices(joined.ravel()),
    )
    return TetMesh(nodes, tets, np.repeat(mesh.fill, per), report)
