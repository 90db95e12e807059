# SPDX-License-Identifier: GPL-3.0-or-later
"""The closed spaces of a surface that gas can fill: the hollows of shells, and what has none as a whole."""

from __future__ import annotations

import numpy as np

from ...runtime.arrays import Indices
from .orient_outward import orient_outward, outer_shells
from .triangle_surface import Surface, signed_volume


def find_chambers(surface: Surface) -> list[Indices] | None:
    """Returns the triangles around each chamber, which look out of it, (t, 3); None where the surface is open.

    The hollows of a part are its chambers. A part without a hollow is one itself.
    """
    oriented = orient_outward(surface)
    if not oriented.is_closed:
        return None
    triangles, shell = oriented.surface.triangles, oriented.shell
    shells = np.unique(shell)
    volume = np.zeros(int(shells[-1]) + 1)
    for each in shells:
        volume[each] = signed_volume(surface.vertices, triangles[shell == each])
    outer = outer_shells(oriented.surface, shell, len(volume), volume)
    is_hollow = (volume < 0.0) & (outer >= 0)
    outermost = np.arange(len(volume), dtype=np.int64)
    while (outer[outermost] >= 0).any():
        outermost = np.where(outer[outermost] >= 0, outer[outermost], outermost)
    has_hollow = np.isin(outermost, outermost[is_hollow])
    chambers = []
    for each in shells:
        own = triangles[shell == each]
        if is_hollow[each]:
            chambers.append(np.ascontiguousarray(own[:, ::-1]))  # its faces look into the hollow
        elif outer[each] < 0 and not has_hollow[each]:
            chambers.append(own)
    return chambers
