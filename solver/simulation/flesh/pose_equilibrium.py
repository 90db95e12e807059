# SPDX-License-Identifier: GPL-3.0-or-later
"""Flesh that follows a pose: at rest under what holds it, found from where it was in the sample before.

It begins moved along with what holds it; or also with what its surface is linked to (`linked_start.py`), or where it
would be if it went on as it moved, where that has less energy.
Where that start does not arrive, and where the sample before did not, the rest shape moved along with what holds it is
another start for the bodies concerned: what was lost in one frame must not stay lost. Of two equilibria the one of
clearly lower energy is taken; of those that are as good, the one near the sample before, so that nothing flickers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from ...constraints.attachments.attachment_potential import AttachmentPotential
from ...constraints.point_forces import PointForces
from ...mechanics.model import Model
from ...mechanics.stretch_limit.limit_potential import LimitPotential
from ...mesh.rigid_alignment import align_rigidly
from ...quasistatic.attachment_forces import AttachmentForces
from ...quasistatic.contact import ContactPenalty, solve_in_contact
from ...quasistatic.equilibrium import Equilibrium, solve
from ...quasistatic.equilibrium_problem import EquilibriumProblem
from ...quasistatic.fixed_nodes import FixedNodes
from ...quasistatic.point_springs import SpringForces
from ...quasistatic.progress import Progress
from ...quasistatic.stretch_limit_forces import LimitForces
from ...runtime.arrays import Bools, Floats, Indices
from ...scene.scene import Settings
from .flesh_bodies import FleshPart
from .inverted_fixed_tets import relax_inverted_held_tets
from .linked_start import MovedLinks, start_along_links

ContactFactory = Callable[[Floats], ContactPenalty]
MIN_RELATIVE_IMPROVEMENT = 1.0e-3  # share of an energy or residual by which another one has to be lower


@dataclass(frozen=True, eq=False)
class PoseConditions:
    """What is asked of quasistatic flesh in one sample; nodes and tets are those of its own model.

    Attributes:
        fixed: Nodes that are held, and where.
        springs: On its tets, as they pull where the nodes are at first.
        load: Gravity on the nodes [N], (n, 3).
        potentials: Of its tets: stretch limits.
        surface_potentials: Of what links its surfaces.
        make_contact: Makes what they may touch, for a solve that begins at positions x [m], (n, 3); None: nothing.
        penalty_factor: On the contact penalty, to begin with.
        moved_links: What its surfaces are linked to, with where that was in the sample before.
    """

    fixed: FixedNodes
    springs: PointForces
    load: Floats
    potentials: tuple[LimitPotential, ...] = ()
    surface_potentials: tuple[AttachmentPotential, ...] = ()
    make_contact: ContactFactory | None = None
    penalty_factor: float = 1.0
    moved_links: tuple[MovedLinks, ...] = ()


@dataclass(frozen=True, eq=False)
class PoseEquilibrium:
    """How flesh came to rest.

    Attributes:
        x: Node positions [m], (n, 3).
        residual: Of the body that is farthest from rest.
        residuals: Of every body.
        converged: Whether all are within the tolerance.
        is_failed: Which bodies are not at rest or have tets inside out, (b,).
        inverted_tets: Tets inside out.
        newton_iterations, cg_iterations: Of all tries.
        contacts: Points that are pushed.
        max_depth: How deep one of them is left in something [m].
        next_penalty_factor: On the contact penalty, with which the next sample should begin.
    """

    x: Floats
    residual: float
    residuals: tuple[float, ...]
    converged: bool
    is_failed: Bools
    inverted_tets: int
    newton_iterations: int
    cg_iterations: int
    contacts: int
    max_depth: float
    next_penalty_factor: float = 1.0


@dataclass(frozen=True, eq=False)
class _Attempt:
    """Where one start led."""

    equilibrium: Equilibrium
    contacts: int = 0
    max_depth: float = 0.0
    next_penalty_factor: float = 1.0

    def is_clearly_better(self, other: _Attempt) -> bool:
        """Whether it came farther than another start, or ended in another equilibrium of lower energy."""
        found, before = self.equilibrium, other.equilibrium
        if found.converged != before.converged:
            return found.converged
        if min(found.inverted_tets, before.inverted_tets) < 0.5 * max(found.inverted_tets, before.inverted_tets):
            return found.inverted_tets < before.inverted_tets
        name = "energy" if found.converged else "residual"
        here, there = getattr(found, name), getattr(before, name)
        if not np.isfinite(here) or not np.isfinite(there):
            return bool(np.isfinite(here))
        return bool(here < there - MIN_RELATIVE_IMPROVEMENT * max(abs(here), abs(there)))


def solve_pose(
    flesh: FleshPart,
    model: Model,
    pose: PoseConditions,
    x: Floats,
    was_lost: Bools,
    settings: Settings,
    prediction: Floats | None = None,
    on_iteration: Callable[[Progress], None] = lambda progress: None,
) -> PoseEquilibrium:
    """Returns where flesh is at rest, or how far it came.

    Args:
        flesh: The bodies.
        model: Their model, with the rest shapes that hold now.
        pose: What is asked of them.
        x: Where they were in the sample before [m], (n, 3).
        was_lost: Which of them were not at rest there, or inside out, (b,).
        settings: Its `pose_tolerance` and `pose_iterations` are read.
        prediction: Where they would be if they went on as they moved before [m], (n, 3).
        on_iteration: Called before every Newton iteration; what it raises goes through.
    """
    model, is_crushed = relax_inverted_held_tets(model, pose.fixed)
    springs = [SpringForces(model, pose.springs, x)] if len(pose.springs) else []
    crushed = np.flatnonzero(is_crushed)
    limits_of_tets = [
        LimitForces(model, each.without(crushed) if len(crushed) else each, x) for each in pose.potentials
    ]
    links = [AttachmentForces(model, each) for each in pose.surface_potentials]
    problem = EquilibriumProblem(model, flesh.law, pose.fixed, pose.load, [*springs, *limits_of_tets, *links])
    limits = settings.pose_tolerance, settings.pose_iterations

    def tried(start: Floats, penalty_factor: float, other_starts: Sequence[Floats] = ()) -> _Attempt:
        if pose.make_contact is None:
            return _Attempt(solve(problem, start, *limits, on_iteration, other_starts=other_starts))
        touching = pose.make_contact(start)
        touching.penalty_factor = penalty_factor
        if start is not x:  # flesh is elsewhere than where it touched in the sample before
            touching.carried = None
        found = solve_in_contact(problem, start, touching, *limits, on_iteration, other_starts)
        contacts = touching.count(found.equilibrium.x)
        return _Attempt(found.equilibrium, contacts, found.max_depth, found.next_penalty_factor)

    best = tried(x, pose.penalty_factor, _other_starts(model, x, pose, prediction))
    tries, tolerance = [best], settings.pose_tolerance
    again = was_lost | _is_failed(
        model, best.equilibrium, _is_inverted(model, best.equilibrium.x) & ~is_crushed, tolerance
    )
    targets = _spring_targets(model, pose.springs, x)
    if again.any():
        near = best.equilibrium.x if np.isfinite(best.equilibrium.x).all() else x
        tries.append(tried(restart_from_rest(model, pose, targets, near, again), 1.0))
        best = tries[1] if tries[1].is_clearly_better(best) else best
    found = best.equilibrium
    is_inverted = _is_inverted(model, found.x)
    is_finite = bool(np.isfinite(found.x).all())  # the next sample has to begin somewhere
    return PoseEquilibrium(
        x=found.x if is_finite else restart_from_rest(model, pose, targets, x, np.ones_like(again)),
        residual=found.residual,
        residuals=found.residuals,
        converged=found.converged,
        is_failed=_is_failed(model, found, is_inverted & ~is_crushed, tolerance),
        inverted_tets=int(np.count_nonzero(is_inverted)),
        newton_iterations=sum(each.equilibrium.newton_iterations for each in tries),
        cg_iterations=sum(each.equilibrium.cg_iterations for each in tries),
        contacts=best.contacts,
        max_depth=best.max_depth,
        next_penalty_factor=best.next_penalty_factor,
    )


def _other_starts(model: Model, x: Floats, pose: PoseConditions, prediction: Floats | None) -> list[Floats]:
    """Returns where a solve may begin instead of at x [m], (n, 3): along with links, as it moved before, or half so."""
    linked = start_along_links(model, x, pose.fixed, pose.moved_links)
    starts = [] if linked is x else [linked]
    return starts if prediction is None else [*starts, prediction, 0.5 * (x + prediction)]


def restart_from_rest(model: Model, pose: PoseConditions, targets: Floats, x: Floats, which: Bools) -> Floats:
    """Returns x [m], (n, 3), with the rest shape of some bodies, moved rigidly as what holds them is on the whole.

    Springs count where they would rest. A body that nothing holds stays where it is.

    Args:
        model, pose: Of the solve.
        targets: Where its springs would rest [m], (k, 3).
        x: Where all nodes are.
        which: The bodies, (b,).
    """
    rest_points = pose.springs.positions(model.X, model.tets)
    moved = x.copy()
    for number in np.flatnonzero(which):
        body = model.bodies[number]
        own = _is_in_slice(pose.fixed.nodes, body.nodes)
        pulled = _is_in_slice(pose.springs.tet, body.tets)
        rest = np.concatenate([model.X[pose.fixed.nodes[own]], rest_points[pulled]])
        if len(rest):
            there = np.concatenate([pose.fixed.positions[own], targets[pulled]])
            moved[body.nodes] = align_rigidly(model.X[body.nodes], rest, there)
    return moved


def _spring_targets(model: Model, springs: PointForces, x: Floats) -> Floats:
    """Returns where springs that begin at x would rest [m], (k, 3)."""
    stiffness = np.maximum(np.trace(springs.stiffness, axis1=1, axis2=2) / 3.0, 1e-300)
    return springs.positions(x, model.tets) + springs.force / stiffness[:, None]


def _is_in_slice(numbers: Indices, places: slice) -> Bools:
    return (numbers >= places.start) & (numbers < places.stop)


def _is_inverted(model: Model, x: Floats) -> Bools:
    """Returns which tets are inside out, (m,)."""
    edges = x[model.tets[:, 1:]] - x[model.tets[:, :1]]
    return ~(np.einsum("mi,mi->m", edges[:, 0], np.cross(edges[:, 1], edges[:, 2])) > 0.0)


def _is_failed(model: Model, found: Equilibrium, is_inverted: Bools, tolerance: float) -> Bools:
    """Returns which bodies are not at rest, or have tets of those that are inverted, (b,)."""
    return np.array(
        [
            not residual <= tolerance or bool(is_inverted[body.tets].any())
            for residual, body in zip(found.residuals, model.bodies, strict=True)
        ]
    )
