# SPDX-License-Identifier: GPL-3.0-or-later
"""What is simulated with the tets that bodies have at a moment: a function of the smallest tets and of those split.

Nothing of the steps in between enters, so a resumed bake gets the same arrays as one that ran through. Points that
touch others, and their numbers, are those of the smallest tets, so contacts go on as they are.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ...contact.colliders.rigid_colliders import posed_collider
from ...contact.detection.contact_sample_points import ContactPoints
from ...contact.detection.surface_materials import ContactMaterials
from ...contact.surfaces.collision_surfaces import CollisionSurfaces
from ...mechanics.model import Model
from ...mechanics.state import State
from ...mechanics.state_fields import LEVEL_MASS_FIELD, LEVEL_SPLIT_FIELD
from ...mesh.embedding import Binding
from ...runtime.arrays import Floats, Indices, floats, indices
from ..assemble_bodies import build_features, initial_model, initial_state, with_ignored_bodies
from ..assembled_scene import AssembledScene
from ..bound_bodies import bind_bodies, check_bound_nodes_are_free
from ..features.feature import BuildInputs
from ..forces import make_forces
from .body_levels import BodyLevels, levels_at_start
from .mass_moments import masses_with_moments, moments


@dataclass(frozen=True, eq=False)
class _TetMap:
    """From tets of the scene with the smallest tets to those of the scene at a moment.

    Attributes:
        finest, model: Both models.
        bodies: The bodies whose levels are switched, by number.
    """

    finest: Model
    model: Model
    bodies: Mapping[int, BodyLevels]

    def tets(self, tet: Indices) -> Indices:
        """Returns the present tets, (k,), −1 where there is none."""
        out = np.full(len(tet), -1, np.int32)
        for number, (before, now) in enumerate(zip(self.finest.bodies, self.model.bodies, strict=True)):
            own = np.flatnonzero((tet >= before.tets.start) & (tet < before.tets.stop))
            local = tet[own] - np.int32(before.tets.start)
            out[own] = (self.bodies[number].leaf_numbers(local) if number in self.bodies else local) + now.tets.start
        return out

    def points(self, tet: Indices, weights: Floats) -> tuple[Indices, Floats]:
        """Returns points in tets, (k,) and (k, 4), in the present ones."""
        moved, shares = self.tets(tet), weights.copy()
        for number, body in self.bodies.items():
            before = self.finest.bodies[number].tets
            own = np.flatnonzero((tet >= before.start) & (tet < before.stop))
            shares[own] = body.leaf_binding(Binding(tet[own] - np.int32(before.start), weights[own])).weights
        return moved, shares


def start_levels(finest: AssembledScene) -> AssembledScene:
    """Returns a scene with the tets that it has at the start, given it with the smallest ones."""
    inputs = finest.build_inputs
    assert inputs is not None
    parts = zip(inputs.scene.bodies, inputs.meshes, inputs.bindings, strict=True)
    bodies = [levels_at_start(number, *part) for number, part in enumerate(parts) if part[1].levels is not None]
    built = scene_at_levels(finest, bodies)
    built = with_masses(built, {body.number: _start_masses(finest, built, body.number) for body in bodies})
    state = initial_state(inputs.scene, built.model)
    state.fields.update(built.initial.fields)
    store_levels(built, state)
    return replace(built, initial=state)


def _start_masses(finest: AssembledScene, built: AssembledScene, number: int) -> Floats:
    """Returns masses of the nodes of a body [kg], (n,), with the moments of its smallest tets, if there are any."""
    was, now = finest.model.bodies[number].nodes, built.model.bodies[number].nodes
    wanted, places, mass = finest.model.mass[was], finest.model.X[was], built.model.mass[now]
    middle = floats(wanted @ places / wanted.sum())
    size = float(np.sqrt(((places - middle) ** 2).sum(axis=1).mean()))
    fitted = masses_with_moments(mass, built.model.X[now], moments(wanted, places, middle, size), middle, size)
    return mass if fitted is None else fitted


def store_levels(built: AssembledScene, state: State) -> None:
    """Writes into a state which tets are split, and the masses of nodes."""
    for body in built.levels:
        state.fields[LEVEL_SPLIT_FIELD.format(key=body.key)] = body.is_split.astype(np.uint8)
        state.fields[LEVEL_MASS_FIELD.format(key=body.key)] = built.model.mass[built.model.bodies[body.number].nodes]


def scene_at_levels(finest: AssembledScene, bodies: Sequence[BodyLevels]) -> AssembledScene:
    """Returns a scene with the tets that bodies have.

    Args:
        finest: The scene with the smallest tets.
        bodies: All bodies whose levels are switched.
    """
    inputs, by_number = finest.build_inputs, {body.number: body for body in bodies}
    assert inputs is not None
    scene = inputs.scene
    meshes, bindings = list(inputs.meshes), list(inputs.bindings)
    for number, body in by_number.items():
        meshes[number] = body.leaf_mesh(inputs.meshes[number])
        bindings[number] = body.leaf_binding(inputs.bindings[number])
    unbound = initial_model(scene, inputs.surfaces, meshes, inputs.gravity)
    model, attachment = bind_bodies(scene, unbound, [mesh.junctions for mesh in meshes])
    places = _TetMap(finest.model, model, by_number)
    points = [_moved_points(each, places) for each in inputs.body_contact_points]
    colliders = with_ignored_bodies(finest.colliders, scene, model)
    now = BuildInputs(
        scene=scene,
        tracks=inputs.tracks,
        surfaces=inputs.surfaces,
        meshes=meshes,
        bindings=bindings,
        model=model,
        body_contact_points=points,
        contact_points=ContactPoints.concatenate(points),
        colliders=(*colliders, *(posed_collider(each, each.vertices) for each in finest.deforming)),
        gravity=inputs.gravity,
        state=State(model.X.copy(), np.zeros_like(model.X), scene.settings.start_time),
    )
    build_features(now)
    forces = make_forces(now)
    check_bound_nodes_are_free(scene, model, forces)
    materials = _moved_materials(finest.contact_materials, places)
    built = finest.with_tets(now, colliders, materials, forces)
    return replace(built, bound_attachment=attachment, levels=tuple(bodies), finest=finest)


def _moved_points(points: ContactPoints, places: _TetMap) -> ContactPoints:
    """Returns contact points in the present tets."""
    tet, weights = places.points(points.tet, points.weights)
    return replace(points, tet=tet, weights=weights, distance_bounds={})


def _moved_materials(materials: ContactMaterials | None, places: _TetMap) -> ContactMaterials | None:
    """Returns the surfaces at which bodies touch each other, bound to the present tets."""
    if materials is None:
        return None
    surfaces = materials.surfaces
    tet, weights = places.points(surfaces.tet, surfaces.weights)
    edges = surfaces.edges
    if edges is not None:
        edges = replace(edges, tet=places.tets(edges.tet))
    nodes = _moved_nodes(surfaces, tet, places)
    return replace(
        materials,
        surfaces=replace(surfaces, tet=tet, weights=weights, nodes=nodes, edges=edges),
        points=replace(materials.points, tet=tet, weights=weights, distance_bounds={}),
        support_tet=places.tets(materials.support_tet),
    )


def _moved_nodes(surfaces: CollisionSurfaces, tet: Indices, places: _TetMap) -> Indices:
    """Returns the nodes that vertices of surfaces move with, (v, 4), for their present tets, (v,)."""
    nodes = surfaces.nodes.copy()
    for surface, number in enumerate(surfaces.body.tolist()):
        own = surfaces.vertices_of(surface)
        if number in places.bodies:
            nodes[own] = places.model.tets[tet[own]]
        elif number >= 0:
            shift = places.model.bodies[number].nodes.start - places.finest.bodies[number].nodes.start
            nodes[own] += np.int32(shift)
    return indices(nodes, -1, 4)


def with_masses(built: AssembledScene, masses: Mapping[int, Floats]) -> AssembledScene:
    """Returns a scene whose nodes have other masses [kg], by number of the body."""
    mass = built.model.mass.copy()
    for number, own in masses.items():
        mass[built.model.bodies[number].nodes] = own
    return replace(built, model=replace(built.model, mass=floats(mass)))
