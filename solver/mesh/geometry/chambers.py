# SPDX-License-Identifier: GPL-3.0-or-later
"""The closed spaces of a surface that gas can fill: the hollows of shells, and what has none as a whole."""

from __future__ import annotations

import numpy as np

from ...runtime.arrays import Floats, Indices
from .orient_outward import orient_outward, outer_shells
from .triangle_surface import Surface


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
        volume[each] = enclosed_volume(surface.vertices, triangles[shell == each])
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


def enclosed_volume(vertices: Floats, triangles: Indices) -> float:
    """Returns the volume that triangles enclose [m³], positive where they look outward."""
    a, b, c = (vertices[triangles[:, corner]] - vertices[triangles[0, 0]] for corner in range(3))
    return float(np.einsum("ti,ti->", a, np.cross(b, c))) / 6.0


def volume_gradient(vertices: Floats, triangles: Indices) -> Floats:
    """Returns ∂V/∂x of every vertex of a closed surface [m²], (v, 3): its sum and its moment are zero.

    A triangle of the corners a, b, c has ∂V/∂a = b × c / 6.
    """
    corners = vertices[triangles] - vertices[triangles[0, 0]]
    gradient = np.zeros_like(vertices)
    for corner in range(3):
        across = np.cross(corners[:, corner - 2], corners[:, corner - 1]) / 6.0
        np.add.at(gradient, triangles[:, corner], across)
    return gradient
