# SPDX-License-Identifier: GPL-3.0-or-later
"""The interface of all forces and constraints that act on bodies from outside during a step.

A force has one file. That file says which nodes it holds (`prescribe`) and which forces it adds (`point_forces`). Each
of those forces is linear in the motion of a point during the step. `PointForces` derives the rest from the force, its
stiffness and its damping: the energy, the force after any displacement, and the work that the energy correction counts.
A force that is not linear has a potential instead (`potential`), which solves linearise again until it agrees with
where they end (`linearised_potentials.py`).

Forces are registered once, in `solver/simulation/forces.py`. Gravity is no such force: it is the same acceleration for
all nodes, so the solvers read it from `ExternalForces.gravity` and fold it into the mass term. Contacts are not either:
they look for new partners after every solve, but what they add to a step are `PointForces` and `PairForces`, too.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..mechanics.model import Model
from ..mechanics.state import State
from ..mechanics.stretch_limit.limit_potential import LimitPotential
from ..runtime.arrays import Bools, Floats, Indices
from ..runtime.errors import SinewError
from ..scene.tracks import TrackReader
from .attachments.attachment_loads import AttachmentLoad
from .attachments.attachment_potential import AttachmentPotential
from .joints.joint_step import JointStep
from .point_forces import PointForces


@dataclass(frozen=True, eq=False)
class ForceStep:
    """The step during which forces act.

    Attributes:
        model: The bodies in this step.
        state: At the start of the step; in `Force.end_step` at its end.
        tracks: The animated inputs.
        begin, end: Times of the step [s].
        speed: Simulated time that passes over the time of the scene (`scene/time_scale.py`).
        is_static: Whether the bodies are brought to rest as they are held at `end`, without inertia.
    """

    model: Model
    state: State
    tracks: TrackReader
    begin: float
    end: float
    speed: float = 1.0
    is_static: bool = False

    @property
    def dt(self) -> float:
        """Δt, simulated [s]; infinite without inertia."""
        return np.inf if self.is_static else self.speed * (self.end - self.begin)


class Force:
    """A force or constraint on bodies from outside. A subclass overrides what it does; by default it does nothing.

    Attributes:
        kind: What it is, in a word or two.
        affects_quasistatic: Whether it also acts on flesh that is brought to rest in every pose.
        precedence: Forces prescribe in rising order. Where two hold the same node, the later one decides.
    """

    kind: ClassVar[str]
    affects_quasistatic: ClassVar[bool] = False
    precedence: ClassVar[int] = 1

    @property
    def fixed_nodes(self) -> Indices:
        """Nodes of the model that it may hold exactly, (k,)."""
        return np.zeros(0, np.int32)

    @property
    def nodes_on_mass_springs(self) -> Indices:
        """Nodes of the model that springs hold whose stiffness goes by the masses of nodes, (k,)."""
        return np.zeros(0, np.int32)

    @property
    def body_warnings(self) -> Mapping[int, tuple[SinewError, ...]]:
        """What an artist should know, by number of the body."""
        return {}

    @property
    def may_squeeze(self) -> bool:
        """Whether it pulls with any force that it needs, so that bodies may be squeezed without limit."""
        return False

    def restricted_to(self, bodies: Collection[int]) -> Force | None:
        """Returns the force on the bodies of these numbers alone; None where it acts on none of them."""
        return self

    def prescribe(self, step: ForceStep, is_fixed: Bools, fixed_target: Floats) -> None:
        """Marks the nodes that it holds exactly, (n,), and writes where they are at the end of the step [m], (n, 3).

        Raises:
            SolveFailed: The animation gives no numbers.
        """

    def point_forces(self, step: ForceStep) -> PointForces:
        """Returns its forces during the step.

        Raises:
            SolveFailed: The animation gives no numbers.
        """
        return PointForces()

    def potential(self, step: ForceStep) -> LimitPotential | None:
        """Returns the energy at the end of the step of what is not linear in the motion; None: there is none.

        Raises:
            SolveFailed: The animation gives no numbers.
        """
        return None

    def surface_potential(self, step: ForceStep) -> AttachmentPotential | None:
        """Returns the energy at the end of the step of what links surfaces; None: there is none. Raises as above."""
        return None

    def joint_step(self, step: ForceStep) -> JointStep | None:
        """Returns the joints of the step, which every solve of it corrects; None: there are none. Raises as above."""
        return None

    def static_inputs(self, step: ForceStep) -> list[np.ndarray]:
        """Returns arrays on which the shape at rest depends besides nodes held and stiffness: targets."""
        return []

    def begin_step(self, step: ForceStep) -> None:
        """Writes into `step.state` what has changed from outside since the step before; once for every whole step.

        Raises:
            SolveFailed: The animation gives no numbers.
        """

    def end_step(self, step: ForceStep) -> None:
        """Writes into `step.state` what the force has to know in the next step."""

    def attachment_loads(self, step: ForceStep) -> Mapping[tuple[str, int], AttachmentLoad]:
        """Returns what attachments carry at the end of a step, by key of the body and number of the attachment."""
        return {}

    def to_arrays(self, nodes: slice) -> dict[str, np.ndarray]:
        """Returns arrays for `model/KEY.npz` of the body with these nodes of the model."""
        return {}

    def remapped(self, whole: Model, tets: Indices) -> Force:
        """Returns the force after nodes have split: the tets of `whole` have the nodes `tets`, (m, 4), now."""
        return self


def in_order_of_precedence(forces: Collection[Force]) -> list[Force]:
    """Returns forces in the order in which they prescribe nodes; those of one precedence stay in their order."""
    return sorted(forces, key=lambda force: force.precedence)
