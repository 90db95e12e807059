# SPDX-License-Identifier: GPL-3.0-or-later
"""Switches tets of a simulation between two steps, and gives a resumed one the tets that it had.

The state has which tets are split, and the masses of nodes, since these follow from those before.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from ...mechanics.model import Model
from ...mechanics.state import NODE_FIELDS, TET_FIELDS, State
from ...mechanics.state_fields import LEVEL_MASS_FIELD, LEVEL_SPLIT_FIELD
from ...mesh.tetrahedralize.leaf_tets import leaf_tets
from ...runtime.arrays import Bools, Floats, floats
from ..assembled_scene import AssembledScene
from ..simulated_scene import SimulatedScene
from .body_levels import BodyLevels
from .elastic_energy import elastic_body
from .level_transfer import MovingNodes, TetSwitch, go_on
from .scene_at_levels import scene_at_levels, store_levels, with_masses


def switch_levels(simulation: SimulatedScene, wanted: Mapping[int, Bools]) -> None:
    """Gives bodies of a simulation other tets.

    Where that would gain energy, tets become one only where that alone gains none, or nowhere.

    Args:
        simulation: Between two steps.
        wanted: Which tets are to be split, (c,), by number of the body.
    """
    before, state = simulation.built, simulation.state
    switches, nodes = dict[int, TetSwitch](), dict[int, MovingNodes]()
    for body in before.levels:
        found = _find_switch(before.model, state, body, wanted.get(body.number, body.is_split))
        if found is not None:
            switches[body.number], nodes[body.number] = found
    if not switches:
        return
    assert before.finest is not None
    bodies = [
        replace(each, is_split=switches[each.number].is_split, leaves=switches[each.number].now)
        if each.number in switches
        else each
        for each in before.levels
    ]
    built = scene_at_levels(before.finest, bodies)
    masses = {each.number: before.model.mass[before.model.bodies[each.number].nodes] for each in before.levels}
    masses |= {number: own.mass for number, own in nodes.items()}
    built = with_masses(built, masses)
    now = _switched_state(before, built, state, switches, nodes)
    store_levels(built, now)
    state.x, state.v, state.fields = now.x, now.v, now.fields
    simulation.built, simulation.held_nodes = replace(built, initial=before.initial), None


def _find_switch(model: Model, state: State, body: BodyLevels, is_split: Bools) -> tuple[TetSwitch, MovingNodes] | None:
    """Returns how a body gets other tets, as far as it gains no energy; None where it gets none.

    Args:
        model, state: All bodies before.
        body: The body before.
        is_split: Which tets are to be split, (c,).
    """
    own = model.bodies[body.number].nodes
    before = MovingNodes(floats(state.x[own]), floats(state.v[own]), model.mass[own])
    elastic = elastic_body(model, body.number)
    for attempt in range(3):
        if (is_split == body.is_split).all():
            break
        switch = TetSwitch(body.levels, body.leaves, leaf_tets(body.levels, is_split), body.is_split, is_split)
        found = go_on(switch, before, elastic)
        if found.nodes is not None:
            return switch, found.nodes
        merged = switch.merged
        if not len(merged):
            return None
        gains_some = merged[found.gains > 0.0]
        is_partial = attempt == 0 and 0 < len(gains_some) < len(merged)
        is_split = is_split.copy()
        is_split[gains_some if is_partial else merged] = True
    return None


def apply_levels(built: AssembledScene, state: State) -> AssembledScene:
    """Returns a scene, which has the tets of the start, with the tets and masses of a state."""
    bodies, masses = list(built.levels), dict[int, Floats]()
    for place, body in enumerate(bodies):
        bodies[place] = body.switched(state.fields[LEVEL_SPLIT_FIELD.format(key=body.key)].astype(np.bool_))
        masses[body.number] = state.fields[LEVEL_MASS_FIELD.format(key=body.key)]
    assert built.finest is not None
    return replace(with_masses(scene_at_levels(built.finest, bodies), masses), initial=built.initial)


def _switched_state(
    before: AssembledScene,
    built: AssembledScene,
    state: State,
    switches: Mapping[int, TetSwitch],
    nodes: Mapping[int, MovingNodes],
) -> State:
    """Returns the state with a row for each of the present nodes and tets."""
    x, v = np.empty_like(built.model.X), np.empty_like(built.model.X)
    fields = {name: values for name, values in state.fields.items() if not name.startswith((NODE_FIELDS, TET_FIELDS))}
    for name, values in state.fields.items():
        if name.startswith((NODE_FIELDS, TET_FIELDS)):
            count = built.model.node_count if name.startswith(NODE_FIELDS) else built.model.tet_count
            fields[name] = np.empty((count, *values.shape[1:]), values.dtype)
    for number, (part, own) in enumerate(zip(before.model.bodies, built.model.bodies, strict=True)):
        switch = switches.get(number)
        x[own.nodes] = nodes[number].x if switch else state.x[part.nodes]
        v[own.nodes] = nodes[number].v if switch else state.v[part.nodes]
        for name, values in state.fields.items():
            if name.startswith(NODE_FIELDS):
                fields[name][own.nodes] = _carried(switch, values[part.nodes]) if switch else values[part.nodes]
            elif name.startswith(TET_FIELDS):
                rows = values[part.tets]
                fields[name][own.tets] = rows[_tets_before(switch)] if switch else rows
    return State(x, v, state.time, fields)


def _carried(switch: TetSwitch, values: np.ndarray) -> np.ndarray:
    """Returns what nodes have now, (n', …), of what those before had, (n, …)."""
    flat = floats(values.reshape(len(values), -1))
    return switch.carry(flat).reshape(-1, *values.shape[1:]).astype(values.dtype)


def _tets_before(switch: TetSwitch) -> np.ndarray:
    """Returns the tet before that each tet now is in, or the first that was in it, (m',)."""
    levels, cells = switch.levels, switch.before.cell
    number = switch.before.number_of_cells(len(levels.parent))
    above = levels.leaf_above(switch.was_split)[switch.now.cell]
    inside = levels.leaf_above(switch.is_split)[cells]
    first = np.full(len(levels.parent), -1, np.int64)
    known, place = np.unique(inside, return_index=True)
    first[known] = place
    return np.where(above >= 0, number[above], first[switch.now.cell])
