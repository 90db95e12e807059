# SPDX-License-Identifier: GPL-3.0-or-later
"""Flesh that follows a pose: at rest under what holds it, found from where it was in the sample before.

Where that start does not arrive, and where the sample before did not, the rest shape moved along with what holds it is
another start: what was lost in one frame must not stay lost. Of two equilibria the one of lower energy is taken.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ..arrays import Bools, Floats, Indices
from ..integrators.outside import Points
from ..model import Model
from ..quasistatic.contact import Touching, solve_in_contact
from ..quasistatic.held import Held
from ..quasistatic.newton import Equilibrium, Progress, solve
from ..quasistatic.springs import Springs
from ..quasistatic.starts import moved_as
from ..scene import Settings
from .bodies import FleshPart
from .crushed import without_crushed

Touch = Callable[[Floats], Touching]


@dataclass(frozen=True, eq=False)
class Pose:
    """What is asked of quasistatic flesh in one sample; nodes and tets are those of its own model.

    Attributes:
        held: Nodes that are held, and where.
        springs: On its tets, as they pull where the nodes are at first.
        load: Gravity on the nodes [N], (n, 3).
        touching: Makes what they may touch, for a solve that begins at positions x [m], (n, 3); None: nothing.
    """

    held: Held
    springs: Points
    load: Floats
    touching: Touch | None = None


@dataclass(frozen=True, eq=False)
class Followed:
    """How flesh came to rest.

    Attributes:
        x: Node positions [m], (n, 3).
        residual: Of the body that is farthest from rest.
        residuals: Of every body.
        converged: Whether all are within the tolerance.
        is_lost: Which bodies are not at rest or have tets inside out, (b,).
        inverted_tets: Tets inside out.
        newton_iterations, cg_iterations: Of all tries.
        contacts: Points that are pushed.
        deepest: How deep one of them is left in something [m].
    """

    x: Floats
    residual: float
    residuals: tuple[float, ...]
    converged: bool
    is_lost: Bools
    inverted_tets: int
    newton_iterations: int
    cg_iterations: int
    contacts: int
    deepest: float


@dataclass(frozen=True, eq=False)
class _Try:
    """Where one start led."""

    equilibrium: Equilibrium
    contacts: int = 0
    deepest: float = 0.0

    @property
    def has_arrived(self) -> bool:
        """Whether it is at rest, with no tet inside out."""
        return self.equilibrium.converged and not self.equilibrium.inverted_tets

    @property
    def rank(self) -> tuple[bool, int, float]:
        """What is smaller for what is better."""
        found = self.equilibrium
        measure = found.energy if found.converged else found.residual
        return not found.converged, found.inverted_tets, measure if np.isfinite(measure) else np.inf


def follow_pose(
    flesh: FleshPart,
    model: Model,
    pose: Pose,
    x: Floats,
    was_lost: bool,
    settings: Settings,
    on_iteration: Callable[[Progress], None] = lambda progress: None,
) -> Followed:
    """Returns where flesh is at rest, or how far it came.

    Args:
        flesh: The bodies.
        model: Their model, with the rest shapes that hold now.
        pose: What is asked of them.
        x: Where they were in the sample before [m], (n, 3).
        was_lost: Whether one of them was not at rest there, or inside out.
        settings: Its `pose_tolerance` and `pose_iterations` are read.
        on_iteration: Called before every Newton iteration; what it raises goes through.
    """

    model, is_crushed = without_crushed(model, pose.held)
    springs = [Springs(model, pose.springs, x)] if len(pose.springs) else []
    given = (settings.pose_tolerance, settings.pose_iterations, pose.load, on_iteration, springs)

    def tried(start: Floats) -> _Try:
        if pose.touching is None:
            return _Try(solve(model, flesh.law, pose.held, start, *given))
        touching = pose.touching(start)
        found = solve_in_contact(model, flesh.law, pose.held, start, touching, *given)
        return _Try(found.equilibrium, touching.count(found.equilibrium.x), found.deepest)

    tries = [tried(x)]
    if was_lost or not tries[0].has_arrived:
        tries.append(tried(rest_moved_along(model, pose, x)))
    best = min(tries, key=lambda each: each.rank)
    found = best.equilibrium
    is_inverted = _inverted(model, found.x)
    is_finite = bool(np.isfinite(found.x).all())  # the next sample has to begin somewhere
    return Followed(
        x=found.x if is_finite else rest_moved_along(model, pose, x),
        residual=found.residual,
        residuals=found.residuals,
        converged=found.converged,
        is_lost=_lost(model, found, is_inverted & ~is_crushed, settings.pose_tolerance),
        inverted_tets=int(np.count_nonzero(is_inverted)),
        newton_iterations=sum(each.equilibrium.newton_iterations for each in tries),
        cg_iterations=sum(each.equilibrium.cg_iterations for each in tries),
        contacts=best.contacts,
        deepest=best.deepest,
    )


def rest_moved_along(model: Model, pose: Pose, x: Floats) -> Floats:
    """Returns the rest shape of every body, moved rigidly as what holds it is on the whole [m], (n, 3).

    Springs count where they would rest. A body that nothing holds stays at x [m], (n, 3).
    """
    rest_points, targets = pose.springs.positions(model.X, model.tets), _targets(model, pose.springs, x)
    moved = x.copy()
    for body in model.bodies:
        own = _within(pose.held.nodes, body.nodes)
        pulled = _within(pose.springs.tet, body.tets)
        rest = np.concatenate([model.X[pose.held.nodes[own]], rest_points[pulled]])
        if len(rest):
            there = np.concatenate([pose.held.positions[own], targets[pulled]])
            moved[body.nodes] = moved_as(model.X[body.nodes], rest, there)
    return moved


def _targets(model: Model, springs: Points, x: Floats) -> Floats:
    """Returns where springs that begin at x would rest [m], (k, 3)."""
    stiffness = np.maximum(np.trace(springs.stiffness, axis1=1, axis2=2) / 3.0, 1e-300)
    return springs.positions(x, model.tets) + springs.force / stiffness[:, None]


def _within(numbers: Indices, places: slice) -> Bools:
    return (numbers >= places.start) & (numbers < places.stop)


def _inverted(model: Model, x: Floats) -> Bools:
    """Returns which tets are inside out, (m,)."""
    edges = x[model.tets[:, 1:]] - x[model.tets[:, :1]]
    return ~(np.einsum("mi,mi->m", edges[:, 0], np.cross(edges[:, 1], edges[:, 2])) > 0.0)


def _lost(model: Model, found: Equilibrium, is_inverted: Bools, tolerance: float) -> Bools:
    """Returns which bodies are not at rest, or have tets of those that are inverted, (b,)."""
    return np.array(
        [
            not residual <= tolerance or bool(is_inverted[body.tets].any())
            for residual, body in zip(found.residuals, model.bodies, strict=True)
        ]
    )
