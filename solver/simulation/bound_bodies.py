# SPDX-License-Identifier: GPL-3.0-or-later
"""From the bindings that a scene asks for, and the T-junctions of its tets, to bound nodes, which are found at rest."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from ..constraints.force import Force
from ..linalg.bound_nodes import BoundNodes
from ..mechanics.model import Model
from ..mesh.embedding import bind, closest_tets
from ..mesh.geometry.closest_point import closest_points
from ..mesh.geometry.surface_paint import is_painted
from ..mesh.geometry.triangle_bvh import build_bvh
from ..mesh.t_junctions import TJunctions
from ..runtime.arrays import Bools, Floats, Indices
from ..runtime.errors import BadInput
from ..scene.attachment import padded
from ..scene.attachment_resolution import all_bindings
from ..scene.body_binding import BodyBinding
from ..scene.scene import Body, Scene

if TYPE_CHECKING:  # few scenes have bindings
    from ..constraints.bindings.hard_bindings import HardBinding


def bind_bodies(scene: Scene, model: Model, junctions: Sequence[TJunctions]) -> tuple[Model, Indices]:
    """Returns the model with the nodes bound that a scene asks for, and the attachment of each, (n,), −1 for none.

    Nodes at T-junctions are bound to their own bodies, whatever else binds these.

    Args:
        scene: The scene.
        model: Without bound nodes.
        junctions: Of the tets of each body.

    Raises:
        BadInput: Nothing is in reach of a binding, a rigid core is, or nodes far outside would take too much mass, or a
            target is a rigid body.
    """
    attachment = np.full(model.node_count, -1, np.int32)
    if not any(all_bindings(body) for body in scene.bodies) and not any(map(len, junctions)):
        return model, attachment
    from ..constraints.bindings.hard_bindings import bind_nodes, flatten_bindings

    starts = np.array([part.nodes.start for part in model.bodies])

    def body_name(node: int) -> str:
        return scene.bodies[int(np.searchsorted(starts, node, side="right")) - 1].name

    if not any(all_bindings(body) for body in scene.bodies):  # T-junctions hang on nothing that is bound
        return bind_nodes(model, _junction_nodes(model, junctions), body_name), attachment
    numbers = {body.key: number for number, body in enumerate(scene.bodies)}
    bindings = _junction_bindings(model, junctions)
    is_bound = np.zeros(model.node_count, bool)
    is_bound[[each.node for each in bindings]] = True
    for number, body in enumerate(scene.bodies):
        for row, binding in all_bindings(body):
            target = scene.bodies[numbers[binding.target]]
            if target.is_rigid:
                raise BadInput("bound-to-rigid", name=body.name, target=target.name)
            found = _nodes_in_reach(scene, model, number, numbers[binding.target], binding, is_bound)
            bindings += found
            if row is not None:
                attachment[[each.node for each in found]] = row
        if all_bindings(body):
            _check_core(body, model, number, is_bound)
    return bind_nodes(model, flatten_bindings(bindings, body_name), body_name), attachment


def check_bound_nodes_are_free(scene: Scene, model: Model, forces: Sequence[Force]) -> None:
    """Raises BadInput where pins or bones hold bound nodes, also by springs as strong as masses, which these lack."""
    if model.bound is None:
        return
    is_bound = model.bound.is_bound(model.node_count)
    for force in forces:
        held = np.union1d(force.fixed_nodes, force.nodes_on_mass_springs).astype(np.int32)
        held = held[is_bound[held]]
        for body, part in zip(scene.bodies, model.bodies, strict=True):
            count = int(((held >= part.nodes.start) & (held < part.nodes.stop)).sum())
            if count:
                raise BadInput("bound-nodes-held", name=body.name, count=count, force=force.kind)


def _junction_nodes(model: Model, junctions: Sequence[TJunctions]) -> BoundNodes:
    """Returns the nodes at T-junctions of all bodies."""
    there = [own.shifted(body.nodes.start) for body, own in zip(model.bodies, junctions, strict=True)]
    lengths = np.concatenate([np.diff(each.start) for each in there])
    return BoundNodes(
        np.concatenate([each.nodes for each in there]),
        np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)]).astype(np.int32),
        np.concatenate([each.parents for each in there]),
        np.concatenate([each.weights for each in there]),
    )


def _junction_bindings(model: Model, junctions: Sequence[TJunctions]) -> list[HardBinding]:
    """Returns the bindings of the nodes at T-junctions of all bodies."""
    from ..constraints.bindings.hard_bindings import BindingTarget, HardBinding

    found = []
    for body, own in zip(model.bodies, junctions, strict=True):
        there = own.shifted(body.nodes.start)
        for number, (first, end) in enumerate(zip(there.start[:-1], there.start[1:], strict=True)):
            target = BindingTarget(there.parents[first:end], there.weights[first:end])
            found.append(HardBinding(int(there.nodes[number]), target))
    return found


def _nodes_in_reach(
    scene: Scene, model: Model, number: int, target: int, binding: BodyBinding, is_bound: Bools
) -> list[HardBinding]:
    """Returns the bindings of the nodes of a body, and marks these, (n,), that others have not yet."""
    from ..constraints.bindings.hard_bindings import BindingTarget, HardBinding

    body, own, other = scene.bodies[number], model.bodies[number], model.bodies[target]
    tets = model.tets[other.tets]
    nodes = np.arange(own.nodes.start, own.nodes.stop, dtype=np.int32)
    places: Floats = model.X[nodes]
    distance = closest_tets(model.X, tets, places).distance
    for painted, paint in ((body, binding.paint), (scene.bodies[target], binding.target_paint)):
        if len(paint):
            distance[~_is_painted_near(painted, paint, places)] = np.inf
    near = distance <= binding.reach
    if not near.any():
        names = {"name": body.name, "target": scene.bodies[target].name}
        lengths = {"distance": f"{distance.min():.3g}", "reach": f"{binding.reach:.3g}"}
        raise BadInput("binding-out-of-reach", **names, **lengths)
    chosen = nodes[near & ~is_bound[nodes]]
    is_bound[chosen] = True
    found = bind(model.X, tets, model.X[chosen])
    return [
        HardBinding(node, BindingTarget(tets[tet], weights))
        for node, tet, weights in zip(chosen.tolist(), found.tet, found.weights, strict=True)
    ]


def _is_painted_near(body: Body, paint: Floats, places: Floats) -> Bools:
    """Returns where the nearest place on the surface of a body is painted above ½, (k,), for places [m], (k, 3)."""
    nearest = closest_points(build_bvh(body.vertices, body.triangles), places)
    return is_painted(padded(paint, len(body.vertices)), body.triangles, nearest)


def _check_core(body: Body, model: Model, number: int, is_bound: Bools) -> None:
    nodes = model.bodies[number].nodes
    for core in model.cores:
        own = core.nodes[(core.nodes >= nodes.start) & (core.nodes < nodes.stop)]
        if is_bound[own].any():
            raise BadInput("bound-core", name=body.name)
