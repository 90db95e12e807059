# SPDX-License-Identifier: GPL-3.0-or-later
"""Settings of the surface detail of a body: dents that are finer than its tets."""

from __future__ import annotations

from ..serialisation.schema_constraints import closed_range, left_open_range
from .setting import Setting, When, integer, switch

HAS_SURFACE_DETAIL = When("use_surface_detail", (True,))
MAX_PARTICLES_PER_TET = 16

USE_SURFACE_DETAIL = switch(
    "use_surface_detail",
    "Surface Detail",
    "Let stamps, fingers and grains leave dents that are finer than a tet. The mesh has to be as fine as the dents",
    since="0.3",
)
DETAIL_PARTICLES = integer(
    "detail_particles",
    "Particles per Tet",
    "How many particles that may be dented lie along the edge of a tet. Every vertex of the mesh is one, too",
    4,
    closed_range(1, MAX_PARTICLES_PER_TET, "Particles per Tet"),
    soft=(None, 8),
    when=(HAS_SURFACE_DETAIL,),
    field="SurfaceDetail.particles_per_tet",
    since="0.3",
)
DETAIL_YIELD = Setting(
    "detail_yield",
    "Dent Strain",
    "How hard the surface is: pressure from which a dent stays, over the Stiffness of the material. "
    "Presets of materials that flow fill it in",
    default=0.03,
    term="Indentation pressure over Young's modulus",
    limits=left_open_range(0.0, 1.0, "Dent Strain"),
    soft=(0.001, 0.2),
    precision=4,
    when=(HAS_SURFACE_DETAIL,),
    field="SurfaceDetail.yield_strain",
    since="0.3",
)
DETAIL_DEPTH = Setting(
    "detail_depth",
    "Max Depth",
    "Depth of the deepest dents, in edges of tets. What is pressed deeper bends the tets",
    default=1.0,
    limits=left_open_range(0.0, 100.0, "Max Depth"),
    soft=(None, 3.0),
    when=(HAS_SURFACE_DETAIL,),
    field="SurfaceDetail.max_depth",
    since="0.3",
)
SURFACE_DETAIL_SETTINGS = (USE_SURFACE_DETAIL, DETAIL_PARTICLES, DETAIL_YIELD, DETAIL_DEPTH)
