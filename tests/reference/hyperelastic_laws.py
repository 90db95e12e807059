# SPDX-License-Identifier: GPL-3.0-or-later
"""Slow twins of the hyperelastic laws: energies as textbooks write them, tensors by differencing, clamping by eigh."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from sinew.solver.mechanics.hyperelastic.law_numbers import DEFAULT_PARAMETERS, EXTENSION_STRETCH, EXTENSIONS, LAWS
from sinew.solver.mechanics.hyperelastic.tet_kernels import (
    RECORD_LENGTH,
    SCRATCH_SIZE,
    WITH_TANGENT,
    LawArrays,
    RestShapes,
    hyperelastic_tets,
)
from sinew.solver.mesh.local_tet_numbering import TET_EDGES
from sinew.solver.runtime.arrays import Floats

MU, LAM = 3.0e3, 7.0e3  # [Pa]
KINDS = ("near rest", "random", "flat", "inverted")


def energy_density(law: str, F: Floats) -> float:
    """Returns ψ(F) [J/m³] of one of the laws for det F > 0."""
    C, J = F.T @ F, np.linalg.det(F)
    if law == "neo-hookean":
        return MU / 2 * (np.trace(C) - 3) - MU * np.log(J) + LAM / 2 * np.log(J) ** 2
    if law == "mooney-rivlin":
        bar = C * J ** (-2 / 3)
        mu01, kappa = DEFAULT_PARAMETERS[LAWS["mooney-rivlin"]] * MU / 2, LAM + 2 / 3 * MU
        mu10 = MU / 2 - mu01
        second = np.trace(bar) ** 2 - np.sum(bar * bar)
        return mu10 * (np.trace(bar) - 3) + mu01 / 2 * (second - 6) + kappa / 2 * np.log(J) ** 2
    if law == "stable-neo-hookean":
        mu, lam = 4 / 3 * MU, LAM + 5 / 6 * MU
        alpha = 1 + mu / lam - mu / (4 * lam)

        def smith(trace: float, volume: float) -> float:
            return mu / 2 * (trace - 3) + lam / 2 * (volume - alpha) ** 2 - mu / 2 * np.log(trace + 1)

        return smith(np.trace(C), J) - smith(3.0, 1.0)
    if law == "corotated":
        U, sigma, Vt = np.linalg.svd(F)
        if np.linalg.det(U @ Vt) < 0:
            sigma[2] *= -1
            U[:, 2] *= -1
        return MU * np.sum((F - U @ Vt) ** 2) + LAM / 2 * (J - 1) ** 2
    E = (C - np.eye(3)) / 2
    if law == "hybrid":
        U, _, Vt = np.linalg.svd(F)
        U[:, 2] *= np.linalg.det(U @ Vt)
        small = (U @ Vt).T @ F - np.eye(3)  # the corotated strain, symmetric
        return MU * np.sum(small * small) + LAM / 2 * np.trace(E) ** 2
    return MU * np.sum(E * E) + LAM / 2 * np.trace(E) ** 2


@dataclass(frozen=True)
class Found:
    """What the tet pass gives for k deformation gradients: ψ, (k,), P, (k, 3, 3), and ∂P/∂F, (k, 3, 3, 3, 3)."""

    psi: Floats
    P: Floats
    T: Floats


def found(
    law: str,
    extension: str | None,
    F: Floats,
    clamped: bool = False,
    threshold: float = EXTENSION_STRETCH,
    mu: float = MU,
    lam: float = LAM,
) -> Found:
    """Returns what the kernel finds for F, (k, 3, 3): of unit tets with Dm = I, whose blocks are V ∂P/∂F itself."""
    k = len(F)
    x = np.zeros((k, 4, 3))
    x[:, 1:] = np.swapaxes(F, 1, 2)
    energy, smallest, record = np.empty(k), np.empty(k), np.empty((k, RECORD_LENGTH))
    numbers, share = np.full(k, LAWS[law], np.int8), np.full(k, DEFAULT_PARAMETERS[LAWS["mooney-rivlin"]])
    laws = LawArrays(numbers, np.full(k, mu), np.full(k, lam), share, EXTENSIONS[extension], threshold)
    tets = np.arange(4 * k, dtype=np.int32).reshape(k, 4)
    rest = RestShapes(tets, np.tile(np.eye(3), (k, 1, 1)), np.ones(k))
    out = energy, smallest, record
    hyperelastic_tets(0, k, WITH_TANGENT, clamped, laws, x.reshape(-1, 3), rest, np.empty(SCRATCH_SIZE), *out)
    return read(energy, record)


def read(energy: Floats, record: Floats) -> Found:
    """Returns ψ, P and ∂P/∂F of what the tet pass leaves of k tets with Dm = I, per unit of their volume."""
    k = len(record)
    K = np.zeros((k, 4, 4, 3, 3))
    for number, (a, b) in enumerate(TET_EDGES):
        K[:, a, b] = record[:, 9 + 9 * number : 18 + 9 * number].reshape(k, 3, 3)
        K[:, b, a] = np.swapaxes(K[:, a, b], 1, 2)
    for a in range(1, 4):
        K[:, a, a] = -K[:, a].sum(axis=1)
    T = np.transpose(K[:, 1:, 1:], (0, 3, 1, 4, 2))
    return Found(energy, -np.swapaxes(record[:, :9].reshape(k, 3, 3), 1, 2), T)


def differences(function: Callable[[Floats], Floats], F: Floats, step: float = 1e-4) -> Floats:
    """Returns ∂f/∂F by central differences over five points: f takes (k, 3, 3) and gives (k, …)."""
    columns = []
    for direction in np.eye(9).reshape(9, 3, 3):
        near = function(F + step * direction) - function(F - step * direction)
        far = function(F + 2 * step * direction) - function(F - 2 * step * direction)
        columns.append((8 * near - far) / (12 * step))
    values = np.stack(columns, axis=-1)
    return values.reshape(*values.shape[:-1], 3, 3)


def rotations(count: int, rng: np.random.Generator) -> Floats:
    """Returns proper rotations, (count, 3, 3)."""
    Q, _ = np.linalg.qr(rng.normal(size=(count, 3, 3)))
    Q[:, :, 0] *= np.linalg.det(Q)[:, None]
    return Q


def gradients(kind: str, count: int, seed: int = 0) -> Floats:
    """Returns deformation gradients of a kind, (count, 3, 3), with σ2 + σ3 > 0.01, some of them hardly more."""
    rng = np.random.default_rng(seed)
    if kind == "near rest":
        return rotations(count, rng) @ (np.eye(3) + 0.05 * rng.normal(size=(count, 3, 3)))
    sigma = -np.sort(-rng.uniform(0.3, 2.5, (count, 3)))
    if kind == "flat":
        sigma[:, 2] = rng.choice([0.0, 1e-9, -1e-9, 1e-3], count)
    if kind == "inverted":
        sigma[:, 2] = -np.minimum(sigma[:, 2], sigma[:, 1] - 0.0101)
        sigma[::4, 2] = 0.0101 - sigma[::4, 1]
    return rotations(count, rng) * sigma[:, None] @ rotations(count, rng)


def clamp(T: Floats) -> Floats:
    """Returns tensors, (k, 3, 3, 3, 3), whose negative eigenvalues are zero."""
    values, vectors = np.linalg.eigh(T.reshape(-1, 9, 9))
    return ((vectors * np.maximum(values, 0.0)[:, None]) @ np.swapaxes(vectors, 1, 2)).reshape(T.shape)


def size(T: Floats) -> Floats:
    """Returns the norms of k arrays, (k,)."""
    return np.sqrt(np.sum(T.reshape(len(T), -1) ** 2, axis=1))
