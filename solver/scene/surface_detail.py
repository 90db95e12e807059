# SPDX-License-Identifier: GPL-3.0-or-later
"""The surface detail of a body, as part of a scene."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from .settings.surface_detail_settings import DETAIL_DEPTH, DETAIL_PARTICLES, DETAIL_YIELD


@dataclass(frozen=True)
class SurfaceDetail:
    """Particles at the surface of a body that take its contacts and keep dents finer than its tets.

    Attributes:
        particles_per_tet: Size of the tets over the largest distance between particles, ≥ 1.
        yield_strain: Pressure from which a dent stays, over Young's modulus, > 0.
        max_depth: How far a particle may move into the material, in tet sizes, > 0.
    """

    particles_per_tet: Annotated[int, DETAIL_PARTICLES.limits] = DETAIL_PARTICLES.default
    yield_strain: Annotated[float, DETAIL_YIELD.limits] = DETAIL_YIELD.default
    max_depth: Annotated[float, DETAIL_DEPTH.limits] = DETAIL_DEPTH.default
