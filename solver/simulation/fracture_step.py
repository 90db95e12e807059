# SPDX-License-Identifier: GPL-3.0-or-later
"""Breaks bodies up where the elastic stress at the end of a step is more than they bear."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from ..contact.detection.persistent_contacts import PersistentContacts, remap_contacts
from ..mechanics.elements.formulation_strain import formulation_strain
from ..mechanics.model import Model
from ..mechanics.state import State
from ..mechanics.topology import TETS_FIELD
from ..runtime.arrays import Bools, Floats
from .assembled_scene import AssembledScene
from .fracture.breakable_bodies import (
    CRACK_TIP_FIELD,
    DAMAGE_FIELD,
    LARGEST_STRESS_FIELD,
    BreakableBody,
    FractureBodies,
)
from .fracture.face_adjacency import FACE_CORNERS
from .fracture.failure_criterion import evaluate_overload
from .fracture.node_duplication import count_pieces
from .fracture.node_splitting import FaceList, NodeSplitter
from .fracture_topology import SplitScene, split_scene
from .simulated_scene import SimulatedScene
from .step_contacts import add_backside_contacts

NODE_FIELD_PREFIX = "node."
NO_NODE_MASK = np.zeros(0, bool)


def split_overloaded_nodes(
    simulation: SimulatedScene, model: Model, is_held: Bools | None, end: float
) -> dict[str, float]:
    """Splits nodes where tets are overloaded; `simulation` gets what was built, and its state, of the new topology.

    Args:
        simulation: At the end of a step, its state too.
        model: Of the step: rest shapes and moduli, plastic strain included.
        is_held: Which nodes are held exactly, (n,); None: none.
        end: Time at the end of the step [s].

    Returns:
        For every breakable body by key the overloaded tets that wait for the next step because of a limit.
    """
    fracture, state = simulation.built.fracture, simulation.state
    if fracture is None:
        return {}
    is_held = NO_NODE_MASK if is_held is None else is_held
    settings = simulation.scene.settings
    step = round(end * settings.fps * settings.substeps)
    overload = np.zeros(model.tet_count)
    cracking: NodeSplitter | None = None
    left, found = {}, []
    for body in fracture.bodies:
        count = _evaluate_overload(fracture, body, simulation, model, is_held, end, overload)
        left[body.key] = float(count)
        if not count or _count_pieces(model, body) >= body.most_pieces:
            continue
        cracking = cracking or _make_splitter(fracture, model, state, is_held)
        splits = cracking.select_splits(body, overload, step)
        left[body.key] = float(splits.deferred)
        if splits.faces:
            found.append((body, splits.faces))
    if cracking is not None and found:
        for body, faces in found:
            used = _splits_within_limit(fracture, model, body, cracking.is_separated, faces)
            left[body.key] += len(faces) - used
            for face in faces[:used]:
                cracking.is_separated[face] = True
        whole = simulation.built.unbroken or simulation.built
        _apply_topology(simulation, split_scene(whole, cracking.is_separated), cracking.is_separated)
    return left


def fracture_extremes(simulation: SimulatedScene) -> dict[str, dict[str, float]]:
    """Returns by key of the body the largest stress so far [Pa], pieces, and nodes that have split so far."""
    built, state = simulation.built, simulation.state
    if built.fracture is None:
        return {}
    whole = built.unbroken or built
    told = {}
    for body in built.fracture.bodies:
        now, before = built.model.bodies[body.number].nodes, whole.model.bodies[body.number].nodes
        told[body.key] = {
            "largest_stress": float(state.fields[LARGEST_STRESS_FIELD][body.number]) * body.simulated_scale**2,
            "pieces": float(_count_pieces(built.model, body)),
            "splits": float((now.stop - now.start) - (before.stop - before.start)),
        }
    return told


def pieces_at_limit(simulation: SimulatedScene) -> dict[str, dict[str, Any]]:
    """Returns name and count of pieces of every broken body, by key, that is in as many pieces as it may."""
    fracture, model = simulation.built.fracture, simulation.built.model
    if fracture is None or simulation.built.unbroken is None:
        return {}
    counts = {body.key: (body, _count_pieces(model, body)) for body in fracture.bodies}
    return {
        key: {"name": body.name, "count": count} for key, (body, count) in counts.items() if count >= body.most_pieces
    }


def _evaluate_overload(
    fracture: FractureBodies,
    body: BreakableBody,
    simulation: SimulatedScene,
    model: Model,
    is_held: Bools,
    end: float,
    overload: Floats,
) -> int:
    """Writes how near a body's tets are to breaking, and returns how many are over."""
    state = simulation.state
    own, largest = model.bodies[body.number].tets, state.fields[LARGEST_STRESS_FIELD]
    stress, toughness = body.strength(simulation.tracks, end)
    reached, count = evaluate_overload(
        own.start,
        own.stop,
        state.x,
        model.tets,
        model.Dm_inverse,
        model.mu,
        model.lam,
        model.initial_strain,
        formulation_strain(model, own, state.x),
        is_held,
        fracture.is_breakable,
        fracture.is_stress_checked,
        fracture.load_share,
        fracture.strength_share,
        fracture.size,
        state.fields[CRACK_TIP_FIELD],
        stress,
        toughness,
        float(largest[body.number]),
        state.fields[DAMAGE_FIELD],
        overload,
    )
    # splinters on hard ground are under stresses that say nothing of what the body bears
    if simulation.built.unbroken is None or _count_pieces(model, body) == _count_pieces(
        simulation.built.unbroken.model, body
    ):
        largest[body.number] = reached
    return int(count)


