# SPDX-License-Identifier: GPL-3.0-or-later
"""How a surface is filled with tets, as a scene asks for it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from .fine_regions import FineRegions
from .serialisation.schema_constraints import OneOf, at_least
from .settings.tet_settings import COARSEST_SIZE, DIVISIONS, FILL, INTERIOR_SIZE, MAX_STRAIN_VARIATION, TET_SIZE

FILL_METHODS = FILL.words  # of `Meshing.method`
ADAPTIVE, RIGID, SHEET = "adaptive", "rigid", "sheet"
LATTICE_COVERS = ("robust", ADAPTIVE)  # whole tets that cover the surface


@dataclass(frozen=True)
class Meshing:
    """The tetrahedral mesh of a body.

    Attributes:
        method: "smooth" (conforming, isosurface stuffing), "robust" (lattice cover), "given" (the body brings
            `tet_nodes` and `tets`), "rigid" (one tet for a body that moves as one piece), "adaptive" (lattice cover
            with tets of several sizes) or "sheet" (its triangles are the elements, `Sheet`). Bodies that may break are
            filled by "robust" instead of "smooth".
        tet_size: Edge length of the lattice at the surface, if adaptive where it bends [m], or None to take it from
            `divisions`.
        divisions: Tets along the longest side of the bounding box.
        interior_size: How many times larger than `tet_size` the tets deep inside may get: 1, 2 or 4
            (smooth only).
        coarsest_size: How many times larger than `tet_size` the tets deep inside are: 2, 4 or 8 (adaptive only).
        fine: Where adaptive tets are small, besides where the surface bends; None: nowhere.
        refines_dynamically: Whether tets of a soft body become smaller where its strain varies or colliders are near,
            and larger again (adaptive only).
        max_strain_variation: How much strain may vary within one of these tets before it becomes eight.
        memory_limit: Refuse what is estimated to need more than this many bytes; None: what is free.
    """

    method: Annotated[str, OneOf(FILL_METHODS)] = "smooth"
    tet_size: Annotated[float, TET_SIZE.limits] | None = None
    divisions: Annotated[int, DIVISIONS.limits] = 16
    interior_size: Annotated[int, INTERIOR_SIZE.limits] = 1
    memory_limit: Annotated[int, at_least(0)] | None = None
    coarsest_size: Annotated[int, COARSEST_SIZE.limits] = 4
    fine: FineRegions | None = None
    refines_dynamically: bool = False
    max_strain_variation: Annotated[float, MAX_STRAIN_VARIATION.limits] = 0.1
