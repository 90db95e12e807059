# SPDX-License-Identifier: GPL-3.0-or-later
"""From the bindings that a scene asks for to bound nodes, which are found at rest."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from ..constraints.force import Force
from ..mechanics.model import Model
from ..mesh.embedding import bind, closest_tets
from ..runtime.arrays import Bools, Floats
from ..runtime.errors import BadInput
from ..scene.scene import Body, Scene

if TYPE_CHECKING:  # few scenes have bindings
    from ..constraints.bindings.hard_bindings import HardBinding


def bind_bodies(scene: Scene, model: Model) -> Model:
    """Returns the model with the nodes bound that the bindings of a scene ask for.

    Raises:
        BadInput: Nothing is in reach of a binding, a rigid core is, or nodes far outside would take too much mass.
    """
    if not any(body.bindings for body in scene.bodies):
        return model
    from ..constraints.bindings.hard_bindings import bind_nodes, flatten_bindings

    numbers = {body.key: number for number, body in enumerate(scene.bodies)}
    is_bound, bindings = np.zeros(model.node_count, bool), []
    for number, body in enumerate(scene.bodies):
        for binding in body.bindings:
            bindings += _nodes_in_reach(scene, model, number, numbers[binding.target], binding.reach, is_bound)
        _check_core(body, model, number, is_bound)
    starts = np.array([part.nodes.start for part in model.bodies])

    def body_name(node: int) -> str:
        return scene.bodies[int(np.searchsorted(starts, node, side="right")) - 1].name

    return bind_nodes(model, flatten_bindings(bindings, body_name), body_name)


def check_bound_nodes_are_free(scene: Scene, model: Model, forces: Sequence[Force]) -> None:
    """Raises BadInput where pins, bones or goals hold bound nodes exactly."""
    if model.bound is None:
        return
    is_bound = model.bound.is_bound(model.node_count)
    for force in forces:
        held = np.asarray(force.fixed_nodes)[is_bound[force.fixed_nodes]]
        for body, part in zip(scene.bodies, model.bodies, strict=True):
            count = int(((held >= part.nodes.start) & (held < part.nodes.stop)).sum())
            if count:
                raise BadInput("bound-nodes-held", name=body.name, count=count, force=force.kind)


def _nodes_in_reach(
    scene: Scene, model: Model, number: int, target: int, reach: float, is_bound: Bools
) -> list[HardBinding]:
    """Returns the bindings of the nodes of a body, and marks these, (n,), that others have not yet."""
    from ..constraints.bindings.hard_bindings import BindingTarget, HardBinding

    own, other = model.bodies[number], model.bodies[target]
    tets = model.tets[other.tets]
    nodes = np.arange(own.nodes.start, own.nodes.stop, dtype=np.int32)
    places: Floats = model.X[nodes]
    distance = closest_tets(model.X, tets, places).distance
    near = distance <= reach
    if not near.any():
        names = {"name": scene.bodies[number].name, "target": scene.bodies[target].name}
        raise BadInput("binding-out-of-reach", **names, distance=f"{distance.min():.3g}", reach=f"{reach:.3g}")
    chosen = nodes[near & ~is_bound[nodes]]
    is_bound[chosen] = True
    found = bind(model.X, tets, model.X[chosen])
    return [
        HardBinding(node, BindingTarget(tets[tet], weights))
        for node, tet, weights in zip(chosen.tolist(), found.tet, found.weights, strict=True)
    ]


def _check_core(body: Body, model: Model, number: int, is_bound: Bools) -> None:
    nodes = model.bodies[number].nodes
    for core in model.cores:
        own = core.nodes[(core.nodes >= nodes.start) & (core.nodes < nodes.stop)]
        if is_bound[own].any():
            raise BadInput("bound-core", name=body.name)
