# SPDX-License-Identifier: GPL-3.0-or-later
"""How a body flows, takes heat and breaks, with what is painted on it."""

from __future__ import annotations

from dataclasses import dataclass

import bpy
import numpy as np

from ...solver.arrays import Floats, Indices
from ...solver.errors import BadInput
from ...solver.scene import ATTRIBUTES, Fracture, Heat, Plasticity
from .. import presets
from .input_mesh import weights


@dataclass(frozen=True)
class Paints:
    """The vertex groups and attributes that the settings of a body name.

    Attributes:
        owner: The body's object, for its name.
        evaluated: The evaluated object.
        mesh: Its mesh.
    """

    owner: bpy.types.Object
    evaluated: bpy.types.Object
    mesh: bpy.types.Mesh

    def of(self, setting: str) -> Floats:
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


def plasticity(own: bpy.types.PropertyGroup, paints: Paints) -> Plasticity | None:
    """Returns how a body takes a new shape, or None."""
    if not own.use_plasticity:
        return None
    return Plasticity(
        law=own.plastic_law.lower(),
        yield_strain=own.yield_strain,
        flow=own.flow,
        maximum_strain=own.maximum_strain,
        hardening=own.hardening if own.plastic_law == "MULTIPLICATIVE" else 0.0,
        yield_paint=paints.of("yield_group"),
        flow_paint=paints.of("flow_group"),
        maximum_paint=paints.of("maximum_group"),
    )


def heat(own: bpy.types.PropertyGroup) -> Heat | None:
    """Returns how a body takes up heat, or None."""
    if not own.use_heat:
        return None
    return Heat(
        temperature=own.temperature,
        conductivity=own.conductivity,
        heat_capacity=own.heat_capacity,
        exchange=own.heat_exchange,
        melting_point=own.melting_point,
        softening=presets.rows_of(own.softening),
    )


def fracture(own: bpy.types.PropertyGroup, paints: Paints) -> Fracture | None:
    """Returns when a body breaks, or None."""
    if not own.use_fracture:
        return None
    return Fracture(
        breaking_stress=own.breaking_stress,
        toughness=own.toughness if own.use_toughness else None,
        scatter=own.scatter,
        seed=own.seed,
        strength_paint=paints.of("strength_group"),
        unbreakable=paints.of("unbreakable_group"),
        most_splits=own.most_splits,
        most_pieces=own.most_pieces,
    )


def attributes(own: bpy.types.PropertyGroup) -> tuple[str, ...]:
    """Returns what is to be written per vertex, in the order of `ATTRIBUTES`."""
    return tuple(name for name in ATTRIBUTES if name in own.attributes)


def face_of_triangle(mesh: bpy.types.Mesh) -> Indices:
    """Returns the polygon of each triangle of `triangles(mesh)`, (t,), rising."""
    values = np.empty(len(mesh.loop_triangles), np.int32)
    mesh.loop_triangles.foreach_get("polygon_index", values)
    return values
