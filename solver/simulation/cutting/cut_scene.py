# SPDX-License-Identifier: GPL-3.0-or-later
"""What is simulated after cuts: a function of the scene as it was built and of all cuts of its bodies so far.

Nothing of the steps in between enters, so a resumed simulation gets the same arrays as one that ran through. Features
and forces are made anew from the copies and from the points that these hold; what would come out otherwise for copies
than for the tets that they are of, since it depends on how the whole body hangs together, is kept: fibres of muscles,
what goals pull nodes to, and what bones hold, but for nodes that have no material at their place. Contact points keep
their numbers, so contacts go on as they are.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from ...constraints.force import Force
from ...constraints.goal import BodyGoal
from ...constraints.nodes_as_points import tets_of_nodes
from ...contact.colliders.rigid_colliders import posed_collider
from ...contact.detection.contact_sample_points import ContactPoints
from ...mechanics.model import Model
from ...mechanics.state import State
from ...mesh.embedding import Binding
from ...runtime.arrays import Bools, indices
from ..assemble_bodies import build_features, with_ignored_bodies
from ..assembled_scene import AssembledScene
from ..features.feature import BuildInputs, Feature
from ..features.muscles import Muscles
from ..forces import make_forces
from .body_cut import BodyCut
from .cut_contacts import cut_points, materials_after_cuts
from .cut_model import CopiedRows, copied_rows, cut_model

if TYPE_CHECKING:  # takes long to load, and few scenes have it
    from ...constraints.bones.bone_constraint import BoneConstraint


def scene_after_cuts(uncut: AssembledScene, cuts: Sequence[BodyCut]) -> AssembledScene:
    """Returns a scene after cuts.

    Args:
        uncut: The scene as it was built.
        cuts: All bodies that were cut.

    Raises:
        ValueError: Some were cut with their skins, and others without.
    """
    inputs, copies = uncut.build_inputs, {cut.number: cut.tets for cut in cuts}
    assert inputs is not None
    model, rows = cut_model(uncut.model, copies), copied_rows(uncut.model, copies)
    meshes, bindings = list(inputs.meshes), list(inputs.bindings)
    points = [_renumbered(each, number, uncut.model, model) for number, each in enumerate(inputs.body_contact_points)]
    for cut in cuts:
        meshes[cut.number] = cut.mesh(inputs.meshes[cut.number])
        bindings[cut.number] = cut.binding(inputs.bindings[cut.number])
        tet = indices(cut.points.contact + model.bodies[cut.number].tets.start)
        points[cut.number] = replace(points[cut.number], tet=tet)
    skins = {cut.number: cut.skin for cut in cuts if cut.skin is not None}
    if skins and len(skins) < len(cuts):
        raise ValueError("some bodies were cut with their skins, and others without")
    materials = materials_after_cuts(uncut, skins, model) if skins else None
    faces, face_keys = cut_points(uncut, skins, model)
    colliders = with_ignored_bodies(uncut.colliders, inputs.scene, model)
    now = BuildInputs(
        scene=inputs.scene,
        tracks=inputs.tracks,
        surfaces=inputs.surfaces,
        meshes=meshes,
        bindings=bindings,
        model=model,
        body_contact_points=points,
        contact_points=ContactPoints.concatenate([*points, *faces]),
        colliders=(*colliders, *(posed_collider(each, each.vertices) for each in uncut.deforming)),
        gravity=inputs.gravity,
        state=State(model.X.copy(), np.zeros_like(model.X), inputs.scene.settings.start_time),
        kept=tuple(_kept(uncut, cuts, model, rows)),
    )
    build_features(now)
    built = uncut.with_tets(now, colliders, materials, make_forces(now))
    return replace(built, cuts=tuple(cuts), uncut=uncut, crack_point_rows=face_keys)


def _renumbered(points: ContactPoints, number: int, before: Model, now: Model) -> ContactPoints:
    """Returns the contact points of a body where its tets have the numbers that they have now."""
    shift = now.bodies[number].tets.start - before.bodies[number].tets.start
    return replace(points, tet=indices(points.tet + shift), distance_bounds={}, near_points={})


def _kept(uncut: AssembledScene, cuts: Sequence[BodyCut], model: Model, rows: CopiedRows) -> Iterator[Feature | Force]:
    """Yields the features and forces that are kept."""
    muscles = uncut.feature(Muscles)
    if muscles is not None:
        yield _copied_muscles(muscles, cuts, model, rows)
    goals = {force.body: force for force in uncut.forces if isinstance(force, BodyGoal)}
    for cut in cuts:
        if cut.number in goals:
            yield _copied_goal(goals[cut.number], cut, model)
    bones = uncut.bones
    if bones is not None:
        is_held = np.ones(model.node_count, np.bool_)
        for cut in cuts:
            is_held[model.bodies[cut.number].nodes] = ~cut.is_virtual
        yield replace(bones, constraints=tuple(_copied_bone(bone, rows, is_held) for bone in bones.constraints))


def _copied_muscles(muscles: Muscles, cuts: Sequence[BodyCut], model: Model, rows: CopiedRows) -> Muscles:
    """Returns muscles whose copies of tets have the fibres of the tets."""
    tets = np.flatnonzero(np.isin(rows.tet, muscles.tets))
    place = np.searchsorted(muscles.tets, rows.tet[tets])
    cached = dict(muscles.cached)
    for cut in cuts:
        if cut.number in cached:
            cached[cut.number] = {
                name: values[cut.tets.origin if name.startswith("is_") else cut.tets.parent]
                for name, values in cached[cut.number].items()
            }
    arrays = type(muscles.arrays)(*(np.ascontiguousarray(values[place]) for values in muscles.arrays))
    return replace(muscles, arrays=arrays, tets=indices(tets), lam=model.lam, cached=cached)


def _copied_bone(bone: BoneConstraint, rows: CopiedRows, is_held: Bools) -> BoneConstraint:
    """Returns what a bone holds: those copies of its nodes that may be held, (n',), as it has held the nodes."""
    place = np.full(int(rows.node.max(initial=0)) + 1, -1, np.int32)
    place[bone.nodes] = np.arange(len(bone.nodes), dtype=np.int32)
    nodes = np.flatnonzero((place[rows.node] >= 0) & is_held)
    before = place[rows.node[nodes]]
    return replace(
        bone,
        nodes=indices(nodes),
        rows=bone.rows[before],
        painted_strength=bone.painted_strength[before],
        target_shift=bone.target_shift[before] if len(bone.target_shift) else bone.target_shift,
    )


def _copied_goal(goal: BodyGoal, cut: BodyCut, model: Model) -> BodyGoal:
    """Returns the goal of a body that pulls all copies of a node to where it pulled the node."""
    part, whole = model.bodies[cut.number], goal.exact_binding
    tet, corner = tets_of_nodes(model.tets[part.tets] - np.int32(part.nodes.start))
    return replace(
        goal,
        nodes=np.arange(part.nodes.start, part.nodes.stop, dtype=np.int32),
        origin=cut.tets.origin,
        tet_of_node=indices(tet + part.tets.start),
        corner_of_node=corner,
        exact_binding=Binding(indices(cut.points.vertex[goal.exact] + part.tets.start), whole.weights),
    )
