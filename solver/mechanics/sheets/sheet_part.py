# SPDX-License-Identifier: GPL-3.0-or-later
"""A sheet on its way into a model."""

from __future__ import annotations

import numpy as np

from ...mesh.tet_mesh import TetMesh
from ...runtime.arrays import Floats, Indices, floats, indices
from ...scene.formulation import GREEN, FormulationSettings
from ...scene.scene import Body, Material
from ..model import Part
from .sheet_elements import SheetElements, SheetMaterial, axes_along_quads, make_sheet_elements, no_triangles
from .sheet_materials import sheet_material
from .strand_elements import make_strand_elements

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
    return _part(key, nodes, (hinges, elements), material, damping, name)


def net_part(
    key: str,
    nodes: Floats,
    triangles: Indices,
    strands: Indices,
    material: SheetMaterial,
    damping: tuple[float, float] = (0.0, 0.0),
    name: str = "",
) -> Part:
    """Returns a body as `sheet_part` does, with strands, (e, 2), and perhaps without triangles, (0, 3)."""
    made = _elements(floats(nodes), triangles, strands, material, None, name or key, False)
    return _part(key, nodes, made, material, damping, name)


def _part(
    key: str,
    nodes: Floats,
    made: tuple[Indices, SheetElements],
    material: SheetMaterial,
    damping: tuple[float, float],
    name: str,
) -> Part:
    hinges, elements = made
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
    triangles, strands = mesh.sheet.triangles, mesh.sheet.strands
    axes = axes_along_quads(mesh.nodes, triangles)
    material, may_tear = sheet_material(body), body.fracture is not None
    hinges, elements = _elements(mesh.nodes, triangles, strands, material, axes, body.name, may_tear)
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


def _elements(
    nodes: Floats,
    triangles: Indices,
    strands: Indices,
    material: SheetMaterial,
    axes: Floats | None,
    name: str,
    may_tear: bool,
) -> tuple[Indices, SheetElements]:
    """Returns the nodes of the tets of a sheet with strands, (h, 4), and its elements: hinges, then strands."""
    has_triangles = len(triangles) > 0 or not len(strands)
    hinges, elements = (
        make_sheet_elements(nodes, triangles, material, axes, name, may_tear) if has_triangles else no_triangles()
    )
    tets, own = make_strand_elements(nodes, strands, material, name)
    return indices(np.concatenate([hinges, tets]), -1, 4), elements.with_strands(own)
