# SPDX-License-Identifier: GPL-3.0-or-later
"""How a body flows, takes heat and breaks, with what is painted on it."""

from __future__ import annotations

from dataclasses import dataclass

import bpy
import numpy as np

from ...solver.runtime.arrays import Floats, Indices
from ...solver.runtime.errors import BadInput
from ...solver.scene.scene import ATTRIBUTES, Fracture, Heat, Plasticity
from ..evaluation.evaluated_mesh import weights
from ..properties import material_presets


@dataclass(frozen=True)
class PaintReader:
    """The vertex groups and attributes that the settings of a body name.

    Attributes:
        owner: The body's object, for its name.
        evaluated: The evaluated object.
        mesh: Its mesh.
    """

    owner: bpy.types.Object
    evaluated: bpy.types.Object
    mesh: bpy.types.Mesh

    def weights_of(self, setting: str) -> Floats:
        """Returns the weights of the group that a setting names, (n,), or (0,) where it names none.

        Raises:
            BadInput: There is no such group, it holds no weights, or it is 0 everywhere.
        """
        own = self.owner.sinew
        name, label = getattr(own, setting), own.bl_rna.properties[setting].name
        if not name:
            return np.zeros(0)
        found = weights(self.evaluated, self.mesh, name, self.owner.name, label)
        if not found.any():
            raise BadInput("group-empty", name=self.owner.name, group=name, field=label)
        return found


def read_plasticity(own: bpy.types.PropertyGroup, paints: PaintReader) -> Plasticity | None:
    """Returns how a body takes a new shape, or None."""
    if not own.use_plasticity:
        return None
    return Plasticity(
        law=own.plastic_law.lower(),
        yield_strain=own.yield_strain,
        flow=own.flow,
        maximum_strain=own.maximum_strain,
        hardening=own.hardening if own.plastic_law == "MULTIPLICATIVE" else 0.0,
        yield_paint=paints.weights_of("yield_group"),
        flow_paint=paints.weights_of("flow_group"),
        maximum_paint=paints.weights_of("maximum_group"),
    )


def read_heat(own: bpy.types.PropertyGroup) -> Heat | None:
    """Returns how a body takes up heat, or None."""
    if not own.use_heat:
        return None
    return Heat(
        temperature=own.temperature,
        conductivity=own.conductivity,
        heat_capacity=own.heat_capacity,
        exchange=own.heat_exchange,
        melting_point=own.melting_point,
        softening=material_presets.table_rows(own.softening),
    )


def read_fracture(own: bpy.types.PropertyGroup, paints: PaintReader) -> Fracture | None:
    """Returns when a body breaks, or None."""
    if not own.use_fracture:
        return None
    return Fracture(
        breaking_stress=own.breaking_stress,
        toughness=own.toughness if own.use_toughness else None,
        scatter=own.scatter,
        seed=own.seed,
        strength_paint=paints.weights_of("strength_group"),
        unbreakable=paints.weights_of("unbreakable_group"),
        most_splits=own.most_splits,
        most_pieces=own.most_pieces,
    )


def read_attributes(own: bpy.types.PropertyGroup) -> tuple[str, ...]:
    """Returns what is to be written per vertex, in the order of `ATTRIBUTES`."""
    return tuple(name for name in ATTRIBUTES if name in own.attributes)


def polygon_of_triangle(mesh: bpy.types.Mesh) -> Indices:
    """Returns the polygon of each triangle of `triangles(mesh)`, (t,), rising."""
    values = np.empty(len(mesh.loop_triangles), np.int32)
    mesh.loop_triangles.foreach_get("polygon_index", values)
    return values
