# SPDX-License-Identifier: GPL-3.0-or-later
"""The values that attributes are made of, per tet or per node, at one moment of a simulation."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np

from ..arrays import Floats
from ..elements.stress import elastic_stress, von_mises
from ..present_model import present_model
from ..scene import Body
from ..simulation import Simulation

PER_NODE = ("temperature", "velocity")


def fields(simulation: Simulation, wanted: Collection[str]) -> dict[str, Floats]:
    """Returns the wanted values of `scene.ATTRIBUTES` of all bodies: a row per node for PER_NODE, else per tet."""
    built, state = simulation.built, simulation.state
    found: dict[str, Floats] = {}
    if "stress" in wanted or "principal_stress" in wanted:
        stress, largest = elastic_stress(present_model(built, state), state.x)
        found["stress"], found["principal_stress"] = von_mises(stress), largest
    if "plastic_strain" in wanted:
        found["plastic_strain"] = _plastic_strain(simulation)
    if "damage" in wanted:
        found["damage"] = state.fields.get("tet.damage", np.zeros(built.model.tet_count))
    if "temperature" in wanted:
        found["temperature"] = state.fields.get("node.temperature", np.zeros(built.model.node_count))
    if "velocity" in wanted:
        found["velocity"] = state.v
    return {name: values for name, values in found.items() if name in wanted}


def of_body(simulation: Simulation, number: int, values: dict[str, Floats]) -> dict[str, Floats]:
    """Returns what one body asked for of the `fields` of all."""
    asked, place = simulation.scene.bodies[number], simulation.built.bodies[number].range
    return {name: values[name][place.nodes if name in PER_NODE else place.tets] for name in asked.attributes}


def without_source(body: Body) -> list[str]:
    """Returns the attributes that a body asks for and that will be zero everywhere, since nothing makes them."""
    makes = {"temperature": body.heat, "plastic_strain": body.plasticity, "damage": body.fracture}
    return [name for name in body.attributes if name in makes and makes[name] is None]


def _plastic_strain(simulation: Simulation) -> Floats:
    from ..plastic import plastic_norm

    return plastic_norm(simulation.built.model, simulation.state)
