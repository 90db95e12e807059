# SPDX-License-Identifier: GPL-3.0-or-later
"""Muscle fibres with activation, as the seam for terms with directions takes them: for tests of that seam alone.

ψ = (σ_max / λ_o) ∫ (α f_active + f_passive)(λ) dλ with the stretch λ = c(J) |F f| along the fibre f, and c = J^(−1/3),
which goes on below t³ as a parabola, so that ψ is defined for every F. Hill's force-length curves are polynomials with
two continuous derivatives. Sources: S07, sections 2.5 and A.2.3; the tensors by own derivation.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass, replace

import numpy as np

from reference.hyperelastic_laws import LAM, MU, Found, read
from sinew.solver.mechanics.hyperelastic.hyperelastic_bodies import forces_and_tangent, hyperelastic, tet_arrays
from sinew.solver.mechanics.hyperelastic.law_numbers import EXTENSION_STRETCH
from sinew.solver.mechanics.model import Model, Part, make_model
from sinew.solver.runtime.arrays import Floats, Indices
from sinew.solver.scene.scene import Material

LARGEST = 8.0e4  # σ_max [Pa]; S07, section 2.5
OPTIMAL = 1.0  # λ_o, the stretch at which a fibre is strongest
STIFFENING = 4.0  # of the passive curve
LEVI_CIVITA = np.array([[[(i - j) * (j - k) * (k - i) / 2 for k in range(3)] for j in range(3)] for i in range(3)])


@dataclass(frozen=True, eq=False)
class Fibres:
    """Fibres in some tets: unit directions f at rest, (k, 3), activations α, (k,), and the share that is passive."""

    tets: Indices
    direction: Floats
    activation: Floats
    passive: Floats

    def energy(self, own: slice, stretches: Floats, V: Floats) -> Floats:
        y = stretches * self._turned(own, V)
        c = _volume_free(np.prod(stretches, axis=1))[0]
        return self._along(own, c * np.linalg.norm(y, axis=1))[0]

    def stress_and_tangent(self, own: slice, stretches: Floats, V: Floats) -> tuple[Floats, Floats]:
        """P̂ = T ∂λ/∂F and T_ij,kl = T' (∂λ ⊗ ∂λ) + T ∂²λ, for λ = c(J) ℓ with ℓ = |F̂ w| and w = Vᵀ f."""
        w = self._turned(own, V)
        y = stretches * w
        length = np.maximum(np.linalg.norm(y, axis=1), 1e-12)[:, None, None, None, None]
        c, c1, c2 = (a[:, None, None, None, None] for a in _volume_free(np.prod(stretches, axis=1)))
        F = stretches[:, :, None] * np.eye(3)
        cofactor = 0.5 * np.einsum("ikm,jln,zkl,zmn->zij", LEVI_CIVITA, LEVI_CIVITA, F, F, optimize=True)
        bent = np.einsum("ikm,jln,zmn->zijkl", LEVI_CIVITA, LEVI_CIVITA, F, optimize=True)  # ∂²J/∂F²
        unit = y / length[:, :, 0, 0, 0]
        along = np.einsum("zi,zj->zij", unit, w)  # ∂ℓ/∂F
        across = np.eye(3) - np.einsum("zi,zk->zik", unit, unit)
        curved = np.einsum("zik,zj,zl->zijkl", across, w, w) / length

        def pair(a: Floats, b: Floats) -> Floats:
            return np.einsum("zij,zkl->zijkl", a, b)

        first = (c1 * length)[..., 0, 0] * cofactor + c[..., 0, 0] * along
        second = c2 * length * pair(cofactor, cofactor) + c1 * (pair(cofactor, along) + pair(along, cofactor))
        second += c1 * length * bent + c * curved
        _, force, slope = self._along(own, (c * length).ravel())
        T = slope[:, None, None, None, None] * pair(first, first) + force[:, None, None, None, None] * second
        return (force[:, None, None] * first).reshape(-1, 9), T.reshape(-1, 9, 9)

    def of_tets(self, tets: Indices) -> Fibres | None:
        own = np.isin(self.tets, tets)
        if not own.any():
            return None
        place = np.searchsorted(tets, self.tets[own])
        return Fibres(place, self.direction[own], self.activation[own], self.passive[own])

    def _turned(self, own: slice, V: Floats) -> Floats:
        return np.einsum("zji,zj->zi", V, self.direction[own])

    def _along(self, own: slice, stretch: Floats) -> tuple[Floats, Floats, Floats]:
        return of_stretch(stretch, self.activation[own], self.passive[own])


def of_stretch(stretch: Floats, activation: Floats, passive: Floats) -> tuple[Floats, Floats, Floats]:
    """Returns ψ [J/m³], T = dψ/dλ and dT/dλ [Pa] of fibres."""
    u = stretch / OPTIMAL - 1.0
    v, pulled = np.clip(u, -0.5, 0.5), np.maximum(u, 0.0)
    bell = 1.0 - 4.0 * v * v
    work = v - 4.0 * v**3 + 9.6 * v**5 - 64.0 / 7.0 * v**7
    return (
        LARGEST * (activation * work + passive * STIFFENING * pulled**4 / 4.0),
        LARGEST / OPTIMAL * (activation * bell**3 + passive * STIFFENING * pulled**3),
        LARGEST / OPTIMAL**2 * (-24.0 * activation * v * bell**2 + passive * 3.0 * STIFFENING * pulled**2),
    )


def _volume_free(J: Floats) -> tuple[Floats, Floats, Floats]:
    """Returns c(J) and two derivatives."""
    inside = np.maximum(J, EXTENSION_STRETCH**3)
    c, d = inside ** (-1.0 / 3.0), J - inside
    c1, c2 = -c / (3.0 * inside), 4.0 * c / (9.0 * inside**2)
    return c + d * (c1 + 0.5 * d * c2), c1 + d * c2, c2


def fibres(count: int, activation: float, passive: float = 1.0, seed: int = 0) -> Fibres:
    """Returns fibres that all lie differently, in the first tets of a model."""
    direction = np.random.default_rng(seed).normal(size=(count, 3))
    direction /= np.linalg.norm(direction, axis=1)[:, None]
    return Fibres(np.arange(count), direction, np.full(count, activation), np.full(count, passive))


def found_with(term: Fibres | None, law: str, extension: str | None, F: Floats, clamped: bool = False) -> Found:
    """Returns ψ, P and ∂P/∂F of a law and a term for F, (k, 3, 3): what the element leaves of tets with Dm = I."""
    model = single_tets(len(F))
    x = np.zeros((len(F), 4, 3))
    x[:, 1:] = np.swapaxes(F, 1, 2)
    work, values = tet_arrays(model.pattern), np.empty((model.pattern.block_count, 9))
    flesh = replace(hyperelastic(model, law, extension), anisotropic_term=term)
    forces_and_tangent(model, flesh, x.reshape(-1, 3), values, np.empty((4 * len(F), 3)), work, clamp=clamped)
    return read(work.energy * 6.0, work.record * 6.0)


@functools.cache
def single_tets(count: int) -> Model:
    """Returns so many tets with Dm = I, each for itself."""
    nodes = np.tile(np.vstack([np.zeros(3), np.eye(3)]), (count, 1))
    tets = np.arange(4 * count, dtype=np.int32).reshape(count, 4)
    model = make_model([Part("tets", nodes, tets, np.ones(count), Material())])
    return replace(model, mu=np.full(count, MU), lam=np.full(count, LAM))
