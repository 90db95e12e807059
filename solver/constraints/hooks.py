# SPDX-License-Identifier: GPL-3.0-or-later
"""Hooks: springs by which places that are animated pull points of render surfaces, as a hand does in a live run.

When the strength s of a hook rises from 0, it takes its points where they are: point p_i is at q_i = M⁻¹ p_i beside the
hook, whose matrix is M. Until the strength is 0 again, the point of the share s_i feels

    f⁺ = s s_i k (M⁺ q_i − p⁺),    Σ s_i = 1,

with the k of a grab (`grabs.py`). The spring sees the end of the step, so no stiffness makes it unstable.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..mechanics.model import Model
from ..mechanics.state_fields import HOOK_FIELD
from ..mesh.embedding import Binding
from ..runtime.arrays import Floats, floats
from ..runtime.errors import SolveFailed
from ..scene.hook import Hook
from ..scene.scene import Body
from ..scene.tracks import TrackReader
from .force import Force, ForceStep
from .grabs import stiffness_to_follow
from .point_forces import PointForces


@dataclass(frozen=True, eq=False)
class BodyHook(Force):
    """One hook of a body.

    Attributes:
        hook: As in the scene.
        name: Of the body.
        body: Its number.
        track: How the names of its tracks begin.
        field: Where the state has the places q [m] of its points while it holds them, (k, 3).
        points: Its points, in tets of the model.
        shares: Of the stiffness, of sum 1, (k,).
        stiffness: k [N/m].
    """

    hook: Hook
    name: str
    body: int
    track: str
    field: str
    points: Binding
    shares: Floats
    stiffness: float
    kind: ClassVar[str] = "hook"
    affects_quasistatic: ClassVar[bool] = True

    @property
    def may_squeeze(self) -> bool:
        """Whether it may pull: it does at some time."""
        return True

    def restricted_to(self, bodies: Collection[int]) -> Force | None:
        """Returns the hook where its body is among these numbers."""
        return self if self.body in bodies else None

    def strength(self, tracks: TrackReader, time: float) -> float:
        """Returns s at a time [s]."""
        name = f"{self.track}.strength"
        return max(float(tracks.sample(name, time)), 0.0) if tracks.has(name) else self.hook.strength

    def matrix(self, tracks: TrackReader, time: float) -> Floats:
        """Returns M at a time [s], (4, 4).

        Raises:
            SolveFailed: The animation gives no numbers, or a hook without a size.
        """
        name = f"{self.track}.matrix"
        found = tracks.sample(name, time) if tracks.has(name) else np.eye(4)
        if not np.isfinite(found).all() or np.linalg.det(found[:3, :3]) == 0.0:
            raise SolveFailed("hook-not-finite", name=self.name, time=round(time, 3))
        return found

    def begin_step(self, step: ForceStep) -> None:
        """Takes the points where they are, or lets them go."""
        fields = step.state.fields
        if self.strength(step.tracks, step.end) <= 0.0:
            fields.pop(self.field, None)
        elif self.field not in fields:
            fields[self.field] = self._places(step)

    def point_forces(self, step: ForceStep) -> PointForces:
        """Returns the springs, if it holds its points."""
        strength = self.strength(step.tracks, step.end)
        if strength <= 0.0:
            return PointForces()
        force, each = self._pulls(step), strength * self.stiffness * self.shares
        stiffness = each[:, None, None] * np.eye(3)
        return PointForces(
            self.points.tet, self.points.weights, each[:, None] * force, stiffness, np.zeros_like(stiffness)
        )

    def static_inputs(self, step: ForceStep) -> list[np.ndarray]:
        """Returns where it pulls its points to, and how strongly."""
        strength = self.strength(step.tracks, step.end)
        return [np.array(strength), *([self._targets(step)] if strength > 0.0 else [])]

    def _targets(self, step: ForceStep) -> Floats:
        places = step.state.fields.get(self.field)
        M = self.matrix(step.tracks, step.end)
        return (self._places(step) if places is None else places) @ M[:3, :3].T + M[:3, 3]

    def _pulls(self, step: ForceStep) -> Floats:
        return self._targets(step) - self._points(step)

    def _points(self, step: ForceStep) -> Floats:
        return np.einsum("ka,kai->ki", self.points.weights, step.state.x[step.model.tets[self.points.tet]])

    def _places(self, step: ForceStep) -> Floats:
        M = self.matrix(step.tracks, step.begin)
        return floats(np.linalg.solve(M[:3, :3], (self._points(step) - M[:3, 3]).T).T)


def make_hooks(body: Body, binding: Binding, model: Model, number: int, gravity: float) -> list[BodyHook]:
    """Returns the hooks of a body that is in the model.

    Args:
        body: It.
        binding: Its render vertices in the tets of the model, (n,) and (n, 4).
        model: All bodies.
        number: Which of the model's bodies it is.
        gravity: Size of the acceleration [m/s²].
    """
    made = []
    for index, hook in enumerate(body.hooks):
        taken = np.flatnonzero(hook.paint > 0.0)
        shares = hook.paint[taken] / hook.paint[taken].sum()
        points = Binding(binding.tet[taken], binding.weights[taken])
        track, field = f"body.{body.key}.hook.{index}", HOOK_FIELD.format(key=body.key, number=index)
        stiffness = stiffness_to_follow(model, number, gravity)
        made.append(BodyHook(hook, body.name, number, track, field, points, shares, stiffness))
    return made
