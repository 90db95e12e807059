# SPDX-License-Identifier: GPL-3.0-or-later
"""Slow twins of the energies of sheets: triangle after triangle and edge after edge, from their definitions."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from sinew.solver.mechanics.sheets.sheet_elements import SheetMaterial
from sinew.solver.runtime.arrays import Floats, Indices


def plane_frame(corners: Floats, axis: Floats) -> Floats:
    """Returns the corners of a triangle, (3, 3), in its plane, x along the axis, (3, 2)."""
    normal = np.cross(corners[1] - corners[0], corners[2] - corners[0])
    normal /= np.linalg.norm(normal)
    first = axis - (axis @ normal) * normal
    first /= np.linalg.norm(first)
    return (corners - corners[0]) @ np.stack([first, np.cross(normal, first)], axis=1)


def density(material: SheetMaterial, F: Floats) -> float:
    """Returns ψ(F) [J/m³] for F, (3, 2), by stretches where the law is isotropic."""
    E1, nu = material.youngs_modulus, material.poisson_ratio
    E2 = material.across or E1
    shear = material.shear_modulus or E1 / 2.0 / (1.0 + nu)
    if material.law == "stvk":
        compliance = np.array([[1.0 / E1, -nu / E1, 0.0], [-nu / E1, 1.0 / E2, 0.0], [0.0, 0.0, 1.0 / shear]])
        E = 0.5 * (F.T @ F - np.eye(2))
        strain = np.array([E[0, 0], E[1, 1], 2.0 * E[0, 1]])
        return 0.5 * float(strain @ np.linalg.inv(compliance) @ strain)
    lam = E1 * nu / (1.0 - nu**2)
    s1, s2 = np.linalg.svd(F, compute_uv=False)
    return 0.5 * shear * (s1**2 + s2**2 - 2.0) - shear * (s1 * s2 - 1.0) + 0.5 * (lam + shear) * (s1 * s2 - 1.0) ** 2


def membrane_energy(X: Floats, x: Floats, triangles: Indices, material: SheetMaterial, axes: Floats) -> float:
    """Returns the energy of all triangles [J]."""
    total = 0.0
    for corners, axis in zip(triangles, axes, strict=True):
        rest = plane_frame(X[corners], axis)
        F = (x[corners[1:]] - x[corners[0]]).T @ np.linalg.inv(rest[1:].T)
        total += 0.5 * abs(np.linalg.det(rest[1:])) * material.thickness * density(material, F)
    return total


def angle(x: Floats, hinge: tuple[int, ...]) -> float:
    """Returns by how much the two triangles at an edge are folded, with a sign."""
    a, b, c, d = x[list(hinge)]
    one, other = np.cross(b - a, c - a), np.cross(d - a, b - a)
    one, other = one / np.linalg.norm(one), other / np.linalg.norm(other)
    folded = 2.0 * np.arctan2(np.linalg.norm(one - other), np.linalg.norm(one + other))
    return float(-np.sign(one @ (d - a)) * folded)


def bending_energy(X: Floats, x: Floats, triangles: Indices, material: SheetMaterial, axes: Floats) -> float:
    """Returns the energy of Morley's triangles whose sides turn so that it is least [J].

    Each triangle takes a share of the bend at each of its sides, which makes its curvature Σ φ |e| n nᵀ / A; shares of
    both triangles at an edge make up its bend, and one at a free edge is as it likes.
    """
    C11, C22, C12, G = material.moduli * material.thickness**3 / 12.0
    plate = np.array([[C11, C12, 0.0], [C12, C22, 0.0], [0.0, 0.0, G]])
    at_edge: dict[frozenset[int], list[tuple[int, int]]] = {}
    stiffness = np.zeros((3 * len(triangles), 3 * len(triangles)))
    for number, (corners, axis) in enumerate(zip(triangles.tolist(), axes, strict=True)):
        rest = plane_frame(X[corners], axis)
        area = 0.5 * abs(np.linalg.det(rest[1:] - rest[0]))
        columns = []
        for k in range(3):
            side = rest[k - 1] - rest[k - 2]
            n, length = np.array([side[1], -side[0]]) / np.linalg.norm(side), np.linalg.norm(side)
            columns.append(length / area * np.array([n[0] ** 2, n[1] ** 2, 2.0 * n[0] * n[1]]))
            at_edge.setdefault(frozenset((corners[k - 1], corners[k - 2])), []).append((number, k))
        B = np.stack(columns, axis=1)
        own = slice(3 * number, 3 * number + 3)
        stiffness[own, own] = area * B.T @ plate @ B
    rows, bends = [], []
    for edge, sides in at_edge.items():
        if len(sides) == 2:
            row = np.zeros(len(stiffness))
            row[[3 * number + k for number, k in sides]] = 1.0
            (first, k), (second, m) = sides
            corner, other = int(triangles[first, k]), int(triangles[second, m])
            a, b = int(triangles[first, k - 2]), int(triangles[first, k - 1])
            assert {a, b} == edge
            rows.append(row)
            bends.append(angle(x, (a, b, corner, other)) - angle(X, (a, b, corner, other)))
    A = np.array(rows)
    whole = np.block([[stiffness, A.T], [A, np.zeros((len(A), len(A)))]])
    shares = np.linalg.lstsq(whole, np.concatenate([np.zeros(len(stiffness)), bends]), rcond=1e-13)[0]
    shares = shares[: len(stiffness)]
    return 0.5 * float(shares @ stiffness @ shares)


def gradient(energy: Callable[[Floats], float], x: Floats, step: float) -> Floats:
    """Returns ∂E/∂x by central differences of fourth order, (n, 3)."""
    out = np.zeros_like(x)
    for place in np.ndindex(x.shape):
        d = np.zeros_like(x)
        d[place] = step
        near, far = energy(x + d) - energy(x - d), energy(x + 2.0 * d) - energy(x - 2.0 * d)
        out[place] = (8.0 * near - far) / (12.0 * step)
    return out
