# SPDX-License-Identifier: GPL-3.0-or-later
"""Damping of rigid bodies: what their motion and their spin lose of themselves per second, as in Bullet.

The forces −a M V and −b J ω on the centre of mass, by implicit Euler. Blender's Damping d takes the share
1 − (1 − d)^Δt of a velocity in a step of Δt: a rate of −ln(1 − d) [1/s].
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from ...mechanics.model import Model
from ...runtime.arrays import Floats, floats
from ...scene.scene import Scene
from ..force import Force, ForceStep
from ..point_forces import PointForces
from .rigid_body_batch import rigid_body_batch
from .torque_points import batch_torque_points


@dataclass(frozen=True, eq=False)
class RigidDamping(Force):
    """The damping of all rigid bodies that have some, b of them.

    Attributes:
        bodies: Their numbers.
        cores: Their cores in the model.
        rates: Of motion and spin [1/s], (b, 2).
    """

    bodies: tuple[int, ...]
    cores: tuple[int, ...]
    rates: Floats
    kind: ClassVar[str] = "rigid damping"

    def restricted_to(self, bodies: Collection[int]) -> RigidDamping | None:
        """Returns the damping of the bodies of these numbers alone; None where it damps none of them."""
        own = [place for place, body in enumerate(self.bodies) if body in bodies]
        if not own:
            return None
        numbers, cores = (tuple(of[place] for place in own) for of in (self.bodies, self.cores))
        return replace(self, bodies=numbers, cores=cores, rates=self.rates[own])

    def point_forces(self, step: ForceStep) -> PointForces:
        """Returns the forces on the points of the bodies during the step."""
        if step.is_static:
            return PointForces()
        model, x = step.model, step.state.x
        bodies = rigid_body_batch(model, np.array(self.cores, np.int32), x)
        points = batch_torque_points(model, bodies, x)
        damping = points.torque_matrices(floats(self.rates[:, 1, None, None] * bodies.inertia))
        damping[0] += (self.rates[:, 0] * bodies.mass.sum(axis=1))[:, None, None] * np.eye(3)
        return points.point_forces(damping=damping)


def make_rigid_damping(scene: Scene, model: Model) -> RigidDamping | None:
    """Returns the damping of the rigid bodies of a scene; None where none has any."""
    found = [number for number, body in enumerate(scene.bodies) if any(body.rigid_damping)]
    if not found:
        return None
    owner = [next(n for n, body in enumerate(model.bodies) if _holds(body.nodes, c.nodes[0])) for c in model.cores]
    cores = [core for core, number in enumerate(owner) if number in found]  # a body in pieces has several
    rates = np.array([scene.bodies[owner[core]].rigid_damping for core in cores])
    return RigidDamping(tuple(owner[core] for core in cores), tuple(cores), floats(rates))


def _holds(nodes: slice, node: int) -> bool:
    return bool(nodes.start <= node < nodes.stop)
