# SPDX-License-Identifier: GPL-3.0-or-later
"""How stiff contacts of rigid bodies and sheets are, whose material says nothing of how they yield to a push."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..contact.detection.contact_sample_points import STIFFNESS_FACTOR
from ..mesh.geometry.triangle_surface import Surface
from ..mesh.sheet_mesh import strand_areas
from ..mesh.tet_mesh import TetMesh
from ..scene.material import Material
from ..scene.scene import Body

# Stiffness of the whole surface over m / Δt². With contact points at vertices alone, ten cubes that fall into a heap
# come to rest with 3 to 1000, from 300 on with hundreds of solves a step; with 30 a cube that falls by its own size is
# 2 % of it deep for a moment.
SURFACE_STIFFNESS = 30.0


def with_contact_modulus(body: Body, surface: Surface, mesh: TetMesh, dt: float) -> Material:
    """Returns the material of a rigid body or a sheet with the modulus from which its contacts get their stiffness.

    A sheet yields to a push across it by its inertia, and not by what resists a stretch along it.

    Contacts that are much stiffer than inertia in a step push what they find deeper than it was left out in one step,
    with energy from nothing: what turns is not where straight lines had it.

    Args:
        body, surface, mesh: The body.
        dt: Δt of a step [s].
    """
    area, thickness = surface.area, body.sheet.thickness
    volume = mesh.report.volume if mesh.sheet is None else area * thickness
    if mesh.sheet is not None:
        of_strands = float(strand_areas(mesh, thickness).sum())
        area, volume = area + of_strands, volume + 0.25 * np.pi * thickness * of_strands
    inertial = body.material.density * volume / dt**2
    modulus = SURFACE_STIFFNESS * inertial * mesh.report.tet_size / (STIFFNESS_FACTOR * area)
    return replace(body.material, youngs_modulus=modulus * body.simulated_scale**2, poisson_ratio=0.0)
