# SPDX-License-Identifier: GPL-3.0-or-later
"""Breaks bodies up where the elastic stress at the end of a step is more than they bear."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from .arrays import Bools, Floats
from .built import Built
from .contact.memory import Memory
from .contact.skins_broken import follow_skins, together
from .elements.own_strain import own_strain
from .fracture.bodies import DAMAGE, LARGEST, TIP, BreakableBody, FractureBodies
from .fracture.copies import count_pieces
from .fracture.neighbours import FACES
from .fracture.overload import find_overload
from .fracture.splits import Cracking, Faces
from .model import Model
from .present_overlap import with_behind
from .present_topology import Broken, broken_up
from .simulation import Simulation
from .state import State
from .topology import TETS

NODE_FIELDS = "node."
NO_NODES = np.zeros(0, bool)


def break_up(simulation: Simulation, model: Model, is_held: Bools | None, end: float) -> dict[str, float]:
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
    is_held = NO_NODES if is_held is None else is_held
    settings = simulation.scene.settings
    step = round(end * settings.fps * settings.substeps)
    overload = np.zeros(model.tet_count)
    cracking: Cracking | None = None
    left, found = {}, []
    for body in fracture.bodies:
        count = _find_overload(fracture, body, simulation, model, is_held, end, overload)
        left[body.key] = float(count)
        if not count or _pieces(model, body) >= body.most_pieces:
            continue
        cracking = cracking or _cracking(fracture, model, state, is_held)
        splits = cracking.choose(body, overload, step)
        left[body.key] = float(splits.left)
        if splits.faces:
            found.append((body, splits.faces))
    if cracking is not None and found:
        for body, faces in found:
            used = _within_pieces(fracture, model, body, cracking.parted, faces)
            left[body.key] += len(faces) - used
            for face in faces[:used]:
                cracking.parted[face] = True
        whole = simulation.built.whole or simulation.built
        _take(simulation, broken_up(whole, cracking.parted), cracking.parted)
    return left


def extremes(simulation: Simulation) -> dict[str, dict[str, float]]:
    """Returns by key of the body the largest stress so far [Pa], pieces, and nodes that have split so far."""
    built, state = simulation.built, simulation.state
    if built.fracture is None:
        return {}
    whole = built.whole or built
    told = {}
    for body in built.fracture.bodies:
        now, before = built.model.bodies[body.number].nodes, whole.model.bodies[body.number].nodes
        told[body.key] = {
            "largest_stress": float(state.fields[LARGEST][body.number]) * body.simulated_scale**2,
            "pieces": float(_pieces(built.model, body)),
            "splits": float((now.stop - now.start) - (before.stop - before.start)),
        }
    return told


def pieces_at_limit(simulation: Simulation) -> dict[str, dict[str, Any]]:
    """Returns name and count of pieces of every broken body, by key, that is in as many pieces as it may."""
    fracture, model = simulation.built.fracture, simulation.built.model
    if fracture is None or simulation.built.whole is None:
        return {}
    counts = {body.key: (body, _pieces(model, body)) for body in fracture.bodies}
    return {
        key: {"name": body.name, "count": count} for key, (body, count) in counts.items() if count >= body.most_pieces
    }


def _find_overload(
    fracture: FractureBodies,
    body: BreakableBody,
    simulation: Simulation,
    model: Model,
    is_held: Bools,
    end: float,
    overload: Floats,
) -> int:
    """Writes how near a body's tets are to breaking, and returns how many are over."""
    state = simulation.state
    own, largest = model.bodies[body.number].tets, state.fields[LARGEST]
    stress, toughness = body.strength(simulation.tracks, end)
    reached, count = find_overload(
        own.start, own.stop, state.x, model.tets, model.Dm_inverse, model.mu, model.lam, model.initial_strain,
        own_strain(model, own, state.x), is_held, fracture.is_breakable, fracture.is_judged, fracture.bearing,
        fracture.share, fracture.size, state.fields[TIP], stress, toughness, float(largest[body.number]),
        state.fields[DAMAGE], overload,
    )  # fmt: skip
    # splinters on hard ground are under stresses that say nothing of what the body bears
    if simulation.built.whole is None or _pieces(model, body) == _pieces(simulation.built.whole.model, body):
        largest[body.number] = reached
    return int(count)


