# SPDX-License-Identifier: GPL-3.0-or-later
"""The iterates of Newton's method in a step whose surfaces never intersect (`exact_contact_step.py`)."""

from __future__ import annotations

import numpy as np

from ...constraints.rigid_core import LinearSystem
from ...contact.exact.conservative_advancement import limit_motion
from ...contact.exact.contact_potential import PairStencils, contact_energy, count_close, least_gap_share
from ...contact.exact.excluded_features import ExcludedFeatures
from ...contact.exact.friction import (
    FrictionPairs,
    PairForces,
    RememberedShear,
    friction_energy,
    friction_pairs,
    pair_forces,
    remember_shear,
)
from ...contact.exact.pair_search import PairSearch
from ...linalg.stencil_stiffness_assembly import add_stencil_gradients, add_stencil_hessians, stencil_blocks
from ...runtime.arrays import Floats
from ...scene.scene import Settings
from ..system.solve_system import solve_system
from .bound_surfaces import BoundSurfaces, PrescribedMotion
from .core_axes import CoreAxes
from .exact_contact_options import ExactContactOptions
from .free_motion import FreeMotion
from .incremental_potential import IncrementalPotential
from .pair_terms import contact_terms, friction_terms
from .pinched_contacts import blocking_features, features_not_parted, limited_features, squeezed_bodies
from .straight_way import StraightWay

MAX_HALVINGS = 40  # of a direction, until the potential falls
FREE_SHARE = 0.9  # of what pairs let a way go, to which it is taken anew
ROUND_OFF = 1.0e-13  # of the potential: what it may rise by rounding
NEGLIGIBLE_SHARE = 1.0e-4  # of ½ M (tolerance)²: what it may rise besides, where it is next to nothing
LINEAR_TOLERANCE = 1.0e-2  # relative residual of the linear solves: the next iteration makes up for the rest
LINEAR_TOLERANCE_OF_POSES = 1.0e-4  # the same where no inertia holds soft directions
NORM_FLOOR = 1.0e-300
WAITING_SHARE = 0.02  # of the gap: colliders wait while surfaces are closer
MARGIN_SHARE = 1.0  # of the gap: how far vertices may leave the paths of a search until pairs are picked out anew
WIDE_MARGIN_SHARE = 8.0  # of the gap: how much farther until trees are searched again
LET_IN_GROWTH = 2.0  # of WAITING_SHARE each time that they are let in, so that a step does so only a few times
PARTED_SHARE = 0.25  # of the gap: distance from which on what was let in is kept apart again
UNDER_WAY_SHARE = 0.5  # of the gap: motion of an iteration that brings a long way nearer to its end
ARRIVED = 1.0 - 1.0e-9  # share of the way from which on the last bit is rounding


