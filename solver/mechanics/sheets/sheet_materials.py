# SPDX-License-Identifier: GPL-3.0-or-later
"""What the material of a body makes of its sheet, when it is built and when it changes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from ...scene.scene import Body
from ...scene.sheet import plate_stiffness
from ..model import Model
from .sheet_elements import SheetElements, SheetMaterial


def sheet_material(body: Body) -> SheetMaterial:
    """Returns what the sheet of a body is made of; one of the Simulated Size s has the stiffness E / s², as a solid."""
    given, sheet = body.material, body.sheet
    plate = SheetMaterial(
        thickness=sheet.thickness,
        youngs_modulus=given.youngs_modulus / body.simulated_scale**2,
        poisson_ratio=given.poisson_ratio,
        density=given.density,
        law=sheet.law,
    )
    stiffness = sheet.bending * plate_stiffness(given, sheet.thickness) / body.simulated_scale**2
    shear = float(plate.moduli[3]) * (sheet.shear if sheet.law == "stvk" else 1.0)
    return replace(plate, bending_stiffness=stiffness, shear_modulus=shear, strand_bending=sheet.bending)


def with_sheet_materials(model: Model, before: Mapping[int, Body], bodies: Mapping[int, Body]) -> Model:
    """Returns the model with the materials of some sheets; what their contacts are made of stays.

    Args:
        model: All bodies.
        before: With the materials that the sheets have in the model, by their numbers in it.
        bodies: The same with those that they get.
    """
    if not bodies or model.sheets is None:
        return model
    sheets, hinges, strands = model.sheets, model.sheets.hinges, model.sheets.strands
    bending, moduli, of_triangles = hinges.bending.copy(), hinges.moduli.copy(), sheets.density.copy()
    flexibility = sheets.flexibility
    names = ("density", "mass", "mass_damping", "stiffness_damping")
    made = {name: getattr(model, name).copy() for name in names}
    for number, body in bodies.items():
        plate, of_model = sheet_material(body), model.bodies[number]
        first, last = np.searchsorted(sheets.tets, (of_model.tets.start, of_model.tets.stop))
        own = slice(*hinges.triangle_start[[first, last]].tolist())
        bending[first:last] *= _ratio(plate.bending_stiffness, sheet_material(before[number]).bending_stiffness)
        moduli[own], of_triangles[own] = plate.moduli, plate.density
        flexibility = flexibility.with_compliance(slice(first, last), plate.plate_compliance)
        if strands is not None:
            strands = strands.changed(of_model.tets, sheet_material(before[number]), plate)
        made["density"][of_model.tets] = plate.density
        made["mass"][of_model.nodes] *= plate.density / before[number].material.density
        made["mass_damping"][of_model.nodes] = body.material.mass_damping
        made["stiffness_damping"][of_model.tets] = body.material.stiffness_damping
    bent = hinges._replace(bending=bending, moduli=moduli)
    changed = SheetElements(sheets.tets, bent, of_triangles, flexibility, strands)
    return replace(model, sheets=changed, **made)


def _ratio(after: float | None, before: float | None) -> float:
    return after / before if after and before else 1.0
