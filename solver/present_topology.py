# SPDX-License-Identifier: GPL-3.0-or-later
"""What was built, as it is after nodes have split: a function of the whole and of the faces across which tets parted.

Nothing of the steps in between enters, so a resumed bake gets the same arrays as one that ran through.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from .arrays import Bools, Indices, floats
from .build import Built
from .contact.points import ContactPoints
from .core_nodes import RigidCore
from .fracture.bodies import FractureBodies
from .fracture.copies import find_copies
from .late_dataclass import dataclass
from .linear.quick_pattern import quick_pattern
from .model import BodyRange, Model
from .state import State
from .topology import TETS, Topology


@dataclass(frozen=True)
class Broken:
    """A simulation in pieces.

    Attributes:
        built: What it is made of now.
        topology: Nodes of the tets.
        corner: The first corner 4 · tet + c at every node, (n,).
    """

    built: Built
    topology: Topology
    corner: Indices


@dataclass(frozen=True)
class _Nodes:
    """Nodes of all bodies, one body after the other."""

    tets: Indices
    corner: Indices
    bodies: tuple[BodyRange, ...]
    islands: list[int]


def with_topology(built: Built, state: State) -> Built:
    """Returns what was built with the topology of a state."""
    whole = built.whole or built
    if TETS not in state.fields:
        return whole
    assert whole.fracture is not None
    return broken_up(whole, whole.fracture.neighbours.parted(state.fields[TETS])).built


def broken_up(whole: Built, parted: Bools) -> Broken:
    """Returns what was built, `whole`, after tets have parted across some of their faces, (m, 4)."""
    fracture = whole.fracture
    assert fracture is not None
    nodes = _nodes(whole, fracture, parted)
    origin = whole.model.tets.ravel()[nodes.corner]
    model = _model(whole.model, fracture, nodes, origin)
    keys = fracture.points.keys(nodes.tets, origin, nodes.corner, parted)
    return Broken(
        built=replace(
            whole,
            model=model,
            bodies=tuple(replace(body, range=part) for body, part in zip(whole.bodies, nodes.bodies, strict=True)),
            pins=tuple(pins.following(whole.model, nodes.tets) for pins in whole.pins),
            bones=whole.bones.following(whole.model, nodes.tets) if whole.bones else None,
            contact_points=ContactPoints.together([whole.contact_points, fracture.points.points(keys, whole.model)]),
            broken_keys=keys,
            whole=whole,
            flesh=whole.flesh.following(model) if whole.flesh else None,
            skins=whole.breaking.now(nodes.tets, origin, parted) if whole.breaking else whole.skins,
        ),
        topology=Topology(nodes.tets, origin),
        corner=nodes.corner,
    )


def _nodes(whole: Built, fracture: FractureBodies, parted: Bools) -> _Nodes:
    may_break = {body.number for body in fracture.bodies}
    tets = np.empty_like(whole.model.tets)
    first_corner = _first_corners(whole.model)
    corners, bodies, islands = [], [], []
    start = 0
    island_start = whole.model.pattern.island_start.astype(np.int64)[:-1]
    for number, body in enumerate(whole.model.bodies):
        own = body.tets
        if number in may_break:
            copies = find_copies(
                whole.model.tets[own],
                fracture.neighbours.tet[own],
                fracture.neighbours.twin[own],
                parted[own],
                own.start,
            )
            tets[own] = copies.tets + np.int32(start)
            corners.append(copies.corner + np.int32(4 * own.start))
            islands += (copies.piece_start + start).tolist()
        else:
            shift = start - body.nodes.start
            tets[own] = whole.model.tets[own] + np.int32(shift)
            corners.append(first_corner[body.nodes])
            inner = island_start[(island_start >= body.nodes.start) & (island_start < body.nodes.stop)]
            islands += (inner + shift).tolist()
        bodies.append(BodyRange(body.key, slice(start, start + len(corners[-1])), own))
        start += len(corners[-1])
    return _Nodes(tets, np.concatenate(corners).astype(np.int32), tuple(bodies), islands)


def _first_corners(model: Model) -> Indices:
    """Returns the first corner 4 · tet + c at every node, (n,); every node has a tet."""
    pattern = model.pattern
    return pattern.corners[pattern.corner_start[:-1].astype(np.int64)].astype(np.int32)


def _model(whole: Model, fracture: FractureBodies, nodes: _Nodes, origin: Indices) -> Model:
    mass = np.bincount(nodes.tets.ravel(), np.repeat(fracture.corner_mass, 4), minlength=len(origin))
    breakable = {body.number for body in fracture.bodies}
    for number, (before, now) in enumerate(zip(whole.bodies, nodes.bodies, strict=True)):
        if number not in breakable:  # their masses may be painted
            mass[now.nodes] = whole.mass[before.nodes]
    return replace(
        whole,
        X=whole.X[origin],
        tets=nodes.tets,
        mass=floats(mass),
        mass_damping=whole.mass_damping[origin],
        gravity_scale=whole.gravity_scale[origin],
        pattern=quick_pattern(nodes.tets, len(origin), nodes.islands),
        bodies=nodes.bodies,
        cores=tuple(_moved(core, whole, nodes.bodies) for core in whole.cores),
    )


def _moved(core: RigidCore, whole: Model, bodies: tuple[BodyRange, ...]) -> RigidCore:
    """Returns a core, of a body that cannot break, where its nodes are after those of others have split."""
    number = next(n for n, body in enumerate(whole.bodies) if body.nodes.start <= core.nodes[0] < body.nodes.stop)
    return core.moved(bodies[number].nodes.start - whole.bodies[number].nodes.start, 0)
