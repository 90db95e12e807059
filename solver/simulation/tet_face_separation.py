# SPDX-License-Identifier: GPL-3.0-or-later
"""Separates faces of tets in a simulation: splits their nodes, and updates all that refers to these."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from ..contact.detection.persistent_contacts import PersistentContacts, remap_contacts
from ..mechanics.state import NODE_FIELDS
from ..mechanics.state_fields import CRACK_TIP_FIELD
from ..mesh.node_splitting.face_adjacency import FACE_CORNERS
from ..runtime.arrays import Bools
from .assembled_scene import AssembledScene
from .build_contact_step import add_backside_contacts
from .features.fracture import piece_count
from .fracture_topology import split_scene
from .simulated_scene import SimulatedScene


def pieces_at_limit(simulation: SimulatedScene) -> dict[str, dict[str, Any]]:
    """Returns name and count of pieces of every broken body, by key, that is in as many pieces as it may."""
    fracture, model, pieces = simulation.built.fracture, simulation.built.model, simulation.built.pieces
    if pieces is not None:
        return pieces.bodies_at_limit()
    if fracture is None or simulation.built.unbroken is None:
        return {}
    counts = {body.key: (body, piece_count(model, body)) for body in fracture.bodies}
    return {
        key: {"name": body.name, "count": count} for key, (body, count) in counts.items() if count >= body.most_pieces
    }


def separate_faces(simulation: SimulatedScene, is_parted: Bools) -> None:
    """Gives a simulation the nodes that it has when just these faces of its tets are apart, (m, 4).

    Copies of a node go on from where the node was. Features and forces are remapped, fields of the state are copied
    where they have a row per node, and contacts get the numbers that their points have now.
    """
    before, state = simulation.built, simulation.state
    broken = split_scene(before.unbroken or before, is_parted)
    source = before.model.tets.ravel()[broken.corner]
    state.x, state.v = state.x[source], state.v[source]
    if simulation.held_nodes is not None:
        simulation.held_nodes = simulation.held_nodes[source]
    for name, values in state.fields.items():
        if name.startswith(NODE_FIELDS):
            state.fields[name] = values[source]
    has_split = np.bincount(source, minlength=before.model.node_count)[source] > 1
    fracture = before.fracture
    assert fracture is not None
    state.fields[CRACK_TIP_FIELD][has_split] = 0
    state.fields[CRACK_TIP_FIELD][crack_front(broken.topology.tets, fracture.neighbours.twin, is_parted)] = 1
    broken.topology.store_in(state)
    memory = remapped_contacts(PersistentContacts.from_state(state), before, broken.built)
    simulation.built = replace(broken.built, initial=before.initial)
    if simulation.built.contact_materials is not None:
        memory = add_backside_contacts(memory, simulation, _bodies_changed(before, simulation.built))
    memory.store_in(state)
    exact = simulation.built.exact_contact
    if before.exact_contact is not None and exact is not None:
        from .exact_contact.exact_topology import carry_over

        carry_over(before.exact_contact, exact, state, simulation.tracks)


def _bodies_changed(before: AssembledScene, now: AssembledScene) -> np.ndarray:
    """Returns which bodies have other nodes than before, (b,)."""
    counts = [[part.nodes.stop - part.nodes.start for part in built.model.bodies] for built in (before, now)]
    return np.array(counts[0]) != np.array(counts[1])


def crack_front(tets: np.ndarray, twin: np.ndarray, is_parted: Bools) -> np.ndarray:
    """Returns the nodes at which tets have separated across a face and still share the node: the tips of cracks."""
    tet, face = np.nonzero(is_parted)
    at = FACE_CORNERS[face]
    nodes, across = tets[tet[:, None], at], twin[tet[:, None], face[:, None], at]
    return nodes[(across >= 0) & (tets.ravel()[across] == nodes)]


def remapped_contacts(memory: PersistentContacts, before: AssembledScene, now: AssembledScene) -> PersistentContacts:
    """Returns what contacts remember with the numbers that their points have now; those of whole bodies come first."""
    count, count_now, broken = len(before.contact_points), len(now.contact_points), before.crack_point_rows
    first = count - len(broken)
    number = np.concatenate([np.arange(first, dtype=np.int64), first + np.searchsorted(now.crack_point_rows, broken)])
    rigid = int(np.searchsorted(memory.id, len(before.colliders) * max(count, 1)))
    ours, theirs = memory.select(slice(rigid)), memory.select(slice(rigid, None))
    place, point = np.divmod(ours.id, max(count, 1))
    ours = replace(ours, id=place * max(count_now, 1) + number[point])
    if before.contact_materials is None or now.contact_materials is None:
        return ours
    first_keys = [len(built.colliders) * max(len(built.contact_points), 1) for built in (before, now)]
    return ours.merge(
        remap_contacts(theirs, before.contact_materials.surfaces, now.contact_materials.surfaces, *first_keys)
    )