class ExactContactStep:
    """The iterates of one step.

    Attributes:
        x: Nodes [m], (n, 3).
        collider: Vertices of colliders [m], (v, 3).
        arrival: How far these, held nodes and axes of cores got.
        waits: Whether they wait.
        is_under_way: Whether pairs limited the last iteration, and it moved something by a good part of the gap.
        friction: What rubs.
        let_in: How many features were excluded.
    """

    def __init__(
        self,
        potential: IncrementalPotential,
        surfaces: BoundSurfaces,
        motion: PrescribedMotion,
        options: ExactContactOptions,
        settings: Settings,
        remembered: RememberedShear,
        excluded: ExcludedFeatures,
    ) -> None:
        """Begins where the step does, with what pairs remember of the step before, and what is not kept apart."""
        self.potential, self.surfaces, self.motion = potential, surfaces, motion
        self.options, self.settings = options, settings
        self.x, self.collider = potential.x0.copy(), motion.start.copy()
        self._axes = CoreAxes.of_model(potential.model)
        self.arrival = 1.0 if motion.is_still(self.x, surfaces.tet < 0) and self._axes.is_still else 0.0
        self.linear_iterations, self.residual, self.waits, self.remembered = 0, 0.0, False, remembered
        self.is_under_way = False
        self._start, self._was_cut = surfaces.positions(self.x, self.collider), False
        gap, narrow, wide = (share * options.barrier.gap for share in (1.0, MARGIN_SHARE, WIDE_MARGIN_SHARE))
        x_free = np.where(motion.is_fixed[:, None], motion.target, self.x + potential.free_fall)
        likely = self._start, surfaces.positions(x_free, motion.end)
        self._search = PairSearch(surfaces.mesh, gap, narrow, excluded, self._start, wide_margin=wide, expected=likely)
        self.let_in, self._let_in_share = 0, WAITING_SHARE
        if potential.free is not None and potential.has_rigid_bodies:
            self._move_free_bodies(potential.free)
        self.friction: FrictionPairs
        self.lag_friction()

    def iterate(self) -> float:
        """Does an iteration and returns how far its direction goes [m]."""
        d, collider_motion = self._direction()
        whole = way = self._way(1.0, d, collider_motion)
        limit, step, turns = whole.limit, whole.limit, self.potential.has_rigid_bodies
        if turns and limit < 1.0:  # along another chord
            way = self._turned_way(limit, d, collider_motion)
            step = way.limit
        for _ in range(MAX_HALVINGS):
            if self._falls(step, way):
                break
            limit, step = 0.5 * limit, 0.5 * step
            if turns:
                way = self._turned_way(limit, d, collider_motion)
                step = way.limit
        else:
            step = 0.0
        self._was_cut = step * way.share < whole.limit
        self.is_under_way = whole.limit < 1.0 and step * way.length >= UNDER_WAY_SHARE * self.options.barrier.gap
        self.x = self.x + step * way.nodes
        self.collider = self.collider + step * way.collider
        if self._moves_prescribed:
            self.arrival = self._arrival_after(step * way.share)
        if self.arrival < 1.0:
            y = self._vertices()
            nearest = min(least_gap_share(group, y, self.options.barrier) for group in way.groups)
            self.waits = nearest < WAITING_SHARE
        return whole.length

    def _way(self, share: float, d: Floats, collider_motion: Floats) -> StraightWay:
        """Returns the straight way to a share of a direction of nodes, (n, 3), and of that of colliders, (v, 3) [m]."""
        d, collider_motion = share * d, share * collider_motion
        arrival = self._arrival_after(share) if self._moves_prescribed else self.arrival
        prescribed = self._axes.carried(self.x, self.arrival, arrival) - self.x
        prescribed[self.motion.is_fixed] = d[self.motion.is_fixed]
        if self.potential.free is not None:
            d = self.potential.free.turned(self.x, d)
        d = self._axes.turned(self.x, d, self.arrival, arrival)
        y = self._vertices()
        y_end = self.surfaces.positions(self.x + d, self.collider + collider_motion)
        groups, limit = self._search.pairs(y, y_end), 1.0
        for group in groups:
            limit = self._limit(group, y, y_end - y, limit)
        length = float(np.abs(y_end - y).max(initial=np.abs(d).max()))
        return StraightWay(d, collider_motion, prescribed, groups, limit, share, length)

    def _arrival_after(self, share: float) -> float:
        """Returns how far what is told to move has got after a share of what is left of its way."""
        arrival = self.arrival + share * (1.0 - self.arrival)
        return 1.0 if arrival > ARRIVED else arrival

    def _turned_way(self, share: float, d: Floats, collider_motion: Floats) -> StraightWay:
        """Returns the straight way to a share of a direction, as `_way`; a smaller one that is free where cores turn.

        At a share of a straight way a core that turns would be smaller than it is.
        """
        way = self._way(share, d, collider_motion)
        if self.potential.has_cores:
            for _ in range(MAX_HALVINGS):
                if way.limit == 1.0:
                    return way
                share *= FREE_SHARE * way.limit
                way = self._way(share, d, collider_motion)
        return way

    def _limit(self, group: PairStencils, y: Floats, motion: Floats, limit: float) -> float:
        """Returns how far of a motion of vertices at y [m], (v, 3) each, pairs let it go, at most `limit`."""
        kind, vertices, thickness = group.kind, group.vertices, group.thickness
        return float(limit_motion(kind, vertices, thickness, y, motion, self.options.safe, limit))

    def _move_free_bodies(self, free: FreeMotion) -> None:
        """Moves rigid bodies whose free motion and fall bring them near to nothing there."""
        way, own = np.zeros_like(self.x), free.bodies.nodes
        way[own] = free.way[own] + self.potential.fall[own]
        y = self._vertices()
        groups = self._search.pairs(y, self.surfaces.positions(self.x + way, self.collider))
        nodes = self.surfaces.nodes[np.concatenate([group.vertices.ravel() for group in groups])]
        way[nodes[nodes >= 0]] = 0.0
        self.x = self.x + way

    def lag_friction(self) -> None:
        """Takes the forces of friction anew."""
        y, surfaces = self._vertices(), self.surfaces
        self.friction = friction_pairs(
            self._search.pairs(y, y), y, self.options.barrier, surfaces.friction, surfaces.mesh.surface, self.remembered
        )

    def let_colliders_in(self) -> None:
        """Excludes what keeps colliders and held nodes from going on, farther around it each time.

        What has a thickness gives that up first.
        """
        y, y_end, is_collider = self._vertices(), self._prescribed_end(), self.surfaces.tet < 0
        groups = self._search.pairs(y, y_end)
        share, self._let_in_share = self._let_in_share, LET_IN_GROWTH * self._let_in_share
        how, mesh = self.options.barrier, self.surfaces.mesh
        features = blocking_features(mesh, groups, y, y_end, is_collider, how, share)
        if not self._gives_up_thickness(features):
            self._exclude(features)

    def force_arrival(self) -> None:
        """Moves colliders, held nodes and axes to where they end, and excludes all that they would hit on the way."""
        y, y_end, mesh, safe = self._vertices(), self._prescribed_end(), self.surfaces.mesh, self.options.safe
        features = limited_features(mesh, self._search.pairs(y, y_end), y, y_end, safe)
        if self._gives_up_thickness(features):
            features = limited_features(mesh, self._search.pairs(y, y_end), y, y_end, safe)
        self.x = self._prescribed_nodes()
        self.collider = np.where(self.surfaces.tet[:, None] < 0, self.motion.end, self.collider)
        self.arrival = 1.0
        self._exclude(features)

    def excluded_at_end(self) -> ExcludedFeatures:
        """Returns what is not kept apart in the next step."""
        mesh, how = self.surfaces.mesh, self.options.barrier
        return features_not_parted(mesh, self._search, self._vertices(), how, PARTED_SHARE)

    def _vertices(self) -> Floats:
        return self.surfaces.positions(self.x, self.collider)

    def _prescribed_end(self) -> Floats:
        """Returns vertices where colliders and held nodes have arrived and all else is as it is [m], (v, 3)."""
        return self.surfaces.positions(self._prescribed_nodes(), self.motion.end)

    def _prescribed_nodes(self) -> Floats:
        """Returns nodes where held ones and axes of cores have arrived and all else is as it is [m], (n, 3)."""
        carried = self._axes.carried(self.x, self.arrival, 1.0)
        return np.where(self.motion.is_fixed[:, None], self.motion.target, carried)

    def _gives_up_thickness(self, features: ExcludedFeatures) -> bool:
        """Whether bodies that some features are of, or others near to these, had a thickness, which they give up."""
        y, surfaces = self._vertices(), self.surfaces
        squeezed = squeezed_bodies(surfaces.mesh, self._search.pairs(y, y), features, surfaces.tet < 0)
        had_some = self._search.give_up_thickness(squeezed[:, None] | squeezed)
        if had_some:
            self.waits = False
            self.lag_friction()
        return had_some

    def _exclude(self, features: ExcludedFeatures) -> None:
        self.let_in, self.waits = self.let_in + len(features), False
        self._search.exclude(features)
        self.lag_friction()

    def lets_surfaces_yield(self) -> bool:
        """Lets what pairs push too hard give way; returns whether something did."""
        assert self.options.yielding is not None
        now = self.options.yielding.yielded(self.surfaces, self._search, self.x, self.collider)
        if now is None:
            return False
        self.surfaces = now
        self._start = now.positions(self.potential.x0, self.motion.start)  # what yields does not slide
        self.lag_friction()
        return True

    def shear(self) -> RememberedShear:
        """Returns what pairs remember if the step ends here."""
        return remember_shear(self.friction, self._vertices() - self._start)

    def pair_forces(self) -> PairForces:
        """Returns what pairs push with."""
        y = self._vertices()
        return pair_forces(self._search.pairs(y, y), y, self.options.barrier, self.friction, y - self._start)

    @property
    def _moves_prescribed(self) -> bool:
        """Whether colliders and held nodes go on in this iteration."""
        return self.arrival < 1.0 and not self.waits

    def contact_groups(self) -> tuple[PairStencils, PairStencils]:
        """Returns pairs, all within the gap among them."""
        y = self._vertices()
        return self._search.pairs(y, y)

    def pair_count(self) -> int:
        """Returns how many pairs are within the gap."""
        y = self._vertices()
        return sum(int(count_close(group, y, self.options.barrier.gap)) for group in self._search.pairs(y, y))

    def _direction(self) -> tuple[Floats, Floats]:
        """Returns the Newton direction of nodes, (n, 3), and what is left of the way of colliders, (v, 3) [m]."""
        dt, workspace = self.potential.dt, self.potential.workspace
        model = self._axes.model_between(self.arrival, 1.0 if self._moves_prescribed else self.arrival)
        left = self.motion.end - self.collider if self._moves_prescribed else np.zeros_like(self.collider)
        left[self.surfaces.tet >= 0] = 0.0
        gradient, values = self.potential.derivatives(self.x)
        y = self._vertices()
        parts = [contact_terms(group, y, left, self.options.barrier) for group in self.contact_groups()]
        parts.append(friction_terms(self.friction, y - self._start, self._was_cut, left))
        links, stencils = self.potential.link_stencils, np.concatenate([part.vertices for part in parts])
        slopes = np.concatenate([*(part.gradient for part in parts), links.gradient])
        hessian = np.concatenate([*(part.hessian for part in parts), links.hessian])
        tets = np.concatenate([self.surfaces.tet[stencils], links.tets])
        weights = np.concatenate([self.surfaces.weights[stencils], links.weights])
        blocks = stencil_blocks(self.potential.pattern, values, model.tets, tets, workspace.pair_patterns)
        matrix = blocks.pattern, blocks.values
        add_stencil_hessians(
            dt * dt, tets, weights, hessian, blocks.place, model.tets, matrix[0].corner_block, blocks.added, matrix[1]
        )
        add_stencil_gradients(dt * dt, tets, weights, slopes, model.tets, gradient)
        d, is_free = np.zeros_like(self.x), ~self.motion.is_fixed
        if self._moves_prescribed:
            d[self.motion.is_fixed] = (self.motion.target - self.x)[self.motion.is_fixed]
        system = LinearSystem(
            pattern=matrix[0],
            values=matrix[1],
            b=-gradient,
            is_free=is_free,
            v=d,
            x=self.x,
            X=model.X,
            is_unsymmetric=None,
            tolerance=LINEAR_TOLERANCE_OF_POSES if self.potential.has_posed_bodies else LINEAR_TOLERANCE,
            norm_floor=np.full(model.pattern.island_count, NORM_FLOOR, np.float64),
            initial_direction=None,
        )
        solved = solve_system(model, system, self.settings, workspace, multigrid_levels=workspace.multigrid_levels)
        self.linear_iterations += solved.iterations
        self.residual = solved.residual
        return d, left

    def _falls(self, step: float, way: StraightWay) -> bool:
        """Returns whether the potential falls along a share of a way.

        What is told to move does work, so the potential is compared with that where only this has moved. That is
        without bounds where this would run into bodies.
        """
        if self._moves_prescribed and step > self._prescribed_limit(way):
            return np.isfinite(self._value(self.x + step * way.nodes, self.collider + step * way.collider, way.groups))
        mass = float(self.potential.model.mass.sum())
        negligible = NEGLIGIBLE_SHARE * 0.5 * mass * self.options.tolerance**2
        collider = self.collider + step * way.collider
        before = self._value(self.x + step * way.prescribed, collider, way.groups)
        after = self._value(self.x + step * way.nodes, collider, way.groups)
        return after <= before + ROUND_OFF * abs(before) + negligible

    def _prescribed_limit(self, way: StraightWay) -> float:
        """Returns how far of a way what is told to move may go by itself."""
        y, limit = self._vertices(), 1.0
        motion = self.surfaces.positions(self.x + way.prescribed, self.collider + way.collider) - y
        for group in way.groups:
            limit = self._limit(group, y, motion, limit)
        return limit

    def _value(self, x: Floats, collider: Floats, groups: tuple[PairStencils, ...]) -> float:
        """Returns the whole potential [J s²]."""
        y = self.surfaces.positions(x, collider)
        contact = sum(contact_energy(group, y, self.options.barrier) for group in groups)
        if not np.isfinite(contact):
            return np.inf
        contact += friction_energy(self.friction, y - self._start)
        return self.potential.value(x) + self.potential.dt**2 * contact
