# SPDX-License-Identifier: GPL-3.0-or-later
"""The values that attributes are made of, per tet or per node, at one moment of a simulation."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np

from ..arrays import Floats, floats
from ..elements.stress import elastic_stress, von_mises
from ..errors import SinewError
from ..heat import plasticity_of
from ..hierarchical.numbers import level_numbers
from ..plastic import plastic_norm
from ..present_model import present_model
from ..scene import Body
from ..simulation import Simulation

PER_NODE = ("temperature", "velocity")
MAKERS = {"temperature": "Heat", "plastic_strain": "Plasticity", "damage": "Fracture"}
STRESSES = ("stress", "principal_stress")


def fields(simulation: Simulation, wanted: Collection[str]) -> dict[str, Floats]:
    """Returns the wanted values of `scene.ATTRIBUTES` of all bodies: a row per node for PER_NODE, else per tet."""
    built, state = simulation.built, simulation.state
    found: dict[str, Floats] = {}
    if {*STRESSES} & {*wanted}:
        model = present_model(built, state)
        stress, largest = elastic_stress(model, state.x)
        for part in built.flesh.parts if built.flesh else ():
            from ..flesh.stress import cauchy_stress

            rows, x = part.part.tets, floats(state.x[part.part.nodes])
            stress[rows], largest[rows] = cauchy_stress(part, part.at_rest_in(model), x)
        for number in level_numbers(model):
            from ..hierarchical.stress import level_stress

            own = model.bodies[number].tets
            stress[own], largest[own] = level_stress(model, number, state.x)
        found["stress"], found["principal_stress"] = von_mises(stress), largest
    if "plastic_strain" in wanted:
        found["plastic_strain"] = plastic_norm(built.model, state)
    if "damage" in wanted:
        found["damage"] = state.fields.get("tet.damage", np.zeros(built.model.tet_count))
    if "temperature" in wanted:
        found["temperature"] = state.fields.get("node.temperature", np.zeros(built.model.node_count))
    if "velocity" in wanted:
        found["velocity"] = state.v
    return {name: values for name, values in found.items() if name in wanted}


def of_body(simulation: Simulation, number: int, values: dict[str, Floats]) -> dict[str, Floats]:
    """Returns what one body asked for of the `fields` of all, zero where nothing makes it."""
    asked, place = simulation.scene.bodies[number], simulation.built.bodies[number].range
    own = {name: values[name][place.nodes if name in PER_NODE else place.tets] for name in asked.attributes}
    own |= {name: own[name] * asked.simulated_scale**2 for name in STRESSES if name in own}
    return own | {name: np.zeros_like(own[name]) for name in without_source(asked)}


def without_source(body: Body) -> list[str]:
    """Returns the attributes that a body asks for and that will be zero everywhere, since nothing makes them."""
    makes = {"temperature": body.heat, "plastic_strain": plasticity_of(body), "damage": body.fracture}
    return [name for name in body.attributes if name in makes and makes[name] is None]


def warnings(body: Body) -> list[SinewError]:
    """Returns what an artist should know about the attributes of a body."""
    return [
        SinewError("attribute-without-source", name=body.name, attribute=_words(name), what=MAKERS[name])
        for name in without_source(body)
    ]


def _words(name: str) -> str:
    return name.replace("_", " ").capitalize()
