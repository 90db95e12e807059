# SPDX-License-Identifier: GPL-3.0-or-later
"""One hierarchical body: its mean gradients, frames, energy and records at node positions."""

from __future__ import annotations

from weakref import WeakKeyDictionary

import numpy as np

from ..arrays import Floats, Indices
from ..late_dataclass import dataclass
from ..levels import Levels
from ..linear.pattern import BlockPattern
from ..model import Model
from . import green
from .details import find_rotations, sum_details, write_details
from .means import Means, add_product, mean_gradients, means_of


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
        return float(details.sum() + self.green_energy(F).sum())

    def write(self, x: Floats, R: Floats, warped: Floats) -> None:
        """Writes the records of its tets, (m, …), at x [m], (n, 3), in frames R, (M, 3, 3)."""
        F = self.mean(x)
        write_details(
            self.levels.per_coarse, x, self.corners, self.Dm_inverse, self.volume, self.mu, self.lam, self.damping, R,
            self.excess(F, R), self.means.volume, warped,
        )  # fmt: skip

    def excess(self, F: Floats, R: Floats) -> Floats:
        """Returns V (P_Green − P_linear) of coarse tets with gradients F [J], (M, 3, 3)."""
        found = self.green_stress(F)
        green.take_linear_stress(R, F, self.coarse_mu, self.coarse_lam, self.means.volume, found)
        return found

    def excess_energy(self, F: Floats, R: Floats) -> Floats:
        """Returns V (ψ_Green − ψ_linear) of coarse tets with gradients F [J], (M,)."""
        found = self.green_energy(F)
        green.take_linear_energy(R, F, self.coarse_mu, self.coarse_lam, self.means.volume, found)
        return found

    def beyond(self, x: Floats, R: Floats, clamp: bool) -> Floats:
        """Returns V (∂P_Green/∂F − ∂P_linear/∂F) of coarse tets [J], (M, 9, 9): what records do not tell of K."""
        found = self.green_moduli(self.mean(x), clamp)
        green.take_linear(R, self.coarse_mu, self.coarse_lam, self.means.volume, found)
        return found

    def add_beyond(self, factor: float, beyond: Floats, v: Floats, out: Floats) -> None:
        """Adds `factor` times what `beyond` makes of v, (n, 3), to `out`, (n, 3)."""
        add_product(factor, beyond, v, self.means.nodes, self.means.gradients, out)

    def green_energy(self, F: Floats) -> Floats:
        """Returns V ψ_Green [J] of coarse tets with gradients F, (M, 3, 3): (M,)."""
        found = np.empty(len(F))
        green.energies(F, self.coarse_mu, self.coarse_lam, self.means.volume, found)
        return found

    def green_stress(self, F: Floats) -> Floats:
        """Returns V P_Green [J], (M, 3, 3)."""
        found = np.empty_like(F)
        green.stresses(F, self.coarse_mu, self.coarse_lam, self.means.volume, found)
        return found

    def green_moduli(self, F: Floats, clamp: bool) -> Floats:
        """Returns V ∂P_Green/∂F [J], (M, 9, 9), clamped or not."""
        found = np.empty((len(F), 9, 9))
        green.moduli(F, self.coarse_mu, self.coarse_lam, self.means.volume, clamp, found)
        return found


_kept: WeakKeyDictionary[BlockPattern, dict[int, tuple[tuple[object, ...], LevelBody]]] = WeakKeyDictionary()


def level_body(model: Model, number: int) -> LevelBody:
    """Returns a body of a model that has levels; kept while its rest shapes and moduli stay."""
    kept, levels = _kept.setdefault(model.pattern, {}), model.levels[number]
    assert levels is not None
    of = (levels, model.Dm_inverse, model.volume, model.mu, model.lam, model.stiffness_damping)
    if number not in kept or any(a is not b for a, b in zip(kept[number][0], of, strict=True)):
        nodes, t = model.bodies[number].nodes, model.bodies[number].tets
        corners = model.tets[t] - np.int32(nodes.start)
        found = LevelBody(
            levels, nodes, t, corners, means_of(levels, corners, model.Dm_inverse[t], model.volume[t]),
            model.Dm_inverse[t], model.volume[t], model.mu[t], model.lam[t], model.stiffness_damping[t],
        )  # fmt: skip
        kept[number] = of, found
    return kept[number][1]
