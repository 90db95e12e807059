# SPDX-License-Identifier: GPL-3.0-or-later
"""What a sheet is besides its material, as part of a scene: cloth, leather, skin, paper, foil."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated

import numpy as np

from ..runtime.arrays import Indices
from .material import Material
from .serialisation.schema_constraints import OneOf, shape
from .serialisation.sequence_coercion import convert_sequences
from .settings.sheet_settings import (
    SHEET_BENDING,
    SHEET_LAW,
    SHEET_POINT_SPACING,
    SHEET_POINTS,
    SHEET_SHEAR,
    SHEET_T_JUNCTIONS,
    SHEET_THICKNESS,
)

if TYPE_CHECKING:
    from .scene import Body

SHEET_LAWS = SHEET_LAW.words
EDGES_PER_WRINKLE = 4.0  # that show one


@dataclass(frozen=True)
class Sheet:
    """A surface without volume whose triangles are elements (`solver/mechanics/sheets/`).

    Stiffness, Poisson's ratio, density and damping are those of the body's `Material`.

    Attributes:
        thickness: h [m], > 0.
        bending: Bending stiffness over that of a plate, E h³ / 12 (1 − ν²), ≥ 0.
        shear: Shear modulus over that of a material that is the same in all directions, E / 2 (1 + ν), > 0; below 1,
            threads follow the shorter edges of each triangle, which are those of quads. "stvk" reads it alone.
        law: Of `SHEET_LAWS`, how triangles resist: "stvk" or "stable-neo-hookean".
        closes_t_junctions: Whether vertices on the border that lie on an edge of another triangle stay on it.
        is_carried_by_points: Whether its vertices follow points scattered around it, and hand forces down to these.
        point_spacing: Of these points, over the root mean square of the lengths of its edges, ≥ 1.
        strands: Two vertices of each edge without faces that is a string of the diameter h, (e, 2).
    """

    thickness: Annotated[float, SHEET_THICKNESS.limits] = SHEET_THICKNESS.default
    bending: Annotated[float, SHEET_BENDING.limits] = SHEET_BENDING.default
    shear: Annotated[float, SHEET_SHEAR.limits] = SHEET_SHEAR.default
    law: Annotated[str, OneOf(SHEET_LAWS)] = "stvk"
    closes_t_junctions: bool = SHEET_T_JUNCTIONS.default
    is_carried_by_points: bool = SHEET_POINTS.default
    point_spacing: Annotated[float, SHEET_POINT_SPACING.limits] = SHEET_POINT_SPACING.default
    strands: Annotated[Indices, shape("e", 2)] = field(default_factory=lambda: np.zeros((0, 2), np.int32))

    def __post_init__(self) -> None:
        """Takes lists for arrays."""
        convert_sequences(self)


def is_wire(body: Body) -> bool:
    """Whether a body is a sheet of strings alone, without faces."""
    return body.is_sheet and not len(body.triangles) and len(body.sheet.strands) > 0


def plate_stiffness(material: Material, thickness: float) -> float:
    """Returns D = E h³ / 12 (1 − ν²) [N m] of a plate of the thickness h [m]."""
    return material.youngs_modulus * thickness**3 / (12.0 * (1.0 - material.poisson_ratio**2))


def wrinkle_width(material: Material, sheet: Sheet, gravity: float) -> float:
    """Returns the length 2π (D / ρ h g)^⅓ of waves that bend as hard as they weigh [m]: narrower ones straighten out.

    Source: the bending length (D / ρ h g)^⅓ is Peirce's (1930), The handle of cloth as a measurable quantity.
    """
    weight = material.density * sheet.thickness * gravity
    return (
        2.0 * math.pi * (sheet.bending * plate_stiffness(material, sheet.thickness) / max(weight, 1.0e-12)) ** (1 / 3)
    )
