# SPDX-License-Identifier: GPL-3.0-or-later
"""Joints in one step: what holds the coordinates of each within their limits at the end of it.

A coordinate q with the force −φ along it, where the last solve ended with q_n and straight displacements u_n, has in
the next solve

    φ = λ + k (q_n + n · (u − u_n) − q*),

with q* the limit that it is beyond, and λ the φ of the last solve: the method of multipliers, of which every solve is
one step, beside one of Newton's for the turns. So k only decides how fast the solves get there: of a gap, each leaves
the share of the inertia that resists closing it in the sum of that and k Δt². With a heavy load on light links that is
the inertia of the load, so k goes by the mass of all bodies. λ is remembered, and the next step begins with it. q_n is
that after the turns that end a step, which a solve sees as straight lines; the first solve of a step takes the turns
that bodies make if they go on as they are.

Springs and dampers of coordinates act by implicit Euler, with q as a solve sees it: they have no λ.

The force on one end is minus that on the other, and both act at one place, where the second frame is at the start of
the step; a torque is two such forces beside it. So momentum and angular momentum stay, whatever a solve has left.
A torque about n̂ by κ θ²/2, with θ = (r₊ − r₋) · d / 2h of relative motions r± at h e beside the place, d = n̂ × e, is a
sum of three pairs, since r₊ + r₋ = 2 r₀:

    κ / 4 h² ((r₊ · d)² + (r₋ · d)² − 2 (r₀ · d)²).

Source: Hestenes (1969) and Powell (1969), the method of multipliers; the scheme of Ryckaert, Ciccotti and
Berendsen (1977), whose constraint forces these are in the limit. Own derivation of the pairs.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import cached_property

import numpy as np

from ...mechanics.model import Model
from ...mechanics.state import State
from ...mechanics.state_fields import JOINT_LOAD_FIELD
from ...mesh.geometry.point_tet import barycentric_rows
from ...runtime.arrays import Bools, Floats, Indices, floats
from ...scene.joint import AXIS_COUNT, MOTOR_ROWS
from ..linear_forces import LinearForces
from ..pair_forces import PairForces
from ..point_forces import PointForces
from .geometric_stiffness import jointed_cores
from .joint_frame_kernels import write_row_values
from .joint_frames import JointEnd, coordinate_directions, coordinates
from .joint_place_kernels import (
    PLACE_COUNT,
    PlaceArrays,
    write_couples,
    write_place_forces,
    write_place_weights,
    write_relative_motions,
)

ROW_COUNT = AXIS_COUNT + len(MOTOR_ROWS)
COORDINATE_OF_ROW = np.array([*range(AXIS_COUNT), *MOTOR_ROWS], np.int32)
INERTIA_FACTOR = 500.0  # k over the inertia in a step of the lighter end, with the mass that it may carry
MAX_CARRIED_RATIO = 200.0  # that mass over its own; beyond it round-off would take from the momenta
MAX_GAP_RATIO = 1.0e-6  # error of a coordinate with which a step is content, over the size of the lighter end, or [rad]
LAST_STIFFENING_SOLVE = 1  # of a step whose loads tell how stiff the bodies are against turns
MAX_RELEASING_SOLVES = 8  # of a step after which no limit lets go
MAX_CLOSING_RATE = 20.0  # of what is out of its limits where a joint begins to act, by sizes or radians [1/s]


@dataclass(frozen=True, eq=False)
class JointRows:
    """What k joints ask for, a row for each coordinate and motor.

    Attributes:
        keys: Of the joints.
        first, second: Their ends.
        mass: Of the lighter end [kg], (k,).
        size: Its radius of gyration [m], (k,).
        lower, upper: Limits of the coordinates, (k, 6).
        motor_speed, motor_force: Rates [m/s, rad/s] and largest forces [N, N m], (k, 2).
        spring_stiffness, spring_damping: Of the coordinates [N/m, N m/rad] and [N s/m, N m s/rad], (k, 6).
    """

    keys: tuple[str, ...]
    first: JointEnd
    second: JointEnd
    mass: Floats
    size: Floats
    lower: Floats
    upper: Floats
    motor_speed: Floats
    motor_force: Floats
    spring_stiffness: Floats
    spring_damping: Floats

    def __len__(self) -> int:
        return len(self.keys)

    @cached_property
    def tet(self) -> Indices:
        """Tets of both ends, −1 where these are no bodies, (2, k)."""
        return np.stack([self.first.tet, self.second.tet])

    @cached_property
    def units(self) -> Floats:
        """Sizes of the rows [m, 1], (k, 8)."""
        units = np.ones((len(self), AXIS_COUNT))
        units[:, :3] = self.size[:, None]
        return floats(units[:, COORDINATE_OF_ROW])

    @cached_property
    def most(self) -> Floats:
        """Largest forces of the rows [N, N m], (k, 8)."""
        return np.concatenate([np.full((len(self), AXIS_COUNT), np.inf, float), self.motor_force], axis=1)

    @cached_property
    def is_motor_alone(self) -> Bools:
        """Which joints drive a turn and limit nothing, (k,)."""
        is_limited = (np.isfinite(self.lower) | np.isfinite(self.upper)).any(axis=1)
        return (self.motor_force[:, 1] > 0.0) & ~is_limited

    def selected(self, which: Bools) -> JointRows:
        """Returns the rows of some joints, (k,)."""
        keys = tuple(key for key, is_own in zip(self.keys, which, strict=True) if is_own)
        first, second = self.first.selected(which), self.second.selected(which)
        numbers = (each.name for each in fields(self) if each.name not in {"keys", "first", "second"})
        return JointRows(keys, first, second, *(getattr(self, name)[which] for name in numbers))


class JointStep:
    """The joints of a step.

    Attributes:
        forces: Theirs, linear, of the next solve.
        load: λ of the rows [N, N m], (k, 8).
        is_settled: Whether the last solve left no row too far from where it has to be.
    """

    def __init__(self, rows: JointRows, start: State, model: Model, dt: float, animated: Floats) -> None:
        """Begins a step.

        Args:
            rows: The joints that act in it.
            start: Where the step starts.
            model: The bodies.
            dt: Δt [s].
            animated: World [m] ← frame of ends that are no bodies, at the end of the step, (k, 4, 4).
        """
        tets = model.tets
        self.rows, self.tets, self.dt, self.animated = rows, tets, dt, animated
        self.motion: tuple[Floats, Floats] | None = None
        x = start.x
        first, second = rows.first.frames(x, tets, animated), rows.second.frames(x, tets, animated)
        q, self.start_turns = coordinates(first, second)
        self.start = q
        directions = coordinate_directions(first[1], q)
        # a motor alone drives the turn about the axis itself, which no angles of it make singular
        directions[rows.is_motor_alone, MOTOR_ROWS[1]] = first[1][rows.is_motor_alone, :, 0]
        self.places = _places(rows, directions, second[0], x, tets)
        self.cores = jointed_cores(model, (rows.first, rows.second), second[0], x, dt)
        carried = rows.mass * np.clip(model.mass.sum() / rows.mass, 1.0, MAX_CARRIED_RATIO)
        inertia = carried[:, None] * (rows.size[:, None] / rows.units) ** 2
        self.stiffness = INERTIA_FACTOR * inertia / dt**2
        self.low, self.high = self._limits()
        known = [start.fields.get(JOINT_LOAD_FIELD.format(key=key)) for key in rows.keys]
        self.load = np.stack([np.zeros(ROW_COUNT) if each is None else each[:ROW_COUNT] for each in known])
        self.spring_stiffness = rows.spring_stiffness + rows.spring_damping / dt
        self.spring_load = rows.spring_stiffness * q
        self.solves, self.is_settled = 0, True
        values = self._row_values(q, self.start_turns)
        self._begin_modes(values)
        straight, turned = self.cores.coasted(start)
        self._linearise(self._values_at(turned), self._relative_motion(straight))

    def take_motion(self, straight_v: Floats, x: Floats) -> None:
        """Takes the velocities along straight lines that a solve gave [m/s], and where nodes are after turns [m]."""
        self.motion = straight_v, x

    def update(self, v: Floats, x: Floats) -> bool:
        """Takes the end of a solve; returns whether another one has to follow.

        Args:
            v, x: Velocities [m/s] and places [m] of nodes, (n, 3) each, where no motion was taken.
        """
        (straight_v, x), self.motion = self.motion or (v, x), None
        values = self._values_at(x)
        self.solves += 1
        moved = self._relative_motion(self.dt * straight_v)
        error = np.maximum(self._take_modes(values, moved).max(), self._take_springs(values, moved).max())
        self._linearise(values, moved)
        self.is_settled = bool(error <= MAX_GAP_RATIO)
        return not self.is_settled

    def final_forces(self) -> LinearForces:
        """Returns the forces with which the step ended, without stiffness."""
        return self._forces(self._with_springs(self.load, self.spring_load), np.zeros((len(self.rows), ROW_COUNT)))

    def remember(self, state: State) -> None:
        """Writes the loads into the fields of the state at the end of the step."""
        for key, load, spring in zip(self.rows.keys, self.load, self.spring_load, strict=True):
            state.fields[JOINT_LOAD_FIELD.format(key=key)] = np.concatenate([load, spring])

    def _values_at(self, x: Floats) -> Floats:
        """Returns the row values where nodes are at x [m], (n, 3), (k, 8)."""
        rows, tets, animated = self.rows, self.tets, self.animated
        first, second = rows.first.frames(x, tets, animated), rows.second.frames(x, tets, animated)
        return self._row_values(*coordinates(first, second))

    def _limits(self) -> tuple[Floats, Floats]:
        """Returns limits of the rows; what is far out of them comes back at a limited rate."""
        rows, cap = self.rows, MAX_CLOSING_RATE * self.dt * self.rows.units[:, :AXIS_COUNT]
        low = np.minimum(rows.lower, self.start + cap)
        high = np.maximum(rows.upper, self.start - cap)
        wanted = rows.motor_speed * self.dt
        return np.concatenate([low, wanted], axis=1), np.concatenate([high, wanted], axis=1)

    def _row_values(self, q: Floats, turns: Floats) -> Floats:
        """Returns the coordinates, and how far those with motors have come in the step, (k, 8)."""
        values = np.empty((len(q), ROW_COUNT))
        write_row_values(q, turns, self.start, self.start_turns, values)
        return values

    def _begin_modes(self, values: Floats) -> None:
        """Chooses which rows are stiff in the first solve, and the values that they are drawn to, both (k, 8)."""
        pushes_high = np.where(self.load != 0.0, self.load > 0.0, values > self.high)
        self.goal = np.where(pushes_high | (self.low == self.high), self.high, self.low)
        self.goal[~np.isfinite(self.goal)] = 0.0  # of free rows, which are never stiff
        is_beyond = (values > self.high) | (values < self.low) | (self.load != 0.0)
        self.is_stiff = (is_beyond | (self.low == self.high)) & (np.abs(self.load) < self.rows.most)

    def _take_modes(self, values: Floats, moved: Floats) -> Floats:
        """Finds λ after a solve that ended with row values and relative motions, (k, 8), and which rows stay stiff.

        Force limits and signs are compared with the force that the solve gave: in λ there is k times how far turns are
        from straight lines. A row that begins to hold does so with the λ that it has; what it needs is found by the
        solve. A limit that pulls lets go, and a motor that needs more than it has gives what it has.

        Returns:
            By how much rows were wrong, in their units, (k, 8).
        """
        before, was_stiff = self.load, self.is_stiff
        is_equal = self.low == self.high
        wanted = before + self.stiffness * (values - self.goal)
        given = before + self.stiffness * (self.offset + moved - self.goal)
        is_high = self.goal == self.high
        pulls = was_stiff & ~is_equal & np.where(is_high, given < 0.0, given > 0.0)
        if self.solves > MAX_RELEASING_SOLVES:
            pulls[:] = False
        is_weak = was_stiff & (np.abs(given) >= self.rows.most)
        recovers = ~was_stiff & (self.rows.most > 0.0) & is_equal & (np.sign(before) * wanted < self.rows.most)
        margin = MAX_GAP_RATIO * self.rows.units
        begins = ~was_stiff & ~is_equal & ((values > self.high + margin) | (values < self.low - margin))
        self.load = np.where(was_stiff, given, before)
        self.load[is_weak] = np.clip(given, -self.rows.most, self.rows.most)[is_weak]
        self.load[pulls] = 0.0
        self.goal = np.where(begins, np.where(values > self.high, self.high, self.low), self.goal)
        self.is_stiff = (was_stiff & ~pulls & ~is_weak) | recovers | begins
        error = np.where(was_stiff, np.abs(values - self.goal) / self.rows.units, 0.0)
        error[recovers | begins | pulls | is_weak] = np.inf
        return floats(error)

    def _take_springs(self, values: Floats, moved: Floats) -> Floats:
        """Finds what springs gave in a solve that ended with row values and relative motions, (k, 8).

        Returns:
            How far they were from where the solve saw them, in units, as far as that counts beside inertia, (k, 6).
        """
        seen = (self.offset + moved)[:, :AXIS_COUNT]
        self.spring_load = self._spring_forces(seen)
        inertia = self.stiffness[:, :AXIS_COUNT] / INERTIA_FACTOR
        counts = np.minimum(self.spring_stiffness / inertia, 1.0)
        return floats(counts * np.abs(values[:, :AXIS_COUNT] - seen) / self.rows.units[:, :AXIS_COUNT])

    def _spring_forces(self, q: Floats) -> Floats:
        """Returns the forces of springs for coordinates at the end of the step, by implicit Euler, (k, 6)."""
        return floats(self.spring_stiffness * q - self.rows.spring_damping / self.dt * self.start)

    def _with_springs(self, rows: Floats, springs: Floats) -> Floats:
        """Returns values of rows, (k, 8), with those of springs, (k, 6)."""
        out = rows.copy()
        out[:, :AXIS_COUNT] += springs
        return out

    def _linearise(self, values: Floats, moved: Floats) -> None:
        """Sets the forces of the next solve, about row values and relative motions of the last one, (k, 8) each."""
        self.offset = values - moved
        gap = np.where(self.is_stiff, self.offset - self.goal, 0.0)
        stiffness = np.where(self.is_stiff, self.stiffness, 0.0)
        if self.solves <= LAST_STIFFENING_SOLVE:
            self.turning = LinearForces(points=self.cores.forces(self._pull()))
        springs = self._spring_forces(self.offset[:, :AXIS_COUNT])
        forces = self._forces(
            self._with_springs(self.load + stiffness * gap, springs),
            self._with_springs(stiffness, self.spring_stiffness),
        )
        self.forces = LinearForces.concatenate(forces, self.turning)

    def _pull(self) -> Floats:
        """Returns the forces on the second ends, of the loads [N], (k, 3)."""
        along = _per_coordinate(self._with_springs(self.load, self.spring_load))[:, :3]
        return floats(-np.einsum("kr,kri->ki", along, self.places.directions[:, :3]))

    def _relative_motion(self, displacement: Floats) -> Floats:
        """Returns n · u of the rows for displacements of all nodes along straight lines [m], (n, 3), (k, 8)."""
        along = np.empty((len(self.rows), AXIS_COUNT))
        write_relative_motions(self.places, displacement, self.tets, along)
        return np.take(along, COORDINATE_OF_ROW, axis=1)

    def _forces(self, phi: Floats, stiffness: Floats) -> LinearForces:
        """Returns φ and k of the rows, (k, 8) each, as forces at the places."""
        shape = (PLACE_COUNT, len(self.rows))
        force, matrix, acts = np.empty((*shape, 3)), np.empty((*shape, 3, 3)), np.empty(shape, bool)
        write_place_forces(self.places, _per_coordinate(phi), _per_coordinate(stiffness), force, matrix, acts)
        return self._as_linear_forces(force, matrix, acts)

    def _as_linear_forces(self, force: Floats, matrix: Floats, acts: Bools) -> LinearForces:
        """Returns what acts at the places, (7, k), as forces on bodies."""
        first, second = self.rows.first, self.rows.second
        (first_weights, second_weights), pairs, points = self.places.weights, PairForces(), []
        place, joint = np.nonzero(acts & (first.is_body & second.is_body))
        if len(place):
            pairs = PairForces(
                second.tet[joint], second_weights[place, joint], first.tet[joint], first_weights[place, joint],
                force[place, joint], matrix[place, joint],
            )  # fmt: skip
        for end, other, weights, sign in ((first, second, first_weights, -1.0), (second, first, second_weights, 1.0)):
            is_alone = end.is_body & ~other.is_body
            if not is_alone.any():
                continue
            place, joint = np.nonzero(acts & is_alone)
            if len(place):
                own = matrix[place, joint]
                points.append(
                    PointForces(
                        end.tet[joint], weights[place, joint], sign * force[place, joint], own, np.zeros_like(own)
                    )
                )
        return LinearForces(points=PointForces.concatenate(*points), pairs=pairs)


def _places(rows: JointRows, directions: Floats, origins: Floats, x: Floats, tets: Indices) -> PlaceArrays:
    """Returns where forces act: at the second frames' origins [m], (k, 3), and beside them.

    Args:
        rows: Of the joints.
        directions: n of the coordinates, (k, 6, 3).
        origins: There.
        x, tets: Where nodes are [m], (n, 3), and those of the tets.
    """
    count = len(rows)
    turn_size, beside, couple = np.empty((count, 3)), np.empty((count, 3, 3)), np.empty((count, 3, 3))
    write_couples(directions, beside, turn_size, couple)
    inverse_edges = barycentric_rows(x, tets[rows.tet.ravel()])[0].reshape(2, count, 3, 3)
    weights = np.empty((2, PLACE_COUNT, count, 4))
    for end in range(2):
        write_place_weights(rows.tet[end], x, tets, inverse_edges[end], origins, beside, rows.size, weights[end])
    return PlaceArrays(rows.tet, weights, directions, turn_size, couple, rows.size)


def _per_coordinate(values: Floats) -> Floats:
    """Returns sums of rows, (k, 8), for each coordinate, (k, 6): motors act along with limits."""
    out = values[:, :AXIS_COUNT].copy()
    out[:, MOTOR_ROWS] += values[:, AXIS_COUNT:]
    return out


def force_along(load: Floats) -> Floats:
    """Returns the force along the axes of a joint [N], (3,), of what a step remembers of it, (14,)."""
    along = load[:3] + load[ROW_COUNT : ROW_COUNT + 3]
    along[0] += load[AXIS_COUNT]
    return floats(along)
