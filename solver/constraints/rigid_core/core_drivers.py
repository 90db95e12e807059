# SPDX-License-Identifier: GPL-3.0-or-later
"""What the animation does with rigid cores: springs that pull them at a point, and axes that they turn about."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from ...mechanics.model import Model
from ...mechanics.rigid_core import AxisMotion, RigidCore
from ...runtime.arrays import Floats, Indices, floats
from ...runtime.errors import SolveFailed
from ...scene.scene import Body, Scene
from ...scene.tracks import TrackReader
from ..force import Force, ForceStep
from ..point_forces import PointForces


@dataclass(frozen=True)
class CoreSpring(Force):
    """A spring that pulls a core.

    Attributes:
        key, name: The body's.
        point: Where it is in the rest pose [m], (3,): where it stays without a track.
        tet, weights: A tet of the core, and where the point is in its coordinates, also outside of it, (1,), (1, 4).
        stiffness: [N/m].
        damping: [N s/m].
    """

    key: str
    name: str
    point: Floats
    tet: Indices
    weights: Floats
    stiffness: float
    damping: float
    kind: ClassVar[str] = "core spring"

    def point_forces(self, step: ForceStep) -> PointForces:
        """Returns the spring during a step.

        Raises:
            SolveFailed: The animation gives no numbers.
        """
        target, before = self._target(step.tracks, step.end), self._target(step.tracks, step.begin)
        points = PointForces(
            self.tet, self.weights, np.zeros((1, 3)), self.stiffness * np.eye(3)[None], self.damping * np.eye(3)[None]
        )
        away = target - points.positions(step.state.x, step.model.tets)
        points.force = self.stiffness * away + self.damping * (target - before) / step.dt
        return points

    def _target(self, tracks: TrackReader, time: float) -> Floats:
        name = f"body.{self.key}.pull"
        target = floats(tracks.sample(name, time)) if tracks.has(name) else self.point
        if not np.isfinite(target).all():
            raise SolveFailed("targets-not-finite", name=self.name, time=round(time, 3))
        return target


def make_core_springs(scene: Scene, model: Model) -> tuple[CoreSpring, ...]:
    """Returns the springs that pull the cores of bodies."""
    return tuple(
        _make_spring(body, model, core, float(model.mass[_tet_range(model, core)].sum()))
        for body, core in _cores_of_bodies(scene, model)
        if body.core is not None and body.core.pull is not None
    )


def model_with_core_axes(
    scene: Scene, model: Model, tracks: TrackReader, span: tuple[float, float], dt: float
) -> Model:
    """Returns the model with the axes of its cores where a step has them.

    Args:
        scene, model, tracks: The bodies.
        span: Begin and end of the step [s].
        dt: Δt, simulated [s].

    Raises:
        SolveFailed: The animation gives no axis.
    """
    if all(core.hinge is None for core in model.cores):
        return model
    cores = []
    for body, core in _cores_of_bodies(scene, model):
        name = f"body.{body.key}.hinge"
        if core.hinge is not None and tracks.has(name):
            start = scene.settings.start_time
            rest, before, now = (_axis_frame(body, tracks.sample(name, time), time) for time in (start, *span))
            core = replace(core, hinge=AxisMotion(rest, before, now, dt))
        cores.append(core)
    return replace(model, cores=tuple(cores))


def _cores_of_bodies(scene: Scene, model: Model) -> list[tuple[Body, RigidCore]]:
    """Returns all cores with their bodies, of which one in pieces has several."""
    starts = [part.nodes.start for part in model.bodies]
    return [(scene.bodies[bisect_right(starts, int(core.nodes[0])) - 1], core) for core in model.cores]


def _tet_range(model: Model, core: RigidCore) -> slice:
    return next(body.nodes for body in model.bodies if body.nodes.start <= core.nodes[0] < body.nodes.stop)


def _make_spring(body: Body, model: Model, core: RigidCore, mass: float) -> CoreSpring:
    assert body.core is not None and body.core.pull is not None
    pull, corners = body.core.pull, model.X[model.tets[core.tets]]
    point = np.asarray(pull.point, np.float64)
    # any tet of the core will do, it is rigid; a near and large one loses least to round-off
    edges = corners[:, 1:] - corners[:, :1]
    size = np.abs(np.linalg.det(edges)) ** (1.0 / 3.0)
    nearest = int(np.argmin(np.linalg.norm(corners.mean(axis=1) - point, axis=1) / size))
    inner = np.linalg.solve(edges[nearest].T, point - corners[nearest, 0])
    return CoreSpring(
        body.key,
        body.name,
        point,
        core.tets[nearest : nearest + 1],
        np.append(1.0 - inner.sum(), inner)[None],
        pull.stiffness * mass,
        pull.damping * mass,
    )


def _axis_frame(body: Body, matrix: Floats, time: float) -> Floats:
    """Returns world ← axis space, right-handed and without scale, z kept: (4, 4)."""
    frame, axes = np.eye(4), np.asarray(matrix, np.float64)[:3, :3]
    z, y = axes[:, 2], _cross(axes[:, 2], axes[:, 0])
    size = np.linalg.norm(y)
    if not np.isfinite(matrix).all() or not size > 0.0:
        raise SolveFailed("core-axis-not-finite", name=body.name, time=round(time, 3))
    z, y = z / np.linalg.norm(z), y / size
    frame[:3, :3], frame[:3, 3] = np.column_stack([_cross(y, z), y, z]), np.asarray(matrix)[:3, 3]
    return frame


def _cross(one: Floats, other: Floats) -> Floats:
    (a, b, c), (x, y, z) = one.tolist(), other.tolist()
    return np.array([b * z - c * y, c * x - a * z, a * y - b * x])
