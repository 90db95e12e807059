# SPDX-License-Identifier: GPL-3.0-or-later
"""Takes the start of a body out of a simulation, and lets bodies begin at theirs (`scene/start.py`)."""

from __future__ import annotations

import numpy as np

from ..mechanics.model import BodyRange, Model
from ..mechanics.state import State
from ..mechanics.state_fields import FLOWED, FP_INVERSE, PLASTIC_STRAIN, TETS_FIELD
from ..mesh.embedding import bind, closest_tets, interpolate
from ..mesh.rigid_alignment import align_rigidly
from ..runtime.arrays import Floats, floats, indices
from ..runtime.errors import BadInput
from ..scene.scene import Body, Scene
from ..scene.start import Start
from .features.surface_dents import SurfaceDents, kept_dents
from .simulated_scene import SimulatedScene

# Share of the longest side of a mesh by which its vertices may lie elsewhere: a .blend has single precision
SAME_PLACE = 1.0e-5

# fields of the state that say how far tets have flowed, by the attributes of `Start` that keep them
FLOW_FIELDS = {"Fp_inverse": FP_INVERSE, "flowed": FLOWED, "plastic_strain": PLASTIC_STRAIN}
NOT_FLOWED: dict[str, Floats] = {FP_INVERSE: np.eye(3), FLOWED: np.zeros(()), PLASTIC_STRAIN: np.zeros(6)}  # of one tet


def keep_start(simulation: SimulatedScene, number: int) -> Start:
    """Returns where a body is now, how far it has flowed and its dents, [m] in the world.

    Raises:
        BadInput: It follows a pose, or is torn.
    """
    body, built, state = simulation.scene.bodies[number], simulation.built, simulation.state
    if body.follows_pose:
        raise BadInput("start-follows-pose", name=body.name)
    whole = (built.unbroken or built).model
    own = whole.bodies[number]
    tets = whole.tets[own.tets]
    if TETS_FIELD in state.fields:
        if len(np.unique(state.fields[TETS_FIELD][own.tets])) > own.nodes.stop - own.nodes.start:
            raise BadInput("start-torn", name=body.name)
        positions = np.empty((own.nodes.stop - own.nodes.start, 3))
        positions[tets - own.nodes.start] = state.x[state.fields[TETS_FIELD][own.tets]]
    else:
        positions = state.x[own.nodes].copy()
    return Start(
        vertices=body.vertices.copy(),
        nodes=whole.X[own.nodes].copy(),
        tets=indices(tets - np.int32(own.nodes.start)),
        positions=positions,
        **{name: state.fields[field][own.tets].copy() for name, field in FLOW_FIELDS.items() if field in state.fields},
        **kept_dents(built.feature(SurfaceDents), number, state),
    )


def begin_at_starts(scene: Scene, model: Model, state: State) -> None:
    """Moves the bodies that have a start there, and gives their tets the plastic strain of it.

    Raises:
        BadInput: The mesh of one is another by now, or it follows a pose.
    """
    for body, own in zip(scene.bodies, model.bodies, strict=True):
        if body.start is not None:
            _begin(body, body.start, model, own, state)


def _begin(body: Body, start: Start, model: Model, own: BodyRange, state: State) -> None:
    if body.follows_pose:
        raise BadInput("start-follows-pose", name=body.name)
    if not _is_same_mesh(body.vertices, start.vertices):
        raise BadInput("start-of-other-mesh", name=body.name)
    X, tets = model.X[own.nodes], indices(model.tets[own.tets] - np.int32(own.nodes.start))
    if body.is_rigid:
        state.x[own.nodes] = align_rigidly(X, start.nodes, start.positions)
        return
    has_same_tets = np.array_equal(tets, start.tets) and _is_same_mesh(X, start.nodes)
    if has_same_tets:
        state.x[own.nodes] = start.positions
        source = np.arange(len(tets), dtype=np.int32)
    else:
        here = np.empty_like(X)
        interpolate(start.positions, start.tets, bind(start.nodes, start.tets, X), here)
        state.x[own.nodes] = here
        source = closest_tets(start.nodes, start.tets, floats(X[tets].mean(axis=1), -1, 3)).tet
    for name, field in FLOW_FIELDS.items():
        kept, none = getattr(start, name), NOT_FLOWED[field]
        if kept is not None:
            if field not in state.fields:
                state.fields[field] = np.broadcast_to(none, (model.tet_count, *none.shape)).copy()
            state.fields[field][own.tets] = kept[source]


def _is_same_mesh(found: Floats, kept: Floats) -> bool:
    if found.shape != kept.shape:
        return False
    return bool(np.abs(found - kept).max() <= SAME_PLACE * np.ptp(kept, axis=0).max())
