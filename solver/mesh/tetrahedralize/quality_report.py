# SPDX-License-Identifier: GPL-3.0-or-later
"""What holds of the tets that fill a surface."""

from __future__ import annotations

import numpy as np

from ...scene.scene import Meshing
from ..tet_mesh import FilledTets, MeshReport
from ..tet_quality import dihedral_range, signed_volumes


def quality_report(filling: FilledTets, enclosed: float, meshing: Meshing, scale: float, seconds: float) -> MeshReport:
    """Returns the report on tets that fill a surface of size one, in the units of the scene.

    Args:
        filling: The tets.
        enclosed: The volume that the surface encloses [m³].
        meshing: What was asked for, the tet size in the surface's unit.
        scale: Size of the object in the scene [m].
        seconds: Time it took so far [s].
    """
    volumes = signed_volumes(filling.nodes, filling.tets)
    if not (volumes > 0.0).all():
        raise AssertionError(f"{np.count_nonzero(~(volumes > 0.0))} tets came out inverted")
    least, most = dihedral_range(filling.nodes, filling.tets)
    volume = float(volumes @ filling.fill)
    return MeshReport(
        tet_size=float(meshing.tet_size or 0.0) * scale,
        min_dihedral=least,
        max_dihedral=most,
        volume=volume * scale**3,
        volume_ratio=volume / enclosed if enclosed > 0.0 else 0.0,
        seconds=seconds,
    )
