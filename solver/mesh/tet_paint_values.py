# SPDX-License-Identifier: GPL-3.0-or-later
"""Extrapolates what an artist paints on the surface to the tets: each takes the value of the nearest surface point."""

from __future__ import annotations

import numpy as np

from ..runtime.arrays import Floats, floats
from ..scene.scene import Body
from .geometry.closest_point import closest_points
from .geometry.triangle_bvh import build_bvh
from .tet_mesh import TetMesh


def extrapolate_to_tets(body: Body, mesh: TetMesh, *paints: Floats) -> list[Floats]:
    """Returns for each paint, (n,) at the render vertices or (0,) for 1 everywhere, its values in the tets, (m,)."""
    if not any(len(paint) for paint in paints):
        return [np.ones(len(mesh.tets)) for _ in paints]
    centres = floats(mesh.nodes[mesh.tets].mean(axis=1))
    near = closest_points(build_bvh(body.vertices, body.triangles), centres)
    corners = body.triangles[near.triangle]
    return [
        np.einsum("ka,ka->k", paint[corners], near.weights) if len(paint) else np.ones(len(mesh.tets))
        for paint in paints
    ]
