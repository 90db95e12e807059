# SPDX-License-Identifier: GPL-3.0-or-later
"""The tet that stands for a rigid body: four equal point masses with the mass, centre and inertia of its solid.

With the second moments ∫ (x − c)(x − c)ᵀ dV / V = Q diag(s²) Qᵀ of the solid, the corners c + Q diag(s) (±1, ±1, ±1),
an even number of them negative, have the same mean of (x − c)(x − c)ᵀ. So a quarter of the mass at each corner moves
under any forces as the solid does, and the lumped mass matrix is exact.

Source: Routh (1905), on equimomental points.
"""

from __future__ import annotations

import numpy as np

from ..runtime.arrays import Floats, floats, indices
from ..runtime.errors import BadInput
from .geometry.orient_outward import orient_outward
from .geometry.triangle_surface import Surface
from .tet_mesh import MeshReport, TetMesh
from .tet_moments import second_moments
from .tet_quality import dihedral_range

CORNER_SIGNS = np.array([[1.0, 1.0, 1.0], [-1.0, 1.0, -1.0], [1.0, -1.0, -1.0], [-1.0, -1.0, 1.0]])
CONTACT_SPACINGS = 8.0  # in the diagonal of its box: what is narrower may pass between its contact points
MIN_THICKNESS_RATIO = 1.0e-5  # of a solid, over its size, below which round-off decides its inertia


def equimomental_tet(surface: Surface, name: str) -> TetMesh:
    """Returns the one tet of a rigid body; its fill is the volume of the solid over that of the tet.

    The tet size is that which contacts need: how far apart points on the surface may be. Faces that look
    the wrong way are turned.

    Raises:
        BadInput: The surface encloses next to nothing, so that it has no inertia.
    """
    size = float(np.linalg.norm(np.ptp(surface.vertices, axis=0)))
    volume, centre, moments = solid_moments(orient_outward(surface).surface)
    spread = np.linalg.eigvalsh(moments / volume if volume > 0.0 else moments)
    if not volume > 0.0 or not spread[0] > (MIN_THICKNESS_RATIO * size) ** 2:
        raise BadInput("rigid-without-volume", name=name)
    nodes = equimomental_corners(centre, floats(moments / volume))
    tets = indices(np.arange(4, dtype=np.int32).reshape(1, 4), -1, 4)
    tet_volume = float(np.linalg.det(nodes[1:] - nodes[0])) / 6.0
    low, high = dihedral_range(nodes, tets)
    report = MeshReport(size / CONTACT_SPACINGS, low, high, volume, 1.0)
    return TetMesh(nodes, tets, np.array([volume / tet_volume]), report)


def equimomental_corners(centre: Floats, moments: Floats) -> Floats:
    """Returns c + Q diag(s) (±1, ±1, ±1) [m], (4, 3), positively oriented, for a centre c and Q diag(s²) Qᵀ [m²]."""
    spread, axes = np.linalg.eigh(moments)
    if np.linalg.det(axes) < 0.0:
        axes[:, 0] *= -1.0
    return floats(centre + (CORNER_SIGNS * np.sqrt(spread)) @ axes.T)


def solid_moments(surface: Surface) -> tuple[float, Floats, Floats]:
    """Returns the volume [m³], the centroid [m], (3,), and ∫ (x − c)(x − c)ᵀ dV [m⁵], (3, 3), of what it encloses.

    An inside-out surface has those of the same surface turned round.
    """
    origin = surface.vertices.mean(axis=0)  # near, so that round-off is that of the body's size
    corners = surface.vertices[surface.triangles] - origin
    signed = np.linalg.det(corners) / 6.0
    total = float(signed.sum())
    if total == 0.0:
        return 0.0, origin, np.zeros((3, 3))
    offset = signed @ corners.sum(axis=1) / (4.0 * total)
    points = np.concatenate([corners - offset, np.broadcast_to(-offset, (len(corners), 1, 3))], axis=1)
    moments = second_moments(points, signed)
    return abs(total), origin + offset, moments if total > 0.0 else -moments
