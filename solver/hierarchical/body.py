# SPDX-License-Identifier: GPL-3.0-or-later
"""One hierarchical body: its mean gradients, frames, energy and records at node positions."""

from __future__ import annotations

from dataclasses import dataclass
from weakref import WeakKeyDictionary

import numpy as np

from ..arrays import Floats, Indices, floats
from ..levels import Levels
from ..model import Model
from . import green
from .details import find_rotations, sum_details, write_details
from .means import Means, add_stress, mean_gradients, means_of


@dataclass(frozen=True, eq=False)
class LevelBody:
    """A body whose tets came out of coarse ones, in a model.

    Attributes:
        levels: How.
        nodes, tets: Where it is in the model.
        corners: Its tets in its own numbers, (m, 4).
        means: Of its coarse tets.
        Dm_inverse, volume, mu, lam, damping: Of the model, of its tets.
    """

    levels: Levels
    nodes: slice
    tets: slice
    corners: Indices
    means: Means
    Dm_inverse: Floats
    volume: Floats
    mu: Floats
    lam: Floats
    damping: Floats

    @property
    def coarse_mu(self) -> Floats:
        """μ [Pa] of coarse tets, (M,)."""
        return self.mu[:: self.levels.per_coarse]

    @property
    def coarse_lam(self) -> Floats:
        """λ [Pa] of coarse tets, (M,)."""
        return self.lam[:: self.levels.per_coarse]

    def mean(self, x: Floats) -> Floats:
        """Returns the mean gradients of what its nodes have, (n, 3), as (M, 3, 3)."""
        F = np.empty((len(self.means.nodes), 3, 3))
        mean_gradients(x, self.means.nodes, self.means.gradients, F)
        return F

    def rotations(self, x: Floats) -> Floats:
        """Returns the rotations of its coarse tets at x [m], (n, 3): (M, 3, 3)."""
        R = np.empty((len(self.means.nodes), 3, 3))
        find_rotations(self.mean(x), R)
        return R

    def energy(self, x: Floats, R: Floats) -> float:
        """Returns E [J] at x [m], (n, 3), in frames R, (M, 3, 3)."""
        F, details = self.mean(x), np.empty(len(R))
        sum_details(
            self.levels.per_coarse, x, self.corners, self.Dm_inverse, self.volume, self.mu, self.lam, R, F, details
        )  # fmt: skip
        return float(details.sum() + self.means.volume @ green.energy(F, self.coarse_mu, self.coarse_lam))

    def write(self, x: Floats, R: Floats, warped: Floats) -> None:
        """Writes the records of its tets, (m, WARPED), at x [m], (n, 3), in frames R, (M, 3, 3)."""
        F, mu, lam = self.mean(x), self.coarse_mu, self.coarse_lam
        turned = R.transpose(0, 2, 1) @ F
        strain = 0.5 * (turned + turned.transpose(0, 2, 1)) - green.I3
        linear = R @ (2.0 * mu[:, None, None] * strain + (lam * np.einsum("mii->m", strain))[:, None, None] * green.I3)
        write_details(
            self.levels.per_coarse, x, self.corners, self.Dm_inverse, self.volume, self.mu, self.lam, self.damping, R,
            floats(green.stress(F, mu, lam) - linear), warped,
        )  # fmt: skip

    def beyond(self, x: Floats, R: Floats, clamp: bool) -> Floats:
        """Returns V (∂P_Green/∂F − ∂P_linear/∂F) of coarse tets [J], (M, 3, 3, 3, 3): what records do not tell of K."""
        mu, lam = self.coarse_mu, self.coarse_lam
        found = green.differential(self.mean(x), mu, lam, clamp) - green.linear_differential(R, mu, lam)
        return self.means.volume[:, None, None, None, None] * found

    def add_beyond(self, factor: float, beyond: Floats, v: Floats, out: Floats) -> None:
        """Adds `factor` times what `beyond` makes of v, (n, 3), to `out`, (n, 3)."""
        P = np.einsum("mijkl,mkl->mij", beyond, self.mean(v))
        add_stress(factor, P, self.means.nodes, self.means.gradients, out)


_kept: WeakKeyDictionary[Levels, tuple[Model, LevelBody]] = WeakKeyDictionary()


def level_body(model: Model, number: int) -> LevelBody:
    """Returns a body of a model that has levels; kept while its rest shapes and moduli stay."""
    levels, body = model.levels[number], model.bodies[number]
    assert levels is not None
    kept = _kept.get(levels)
    if kept is not None and _is_same(kept[0], model) and kept[1].nodes == body.nodes and kept[1].tets == body.tets:
        return kept[1]
    t = body.tets
    corners = model.tets[t] - np.int32(body.nodes.start)
    found = LevelBody(
        levels, body.nodes, t, corners, means_of(levels, corners, model.Dm_inverse[t], model.volume[t]),
        model.Dm_inverse[t], model.volume[t], model.mu[t], model.lam[t], model.stiffness_damping[t],
    )  # fmt: skip
    _kept[levels] = model, found
    return found


def _is_same(one: Model, other: Model) -> bool:
    names = ("Dm_inverse", "volume", "mu", "lam", "stiffness_damping")
    return all(getattr(one, name) is getattr(other, name) for name in names)
