# SPDX-License-Identifier: GPL-3.0-or-later
"""A sheet on its way into a model."""

from __future__ import annotations

import numpy as np

from ...mesh.tet_mesh import TetMesh
from ...runtime.arrays import Floats, Indices, floats
from ...scene.formulation import GREEN, FormulationSettings
from ...scene.scene import Body, Material
from ..model import Part
from .sheet_elements import SheetMaterial, axes_along_quads, make_sheet_elements
from .sheet_materials import sheet_material

SHEET_FORMULATION = FormulationSettings(GREEN)  # Newton's method takes the steps of sheets


def sheet_part(
    key: str,
    nodes: Floats,
    triangles: Indices,
    material: SheetMaterial,
    damping: tuple[float, float] = (0.0, 0.0),
    axes: Floats | None = None,
    name: str = "",
    may_tear: bool = False,
) -> Part:
    """Returns a body whose tets stand for the hinges of a sheet.

    Args:
        key, name: Of the body.
        nodes: Rest positions [m], (n, 3).
        triangles: Their corners, (t, 3).
        material: What it is made of.
        damping: α [1/s] of mass and β [s] of stiffness.
        axes, may_tear: See `make_sheet_elements`, which also says which errors are raised.
    """
    hinges, elements = make_sheet_elements(floats(nodes), triangles, material, axes, name or key, may_tear)
    of_mass, of_stiffness = damping
    solid = Material(material.youngs_modulus, material.poisson_ratio, material.density, of_mass, of_stiffness)
    return Part(key, nodes, hinges, np.ones(len(hinges)), solid, name=name, method=SHEET_FORMULATION, sheet=elements)


def sheet_of_body(body: Body, mesh: TetMesh, contact_material: Material) -> Part:
    """Returns a body of a scene whose triangles are the elements.

    Args:
        body: What is asked for.
        mesh: Its hinges, as `sheet_mesh` returns them.
        contact_material: The material from which contacts get their stiffness; its damping is that of the body.
    """
    assert mesh.sheet is not None
    triangles = mesh.sheet.triangles
    axes = axes_along_quads(mesh.nodes, triangles)
    may_tear = body.fracture is not None
    hinges, elements = make_sheet_elements(mesh.nodes, triangles, sheet_material(body), axes, body.name, may_tear)
    return Part(
        body.key,
        mesh.nodes,
        hinges,
        mesh.fill,
        contact_material,
        simulated_scale=body.simulated_scale,
        name=body.name,
        method=body.method,
        gravity_weight=body.field_weights.gravity,
        sheet=elements,
    )
