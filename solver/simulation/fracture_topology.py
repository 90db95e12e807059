# SPDX-License-Identifier: GPL-3.0-or-later
"""What was built, as it is after nodes have split: a function of the whole and of the faces across which tets parted.

Nothing of the steps in between enters, so a resumed bake gets the same arrays as one that ran through.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ..contact.detection.contact_points import ContactPoints
from ..linalg.block_pattern_update import quick_pattern
from ..mechanics.model import BodyRange, Model
from ..mechanics.rigid_core_nodes import RigidCore
from ..mechanics.state import State
from ..mechanics.topology import TETS_FIELD, Topology
from ..runtime.arrays import Bools, Indices, floats
from .assembled_scene import AssembledScene
from .features.feature import SplitNodes
from .features.fracture import Fracture
from .fracture.breakable_bodies import FractureBodies
from .fracture.node_duplication import split_nodes


@dataclass(frozen=True)
class SplitScene:
    """A simulation in pieces.

    Attributes:
        built: What it is made of now.
        topology: Nodes of the tets.
        corner: The first corner 4 · tet + c at every node, (n,).
    """

    built: AssembledScene
    topology: Topology
    corner: Indices


@dataclass(frozen=True)
class _NodeNumbering:
    """Nodes of all bodies, one body after the other."""

    tets: Indices
    corner: Indices
    bodies: tuple[BodyRange, ...]
    islands: list[int]


def apply_topology(built: AssembledScene, state: State) -> AssembledScene:
    """Returns what was built with the topology of a state."""
    whole = built.unbroken or built
    if TETS_FIELD not in state.fields:
        return whole
    assert whole.fracture is not None
    return split_scene(whole, whole.fracture.neighbours.is_separated(state.fields[TETS_FIELD])).built


def split_scene(whole: AssembledScene, parted: Bools) -> SplitScene:
    """Returns what was built, `unbroken`, after tets have parted across some of their faces, (m, 4)."""
    feature = whole.feature(Fracture)
    assert feature is not None
    fracture = feature.bodies
    nodes = _number_nodes(whole, fracture, parted)
    origin = whole.model.tets.ravel()[nodes.corner]
    model = _split_model(whole.model, fracture, nodes, origin)
    split = SplitNodes(whole.model, model, origin, parted)
    keys = fracture.points.keys(nodes.tets, origin, nodes.corner, parted)
    return SplitScene(
        built=replace(
            whole,
            model=model,
            bodies=tuple(replace(body, range=part) for body, part in zip(whole.bodies, nodes.bodies, strict=True)),
            features=tuple(each.remapped(split) for each in whole.features),
            forces=tuple(force.remapped(whole.model, nodes.tets) for force in whole.forces),
            contact_points=ContactPoints.concatenate([whole.contact_points, fracture.points.points(keys, whole.model)]),
            crack_point_rows=keys,
            unbroken=whole,
            skins=feature.surfaces.at_topology(nodes.tets, origin, parted) if feature.surfaces else whole.skins,
        ),
        topology=Topology(nodes.tets, origin),
        corner=nodes.corner,
    )


def _number_nodes(whole: AssembledScene, fracture: FractureBodies, parted: Bools) -> _NodeNumbering:
    may_break = {body.number for body in fracture.bodies}
    tets = np.empty_like(whole.model.tets)
    first_corner = _first_corners(whole.model)
    corners, bodies, islands = [], [], []
    start = 0
    island_start = whole.model.pattern.island_start.astype(np.int64)[:-1]
    for number, body in enumerate(whole.model.bodies):
        own = body.tets
        if number in may_break:
            copies = split_nodes(
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
    return _NodeNumbering(tets, np.concatenate(corners).astype(np.int32), tuple(bodies), islands)


def _first_corners(model: Model) -> Indices:
    """Returns the first corner 4 · tet + c at every node, (n,); every node has a tet."""
    pattern = model.pattern
    return pattern.corners[pattern.corner_start[:-1].astype(np.int64)].astype(np.int32)


def _split_model(whole: Model, fracture: FractureBodies, nodes: _NodeNumbering, origin: Indices) -> Model:
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
        cores=tuple(_renumbered_core(core, whole, nodes.bodies) for core in whole.cores),
    )


def _renumbered_core(core: RigidCore, whole: Model, bodies: tuple[BodyRange, ...]) -> RigidCore:
    """Returns a core, of a body that cannot break, where its nodes are after those of others have split."""
    number = next(n for n, body in enumerate(whole.bodies) if body.nodes.start <= core.nodes[0] < body.nodes.stop)
    return core.renumbered(bodies[number].nodes.start - whole.bodies[number].nodes.start, 0)
