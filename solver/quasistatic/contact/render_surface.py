# SPDX-License-Identifier: GPL-3.0-or-later
"""The surface that one sees of a body of flesh, tied to its tets."""

from __future__ import annotations

from dataclasses import dataclass

from ...runtime.arrays import Floats, Indices


@dataclass(frozen=True, eq=False)
class RenderSurface:
    """The surface of one body at rest.

    Attributes:
        vertices: At rest [m], (v, 3).
        triangles: (t, 3).
        tet, weights: Binding of the vertices in the tets of the body, counted from its first, (v,) and (v, 4).
    """

    vertices: Floats
    triangles: Indices
    tet: Indices
    weights: Floats
