# SPDX-License-Identifier: GPL-3.0-or-later
"""A material that gets stiffer the more it is stretched: a term of one's own beside neo-Hooke's law.

ψ = k/4 (I₁ − 3)²,    P = ∂ψ/∂F = k (I₁ − 3) F,    ∂P/∂F = k (I₁ − 3) 1 + 2 k F ⊗ F,    I₁ = σ₁² + σ₂² + σ₃²
"""

from dataclasses import dataclass

import numpy as np

import sinew


@dataclass
class Stiffening:
    """A `sinew.AnisotropicTerm` at the stretches σ of tets: the solver needs ψ, P and ∂P/∂F at F = diag(σ)."""

    tets: np.ndarray  # that have it
    k: float  # [Pa]

    def energy(self, own, stretches, V):
        return 0.25 * self.k * (np.square(stretches).sum(axis=1) - 3.0) ** 2

    def stress_and_tangent(self, own, stretches, V):
        excess = np.square(stretches).sum(axis=1) - 3.0
        F = np.zeros((len(stretches), 9))
        F[:, [0, 4, 8]] = stretches
        tangent = excess[:, None, None] * np.eye(9) + 2.0 * F[:, :, None] * F[:, None, :]
        return self.k * excess[:, None] * F, self.k * tangent

    def of_tets(self, tets):
        own = np.isin(self.tets, tets)
        return Stiffening(np.searchsorted(tets, self.tets[own]).astype(np.int32), self.k) if own.any() else None


# a bar of 30 cm, held at both ends, one of which is pulled out by a half
nodes, tets = sinew.shapes.box_tets((12, 4, 4), (0.3, 0.1, 0.1))
model = sinew.model_of_tets(nodes, tets, sinew.Material(youngs_modulus=1.0e5, poisson_ratio=0.4))
is_left, is_right = nodes[:, 0] < 1e-9, nodes[:, 0] > 0.3 - 1e-9
held = np.flatnonzero(is_left | is_right).astype(np.int32)
pulled = sinew.FixedNodes(held, nodes[held] + np.outer(is_right[held], [0.15, 0.0, 0.0]))

term = Stiffening(np.arange(len(tets), dtype=np.int32), 2.0e4)
laws = {
    "neo-hookean": sinew.hyperelastic(model, "neo-hookean"),
    "with term": sinew.hyperelastic(model, "neo-hookean", anisotropic_term=term),
}
results = {name: sinew.equilibrium(model, pulled, law) for name, law in laws.items()}
is_middle = np.isclose(nodes[:, 0], 0.15)
for name, found in results.items():
    width = np.ptp(found.x[is_middle, 1])
    print(f"{name}: {found.energy:.2f} J, {1e3 * width:.1f} mm wide, {found.newton_iterations} Newton iterations")
