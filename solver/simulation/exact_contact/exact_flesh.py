# SPDX-License-Identifier: GPL-3.0-or-later
"""Flesh in steps with Exact contact: its energy in the potential, and where flesh that follows a pose begins.

What follows a pose has no inertia: at the end of every step it is at rest under what holds, pulls and touches it. So it
pushes bodies that have inertia, and these push it.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from ...constraints.point_forces import PointForces
from ...integrators.dynamic_flesh_forces import FleshGroup
from ...mechanics.model import Model
from ...mechanics.submodel import make_submodel
from ...runtime.arrays import Bools, Floats, Indices
from ...runtime.frozen_memo import derived_from
from ..current_model import present_flesh
from ..pose_step import loose_problem
from ..simulated_scene import SimulatedScene
from ..step_boundary_conditions import BoundaryConditions

if TYPE_CHECKING:
    from ..flesh import FleshPart


def flesh_groups(simulation: SimulatedScene) -> tuple[FleshGroup, ...]:
    """Returns the flesh of a scene with the materials that hold now as one group; none: there is none."""
    flesh = present_flesh(simulation.built, simulation.state)
    if flesh is None or flesh.dynamic is None:
        return ()
    part, whole = flesh.dynamic, simulation.built.model
    is_flesh = [body.flesh is not None for body in simulation.scene.bodies]
    own = [number for number in part.part.bodies if is_flesh[number]]
    if not own:
        return ()
    return (derived_from(part, "exact_flesh_group", lambda: _group(part, whole, own), inputs=(whole,)),)


def _group(part: FleshPart, whole: Model, own: list[int]) -> FleshGroup:
    """Returns some bodies of a part, without the sheets among them."""
    names = tuple(name for number, name in zip(part.part.bodies, part.names, strict=True) if number in own)
    if len(own) == len(part.part.bodies):
        return FleshGroup(part.part, part.law, names)
    some = make_submodel(whole, own)
    return FleshGroup(some, part.law.of_tets(np.searchsorted(part.part.tets, some.tets)), names)


def posed_nodes(simulation: SimulatedScene, model: Model) -> Bools | None:
    """Returns which nodes are of bodies that follow a pose, (n,); None: none."""
    if not simulation.built.posed_bodies:
        return None
    is_posed = np.zeros(model.node_count, bool)
    for number in simulation.built.posed_bodies:
        is_posed[model.bodies[number].nodes] = True
    return is_posed


def check_held(simulation: SimulatedScene, model: Model, bounds: BoundaryConditions, time: float) -> None:
    """Raises BadInput or SolveFailed where nothing holds a piece of flesh that follows a pose."""
    posed = simulation.built.posed_bodies
    if not posed:
        return
    loose = _loose_nodes(simulation, model, bounds, posed)
    if len(loose):
        raise loose_problem(simulation, loose, time)


def _loose_nodes(
    simulation: SimulatedScene, model: Model, bounds: BoundaryConditions, posed: tuple[int, ...]
) -> Indices:
    """Returns the nodes of the first piece that nothing holds, (k,)."""
    flesh = simulation.built.flesh
    assert flesh is not None and flesh.dynamic is not None
    piece = flesh.dynamic.pieces.piece_of_node
    is_held = np.zeros(flesh.dynamic.pieces.count, bool)
    nodes = flesh.dynamic.part.nodes
    is_own = posed_nodes(simulation, model)
    assert is_own is not None
    is_held[piece[~is_own[nodes]]] = True
    if bounds.is_fixed is not None:
        is_held[piece[bounds.is_fixed[nodes]]] = True
    links = [each.spring_points() for each in bounds.surface_potentials if each.active]
    springs = PointForces.concatenate(bounds.point_forces, *links)
    if len(springs):
        pulling = np.trace(springs.stiffness, axis1=1, axis2=2) > 0.0
        pulled = model.tets[springs.tet[pulling], 0]
        pulled = pulled[is_own[pulled]]
        is_held[piece[np.searchsorted(nodes, pulled)]] = True
    if is_held.all():
        return np.zeros(0, np.int32)
    return nodes[piece == np.argmin(is_held)]


def held_but_for_poses(bounds: BoundaryConditions, is_posed: Bools, x: Floats) -> BoundaryConditions:
    """Returns what holds and pulls flesh that follows a pose, with all other nodes held where they are, x [m], (n, 3).

    Args:
        bounds: Of this flesh.
        is_posed: Which nodes it has, (n,).
        x: All nodes.
    """
    is_fixed = ~is_posed if bounds.is_fixed is None else bounds.is_fixed | ~is_posed
    return replace(bounds, is_fixed=is_fixed, fixed_target=np.where(is_posed[:, None], bounds.fixed_target, x))
