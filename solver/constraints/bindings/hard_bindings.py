# SPDX-License-Identifier: GPL-3.0-or-later
"""Hard bindings: a node is where the weighted nodes of its target are, which may be bound themselves."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ...linalg.bound_nodes import BoundNodes
from ...mechanics.model import Model
from ...mechanics.rigid_core import RigidCore
from ...runtime.arrays import Floats, Indices, floats, indices
from ...runtime.errors import BadInput

MAX_NAMED = 6  # names of a circle that its error says
MIN_WEIGHT = 1.0e-12  # weights below, of targets on a face or an edge, are round-off


@dataclass(frozen=True, eq=False)
class BindingTarget:
    """A point of something: Σ w x over some nodes, with Σ w = 1.

    Attributes:
        nodes: (k,): one, or the corners of an edge, a triangle or a tet.
        weights: (k,); outside of the corners some are negative.
    """

    nodes: Indices
    weights: Floats


@dataclass(frozen=True, eq=False)
class HardBinding:
    """A node that is at a target.

    Attributes:
        node: The node.
        target: Where it is.
    """

    node: int
    target: BindingTarget


def point_of_simplex(corners: Floats, nodes: Indices, point: Floats) -> BindingTarget:
    """Returns the point of a node, an edge, a triangle or a tet that is nearest to `point` in its line, plane or space.

    Args:
        corners: Positions of the nodes [m], (k, 3), k from 1 to 4.
        nodes: The nodes, (k,).
        point: [m], (3,).

    Raises:
        BadInput: Corners coincide, or are on a line or in a plane.
    """
    count = len(nodes)
    edges = (corners[1:] - corners[0]).T
    if count > 1 and np.linalg.matrix_rank(edges, tol=1.0e-9 * max(float(np.abs(edges).max()), 1e-300)) < count - 1:
        raise BadInput("binding-target-flat", nodes=", ".join(str(int(node)) for node in nodes))
    rest = np.linalg.lstsq(edges, point - corners[0], rcond=None)[0] if count > 1 else np.zeros(0)
    return BindingTarget(indices(nodes), floats(np.concatenate([[1.0 - rest.sum()], rest])))


def point_of_rigid_core(core: RigidCore, x: Floats, tets: Indices, point: Floats) -> BindingTarget:
    """Returns a point that moves with a rigid core, by weights of four of its nodes.

    These span space, and W (V, ω) of a rigid frame, (I, −[r]×), is Σ w (I, −[r_k]×) with Σ w r_k = r. They are those of
    its nearest tet, so that weights stay small; of a core without tets, four that are far apart.

    Args:
        core: The core.
        x: Positions of all nodes [m], (n, 3).
        tets: Nodes of all tets, (m, 4).
        point: [m], (3,).

    Raises:
        BadInput: All nodes of the core are in a plane.

    Source: S07, section 6.5.
    """
    if len(core.tets):
        away = np.linalg.norm(x[tets[core.tets]].mean(axis=1) - point, axis=1)
        nodes = tets[core.tets[int(np.argmin(away))]]
    else:
        nodes = _four_apart(np.asarray(core.nodes), x)
    return point_of_simplex(x[nodes], nodes, point)


def _four_apart(nodes: Indices, x: Floats) -> Indices:
    """Returns the node farthest from the middle, and three that each are farthest from the span of those before."""
    arms = x[nodes] - x[nodes].mean(axis=0)
    chosen, basis = [int(np.argmax(np.einsum("ki,ki->k", arms, arms)))], np.zeros((0, 3))
    for _ in range(3):
        away = x[nodes] - x[nodes[chosen[0]]]
        away -= away @ basis.T @ basis
        length = np.linalg.norm(away, axis=1)
        chosen.append(int(np.argmax(length)))
        basis = np.concatenate([basis, away[None, chosen[-1]] / max(float(length[chosen[-1]]), 1.0e-300)])
    return nodes[chosen]


def flatten_bindings(bindings: Sequence[HardBinding], node_name: Callable[[int], str]) -> BoundNodes | None:
    """Returns the map from unbound parents to bound nodes, chains of bindings multiplied out; None without any.

    Args:
        bindings: In any order.
        node_name: Name of a node for people.

    Raises:
        BadInput: A node is bound twice, or bindings go in a circle; the sentence has the names.
    """
    targets = dict[int, BindingTarget]()
    for binding in bindings:
        if binding.node in targets:
            raise BadInput("bound-twice", name=node_name(binding.node))
        targets[binding.node] = binding.target
    flat = dict[int, dict[int, float]]()
    for node in targets:
        _flatten(node, targets, flat, node_name)
    if not flat:
        return None
    nodes = sorted(flat)
    rows = [[(parent, w) for parent, w in sorted(flat[node].items()) if abs(w) > MIN_WEIGHT] for node in nodes]
    start = np.concatenate([[0], np.cumsum([len(row) for row in rows], dtype=np.int64)])
    weights = np.array([w for row in rows for _, w in row])
    weights /= np.repeat(np.add.reduceat(weights, start[:-1]), np.diff(start))
    return BoundNodes(indices(nodes), indices(start), indices([p for row in rows for p, _ in row]), weights)


def _flatten(
    first: int, targets: dict[int, BindingTarget], flat: dict[int, dict[int, float]], node_name: Callable[[int], str]
) -> None:
    """Writes the parents of a node, and of all nodes that it hangs on, to `flat`."""
    path, stack = list[int](), [first]
    while stack:
        node = stack[-1]
        if node in flat:
            stack.pop()
            continue
        bound = [int(parent) for parent in targets[node].nodes if int(parent) in targets]
        waiting = [parent for parent in bound if parent not in flat]
        if not waiting:
            flat[node] = _combined(targets[node], flat)
            if path and path[-1] == node:
                path.pop()
            stack.pop()
            continue
        if node not in path:
            path.append(node)
        circle = next((parent for parent in waiting if parent in path), None)
        if circle is not None:
            raise BadInput("binding-circle", names=_circle_names([*path[path.index(circle) :], circle], node_name))
        stack.append(waiting[0])


def _combined(target: BindingTarget, flat: dict[int, dict[int, float]]) -> dict[int, float]:
    """Returns the unbound parents of a target and their weights."""
    out = dict[int, float]()
    for parent, weight in zip(target.nodes.tolist(), target.weights.tolist(), strict=True):
        for own, share in flat.get(parent, {parent: 1.0}).items():
            out[own] = out.get(own, 0.0) + weight * share
    return out


def _circle_names(circle: Sequence[int], node_name: Callable[[int], str]) -> str:
    names = [f'"{node_name(node)}"' for node in circle]
    if len(names) > MAX_NAMED:
        names = [*names[: MAX_NAMED - 1], "…", names[-1]]
    return " → ".join(names)


def bind_nodes(model: Model, bound: BoundNodes | None, body_name: Callable[[int], str]) -> Model:
    """Returns the model with bound nodes, whose masses are on their parents.

    Damping by mass and the scale of gravity are handed down with the mass, so momentum, weight and drag stay; but no
    node is driven where a negative weight would take more drag from it than it has.

    Args:
        model: Without bound nodes.
        bound: Its nodes that are bound; None: none are.
        body_name: Name of a node's body for people.

    Raises:
        BadInput: Weights far outside of targets would leave a parent without mass.
    """
    if bound is None:
        return model
    given = np.stack([model.mass, model.mass * model.gravity_scale, model.mass * model.mass_damping], axis=1)
    bound.hand_down(given)
    mass, is_bound = given[:, 0].copy(), bound.is_bound(model.node_count)
    light = np.flatnonzero((mass <= 0.0) & ~is_bound)
    if len(light):
        raise BadInput("binding-too-far", name=body_name(int(light[0])))
    scale, damping = model.gravity_scale.copy(), model.mass_damping.copy()
    changed = np.unique(bound.parents)
    scale[changed] = given[changed, 1] / mass[changed]
    damping[changed] = np.maximum(given[changed, 2] / mass[changed], 0.0)
    return replace(model, mass=mass, gravity_scale=scale, mass_damping=damping, bound=bound)


def effective_masses(model: Model) -> Floats:
    """Returns the masses with which nodes answer to forces [kg], (n,): (6.4) of bound nodes, their own of others."""
    if model.bound is None:
        return model.mass
    out = model.mass.copy()
    out[model.bound.nodes] = model.bound.effective_mass(model.mass)
    return out
