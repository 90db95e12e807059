# SPDX-License-Identifier: GPL-3.0-or-later
"""Coulomb friction of pairs with a shear that is remembered from step to step, so that nothing creeps that sticks.

A pair with the normal force N is sheared by s = s0 + (I − n nᵀ) Σ wᵢ (yᵢ − yᵢ⁰): what it remembers, and how far its
closest points have moved past each other in the step. Up to κ ‖s‖ = μ N it is a spring, beyond that it slides:

    ½ κ ‖s‖²  or  μ N ‖s‖ − (μ N)² / 2κ

N, n and w are those of an earlier iterate, so that this is a potential. After the step, the shear that it remembers is
at most μ N / κ. A law that is smoothed by the speed, as that of Li et al. (2020), creeps at half of the cone.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ...mechanics.state import State
from ...mechanics.state_fields import EXACT_PAIR_FIELD, EXACT_SHEAR_FIELD
from ...runtime.arrays import Floats, Indices, floats
from ...runtime.jit import kernel
from .barriers import barrier
from .closest_features import ClosestPoints
from .conservative_advancement import EDGE_EDGE
from .contact_potential import ContactBarrier, PairStencils, find_closest, pair_gap
from .edge_edge_mollifier import edge_cross_squared, mollifier
from .squared_distance import separation, squared_distance

KEY = np.dtype([("first", np.int64), ("second", np.int64)])


class FrictionPairs(NamedTuple):
    """Pairs that rub, k of them.

    Attributes:
        vertices: (k, 4).
        weights: w of the closest points, (k, 4).
        normal: n, (k, 3).
        limit: μ N [N], (k,).
        stiffness: κ [N/m], (k,).
        shear: s0 [m], (k, 3).
    """

    vertices: Indices
    weights: Floats
    normal: Floats
    limit: Floats
    stiffness: Floats
    shear: Floats


class PairForces(NamedTuple):
    """What pairs push with, k of them; the first side of a pair is its point, or its first edge.

    Attributes:
        kind: `POINT_TRIANGLE` or `EDGE_EDGE` of each, (k,).
        vertices, weights: As in `FrictionPairs`.
        normal: Towards the first side, (k, 3).
        force: On the first side, friction included [N], (k, 3).
    """

    kind: Indices
    vertices: Indices
    weights: Floats
    normal: Floats
    force: Floats


@dataclass(frozen=True, eq=False)
class RememberedShear:
    """Shear of pairs at the end of a step.

    Attributes:
        key: Of the vertices of each pair, rising, (k,).
        shear: [m], (k, 3).
    """

    key: npt.NDArray = field(default_factory=lambda: np.zeros(0, KEY))
    shear: Floats = field(default_factory=lambda: np.zeros((0, 3)))

    @staticmethod
    def from_state(state: State) -> RememberedShear:
        """Returns what `to_state` has stored; nothing if it has not."""
        if EXACT_PAIR_FIELD not in state.fields:
            return RememberedShear()
        numbers: npt.NDArray = np.asarray(state.fields[EXACT_PAIR_FIELD], np.int64)
        key = np.empty(len(numbers), KEY)
        key["first"], key["second"] = numbers[:, 0], numbers[:, 1]
        return RememberedShear(key, floats(state.fields[EXACT_SHEAR_FIELD], -1, 3))

    def to_state(self, state: State) -> None:
        """Stores it in the fields of a state."""
        state.fields[EXACT_PAIR_FIELD] = np.stack([self.key["first"], self.key["second"]], axis=1)
        state.fields[EXACT_SHEAR_FIELD] = self.shear

    def renumbered(self, number: Indices) -> RememberedShear:
        """Returns the same of vertices that have these numbers now, rising, or −1 where there are none, (n,)."""
        half = np.int64(0xFFFFFFFF)
        first, second = self.key["first"], self.key["second"]
        vertices = np.stack([first >> 32, first & half, second >> 32, second & half], axis=1)
        now = number[vertices]
        stays = (now >= 0).all(axis=1)
        keys, shear = _keys(now[stays]), self.shear[stays]
        order = np.argsort(keys, order=("first", "second"))
        return RememberedShear(keys[order], shear[order])

    def of(self, vertices: Indices) -> Floats:
        """Returns the shear of pairs of four vertices, (k, 4), zero for those that are new [m], (k, 3)."""
        found = np.zeros((len(vertices), 3))
        if len(self.key):
            keys = _keys(vertices)
            place = np.minimum(np.searchsorted(self.key, keys), len(self.key) - 1)
            is_known = self.key[place] == keys
            found[is_known] = self.shear[place[is_known]]
        return found


def friction_pairs(
    groups: tuple[PairStencils, ...],
    positions: Floats,
    how: ContactBarrier,
    coefficients: Floats,
    surface: Indices,
    remembered: RememberedShear,
) -> FrictionPairs:
    """Returns the pairs that press each other, with their forces.

    Args:
        groups: Pairs that may.
        positions: Vertices [m], (n, 3).
        how: The barrier.
        coefficients: μ of each two surfaces, (s, s).
        surface: Of each vertex, (n,).
        remembered: Of the step before.
    """
    parts = []
    for group in groups:
        part = _normal_forces(group, positions, how)
        ends = surface[group.vertices[:, [0, 3]]]
        limit = coefficients[ends[:, 0], ends[:, 1]] * part.limit
        rubs = np.flatnonzero(limit > 0.0)
        vertices, normal = group.vertices[rubs], part.normal[rubs]
        shear = _turned(remembered.of(vertices), normal)
        parts.append(FrictionPairs(vertices, part.weights[rubs], normal, limit[rubs], part.stiffness[rubs], shear))
    return FrictionPairs(*(np.concatenate(arrays) for arrays in zip(*parts, strict=True)))


def pair_forces(
    groups: tuple[PairStencils, ...], positions: Floats, how: ContactBarrier, rubbing: FrictionPairs, motion: Floats
) -> PairForces:
    """Returns what pairs push with.

    Args:
        groups: Pairs that may.
        positions: Vertices [m], (n, 3).
        how: The barrier.
        rubbing: Friction.
        motion: How far vertices have moved in the step [m], (n, 3).
    """
    shear = rubbing.shear + _tangential_motion(rubbing, motion)
    length = np.linalg.norm(shear, axis=1)
    pull = np.minimum(rubbing.stiffness, rubbing.limit / np.maximum(length, np.finfo(float).tiny))
    keys = _keys(rubbing.vertices)
    order = np.argsort(keys, order=("first", "second"))
    friction = RememberedShear(keys[order], (-pull[:, None] * shear)[order])
    parts = []
    for group in groups:
        found = _normal_forces(group, positions, how)
        rows = np.flatnonzero(found.limit > 0.0)
        vertices, normal = group.vertices[rows], found.normal[rows]
        force = found.limit[rows, None] * normal + friction.of(vertices)
        kind = np.full(len(rows), group.kind, np.int32)
        parts.append(PairForces(kind, vertices, found.weights[rows], normal, force))
    return PairForces(*(np.concatenate(arrays) for arrays in zip(*parts, strict=True)))


def remember_shear(pairs: FrictionPairs, motion: Floats) -> RememberedShear:
    """Returns what pairs remember after vertices have moved in a step by `motion` [m], (n, 3)."""
    shear = pairs.shear + _tangential_motion(pairs, motion)
    length = np.linalg.norm(shear, axis=1)
    most = pairs.limit / pairs.stiffness
    shear *= np.minimum(1.0, most / np.maximum(length, np.finfo(float).tiny))[:, None]
    keys = _keys(pairs.vertices)
    order = np.argsort(keys, order=("first", "second"))
    return RememberedShear(keys[order], shear[order])


def _normal_forces(group: PairStencils, positions: Floats, how: ContactBarrier) -> FrictionPairs:
    """Returns pairs with their normal forces as limits; those of far ones are 0."""
    count = len(group.vertices)
    part = FrictionPairs(
        group.vertices, np.empty((count, 4)), np.empty((count, 3)), np.empty(count), np.empty(count), np.empty(0)
    )
    fill_normal_forces(group, positions, how, part)
    return part


def _tangential_motion(pairs: FrictionPairs, motion: Floats) -> Floats:
    """Returns how far closest points move past each other [m], (k, 3)."""
    moved = np.einsum("ki,kij->kj", pairs.weights, motion[pairs.vertices])
    return moved - (moved * pairs.normal).sum(axis=1)[:, None] * pairs.normal


def _turned(shear: Floats, normal: Floats) -> Floats:
    """Returns shear without its part along normals, as long as before, (k, 3) each."""
    flat = shear - (shear * normal).sum(axis=1)[:, None] * normal
    length, before = np.linalg.norm(flat, axis=1), np.linalg.norm(shear, axis=1)
    return flat * (before / np.maximum(length, np.finfo(float).tiny))[:, None]


def _keys(vertices: Indices) -> npt.NDArray:
    """Returns a number for the vertices of each pair, (k,)."""
    keys, wide = np.empty(len(vertices), KEY), vertices.astype(np.int64)
    keys["first"] = wide[:, 0] << 32 | wide[:, 1]
    keys["second"] = wide[:, 2] << 32 | wide[:, 3]
    return keys


@kernel()
def fill_normal_forces(pairs, positions, how, out):
    """Writes weights, normals, normal forces (as limits) and stiffnesses A κ / gap of pairs; far ones have no force.

    Args:
        pairs: `PairStencils`.
        positions: Of vertices [m], (n, 3).
        how: `ContactBarrier`.
        out: `FrictionPairs`.
    """
    x, closest = np.empty((4, 3)), ClosestPoints(np.zeros(4), np.zeros((2, 4)))
    for pair in range(len(pairs.vertices)):
        for i in range(4):
            x[i] = positions[pairs.vertices[pair, i]]
        find_closest(pairs.kind, x, closest)
        distance, gap = math.sqrt(squared_distance(x, closest)), pair_gap(pairs, pair, how)
        out.limit[pair], out.stiffness[pair] = 0.0, pairs.area[pair] * how.stiffness / how.gap
        free = distance - pairs.thickness[pair]
        if free >= gap or free <= 0.0:
            continue
        _, slope, _ = barrier(how.kind, free / gap)
        factor = 1.0
        if pairs.kind == EDGE_EDGE:
            factor, _, _ = mollifier(edge_cross_squared(x), pairs.threshold[pair])
        out.limit[pair] = -factor * pairs.area[pair] * how.stiffness * slope
        out.weights[pair] = closest.weights
        for axis in range(3):
            out.normal[pair, axis] = separation(x, closest.weights, axis) / distance


@kernel()
def friction_energy(pairs, motion):
    """Returns the potential of `FrictionPairs` [J] after motions of vertices in the step [m], (n, 3)."""
    s, total = np.empty(3), 0.0
    for pair in range(len(pairs.vertices)):
        length, limit, stiffness = _write_shear(pairs, pair, motion, s), pairs.limit[pair], pairs.stiffness[pair]
        if stiffness * length <= limit:
            total += 0.5 * stiffness * length * length
        else:
            total += limit * length - 0.5 * limit * limit / stiffness
    return total


@kernel()
def fill_friction_derivatives(pairs, motion, is_secant, gradient, hessian):
    """Writes gradients and semidefinite Hessians of `friction_energy`.

    Args:
        pairs: `FrictionPairs`.
        motion: Of vertices in the step [m], (n, 3).
        is_secant: Whether what slides has the Hessian of a spring that pulls as much, which bounds the energy from
            above: by its own one it is free along its shear, and a light sheet would be thrown to and fro across it.
        gradient: [N], (k, 12), out.
        hessian: [N/m], (k, 12, 12), out.
    """
    s, block = np.empty(3), np.empty((3, 3))
    for pair in range(len(pairs.vertices)):
        length, limit, stiffness = _write_shear(pairs, pair, motion, s), pairs.limit[pair], pairs.stiffness[pair]
        sticks = stiffness * length <= limit
        pull = stiffness if sticks else limit / length
        for p in range(3):
            for q in range(3):
                flat = (1.0 if p == q else 0.0) - pairs.normal[pair, p] * pairs.normal[pair, q]
                block[p, q] = pull * (flat if sticks or is_secant else flat - s[p] * s[q] / (length * length))
        for i in range(4):
            w = pairs.weights[pair, i]
            for p in range(3):
                gradient[pair, 3 * i + p] = w * pull * s[p]
                for j in range(4):
                    for q in range(3):
                        hessian[pair, 3 * i + p, 3 * j + q] = w * pairs.weights[pair, j] * block[p, q]


@kernel(device_only=True)
def _write_shear(pairs, pair, motion, s):
    """Writes the shear of a pair [m], (3,), and returns its length."""
    along = 0.0
    for axis in range(3):
        moved = 0.0
        for i in range(4):
            moved += pairs.weights[pair, i] * motion[pairs.vertices[pair, i], axis]
        s[axis] = moved
        along += moved * pairs.normal[pair, axis]
    length2 = 0.0
    for axis in range(3):
        s[axis] += pairs.shear[pair, axis] - along * pairs.normal[pair, axis]
        length2 += s[axis] * s[axis]
    return math.sqrt(length2)
