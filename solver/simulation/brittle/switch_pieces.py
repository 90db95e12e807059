# SPDX-License-Identifier: GPL-3.0-or-later
"""Gives a simulation the pieces that brittle bodies have between two steps; they go on from where the piece was."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from ...contact.detection.persistent_contacts import PersistentContacts
from ...mechanics.state import NODE_FIELDS, TET_FIELDS
from ...mechanics.state_fields import PARTED_FIELD
from ...mesh.embedding import barycentric_weights
from ...runtime.arrays import Bools, Floats, Indices, floats, indices
from ..build_contact_step import add_backside_contacts
from ..simulated_scene import SimulatedScene
from ..sleeping_bodies import wake_all
from ..tet_face_separation import remapped_contacts
from .body_in_pieces import BodyInPieces
from .scene_in_pieces import scene_with_cracks


def switch_pieces(simulation: SimulatedScene, is_parted: Mapping[int, Bools]) -> None:
    """Gives bodies more cracks; where they fall apart, pieces move as what they were of.

    Args:
        simulation: Between two steps.
        is_parted: By number of the body, across which faces its tets have parted, (m, 4).
    """
    before, state = simulation.built, simulation.state
    wake_all(state)
    built = scene_with_cracks(before, dict(is_parted))
    assert built.pieces is not None and before.pieces is not None
    for body in built.pieces.bodies:
        state.fields[PARTED_FIELD.format(key=body.key)] = body.cracked.is_parted.astype(np.uint8)
    has_changed = np.zeros(len(built.bodies), bool)
    for now, was in zip(built.pieces.bodies, before.pieces.bodies, strict=True):
        has_changed[now.number] = len(now.mesh.tets) > len(was.mesh.tets)
    if not has_changed.any():
        simulation.built = replace(before, pieces=built.pieces)
        return
    node, tet, weights = _sources(simulation, built.pieces.bodies)
    state.x, state.v = (floats(np.einsum("na,nai->ni", weights, values[node])) for values in (state.x, state.v))
    nearest = np.take_along_axis(node, np.abs(weights).argmax(axis=1)[:, None], axis=1)[:, 0]
    for name, values in state.fields.items():
        if name.startswith(NODE_FIELDS):
            state.fields[name] = values[nearest]
        elif name.startswith(TET_FIELDS):
            state.fields[name] = values[tet]
    simulation.held_nodes = None
    exact, exact_before = built.exact_contact, before.exact_contact
    if exact is not None and exact_before is not None:
        from ..exact_contact.exact_topology import carry_over

        simulation.built = replace(built, initial=before.initial)
        carry_over(exact_before, exact, state, simulation.tracks)
        return
    memory = remapped_contacts(PersistentContacts.from_state(state), before, built)
    simulation.built = replace(built, initial=before.initial)
    if built.contact_materials is not None:
        memory = add_backside_contacts(memory, simulation, has_changed)
    memory.store_in(state)


def _sources(simulation: SimulatedScene, bodies: tuple[BodyInPieces, ...]) -> tuple[Indices, Indices, Floats]:
    """Returns from which nodes before, (n, 4), and by which weights, (n, 4), nodes get their values, and tets theirs.

    The order of what is returned is nodes, tets, weights.
    """
    before = simulation.built
    assert before.pieces is not None
    now_of, was_of = ({body.number: body for body in of} for of in (bodies, before.pieces.bodies))
    nodes, tets, weights = [], [], []
    for number, body in enumerate(before.model.bodies):
        if number not in now_of:
            own = np.arange(body.nodes.start, body.nodes.stop, dtype=np.int32)
            nodes.append(np.repeat(own[:, None], 4, axis=1))
            tets.append(np.arange(body.tets.start, body.tets.stop, dtype=np.int32))
            weights.append(np.tile([1.0, 0.0, 0.0, 0.0], (len(own), 1)))
            continue
        now, was = now_of[number], was_of[number]
        parent = np.array([was.piece_of_tet[each[0]] for each in now.tets_of_pieces], np.int32)
        source = was.mesh.tets[np.repeat(parent, 4)] + np.int32(body.nodes.start)
        found = barycentric_weights(was.mesh.nodes, was.mesh.tets, now.mesh.nodes, indices(np.repeat(parent, 4)))
        is_same = np.bincount(parent, minlength=len(was.mesh.tets))[parent] == 1
        found[np.repeat(is_same, 4)] = np.tile(np.eye(4), (int(is_same.sum()), 1))  # to the last bit
        nodes.append(source)
        tets.append(parent + np.int32(body.tets.start))
        weights.append(found)
    return indices(np.concatenate(nodes), -1, 4), indices(np.concatenate(tets)), floats(np.concatenate(weights), -1, 4)
