# SPDX-License-Identifier: GPL-3.0-or-later
"""A simulation after nodes have split: a function of the unbroken one and of the faces across which tets are apart.

Nothing of the steps in between enters, so a resumed bake gets the same arrays as one that ran through.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ..contact.detection.contact_sample_points import ContactPoints
from ..linalg.block_pattern_kernel import compiled_block_pattern
from ..mechanics.model import BodyRange, Model
from ..mechanics.rigid_core import RigidCore
from ..mechanics.state import State
from ..mechanics.topology_state import TETS_FIELD, Topology
from ..mesh.node_splitting.node_duplication import split_nodes
from ..runtime.arrays import Bools, Indices, floats
from .assembled_scene import AssembledScene
from .features.feature import SplitNodes
from .features.fracture import Fracture
from .fracture.breakable_bodies import FractureBodies


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
    unbroken = built.unbroken or built
    if TETS_FIELD not in state.fields:
        return unbroken
    assert unbroken.fracture is not None
    return split_scene(unbroken, unbroken.fracture.neighbours.is_parted(state.fields[TETS_FIELD])).built


def split_scene(unbroken: AssembledScene, is_parted: Bools) -> SplitScene:
    """Returns the unbroken simulation after tets have separated across some of their faces, (m, 4)."""
    feature = unbroken.feature(Fracture)
    assert feature is not None
    fracture = feature.bodies
    nodes = _number_nodes(unbroken, fracture, is_parted)
    origin = unbroken.model.tets.ravel()[nodes.corner]
    model = _split_model(unbroken.model, fracture, nodes, origin)
    split = SplitNodes(unbroken.model, model, origin, is_parted)
    keys = fracture.points.keys(nodes.tets, origin, nodes.corner, is_parted)
    exact = unbroken.exact_contact
    if exact is not None:
        from .exact_contact.breakable_surface import PartedTets
        from .exact_contact.exact_topology import surfaces_at_topology

        parted = PartedTets(nodes.tets, origin, is_parted)
        exact = surfaces_at_topology(exact, parted, model, unbroken.initial.x[origin])
    return SplitScene(
        built=replace(
            unbroken,
            model=model,
            bodies=tuple(replace(body, range=part) for body, part in zip(unbroken.bodies, nodes.bodies, strict=True)),
            features=tuple(each.remapped(split) for each in unbroken.features),
            forces=tuple(force.remapped(unbroken.model, nodes.tets) for force in unbroken.forces),
            contact_points=ContactPoints.concatenate(
                [unbroken.contact_points, fracture.points.points(keys, unbroken.model)]
            ),
            crack_point_rows=keys,
            unbroken=unbroken,
            exact_contact=exact,
            contact_materials=feature.surfaces.at_topology(nodes.tets, origin, is_parted)
            if feature.surfaces
            else unbroken.contact_materials,
        ),
        topology=Topology(nodes.tets, origin),
        corner=nodes.corner,
    )


def _number_nodes(unbroken: AssembledScene, fracture: FractureBodies, is_parted: Bools) -> _NodeNumbering:
    may_break = {body.number: body for body in fracture.bodies}
    tets = np.empty_like(unbroken.model.tets)
    first_corner = _first_corners(unbroken.model)
    corners, bodies, islands = [], [], []
    start = 0
    island_start = unbroken.model.pattern.island_start.astype(np.int64)[:-1]
    for number, body in enumerate(unbroken.model.bodies):
        own = body.tets
        if number in may_break:
            breakable = may_break[number]
            parting = breakable.parting_tets(own)
            copies = split_nodes(
                unbroken.model.tets[parting],
                fracture.neighbours.tet[parting],
                fracture.neighbours.twin[parting],
                is_parted[parting],
                own.start,
                breakable.links,
            )
            whole = copies.tets if breakable.sheet is None else breakable.sheet.with_hinges(copies.tets)
            tets[own] = whole + np.int32(start)
            corners.append(copies.corner + np.int32(4 * own.start))
            islands += (copies.piece_start + start).tolist()
        else:
            shift = start - body.nodes.start
            tets[own] = unbroken.model.tets[own] + np.int32(shift)
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


def _split_model(unbroken: Model, fracture: FractureBodies, nodes: _NodeNumbering, origin: Indices) -> Model:
    mass = floats(np.bincount(nodes.tets.ravel(), np.repeat(fracture.corner_mass, 4), minlength=len(origin)))
    sheets = unbroken.sheets
    if sheets is not None:
        mass = mass + sheets.node_masses(nodes.tets, len(origin))
        sheets = sheets.torn(nodes.tets)
    return replace(
        unbroken,
        X=unbroken.X[origin],
        tets=nodes.tets,
        mass=mass,
        mass_damping=unbroken.mass_damping[origin],
        gravity_scale=unbroken.gravity_scale[origin],
        pattern=compiled_block_pattern(nodes.tets, len(origin), nodes.islands),
        bodies=nodes.bodies,
        sheets=sheets,
        cores=tuple(_renumbered_core(core, unbroken, nodes.bodies) for core in unbroken.cores),
    )


def _renumbered_core(core: RigidCore, unbroken: Model, bodies: tuple[BodyRange, ...]) -> RigidCore:
    """Returns a core, of a body that cannot break, where its nodes are after those of others have split."""
    number = next(n for n, body in enumerate(unbroken.bodies) if body.nodes.start <= core.nodes[0] < body.nodes.stop)
    return core.renumbered(bodies[number].nodes.start - unbroken.bodies[number].nodes.start, 0)
