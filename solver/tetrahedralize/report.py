# SPDX-License-Identifier: GPL-3.0-or-later
"""What holds of the tets that fill a surface."""

from __future__ import annotations

import numpy as np

from ..geometry.bvh import Bvh
from ..geometry.enclosed_volume import enclosed_volume
from ..geometry.outward import Outward
from ..scene import Meshing
from .quality import dihedral_range, signed_volumes
from .tet_mesh import Filling, MeshReport


def describe(
    filling: Filling, outward: Outward, bvh: Bvh, meshing: Meshing, scale: float, seconds: float
) -> MeshReport:
    """Returns the report on tets that fill a surface of size one, in the units of the scene.

    Args:
        filling: The tets.
        outward: The surface.
        bvh: Its tree.
        meshing: What was asked for, the tet size in the surface's unit.
        scale: Size of the object in the scene [m].
        seconds: Time it took so far [s].
    """
    volumes = signed_volumes(filling.nodes, filling.tets)
    if not (volumes > 0.0).all():
        raise AssertionError(f"{np.count_nonzero(~(volumes > 0.0))} tets came out inverted")
    least, most = dihedral_range(filling.nodes, filling.tets)
    volume = float(volumes @ filling.fill)
    enclosed = enclosed_volume(bvh, outward.is_closed)
    return MeshReport(
        tet_size=float(meshing.tet_size or 0.0) * scale,
        min_dihedral=least,
        max_dihedral=most,
        volume=volume * scale**3,
        volume_ratio=volume / enclosed if enclosed > 0.0 else 0.0,
        seconds=seconds,
    )


def thickness(outward: Outward, bvh: Bvh) -> float:
    """Returns how thick a surface is on average [m]: a plate's volume is half its area times this."""
    return 2.0 * enclosed_volume(bvh, outward.is_closed) / outward.surface.area
