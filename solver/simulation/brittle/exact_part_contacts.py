# SPDX-License-Identifier: GPL-3.0-or-later
"""What pairs of Exact contact gave to brittle bodies in a step, and how fast these came nearer where they met.

A pair touches at the distance at which it pushes at the end of the step; its way until then is what is left of its
distance at the start, between the places that are closest at the end.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...contact.exact.friction import PairForces
from ...integrators.exact_contact.bound_surfaces import BoundSurfaces, PrescribedMotion
from ...mechanics.model import Model
from ...mechanics.state import State
from ...runtime.arrays import Floats, floats, indices
from ..exact_contact.exact_loads import exact_contact_loads
from .step_contacts import StepContacts, touching_speeds


@dataclass(frozen=True, eq=False)
class ExactPartContacts:
    """The pairs of a step with Exact contact.

    Attributes:
        pairs: What they push with at its end.
        surfaces: Theirs.
        motion: Of colliders.
        start, end: Of the step.
        keys: Of the bodies and colliders of surfaces, (s,).
        dt: Δt [s].
        gravity: g [m/s²], (3,).
    """

    pairs: PairForces
    surfaces: BoundSurfaces
    motion: PrescribedMotion
    start: State
    end: State
    keys: tuple[str, ...]
    dt: float
    gravity: Floats

    def contacts_of(self, model: Model, falling: Floats, begin: float) -> StepContacts:
        """Returns the contacts of a step that began so long after another one did [s]."""
        bound, motion, pairs = self.surfaces, self.motion, self.pairs
        y_start, y = (
            bound.positions(state.x, at) for state, at in ((self.start, motion.start), (self.end, motion.end))
        )
        loads = exact_contact_loads(pairs, y, bound.mesh, self.keys)
        velocity = bound.positions(self.start.v, (motion.end - motion.start) / self.dt)
        along = [
            np.einsum("ki,kij,kj->k", pairs.weights, each[pairs.vertices], pairs.normal)
            for each in (y_start, y, velocity)
        ]
        # the side that a normal points to is the first one, or the only one that is a body
        own, other = bound.nodes[pairs.vertices[:, 0], 0], bound.nodes[pairs.vertices[:, 3], 0]
        scale = np.append(falling, 0.0)  # of colliders
        pull = -(scale[own] - scale[other]) * (pairs.normal @ self.gravity)
        gap = np.maximum(along[0] - along[1], 0.0)
        speed = -along[2]
        touching, fall = touching_speeds(speed, pull, gap, self.dt)
        starts = np.array([body.nodes.start for body in model.bodies])
        body, other_body = (np.searchsorted(starts, nodes, side="right") for nodes in (own, other))
        touching[(own >= 0) & (other >= 0) & (body == other_body)] = 0.0
        row = np.append(model.pattern.island_of_row.astype(np.int64), -1)
        island = np.stack([row[own], row[other]], axis=1)
        is_turned = (
            bound.mesh.owner[bound.mesh.surface[pairs.vertices[:, 0]]]
            > (bound.mesh.owner[bound.mesh.surface[pairs.vertices[:, 3]]])
        )  # as in the loads: bodies come first
        return StepContacts(
            island=indices(np.where(is_turned[:, None], island[:, ::-1], island), -1, 2),
            other=tuple(self.keys[number] for number in loads.other.tolist()),
            place=loads.positions,
            normal=floats(loads.normals),
            impulse=self.dt * loads.forces,
            speed=floats(touching),
            fall=np.clip(begin + fall, 0.0, begin + self.dt),
            time=floats(begin + np.minimum(2.0 * gap / np.maximum(speed + touching, 1e-300), self.dt)),
        )
