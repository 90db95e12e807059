# SPDX-License-Identifier: GPL-3.0-or-later
"""The check of joints: that their ends are there and can be joined, and that their limits are in order."""

from __future__ import annotations

import numpy as np

from ..runtime.errors import BadInput
from .formulation import BDF2
from .joint import FIXED_JOINT, JOINT_KINDS, Joint
from .scene import Body, Scene

MAX_AXIS_ERROR = 1.0e-6  # of the axes of a frame, from those of a rotation


def check_joints(scene: Scene) -> None:
    """Raises BadInput where a joint has no ends, joins what cannot be joined, or fixes twice what is fixed."""
    bodies = {body.key: body for body in scene.bodies}
    fixed = dict[frozenset[str], Joint]()
    for joint in scene.joints:
        _check_ends(joint, bodies)
        _check_numbers(joint)
        if joint.kind != FIXED_JOINT:
            continue
        other = fixed.setdefault(frozenset(joint.ends), joint)
        if other is not joint:
            names = {"first": _end_name(joint.first, bodies), "second": _end_name(joint.second, bodies)}
            raise BadInput("joint-repeated", name=joint.name, other=other.name, **names)


def jointed_pairs(scene: Scene) -> list[tuple[str, str]]:
    """Returns the pairs of keys of bodies that joints keep from colliding."""
    return [joint.ends for joint in scene.joints if not joint.collides and all(joint.ends)]


def _check_ends(joint: Joint, bodies: dict[str, Body]) -> None:
    if joint.kind not in JOINT_KINDS:
        raise BadInput("joint-kind", name=joint.name, word=joint.kind, known=", ".join(JOINT_KINDS))
    if joint.first == joint.second:
        if not joint.first:
            raise BadInput("joint-without-bodies", name=joint.name)
        raise BadInput("joint-to-itself", name=joint.name, body=_end_name(joint.first, bodies))
    for end in joint.ends:
        if not end:
            continue
        if end not in bodies:
            raise BadInput("joint-end-missing", name=joint.name, end=end)
        body = bodies[end]
        if not body.has_core:
            raise BadInput("joint-soft-end", name=joint.name, body=body.name)
        if body.method.scheme == BDF2 and body.flesh is None:
            raise BadInput("joint-stepping", name=joint.name, body=body.name)


def _check_numbers(joint: Joint) -> None:
    low, high = joint.lower, joint.upper
    axes = joint.frame[:3, :3]
    if not np.isfinite(joint.frame).all() or np.abs(axes.T @ axes - np.eye(3)).max() > MAX_AXIS_ERROR:
        raise BadInput("joint-frame", name=joint.name)
    turn = joint.second_turn
    if len(turn) and (not joint.second or np.abs(turn.T @ turn - np.eye(3)).max() > MAX_AXIS_ERROR):
        raise BadInput("joint-frame", name=joint.name)
    if np.isnan(low).any() or np.isnan(high).any() or (low > high).any():
        row = int(np.argmax(~(low <= high)))
        raise BadInput("joint-limits", name=joint.name, low=f"{low[row]:.4g}", high=f"{high[row]:.4g}")
    springs = np.stack([joint.spring_stiffness, joint.spring_damping])
    if not (np.isfinite(springs) & (springs >= 0.0)).all():
        value = springs[~(np.isfinite(springs) & (springs >= 0.0))][0]
        raise BadInput("joint-spring-negative", name=joint.name, value=f"{value:.4g}")


def _end_name(key: str, bodies: dict[str, Body]) -> str:
    return bodies[key].name if key in bodies else "the world"