def _cracking(fracture: FractureBodies, model: Model, state: State, is_held: Bools) -> Cracking:
    """Returns the bodies at the end of a step, as far as splitting goes."""
    is_rigid = ~fracture.is_breakable
    if len(is_held):
        is_rigid |= is_held[model.tets].all(axis=1)
    parted = fracture.neighbours.parted(model.tets) if TETS in state.fields else np.zeros(model.tets.shape, bool)
    return Cracking(
        model, state.x, fracture.neighbours, parted, state.fields[TIP] > 0, is_rigid, fracture.together,
        fracture.material,
    )  # fmt: skip


def _pieces(model: Model, body: BreakableBody) -> int:
    """Returns into how many pieces a body has fallen: the islands of its nodes."""
    nodes = model.bodies[body.number].nodes
    first, last = np.searchsorted(model.pattern.island_start, [nodes.start, nodes.stop])
    return int(last - first)


def _within_pieces(
    fracture: FractureBodies, model: Model, body: BreakableBody, parted: Bools, faces: list[Faces]
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
    if _pieces(model, body) + len(faces) < body.most_pieces or pieces(len(faces)) <= body.most_pieces:
        return len(faces)
    while too_many - fits > 1:
        middle = (fits + too_many) // 2
        fits, too_many = (middle, too_many) if pieces(middle) <= body.most_pieces else (fits, middle)
    return fits


def _take(simulation: Simulation, broken: Broken, parted: Bools) -> None:
    """Gives a simulation the nodes that it has now; copies move on from where their node was."""
    before, state = simulation.built, simulation.state
    source = before.model.tets.ravel()[broken.corner]
    state.x, state.v = state.x[source], state.v[source]
    for name, values in state.fields.items():
        if name.startswith(NODE_FIELDS):
            state.fields[name] = values[source]
    has_split = np.bincount(source, minlength=before.model.node_count)[source] > 1
    fracture = before.fracture
    assert fracture is not None
    state.fields[TIP][has_split] = 0
    state.fields[TIP][front(broken.topology.tets, fracture.neighbours.twin, parted)] = 1
    broken.topology.keep(state)
    memory = _renumbered(Memory.of(state), before, broken.built)
    simulation.built = replace(broken.built, initial=before.initial)
    if simulation.built.skins is not None:
        memory = with_behind(memory, simulation, _has_broken(before, simulation.built))
    memory.keep(state)


def _has_broken(before: Built, now: Built) -> np.ndarray:
    """Returns which bodies have other nodes than before, (b,)."""
    counts = [[part.nodes.stop - part.nodes.start for part in built.model.bodies] for built in (before, now)]
    return np.array(counts[0]) != np.array(counts[1])


def front(tets: np.ndarray, twin: np.ndarray, parted: Bools) -> np.ndarray:
    """Returns the nodes at which tets have parted across a face and still share the node: the tips of cracks."""
    tet, face = np.nonzero(parted)
    at = FACES[face]
    nodes = tets[tet[:, None], at]
    return nodes[tets.ravel()[twin[tet[:, None], face[:, None], at]] == nodes]


def _renumbered(memory: Memory, before: Built, now: Built) -> Memory:
    """Returns what contacts remember with the numbers that their points have now; those of whole bodies come first."""
    count, count_now, broken = len(before.contact_points), len(now.contact_points), before.broken_keys
    first = count - len(broken)
    number = np.concatenate([np.arange(first, dtype=np.int64), first + np.searchsorted(now.broken_keys, broken)])
    rigid = int(np.searchsorted(memory.id, len(before.colliders) * max(count, 1)))
    ours, theirs = memory.only(slice(rigid)), memory.only(slice(rigid, None))
    place, point = np.divmod(ours.id, max(count, 1))
    ours = replace(ours, id=place * max(count_now, 1) + number[point])
    if before.skins is None or now.skins is None:
        return ours
    first_of_skins = [len(built.colliders) * max(len(built.contact_points), 1) for built in (before, now)]
    return together(ours, follow_skins(theirs, before.skins.skins, now.skins.skins, *first_of_skins))
