# SPDX-License-Identifier: GPL-3.0-or-later
"""The fields behind attributes, per tet or per node, at one time of a simulation."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np

from ...mechanics.elements.elastic_stress import elastic_stress, von_mises
from ...mechanics.heat import plasticity_of
from ...mechanics.hierarchical.hierarchical_bodies import hierarchical_numbers
from ...mechanics.plasticity import plastic_norm
from ...mechanics.state_fields import DAMAGE_FIELD, TEMPERATURE
from ...runtime.arrays import Floats, floats
from ...runtime.errors import SinewError
from ...scene.scene import Body
from ...simulation.current_model import current_model, present_flesh
from ...simulation.simulation import Simulation

NODE_ATTRIBUTES = ("temperature", "velocity")
REQUIRED_FEATURES = {"temperature": "Heat", "plastic_strain": "Plasticity", "damage": "Fracture"}
STRESS_ATTRIBUTES = ("stress", "principal_stress")


def attribute_values(simulation: Simulation, wanted: Collection[str]) -> dict[str, Floats]:
    """Returns the `wanted` of `scene.ATTRIBUTES` for all bodies: a row per node for NODE_ATTRIBUTES, else per tet."""
    built, state = simulation.built, simulation.state
    found: dict[str, Floats] = {}
    if {*STRESS_ATTRIBUTES} & {*wanted}:
        model = current_model(built, state)
        stress, largest = elastic_stress(model, state.x)
        flesh = present_flesh(built, state)
        for part in flesh.parts if flesh else ():
            from ...simulation.flesh.flesh_stress import cauchy_stress

            rows, x = part.part.tets, floats(state.x[part.part.nodes])
            stress[rows], largest[rows] = cauchy_stress(part, part.model_in_rest_shapes(model), x)
        for number in hierarchical_numbers(model):
            from ...mechanics.hierarchical.fine_stress import level_stress

            own = model.bodies[number].tets
            stress[own], largest[own] = level_stress(model, number, state.x)
        found["stress"], found["principal_stress"] = von_mises(stress), largest
    if "plastic_strain" in wanted:
        found["plastic_strain"] = plastic_norm(built.model, state)
    if "damage" in wanted:
        found["damage"] = state.fields.get(DAMAGE_FIELD, np.zeros(built.model.tet_count))
    if "temperature" in wanted:
        found["temperature"] = state.fields.get(TEMPERATURE, np.zeros(built.model.node_count))
    if "velocity" in wanted:
        found["velocity"] = state.v * simulation.mean_speed(state.time, state.time)  # as it is seen
    return {name: values for name, values in found.items() if name in wanted}


def body_values(simulation: Simulation, number: int, values: dict[str, Floats]) -> dict[str, Floats]:
    """Returns the attributes of one body from the `attribute_values` of all; zero if their feature is off."""
    body, place = simulation.scene.bodies[number], simulation.built.bodies[number].range
    own = {name: values[name][place.nodes if name in NODE_ATTRIBUTES else place.tets] for name in body.attributes}
    own |= {name: own[name] * body.simulated_scale**2 for name in STRESS_ATTRIBUTES if name in own}
    return own | {name: np.zeros_like(own[name]) for name in unavailable_attributes(body)}


def unavailable_attributes(body: Body) -> list[str]:
    """Returns the chosen attributes of a body that will be zero everywhere, since their feature is off."""
    makes = {"temperature": body.heat, "plastic_strain": plasticity_of(body), "damage": body.fracture}
    return [name for name in body.attributes if name in makes and makes[name] is None]


def attribute_warnings(body: Body) -> list[SinewError]:
    """Returns warnings about the attributes of a body."""
    return [
        SinewError(
            "attribute-without-source", name=body.name, attribute=_attribute_text(name), what=REQUIRED_FEATURES[name]
        )
        for name in unavailable_attributes(body)
    ]


def _attribute_text(name: str) -> str:
    return name.replace("_", " ").capitalize()
