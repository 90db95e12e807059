# SPDX-License-Identifier: GPL-3.0-or-later
"""Bodies that are animated: they follow their keys exactly, are let go with the velocity of these, and caught again.

A body is animated in every step that begins or ends while Animated is on. Switched off at a frame, it is on its
animation at this frame, and free from there on; switched on at a frame, it is on its animation at this frame already.
Let go, it has the velocity and spin of its animation (`release_velocity.py`), or its Initial Velocity and Initial
Spin where these are set. Caught, it leaves where it was: nothing is hit on the way.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import ClassVar

import numpy as np

from ..mechanics.model import Model
from ..mechanics.state import State
from ..mechanics.state_fields import PIN_ERROR_FIELD, PREVIOUS_DT
from ..mesh.embedding import Binding
from ..runtime.arrays import Floats, Indices
from ..scene.goal import Goal
from ..scene.scene import Body, Settings
from ..scene.settings.size_and_start_settings import ANIMATED
from ..scene.tracks import TIME_TOLERANCE, TrackReader
from .force import ForceStep
from .goal import BodyGoal, make_goal
from .point_forces import PointForces
from .release_velocity import SAMPLE_COUNT, BodyVelocity, animation_velocity


@dataclass(frozen=True, eq=False, kw_only=True)
class AnimatedBody(BodyGoal):
    """One body that may be animated: a goal of full strength that is on or off.

    Attributes:
        settings: When its animation is sampled.
        is_always: Whether it is animated where no track says otherwise.
        pinned: Vertices that pins draw where they want them while it is free, (p,).
        initial_velocity, initial_spin: [m/s] and [rad/s], (3,) each: what it has instead of the motion of its animation
            when it is let go, where they are not zero.
    """

    settings: Settings
    is_always: bool
    pinned: Indices
    initial_velocity: tuple[float, float, float]
    initial_spin: tuple[float, float, float]
    kind: ClassVar[str] = "animated"
    precedence: ClassVar[int] = 2  # over pins and bones

    def strength(self, tracks: TrackReader, time: float) -> float:
        """Returns 1 where the body is animated at a time [s], and 0 where it is free."""
        name = f"body.{self.key.removesuffix('.animated')}.{ANIMATED.name}"
        return float(tracks.sample(name, time) >= 0.5) if tracks.has(name) else float(self.is_always)

    def begin_step(self, step: ForceStep) -> None:
        """Puts a body that is caught in the step where its animation begins the step."""
        if not self.strength(step.tracks, step.end) or self.strength(step.tracks, step.begin):
            return
        state, nodes = step.state, self.nodes
        state.x = state.x.copy()
        state.x[nodes] = self.node_goals(step.tracks, step.begin)[self.origin]
        self._set_velocity(step, self._velocity(step, step.begin))

    def point_forces(self, step: ForceStep) -> PointForces:
        """Returns no forces: its nodes are held, or free."""
        return PointForces()

    def end_step(self, step: ForceStep) -> None:
        """Gives a body that is let go at the end of the step its velocity, and stores what tets miss of the mesh."""
        stored = step.state.fields
        if self._is_animated(step):
            self.store_error(step.state, step.model, self.targets(step.tracks, step.end), step.dt)
            for name in self._errors_of_others(step.state):
                stored[name] = np.zeros_like(stored[name])
            if not self.strength(step.tracks, step.end):
                velocity = self._velocity(step, step.end)
                self._set_velocity(step, velocity.with_rigid_motion(self.initial_velocity, self.initial_spin))
            return
        self.store_error(step.state, step.model, None, step.dt)
        name = PIN_ERROR_FIELD.format(key=self.key)
        if name in stored and len(self.pinned):
            stored[name][self.pinned] = 0.0  # a copy: `store_error` has just made it

    def _is_animated(self, step: ForceStep) -> bool:
        """Whether the body follows its animation during a step."""
        return bool(self.strength(step.tracks, step.begin) or self.strength(step.tracks, step.end))

    def _strengths(self, step: ForceStep) -> Floats:
        """Returns 1 for all nodes of an animated body, and 0 for those of a free one, (n,)."""
        return np.full(len(self.nodes), self._is_animated(step), dtype=np.float64)

    def _velocity(self, step: ForceStep, time: float) -> BodyVelocity:
        """Returns the velocity of the animation at a time [s], of the nodes as they are numbered now."""
        interval = 1.0 / (self.settings.fps * self.settings.samples_per_frame)
        times = time - interval * np.arange(SAMPLE_COUNT - 1, -1, -1, dtype=np.int64)
        times = times[times > self.settings.start_time - TIME_TOLERANCE]
        samples = [self.motion.targets(self.targets(step.tracks, each))[self.origin] for each in times.tolist()]
        samples = samples or [self.node_goals(step.tracks, time)[self.origin]]
        return animation_velocity(step.model.mass[self.nodes], samples, interval * step.speed)

    def _set_velocity(self, step: ForceStep, velocity: BodyVelocity) -> None:
        """Gives the body a velocity with which schemes of several steps begin anew."""
        state, nodes = step.state, self.nodes
        state.v = state.v.copy()
        state.v[nodes] = velocity.of_points(step.model.mass[nodes], state.x[nodes])
        if PREVIOUS_DT in state.fields:
            past = state.fields[PREVIOUS_DT].copy()
            past[self.body] = 0.0
            state.fields[PREVIOUS_DT] = past

    def _errors_of_others(self, state: State) -> list[str]:
        """Returns the fields with what pins and the goal of the body draw, which it draws itself while animated."""
        key = self.key.removesuffix(".animated")
        names = (PIN_ERROR_FIELD.format(key=each) for each in (key, f"{key}.attached", f"{key}.goal"))
        return [name for name in names if name in state.fields]


def may_be_animated(body: Body, tracks: TrackReader) -> bool:
    """Whether a body is animated at some time."""
    return body.animated or tracks.has(f"body.{body.key}.{ANIMATED.name}")


def make_animated_body(
    body: Body, binding: Binding, model: Model, number: int, tet_size: float, settings: Settings
) -> AnimatedBody:
    """Returns what lets a body that is in the model follow its animation.

    Args:
        body: What is asked for.
        binding: Its render vertices in the tets of the model, (n,) and (n, 4).
        model: All bodies.
        number: Which of the model's bodies it is.
        tet_size: Edge length of its lattice [m].
        settings: Of the scene.

    Raises:
        BadInput: The vertices of the body lie on one line.
    """
    from scipy.sparse import identity

    goal = make_goal(body, Goal(1.0), binding, model, number, tet_size)
    own = {each.name: getattr(goal, each.name) for each in fields(goal) if each.init and each.name != "_goals"}
    own |= {
        "key": f"{body.key}.animated",
        "exact": np.arange(len(body.vertices), dtype=np.int32),
        "exact_binding": binding,
        "correction": identity(len(body.vertices), format="csr"),
        "paint": np.ones(len(goal.paint)),
    }
    return AnimatedBody(
        **own,
        settings=settings,
        is_always=body.animated,
        pinned=np.concatenate([body.pinned, body.attached]).astype(np.int32),
        initial_velocity=body.initial_velocity,
        initial_spin=body.initial_spin,
    )
