# SPDX-License-Identifier: GPL-3.0-or-later
"""Cuts bodies of a simulation between two steps, and gives a resumed one the copies of tets that it had."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ...constraints.nodes_as_points import tets_of_nodes
from ...contact.detection.persistent_contacts import PersistentContacts
from ...mechanics.state import State
from ...mesh.cut_tets import CutTets
from ...mesh.embedding import Binding
from ...runtime.arrays import indices
from ..assembled_scene import AssembledScene
from ..build_contact_step import add_backside_contacts
from ..simulated_scene import SimulatedScene
from ..sleeping_bodies import wake_all
from .body_cut import BodyCut, PointCopies, add_cut, whole_body
from .cut_contacts import carried_contacts, present_skin
from .cut_model import copied_rows
from .cut_scene import scene_after_cuts
from .cut_skin import CutSkin, KeyedSkin, keyed_skin
from .cut_state import copy_rows
from .cut_support import check_may_be_cut


def cut_body(
    simulation: SimulatedScene, key: str, tets: CutTets, points: PointCopies, skin: CutSkin | None = None
) -> None:
    """Cuts a body of a simulation between two steps.

    The nodes of the model are numbered anew, piece by piece, so a further cut is one of `built.bodies` as they are now.

    Args:
        simulation: Changed, unless it raises.
        key: Of the body.
        tets: Copies of the tets that it has now, nodes and tets numbered in the body.
        points: Which of these hold the points of `body_points`, one by one.
        skin: What the cut makes of `present_skin`; None: cut faces touch nothing, and the scene has no surfaces.

    Raises:
        BadInput: The body, or the scene, has what does not go on after a cut; the sentence names it.
        ValueError: The copies or points are not those of the body.
    """
    built, state = simulation.built, simulation.state
    number = next(number for number, body in enumerate(built.bodies) if body.key == key)
    check_may_be_cut(built, simulation.scene, number, has_skin=skin is not None)
    before = next((cut for cut in built.cuts if cut.number == number), None)
    if before is None:
        points_before = PointCopies(*(points.tet for points in body_points(built, key)))
        before = whole_body(number, key, built.bodies[number].mesh, points_before)
    made = add_cut(before, tets, points, _keyed(built, number, skin))
    cuts = sorted([*(cut for cut in built.cuts if cut.number != number), made.cut], key=lambda cut: cut.number)
    now = replace(scene_after_cuts(built.uncut or built, cuts), initial=built.initial)
    rows = copied_rows(built.model, {number: made.tets})
    wake_all(state)
    copy_rows(state, rows)
    made.cut.store_in(state.fields)
    if simulation.held_nodes is not None:
        simulation.held_nodes = simulation.held_nodes[rows.node]
    memory = carried_contacts(PersistentContacts.from_state(state), built, now)
    simulation.built = now
    if now.contact_materials is not None:
        has_changed = np.arange(len(now.bodies), dtype=np.int64) == number
        memory = add_backside_contacts(memory, simulation, has_changed)
    memory.store_in(state)


def _keyed(built: AssembledScene, number: int, skin: CutSkin | None) -> KeyedSkin | None:
    """Returns the skin of a body with keys; None where there is none."""
    if skin is None:
        return None
    before = present_skin(built, number)
    return keyed_skin(skin, before.vertex_key, before.triangle_key)


def body_points(built: AssembledScene, key: str) -> tuple[Binding, Binding, Binding]:
    """Returns points of a body in the tets that it has now, numbered in it, in the order of `PointCopies`.

    These are its render vertices, its contact points, and the nodes that it was built with. Those on cut faces are not
    among them: they are vertices of its skin.
    """
    number = next(number for number, body in enumerate(built.bodies) if body.key == key)
    body, points = built.bodies[number], built.contact_points
    tet = points.tet[: len(points) - len(built.crack_point_rows)]
    own = np.flatnonzero((tet >= body.range.tets.start) & (tet < body.range.tets.stop))
    contacts = Binding(indices(tet[own] - body.range.tets.start), points.weights[own])
    cut = next((cut for cut in built.cuts if cut.number == number), None)
    if cut is None:
        node_tet, corner = tets_of_nodes(body.mesh.tets)
    else:
        node_tet, whole = cut.points.node, cut.tets.origin[body.mesh.tets[cut.points.node]]
        corner = indices((whole == np.arange(len(node_tet), dtype=np.int64)[:, None]).argmax(axis=1))
    return body.binding, contacts, Binding(node_tet, np.eye(4)[corner])


def apply_cuts(built: AssembledScene, state: State) -> AssembledScene:
    """Returns a scene as it was built after the cuts of a state; the scene itself where there are none."""
    cuts = _cuts_of(built, state)
    return replace(scene_after_cuts(built, cuts), initial=built.initial) if cuts else built


def initial_after_cuts(built: AssembledScene, state: State) -> State:
    """Returns the first state of a scene as it was built with the rows that it has after the cuts of a state."""
    cuts = _cuts_of(built, state)
    if not cuts:
        return built.initial
    initial = built.initial.copy()
    copy_rows(initial, copied_rows(built.model, {cut.number: cut.tets for cut in cuts}))
    return initial


def _cuts_of(built: AssembledScene, state: State) -> list[BodyCut]:
    """Returns the cuts of a state, one for each body that was cut."""
    found = (BodyCut.from_fields(number, body.key, state.fields) for number, body in enumerate(built.bodies))
    return [cut for cut in found if cut is not None]
