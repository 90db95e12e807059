# SPDX-License-Identifier: GPL-3.0-or-later
"""A sheet on its way into a model."""

from __future__ import annotations

import numpy as np

from ...runtime.arrays import Floats, Indices, floats
from ...scene.formulation import GREEN, FormulationSettings
from ...scene.scene import Material
from ..model import Part
from .sheet_elements import SheetMaterial, make_sheet_elements

SHEET_FORMULATION = FormulationSettings(GREEN)  # Newton's method takes the steps of sheets


def sheet_part(
    key: str,
    nodes: Floats,
    triangles: Indices,
    material: SheetMaterial,
    damping: tuple[float, float] = (0.0, 0.0),
    axes: Floats | None = None,
    name: str = "",
) -> Part:
    """Returns a body whose tets stand for the hinges of a sheet.

    Args:
        key, name: Of the body.
        nodes: Rest positions [m], (n, 3).
        triangles: Their corners, (t, 3).
        material: What it is made of.
        damping: α [1/s] of mass and β [s] of stiffness.
        axes: See `make_sheet_elements`, which also says which errors are raised.
    """
    hinges, elements = make_sheet_elements(floats(nodes), triangles, material, axes, name or key)
    of_mass, of_stiffness = damping
    solid = Material(material.youngs_modulus, material.poisson_ratio, material.density, of_mass, of_stiffness)
    return Part(key, nodes, hinges, np.ones(len(hinges)), solid, name=name, method=SHEET_FORMULATION, sheet=elements)
