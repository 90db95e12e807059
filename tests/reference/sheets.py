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


def bending_energy(X: Floats, x: Floats, triangles: Indices, material: SheetMaterial) -> float:
    """Returns the energy of all edges of an isotropic sheet [J]."""
    plate = material.youngs_modulus * material.thickness**3 / 12.0 / (1.0 - material.poisson_ratio**2)
    at_edge: dict[frozenset[int], list[int]] = {}
    for corners in triangles.tolist():
        for k in range(3):
            at_edge.setdefault(frozenset((corners[k], corners[k - 1])), []).append(corners[k - 2])
    total = 0.0
    for edge, opposite in at_edge.items():
        if len(opposite) != 2:
            continue
        a, b = sorted(edge)
        hinge = (a, b, *opposite)
        areas = sum(0.5 * np.linalg.norm(np.cross(X[b] - X[a], X[c] - X[a])) for c in opposite)
        bent = angle(x, hinge) - angle(X, hinge)
        total += 0.5 * plate * np.sum((X[b] - X[a]) ** 2) / areas * bent**2
    return total


def gradient(energy: Callable[[Floats], float], x: Floats, step: float) -> Floats:
    """Returns ∂E/∂x by central differences of fourth order, (n, 3)."""
    out = np.zeros_like(x)
    for place in np.ndindex(x.shape):
        d = np.zeros_like(x)
        d[place] = step
        near, far = energy(x + d) - energy(x - d), energy(x + 2.0 * d) - energy(x - 2.0 * d)
        out[place] = (8.0 * near - far) / (12.0 * step)
    return out
