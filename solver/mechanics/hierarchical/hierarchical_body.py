# SPDX-License-Identifier: GPL-3.0-or-later
"""One hierarchical body: its mean gradients, frames, energy and records at node positions."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...mesh.red_refinement import RefinementLevels
from ...runtime.arrays import Floats, Indices
from ...runtime.frozen_memo import derived_from
from ..elements.record_layout import ElementArrays
from ..model import Model
from . import coarse_green_law
from .fine_elements import nearest_rotations, sum_fine_energies, write_fine_records
from .mean_gradients import MeanGradientOperator, add_tangent_product, mean_gradient_operator, mean_gradients


@dataclass(frozen=True, eq=False)
class HierarchicalBody:
    """A body whose tets came out of coarse ones, in a model.

    Attributes:
        levels: How.
        nodes, tets: Where it is in the model.
        corners: Its tets in its own numbers, (m, 4).
        gradient_operator: Mean gradients of its coarse tets, as sums over their nodes.
        Dm_inverse, volume, mu, lam, damping: Of the model, of its tets.
    """

    levels: RefinementLevels
    nodes: slice
    tets: slice
    corners: Indices
    gradient_operator: MeanGradientOperator
    Dm_inverse: Floats
    volume: Floats
    mu: Floats
    lam: Floats
    damping: Floats

    @property
    def coarse_mu(self) -> Floats:
        """μ [Pa] of coarse tets, (M,)."""
        return self.mu[:: self.levels.children_per_coarse_tet]

    @property
    def coarse_lam(self) -> Floats:
        """λ [Pa] of coarse tets, (M,)."""
        return self.lam[:: self.levels.children_per_coarse_tet]

    def mean_gradients(self, x: Floats) -> Floats:
        """Returns the mean gradients of what its nodes have, (n, 3), as (M, 3, 3)."""
        F = np.empty((len(self.gradient_operator.nodes), 3, 3))
        mean_gradients(x, self.gradient_operator.nodes, self.gradient_operator.gradients, F)
        return F

    def rotations(self, x: Floats) -> Floats:
        """Returns the rotations of its coarse tets at x [m], (n, 3): (M, 3, 3)."""
        R = np.empty((len(self.gradient_operator.nodes), 3, 3))
        nearest_rotations(self.mean_gradients(x), R)
        return R

    def energy(self, x: Floats, R: Floats) -> float:
        """Returns E [J] at x [m], (n, 3), in frames R, (M, 3, 3)."""
        F, details = self.mean_gradients(x), np.empty(len(R))
        sum_fine_energies(
            self.levels.children_per_coarse_tet,
            x,
            self.corners,
            self.Dm_inverse,
            self.volume,
            self.mu,
            self.lam,
            R,
            F,
            details,
        )
        return float(details.sum() + self.green_energy(F).sum())

    def write(self, x: Floats, R: Floats, records: Floats) -> None:
        """Writes the records of its tets, (m, …), at x [m], (n, 3), in frames R, (M, 3, 3)."""
        F = self.mean_gradients(x)
        elements = ElementArrays(
            self.corners, self.Dm_inverse, self.volume, self.mu, self.lam, self.damping, np.zeros((0, 6))
        )
        per, whole = self.levels.children_per_coarse_tet, self.gradient_operator.volume
        write_fine_records(per, x, elements, R, self.excess_stress(F, R), whole, records)

    def excess_stress(self, F: Floats, R: Floats) -> Floats:
        """Returns V (P_Green − P_linear) of coarse tets with gradients F [J], (M, 3, 3)."""
        found = self.green_stress(F)
        coarse_green_law.subtract_linear_stress(
            R, F, self.coarse_mu, self.coarse_lam, self.gradient_operator.volume, found
        )
        return found

    def excess_energy(self, F: Floats, R: Floats) -> Floats:
        """Returns V (ψ_Green − ψ_linear) of coarse tets with gradients F [J], (M,)."""
        found = self.green_energy(F)
        coarse_green_law.subtract_linear_energy(
            R, F, self.coarse_mu, self.coarse_lam, self.gradient_operator.volume, found
        )
        return found

    def excess_tangent(self, x: Floats, R: Floats, clamp: bool) -> Floats:
        """Returns V (∂P_Green/∂F − ∂P_linear/∂F) of coarse tets [J], (M, 9, 9): what records do not tell of K."""
        found = self.green_moduli(self.mean_gradients(x), clamp)
        coarse_green_law.subtract_linear_moduli(
            R, self.coarse_mu, self.coarse_lam, self.gradient_operator.volume, found
        )
        return found

    def add_excess_tangent(self, factor: float, beyond: Floats, v: Floats, out: Floats) -> None:
        """Adds `factor` times what `excess_tangent` makes of v, (n, 3), to `out`, (n, 3)."""
        add_tangent_product(factor, beyond, v, self.gradient_operator.nodes, self.gradient_operator.gradients, out)

    def green_energy(self, F: Floats) -> Floats:
        """Returns V ψ_Green [J] of coarse tets with gradients F, (M, 3, 3): (M,)."""
        found = np.empty(len(F))
        coarse_green_law.energies(F, self.coarse_mu, self.coarse_lam, self.gradient_operator.volume, found)
        return found

    def green_stress(self, F: Floats) -> Floats:
        """Returns V P_Green [J], (M, 3, 3)."""
        found = np.empty_like(F)
        coarse_green_law.stresses(F, self.coarse_mu, self.coarse_lam, self.gradient_operator.volume, found)
        return found

    def green_moduli(self, F: Floats, clamp: bool) -> Floats:
        """Returns V ∂P_Green/∂F [J], (M, 9, 9), clamped or not."""
        found = np.empty((len(F), 9, 9))
        coarse_green_law.moduli(F, self.coarse_mu, self.coarse_lam, self.gradient_operator.volume, clamp, found)
        return found


def hierarchical_body(model: Model, number: int) -> HierarchicalBody:
    """Returns a body of a model that has levels; kept with its pattern while its rest shapes and moduli stay."""
    levels = model.levels[number]
    assert levels is not None
    inputs = (levels, model.Dm_inverse, model.volume, model.mu, model.lam, model.stiffness_damping)
    return derived_from(
        model.pattern, "hierarchical_body", lambda: _make_body(model, number, levels), inputs=inputs, key=number
    )


def _make_body(model: Model, number: int, levels: RefinementLevels) -> HierarchicalBody:
    nodes, t = model.bodies[number].nodes, model.bodies[number].tets
    corners = model.tets[t] - np.int32(nodes.start)
    return HierarchicalBody(
        levels=levels,
        nodes=nodes,
        tets=t,
        corners=corners,
        gradient_operator=mean_gradient_operator(levels, corners, model.Dm_inverse[t], model.volume[t]),
        Dm_inverse=model.Dm_inverse[t],
        volume=model.volume[t],
        mu=model.mu[t],
        lam=model.lam[t],
        damping=model.stiffness_damping[t],
    )
