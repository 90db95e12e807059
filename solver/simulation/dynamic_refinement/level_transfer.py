# SPDX-License-Identifier: GPL-3.0-or-later
"""How the nodes of a body go on when its tets are switched.

Where a tet becomes eight, new nodes are where they were within it, and move as they did there. Where eight become one,
the velocities V of its nodes are those for which Σ m |v − W V|² over the nodes before is least, W being the weights of
these in the large tet: momentum is kept, and kinetic energy can only fall. Its nodes stay where they are, or go to
where the same projection takes them, whichever stores less energy. New masses have the moments of those before
(`mass_moments.py`). What places that are not quite on a large tet change of the momenta is given back as a rigid
motion. If elastic energy has grown, the motion within the body is slowed down by as much; the energy of its rigid
motion cannot change, for it follows from the momenta and the moments of mass.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass

import numpy as np
from scipy.sparse import coo_matrix, csr_matrix, diags
from scipy.sparse.linalg import splu

from ...linalg.bound_nodes import BoundNodes
from ...mechanics.model import lumped_masses, rest_shape_inverses
from ...mesh.tet_levels import Keys, TetLevels
from ...mesh.tetrahedralize.leaf_tets import LeafTets
from ...runtime.arrays import Bools, Floats, floats
from .elastic_energy import ElasticBody, tet_energies
from .mass_moments import masses_with_moments, moments

PRIOR = 1.0e-10  # weight of the values before over that of the projection, where no mass decides
ROUND_OFF = 1.0e-14  # of energies
STRAIN_ROUND_OFF = 1.0e-12  # of strains
MIN_SLOWDOWN = 0.9  # factor on the motion within a body below which tets are not switched


@dataclass(frozen=True, eq=False)
class MovingNodes:
    """The n nodes of a body.

    Attributes:
        x, v: Positions [m] and velocities [m/s], (n, 3).
        mass: [kg], (n,).
    """

    x: Floats
    v: Floats
    mass: Floats

    @functools.cached_property
    def middle(self) -> Floats:
        """The centre of mass [m], (3,)."""
        return floats(self.mass @ self.x / self.mass.sum())

    def rigid_velocity(self, momentum: Floats, angular_momentum: Floats) -> Floats:
        """Returns the velocities [m/s], (n, 3), of the rigid motion with momenta about `middle` [kg m/s, kg m²/s]."""
        r = self.x - self.middle
        inertia = np.eye(3) * (self.mass @ np.einsum("ni,ni->n", r, r)) - (self.mass[:, None] * r).T @ r
        spin = np.linalg.lstsq(inertia, angular_momentum, rcond=1.0e-10)[0]
        return floats(momentum / self.mass.sum() + np.cross(spin, r))

    def momenta(self) -> tuple[Floats, Floats]:
        """Returns momentum [kg m/s] and angular momentum about `middle` [kg m²/s], (3,) each."""
        return floats(self.mass @ self.v), floats(self.mass @ np.cross(self.x - self.middle, self.v))

    def kinetic_energy(self, v: Floats) -> float:
        """Returns ½ Σ m v² [J] for velocities [m/s], (n, 3)."""
        return 0.5 * float(self.mass @ np.einsum("ni,ni->n", v, v))


@dataclass(frozen=True, eq=False)
class TetSwitch:
    """The tets of a body before and after they are switched.

    Attributes:
        levels: All c tets that it can have.
        before, now: The tets and nodes.
        was_split, is_split: Which are split before and now, (c,).
    """

    levels: TetLevels
    before: LeafTets
    now: LeafTets
    was_split: Bools
    is_split: Bools

    @functools.cached_property
    def bound(self) -> BoundNodes | None:
        """The nodes at T-junctions now; None: there are none."""
        own = self.now.filling.junctions
        return BoundNodes(own.nodes, own.start, own.parents, own.weights) if len(own) else None

    @property
    def merged(self) -> np.ndarray:
        """The tets that eight became one in, or more where levels are skipped, (k,)."""
        return np.flatnonzero(self.was_split & ~self.is_split & self.levels.is_reached(self.is_split))

    @functools.cached_property
    def place_now(self) -> np.ndarray:
        """The number now of each tet before, −1 where it is not there, (m,)."""
        return self.now.number_of_cells(len(self.is_split))[self.before.cell]

    @property
    def has_merges(self) -> bool:
        """Whether some tets are larger than before."""
        return bool((self.was_split & ~self.is_split).any())

    @functools.cached_property
    def sources(self) -> csr_matrix:
        """The weights of the nodes before at each node now, in the tet before that it is in or beside, (n', n)."""
        place, is_old = _places_among(self.now.points, self.before.points)
        new = np.flatnonzero(~is_old)
        cell = self._cells_before(new)
        tets = self.before.filling.tets[self.before.number_of_cells(len(self.is_split))[cell]]
        weights = self.levels.weights_in(cell, self.now.points[new])
        shape = len(self.now.points), len(self.before.points)
        return _sparse(np.flatnonzero(is_old), place[is_old], new, tets, weights, shape)

    def _cells_before(self, nodes: np.ndarray) -> np.ndarray:
        """Returns for some of the nodes now, (k,), a tet before that it is in, or the nearest in its tet now, (k,)."""
        tets, cells = self.now.filling.tets, self.before.cell
        above = self.levels.leaf_above(self.was_split)[self.now.cell]
        found = np.full(len(self.now.points), -1, np.int64)
        refined = np.flatnonzero(above >= 0)
        found[tets[refined].ravel()] = np.repeat(above[refined], 4)
        inside = self.levels.leaf_above(self.is_split)[cells]
        for node in nodes[found[nodes] < 0].tolist():  # corners of large tets that no small one had: a few
            smaller = cells[np.isin(inside, self.now.cell[(tets == node).any(axis=1)])]
            middle = self.levels.positions(self.levels.corners[smaller]).mean(axis=1)
            away = middle - self.levels.positions(self.now.points[node])
            found[node] = smaller[int(np.argmin(np.einsum("ki,ki->k", away, away)))]
        return found[nodes]

    @functools.cached_property
    def projection(self) -> csr_matrix:
        """W: the weights of the nodes now at each node before, of bound ones on what they hang on, (n, n').

        Corners of tets that have become smaller ones, none of which is there, have no weights.
        """
        place, is_kept = _places_among(self.before.points, self.now.points)
        inside = self.levels.leaf_above(self.is_split)[self.before.cell]
        order = np.argsort(inside, kind="stable")  # any that is in one now: these agree where they meet
        cell = np.full(len(self.before.points), -1, np.int64)
        cell[self.before.filling.tets[order].ravel()] = np.repeat(inside[order], 4)
        gone = np.flatnonzero(~is_kept & (cell >= 0))  # corners whose tets have no child there are in none
        tets = self.now.filling.tets[self.now.number_of_cells(len(self.is_split))[cell[gone]]]
        weights = self.levels.weights_in(cell[gone], self.before.points[gone])
        count = len(self.now.points)
        own = _sparse(np.flatnonzero(is_kept), place[is_kept], gone, tets, weights, (len(place), count))
        if self.bound is None:
            return own
        start, column, weight = self.bound.matrix_rows(count)
        return (own @ csr_matrix((weight, column, start), shape=(count, count))).tocsr()

    def project(self, values: Floats, mass: Floats) -> Floats:
        """Returns the values at the nodes now, (n', k), that are nearest to those before, (n, k), by masses [kg], (n,).

        Those of nodes that nothing but themselves have weights at stay what they are.
        """
        out, W = floats(self.sources @ values, len(self.now.points), -1), self.projection
        is_sum = (np.diff(W.indptr) > 1) & (mass > 0.0)
        some = np.unique(W[np.flatnonzero(is_sum)].indices)
        if len(some):
            part = W[:, some].tocsr()
            prior = PRIOR * mass.sum() / len(mass)
            system = (part.T @ diags(mass) @ part + prior * diags(np.ones(len(some)))).tocsc()
            right = part.T @ (mass[:, None] * values) + prior * out[some]
            out[some] = splu(system).solve(right)
        return self.with_bound_nodes(out)

    def carry(self, values: Floats) -> Floats:
        """Returns the values at the nodes now, (n', k), where tets have those before of their places, (n, k)."""
        return self.with_bound_nodes(floats(self.sources @ values, len(self.now.points), -1))

    def with_bound_nodes(self, values: Floats) -> Floats:
        """Returns values at the nodes now, (n', k), those of bound ones overwritten by what they hang on."""
        if self.bound is not None:
            self.bound.interpolate(values)
        return values


@dataclass(frozen=True, eq=False)
class SwitchedBody:
    """How a body goes on.

    Attributes:
        nodes: Its nodes now; None: they would gain energy.
        gains: Elastic energy of each tet that eight became one in, less what these stored [J], (k,).
    """

    nodes: MovingNodes | None
    gains: Floats


def go_on(switch: TetSwitch, before: MovingNodes, body: ElasticBody) -> SwitchedBody:
    """Returns how the nodes of a body go on with other tets."""
    x, gain, gains = switch.carry(before.x), 0.0, np.zeros(0)
    if switch.has_merges:  # what has only become smaller tets stores what it did
        places = [x, switch.project(before.x, before.mass)]
        found = [_energy_gains(switch, before.x, each, body) for each in places]
        best = int(np.argmin([total for total, _ in found]))
        x, (gain, gains) = places[best], found[best]
    inner_before = before.kinetic_energy(before.v - before.rigid_velocity(*before.momenta()))
    volume = before.mass.sum() / body.density
    noise = ROUND_OFF * before.kinetic_energy(before.v) + STRAIN_ROUND_OFF**2 * body.mu * volume
    allowed = inner_before - gain + noise
    if allowed <= MIN_SLOWDOWN**4 * inner_before:  # far from enough, whatever else changes
        return SwitchedBody(None, gains)
    size = float(np.sqrt(((before.x - before.middle) ** 2).sum(axis=1).mean()))
    wanted = moments(before.mass, before.x, before.middle, size)
    fitted = masses_with_moments(_own_masses(switch, body), x, wanted, before.middle, size)
    if fitted is None:
        return SwitchedBody(None, gains)
    now = MovingNodes(x, switch.project(before.v, before.mass), fitted)
    inner = floats(now.v - now.rigid_velocity(*now.momenta()))
    inner_now = now.kinetic_energy(inner)
    slowdown = 1.0 if inner_now <= allowed else float(np.sqrt(allowed / inner_now))
    if slowdown < MIN_SLOWDOWN:
        return SwitchedBody(None, gains)
    v = floats(now.rigid_velocity(*before.momenta()) + slowdown * inner)
    return SwitchedBody(MovingNodes(x, switch.with_bound_nodes(v), fitted), gains)


def _own_masses(switch: TetSwitch, body: ElasticBody) -> Floats:
    """Returns the masses at the nodes now as their tets have them [kg], (n',)."""
    nodes, tets, fill, _ = switch.now.filling
    volume = rest_shape_inverses(nodes, tets)[1] * fill
    mass = lumped_masses(tets, np.full(len(tets), body.density, np.float64), volume, len(nodes))
    if switch.bound is not None:
        column = mass[:, None]
        switch.bound.hand_down(column)
    return mass


def _energy_gains(switch: TetSwitch, before: Floats, now: Floats, body: ElasticBody) -> tuple[float, Floats]:
    """Returns the elastic energy that a body gains [J], and that within each of `switch.merged`, (k,).

    Args:
        switch: The tets.
        before, now: Places of the nodes [m].
        body: The body.
    """
    place = switch.place_now
    kept = np.flatnonzero(place >= 0)
    same = before[switch.before.filling.tets[kept]] == now[switch.now.filling.tets[place[kept]]]
    still = kept[same.all(axis=(1, 2))]
    was = np.setdiff1d(np.arange(len(switch.before.cell), dtype=np.int64), still)
    are = np.setdiff1d(np.arange(len(switch.now.cell), dtype=np.int64), place[still])
    lost, stored = tet_energies(body, switch.before, was, before), tet_energies(body, switch.now, are, now)
    gains = np.zeros(len(switch.is_split))
    np.add.at(gains, switch.now.cell[are], stored)
    inside = switch.levels.leaf_above(switch.is_split)[switch.before.cell[was]]
    np.subtract.at(gains, inside[inside >= 0], lost[inside >= 0])
    return float(stored.sum() - lost.sum()), floats(gains[switch.merged])


def _places_among(points: Keys, known: Keys) -> tuple[np.ndarray, Bools]:
    """Returns where points are among known ones, (k,), and which are among them, (k,)."""
    order = np.argsort(known, kind="stable")
    place = order[np.minimum(np.searchsorted(known, points, sorter=order), len(known) - 1)]
    return place, known[place] == points


def _sparse(
    rows: np.ndarray, columns: np.ndarray, sums: np.ndarray, nodes: np.ndarray, weights: Floats, shape: tuple[int, int]
) -> csr_matrix:
    """Returns a matrix with ones in some rows, and weights of four nodes, (k, 4), in the rows `sums`, (k,)."""
    row = np.concatenate([rows, np.repeat(sums, 4)])
    column = np.concatenate([columns, nodes.ravel().astype(np.int64)])
    weight = np.concatenate([np.ones(len(rows)), weights.ravel()])
    found = weight != 0.0
    return coo_matrix((weight[found], (row[found], column[found])), shape=shape).tocsr()
