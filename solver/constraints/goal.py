# SPDX-License-Identifier: GPL-3.0-or-later
"""A goal: springs that pull every node of a body towards where the animated mesh would have it.

A node of the mass m has the goal y(t), which follows the deformation of the animated render mesh
(`mesh_following.py`), and a strength g in [0, 1]: the keyed strength of the body times what is painted. It feels

    f⁺ = m k (y⁺ − x⁺) + m c (ẏ − v⁺),    k = k_½ g / (1 − g),    c = 2 ζ √k,

with k_½ of the body, the stiffness over the mass at g = ½, and its damping ratio ζ. Position and velocity are those at
the end of the step, so that no stiffness makes it unstable. A strength of 1 holds nodes exactly, and vertices painted
with 1 are then drawn on the animated mesh, as exact pins are. A strength of 0 leaves the body free. Nodes of a sheet
follow the vertices that they are.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import ClassVar

import numpy as np

from ..mechanics.model import Model, is_sheet
from ..mesh.embedding import Binding
from ..mesh.geometry.closest_point import closest_points
from ..mesh.geometry.triangle_bvh import build_bvh
from ..runtime.arrays import Bools, Floats, Indices, indices
from ..runtime.errors import BadInput
from ..scene.goal import Goal
from ..scene.scene import Body
from ..scene.tracks import TrackReader
from .force import ForceStep
from .mesh_following import DeformingMotion, FollowedMesh, make_deforming_motion
from .nodes_as_points import tets_of_nodes, weights_of_corners
from .pins import BodyPins, PinSprings, correction_matrix
from .point_forces import PointForces

EXACT_STRENGTH = 0.999  # from which on a node is held exactly: its spring would have 999 times k_½
REMEMBERED_TIMES = 2  # begin and end of a step


@dataclass(frozen=True, eq=False)
class VertexMotion:
    """How nodes follow a mesh of which they are vertices, (k,)."""

    vertices: Indices

    def targets(self, vertices: Floats) -> Floats:
        """Returns where the nodes are [m], (k, 3), for all vertices now [m], (v, 3)."""
        return vertices[self.vertices]


@dataclass(frozen=True, eq=False)
class BodyGoal(BodyPins):
    """The goal of one body. What exact pins do for the render mesh, it does where its strength is 1.

    Attributes:
        goal: As in the scene.
        motion: How the nodes of the body follow its render mesh.
        paint: Factor on the strength, of each of these nodes, (k,).
        nodes: The nodes of the model now, (n,), and which of these each of them was, `origin`, (n,).
        tet_of_node, corner_of_node: A tet of each of them and its corner there, (n,) each.
    """

    goal: Goal
    motion: DeformingMotion | VertexMotion
    paint: Floats
    nodes: Indices
    origin: Indices
    tet_of_node: Indices
    corner_of_node: Indices
    _goals: dict[bytes, Floats] = field(default_factory=dict)
    kind: ClassVar[str] = "goal"
    affects_quasistatic: ClassVar[bool] = False
    precedence: ClassVar[int] = -1  # pins and bones decide

    def strength(self, tracks: TrackReader, time: float) -> float:
        """Returns the strength of the body at a time [s], within [0, 1]."""
        name = f"body.{self.key.removesuffix('.goal')}.goal_strength"
        value = float(tracks.sample(name, time)) if tracks.has(name) else self.goal.strength
        return min(max(value, 0.0), 1.0)

    def node_goals(self, tracks: TrackReader, time: float) -> Floats:
        """Returns where the animation wants the nodes that the body was built with at a time [m], (k, 3).

        Raises:
            SolveFailed: The animation gives no numbers.
        """
        targets = self.targets(tracks, time)
        key = targets.tobytes()
        if key not in self._goals:
            while len(self._goals) >= REMEMBERED_TIMES:
                self._goals.pop(next(iter(self._goals)))
            self._goals[key] = self.motion.targets(targets)
        return self._goals[key]

    @property
    def fixed_nodes(self) -> Indices:
        """Nodes of the model that it may hold exactly."""
        return self.nodes[self.paint[self.origin] >= EXACT_STRENGTH]

    def prescribe(self, step: ForceStep, is_fixed: Bools, fixed_target: Floats) -> None:
        """Marks the nodes held exactly, (n,), and writes where they are at the end of the step [m], (n, 3)."""
        is_exact = self._strengths(step) >= EXACT_STRENGTH
        if is_exact.any():
            is_fixed[self.nodes[is_exact]] = True
            fixed_target[self.nodes[is_exact]] = self.node_goals(step.tracks, step.end)[self.origin[is_exact]]

    def point_forces(self, step: ForceStep) -> PointForces:
        """Returns the springs of the nodes that are not held exactly."""
        strength = self._strengths(step)
        pulled = np.flatnonzero((strength > 0.0) & (strength < EXACT_STRENGTH))
        if not len(pulled):
            return PointForces()
        nodes, g = self.nodes[pulled], strength[pulled]
        end = self.node_goals(step.tracks, step.end)[self.origin[pulled]]
        begin = self.node_goals(step.tracks, step.begin)[self.origin[pulled]]
        m, k = step.model.mass[nodes], self.goal.stiffness * g / (1.0 - g)
        spring, damper = m * k, m * 2.0 * self.goal.damping * np.sqrt(k)
        force = spring[:, None] * (end - step.state.x[nodes])
        force += damper[:, None] * (end - begin) / step.dt
        eye = np.eye(3)
        return PointForces(
            self.tet_of_node[pulled],
            weights_of_corners(self.corner_of_node[pulled]),
            force,
            spring[:, None, None] * eye,
            damper[:, None, None] * eye,
        )

    def end_step(self, step: ForceStep) -> None:
        """Stores in the state what tets miss of the animated mesh; below full strength it dies away."""
        is_exact = self.strength(step.tracks, step.end) >= EXACT_STRENGTH
        targets = self.targets(step.tracks, step.end) if is_exact else None
        self.store_error(step.state, step.model, targets, step.dt)

    def _strengths(self, step: ForceStep) -> Floats:
        """Returns g of the nodes now, (n,)."""
        return self.strength(step.tracks, step.end) * self.paint[self.origin]

    def remapped(self, whole: Model, tets: Indices) -> BodyGoal:
        """Returns this goal of a whole body after nodes have split: its tets have the nodes `tets`, (m, 4), now."""
        tet, corner = tets_of_nodes(tets)
        part = whole.bodies[self.body]
        first = whole.tets[tet, corner]
        nodes = np.flatnonzero((first >= part.nodes.start) & (first < part.nodes.stop)).astype(np.int32)
        origin = first[nodes] - np.int32(part.nodes.start)
        return replace(self, nodes=nodes, origin=origin, tet_of_node=tet[nodes], corner_of_node=corner[nodes])


def make_goal(body: Body, goal: Goal, binding: Binding, model: Model, number: int, tet_size: float) -> BodyGoal:
    """Returns the goal of a body that is in the model.

    Args:
        body, goal: What is asked for.
        binding: Its render vertices in the tets of the model, (n,) and (n, 4).
        model: All bodies.
        number: Which of the model's bodies it is.
        tet_size: Edge length of its lattice [m].

    Raises:
        BadInput: The vertices of the body lie on one line.
    """
    part = model.bodies[number]
    rest, tets = model.X[part.nodes], model.tets[part.tets] - np.int32(part.nodes.start)
    painted = goal.paint if len(goal.paint) else np.ones(len(body.vertices))
    motion: DeformingMotion | VertexMotion | None
    if is_sheet(model, number):
        motion = VertexMotion(indices(np.unique(body.triangles)))
        paint = painted[motion.vertices]
    else:
        near = closest_points(build_bvh(body.vertices, body.triangles), rest)
        mesh = FollowedMesh(body.vertices, body.triangles)
        motion = make_deforming_motion(mesh, rest, tets, np.ones(len(rest), bool), near.distance, tet_size)
        paint = np.einsum("kc,kc->k", painted[body.triangles[near.triangle]], near.weights)
    if motion is None:
        raise BadInput("goal-on-a-line", name=body.name)
    is_pinned = np.zeros(len(body.vertices), bool)
    is_pinned[body.pinned] = is_pinned[body.attached] = True
    # pins draw theirs where they want them
    exact = np.flatnonzero((painted >= 1.0) & ~is_pinned).astype(np.int32)
    if not isinstance(motion, VertexMotion):  # all nodes that exact vertices lie between are exact
        paint[tets[binding.tet[exact] - np.int32(part.tets.start)]] = 1.0
    tet, corner = tets_of_nodes(tets)
    origin = np.arange(len(rest), dtype=np.int32)
    followers = model.bound.within(part.nodes) if model.bound is not None else None
    if followers is not None:  # nodes at T-junctions go where their parents are pulled
        origin = np.setdiff1d(origin, followers.nodes - np.int32(part.nodes.start)).astype(np.int32)
    nothing, empty = np.zeros(0), np.zeros(0, np.int32)
    return BodyGoal(
        key=f"{body.key}.goal",
        name=body.name,
        body=number,
        rest=body.vertices,
        regions=(),
        springs=PinSprings(empty, empty, np.zeros((0, 4)), nothing, nothing, nothing, nothing, np.zeros((0, 3))),
        exact=exact,
        exact_binding=Binding(binding.tet[exact], binding.weights[exact]),
        correction=correction_matrix(body.vertices, exact, tet_size).multiply(~is_pinned[:, None]).tocsr(),
        density=float(model.density[part.tets.start]),
        goal=goal,
        motion=motion,
        paint=paint,
        nodes=origin + np.int32(part.nodes.start),
        origin=origin,
        tet_of_node=tet[origin] + np.int32(part.tets.start),
        corner_of_node=corner[origin],
    )