def _make_splitter(fracture: FractureBodies, model: Model, state: State, is_held: Bools) -> NodeSplitter:
    """Returns the bodies at the end of a step, as far as splitting goes."""
    is_rigid = ~fracture.is_breakable
    if len(is_held):
        is_rigid |= is_held[model.tets].all(axis=1)
    parted = (
        fracture.neighbours.is_separated(model.tets) if TETS_FIELD in state.fields else np.zeros(model.tets.shape, bool)
    )
    return NodeSplitter(
        model, state.x, fracture.neighbours, parted, state.fields[CRACK_TIP_FIELD] > 0, is_rigid, fracture.is_bonded,
        fracture.material,
    )  # fmt: skip


def _count_pieces(model: Model, body: BreakableBody) -> int:
    """Returns into how many pieces a body has fallen: the islands of its nodes."""
    nodes = model.bodies[body.number].nodes
    first, last = np.searchsorted(model.pattern.island_start, [nodes.start, nodes.stop])
    return int(last - first)


def _splits_within_limit(
    fracture: FractureBodies, model: Model, body: BreakableBody, parted: Bools, faces: list[FaceList]
) -> int:
    """Returns how many of the splits can be made before a body falls into more pieces than it may."""
    own = model.bodies[body.number].tets
    across, twin = fracture.neighbours.tet[own], fracture.neighbours.twin[own]

    def pieces(count: int) -> int:
        tried = parted[own].copy()
        for tet, face in faces[:count]:
            tried[tet - own.start, face] = True
        return count_pieces(across, twin, tried, own.start)

    fits, too_many = 0, len(faces) + 1
    if _count_pieces(model, body) + len(faces) < body.most_pieces or pieces(len(faces)) <= body.most_pieces:
        return len(faces)
    while too_many - fits > 1:
        middle = (fits + too_many) // 2
        fits, too_many = (middle, too_many) if pieces(middle) <= body.most_pieces else (fits, middle)
    return fits


def _apply_topology(simulation: SimulatedScene, broken: SplitScene, parted: Bools) -> None:
    """Gives a simulation the nodes that it has now; copies move on from where their node was."""
    before, state = simulation.built, simulation.state
    source = before.model.tets.ravel()[broken.corner]
    state.x, state.v = state.x[source], state.v[source]
    for name, values in state.fields.items():
        if name.startswith(NODE_FIELD_PREFIX):
            state.fields[name] = values[source]
    has_split = np.bincount(source, minlength=before.model.node_count)[source] > 1
    fracture = before.fracture
    assert fracture is not None
    state.fields[CRACK_TIP_FIELD][has_split] = 0
    state.fields[CRACK_TIP_FIELD][crack_front(broken.topology.tets, fracture.neighbours.twin, parted)] = 1
    broken.topology.store_in(state)
    memory = _remapped_contacts(PersistentContacts.from_state(state), before, broken.built)
    simulation.built = replace(broken.built, initial=before.initial)
    if simulation.built.skins is not None:
        memory = add_backside_contacts(memory, simulation, _bodies_changed(before, simulation.built))
    memory.store_in(state)


def _bodies_changed(before: AssembledScene, now: AssembledScene) -> np.ndarray:
    """Returns which bodies have other nodes than before, (b,)."""
    counts = [[part.nodes.stop - part.nodes.start for part in built.model.bodies] for built in (before, now)]
    return np.array(counts[0]) != np.array(counts[1])


def crack_front(tets: np.ndarray, twin: np.ndarray, parted: Bools) -> np.ndarray:
    """Returns the nodes at which tets have parted across a face and still share the node: the tips of cracks."""
    tet, face = np.nonzero(parted)
    at = FACE_CORNERS[face]
    nodes = tets[tet[:, None], at]
    return nodes[tets.ravel()[twin[tet[:, None], face[:, None], at]] == nodes]


def _remapped_contacts(memory: PersistentContacts, before: AssembledScene, now: AssembledScene) -> PersistentContacts:
    """Returns what contacts remember with the numbers that their points have now; those of whole bodies come first."""
    count, count_now, broken = len(before.contact_points), len(now.contact_points), before.crack_point_rows
    first = count - len(broken)
    number = np.concatenate([np.arange(first, dtype=np.int64), first + np.searchsorted(now.crack_point_rows, broken)])
    rigid = int(np.searchsorted(memory.id, len(before.colliders) * max(count, 1)))
    ours, theirs = memory.select(slice(rigid)), memory.select(slice(rigid, None))
    place, point = np.divmod(ours.id, max(count, 1))
    ours = replace(ours, id=place * max(count_now, 1) + number[point])
    if before.skins is None or now.skins is None:
        return ours
    first_of_skins = [len(built.colliders) * max(len(built.contact_points), 1) for built in (before, now)]
    return ours.merge(remap_contacts(theirs, before.skins.surfaces, now.skins.surfaces, *first_of_skins))
