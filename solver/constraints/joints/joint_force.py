# SPDX-License-Identifier: GPL-3.0-or-later
"""Joints as a force: which of them act in a step, where animated ends are, and what breaks."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from ...mechanics.model import Model
from ...mechanics.state_fields import JOINT_BROKEN_FIELD, JOINT_LOAD_FIELD
from ...runtime.arrays import Bools, Floats, floats
from ...runtime.errors import SolveFailed
from ...runtime.frozen_memo import derived_from
from ...scene.joint import Joint
from ...scene.scene import Scene
from ...scene.tracks import TrackReader
from ..force import Force, ForceStep
from .joint_frames import JointEnd
from .joint_step import JointRows, JointStep, force_along

ENABLED_FROM = 0.5  # of the track "enabled"


@dataclass(frozen=True, eq=False)
class Joints(Force):
    """All joints of a scene.

    Attributes:
        joints: As in the scene.
        rows: What they ask for, in the same order.
        bodies: Numbers of the bodies that each holds.
    """

    joints: tuple[Joint, ...]
    rows: JointRows
    bodies: tuple[frozenset[int], ...]
    kind: ClassVar[str] = "joints"

    def restricted_to(self, bodies: Collection[int]) -> Joints | None:
        """Returns the joints that hold bodies of these numbers alone; None where there are none."""
        which = np.array([own <= set(bodies) for own in self.bodies])
        return self._select(which) if which.any() else None

    def joint_step(self, step: ForceStep) -> JointStep | None:
        """Returns the joints that act in a step; None where none does, or without inertia.

        Raises:
            SolveFailed: The animation gives no numbers.
        """
        acts = np.array([self._acts(joint, step) for joint in self.joints])
        if step.is_static or not acts.any():
            return None
        own = derived_from(self, "joints that act", lambda: self._select(acts), values=(acts,))
        animated = floats(np.stack([_frame_at(joint, step.tracks, step.end) for joint in own.joints]))
        return JointStep(own.rows, step.state, step.model, step.dt, animated)

    def end_step(self, step: ForceStep) -> None:
        """Breaks the joints that carry more than their breaking force; forgets loads of those that do not act."""
        fields = step.state.fields
        for joint in self.joints:
            name = JOINT_LOAD_FIELD.format(key=joint.key)
            if not self._acts(joint, step):
                fields.pop(name, None)
                continue
            load = fields.get(name)
            if joint.breaking_force is None or load is None:
                continue
            if float(np.linalg.norm(force_along(load))) > joint.breaking_force:
                fields[JOINT_BROKEN_FIELD.format(key=joint.key)] = np.ones(1, np.uint8)
                del fields[name]

    def _select(self, which: Bools) -> Joints:
        numbers = np.flatnonzero(which)
        joints, bodies = (tuple(values[number] for number in numbers) for values in (self.joints, self.bodies))
        return replace(self, joints=joints, rows=self.rows.selected(which), bodies=bodies)

    def _acts(self, joint: Joint, step: ForceStep) -> bool:
        if JOINT_BROKEN_FIELD.format(key=joint.key) in step.state.fields:
            return False
        name = f"joint.{joint.key}.enabled"
        return float(step.tracks.sample(name, step.end)) >= ENABLED_FROM if step.tracks.has(name) else joint.is_enabled


def make_joints(scene: Scene, model: Model, tracks: TrackReader) -> Joints | None:
    """Returns the joints of a scene; None where there are none."""
    if not scene.joints:
        return None
    numbers = {body.key: number for number, body in enumerate(scene.bodies)}
    bodies = tuple(frozenset(numbers[end] for end in joint.ends if end) for joint in scene.joints)
    masses, sizes = zip(*(_lighter_end(model, own) for own in bodies), strict=True)
    start = scene.settings.start_time
    frames = [_frame_at(joint, tracks, start) for joint in scene.joints]
    limits = [joint.limits() for joint in scene.joints]
    rows = JointRows(
        tuple(joint.key for joint in scene.joints),
        _make_end(model, [numbers.get(joint.first) for joint in scene.joints], frames),
        _make_end(
            model,
            [numbers.get(joint.second) for joint in scene.joints],
            [joint.second_frame(frame) for joint, frame in zip(scene.joints, frames, strict=True)],
        ),
        np.array(masses),
        np.array(sizes),
        np.stack([low for low, _ in limits]),
        np.stack([high for _, high in limits]),
        np.array([joint.motor_speed for joint in scene.joints]),
        np.array([joint.motor_force for joint in scene.joints]),
        np.stack([joint.springs()[0] for joint in scene.joints]),
        np.stack([joint.springs()[1] for joint in scene.joints]),
    )
    return Joints(scene.joints, rows, bodies)


def _lighter_end(model: Model, bodies: Collection[int]) -> tuple[float, float]:
    """Returns the mass [kg] and the radius of gyration [m] of the lighter of some bodies."""
    found = []
    for number in sorted(bodies):
        nodes = model.bodies[number].nodes
        mass, X = model.mass[nodes], model.X[nodes]
        whole = float(mass.sum())
        away = X - mass @ X / whole
        found.append((whole, float(np.sqrt(mass @ (away * away).sum(axis=1) / whole))))
    return min(found)


def _make_end(model: Model, bodies: Sequence[int | None], frames: Sequence[Floats]) -> JointEnd:
    count = len(bodies)
    (held, tet), weights = np.full((2, count), -1, np.int32), np.zeros((count, 4))
    inverse, axes = np.tile(np.eye(3), (count, 1, 1)), np.stack([frame[:3, :3] for frame in frames])
    for joint, (number, frame) in enumerate(zip(bodies, frames, strict=True)):
        if number is None:
            continue
        nodes = model.bodies[number].nodes
        held[joint], core = next(
            (index, core) for index, core in enumerate(model.cores) if nodes.start <= core.nodes[0] < nodes.stop
        )
        corners = model.X[model.tets[core.tets]]
        edges = (corners[:, 1:] - corners[:, :1]).transpose(0, 2, 1)
        # any tet of the core will do, it is rigid; a near and large one loses least to round-off
        size = np.abs(np.linalg.det(edges)) ** (1.0 / 3.0)
        nearest = int(np.argmin(np.linalg.norm(corners.mean(axis=1) - frame[:3, 3], axis=1) / size))
        tet[joint], inverse[joint] = core.tets[nearest], np.linalg.inv(edges[nearest])
        inner = inverse[joint] @ (frame[:3, 3] - corners[nearest, 0])
        weights[joint] = [1.0 - inner.sum(), *inner]
    return JointEnd(held, tet, weights, inverse, floats(axes))


def _frame_at(joint: Joint, tracks: TrackReader, time: float) -> Floats:
    """Returns world ← frame at a time [s], (4, 4), as animated.

    Raises:
        SolveFailed: The animation gives no numbers.
    """
    name = f"joint.{joint.key}.matrix"
    if all(joint.ends) or not tracks.has(name):
        return joint.frame
    matrix = np.asarray(tracks.sample(name, time), float)
    if not np.isfinite(matrix).all() or not np.linalg.det(matrix[:3, :3]) > 0.0:
        raise SolveFailed("joint-not-finite", name=joint.name, time=round(time, 3))
    frame = matrix.copy()
    U, _, Vt = np.linalg.svd(matrix[:3, :3])
    frame[:3, :3] = U @ Vt
    return frame
