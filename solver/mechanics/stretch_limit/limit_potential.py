# SPDX-License-Identifier: GPL-3.0-or-later
"""The stretch limit of the tets of a model at any node positions: its energy, forces and stiffness."""

from __future__ import annotations

import functools
from dataclasses import dataclass, replace

import numpy as np

from ...runtime.arrays import Floats, Indices, floats
from ...runtime.threads.thread_pool import run_ranges
from ..hyperelastic.tet_kernels import RestShapes
from ..linearised_tet_forces import TetForces
from ..model import Model
from .limit_kernels import find_tets_below, find_tets_beyond, linearise_limit

# least stretch without stress that strain is taken for: below zero a tet would be inverted
MIN_REST_STRETCH = 0.1
TETS_PER_CHUNK = 2048  # tets that a thread takes at a time
NO_EXCESS = np.zeros((2, 0, 3))


@dataclass(frozen=True, eq=False)
class LimitPotential:
    """Tets whose principal stretches have a limit.

    Attributes:
        rest: Rest shapes of all tets of a model. Stretch is relative to where a tet is without stress.
        limit: The limit L, infinite where there is none, (m,).
        floor: The least stretch L₀, 0 where there is none, (m,).
        modulus: Young's modulus [Pa], (m,).
    """

    rest: RestShapes
    limit: Floats
    floor: Floats
    modulus: Floats

    @functools.cached_property
    def has_floor(self) -> bool:
        """Whether any tet has a floor."""
        return bool(self.floor.any())

    def forces_at(self, x: Floats) -> tuple[Floats, TetForces]:
        """Returns energies and forces of the k tets beyond their limit at x [m], (n, 3), as they move on; [J], (k,)."""
        return self.chord_forces_at(x, NO_EXCESS)[:2]

    def chord_forces_at(self, x: Floats, before: Floats) -> tuple[Floats, TetForces, Floats]:
        """Returns what `forces_at` does, with chords for tangents, and the excess of these k tets.

        Args:
            x: Node positions [m], (n, 3).
            before: Excess of all tets when the last linear solve began, (2, m, 3): how far each principal stretch is
                beyond the limit or floor, and how far it is where its stress is that of the end of a chord.
        """
        x, is_beyond, (tets, Dm_inverse, _) = floats(x), np.empty(len(self.limit), bool), self.rest
        run_ranges(
            0,
            len(is_beyond),
            TETS_PER_CHUNK,
            lambda begin, end: find_tets_beyond(begin, end, x, tets, Dm_inverse, self.limit, is_beyond),
        )
        if self.has_floor:
            run_ranges(
                0,
                len(is_beyond),
                TETS_PER_CHUNK,
                lambda begin, end: find_tets_below(begin, end, x, tets, Dm_inverse, self.floor, is_beyond),
            )
        found = np.flatnonzero(is_beyond).astype(np.int32)
        count = len(found)
        if not count:
            return np.zeros(0), TetForces(), NO_EXCESS
        forces = TetForces(found, np.empty((count, 4, 3)), np.empty((count, 4, 4, 3, 3)))
        energy, now = np.empty(count), np.empty((2, count, 3))
        given = self.rest, self.limit, self.floor, self.modulus, before
        linearise_limit(forces.tet, x, *given, now, energy, forces.force, forces.stiffness)
        return energy, forces, now

    def excess_at(self, x: Floats) -> Floats:
        """Returns the excess of all tets at x [m], (n, 3), as if they were at rest there; see `chord_forces_at`."""
        _, found, now = self.chord_forces_at(x, NO_EXCESS)
        return self.of_all_tets(found, now)

    def of_all_tets(self, found: TetForces, now: Floats) -> Floats:
        """Returns the excess of all tets, (2, m, 3), for that of those that are beyond their limit, (2, k, 3)."""
        excess = np.zeros((2, len(self.limit), 3))
        if len(found):
            excess[:, found.tet] = now
        return excess

    def without(self, tets: Indices) -> LimitPotential:
        """Returns the same without limits of some tets."""
        limit, floor = self.limit.copy(), self.floor.copy()
        limit[tets], floor[tets] = np.inf, 0.0
        return replace(self, limit=limit, floor=floor)

    def of_tets(self, rows: Indices, model: Model) -> LimitPotential:
        """Returns the limits of some tets, which are those of `model` in their order."""
        rest = RestShapes(model.tets, floats(self.rest.Dm_inverse[rows]), model.volume)
        return replace(
            self,
            rest=rest,
            limit=floats(self.limit[rows]),
            floor=floats(self.floor[rows]),
            modulus=floats(self.modulus[rows]),
        )


def make_limit_potential(model: Model, limit: Floats, floor: Floats | None = None) -> LimitPotential:
    """Returns the stretch limits of the tets of a model, and their floors, relative to their elastic stretch, (m,)."""
    mu, lam = model.mu, model.lam
    floor = np.zeros(model.tet_count) if floor is None else floor
    modulus = floats(mu * (3.0 * lam + 2.0 * mu) / (lam + mu))
    return LimitPotential(
        RestShapes(model.tets, _elastic_rest_shapes(model), model.volume), floats(limit), floats(floor), modulus
    )


def _elastic_rest_shapes(model: Model) -> Floats:
    """Returns Dm⁻¹ [1/m], (m, 3, 3), of tets without stress: strain that is subtracted, as plastic one, is in it."""
    strain = model.initial_strain
    rows = np.flatnonzero(strain.any(axis=1)) if len(strain) else np.zeros(0, np.int64)
    if not len(rows):
        return model.Dm_inverse
    xx, yy, zz, xy, yz, zx = strain[rows].T
    values, axes = np.linalg.eigh(np.stack([xx, xy, zx, xy, yy, yz, zx, yz, zz], axis=1).reshape(-1, 3, 3))
    shrink = 1.0 / np.maximum(1.0 + values, MIN_REST_STRETCH)
    made = model.Dm_inverse.copy()
    made[rows] = made[rows] @ np.einsum("mik,mk,mjk->mij", axes, shrink, axes)
    return made
