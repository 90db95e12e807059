# SPDX-License-Identifier: GPL-3.0-or-later
"""A slow twin of the energy of strands: edge after edge and node after node, from its definition."""

from __future__ import annotations

import itertools

import numpy as np

from sinew.solver.mechanics.sheets.sheet_elements import SheetMaterial
from sinew.solver.runtime.arrays import Floats, Indices


def turn(x: Floats, a: int, b: int, c: int) -> float:
    """Returns the angle by which the way a, b, c turns at b."""
    one, other = x[b] - x[a], x[c] - x[b]
    one, other = one / np.linalg.norm(one), other / np.linalg.norm(other)
    return float(2.0 * np.arctan2(np.linalg.norm(one - other), np.linalg.norm(one + other)))


def strand_energy(X: Floats, x: Floats, strands: Indices, material: SheetMaterial) -> float:
    """Returns the energy of strands no more than two of which meet, and of four that cross at a node [J]."""
    E, d, total = material.youngs_modulus, material.thickness, 0.0
    for a, b in strands.tolist():
        length = np.linalg.norm(X[b] - X[a])
        total += 0.5 * E * np.pi * d**2 / 4.0 * (np.linalg.norm(x[b] - x[a]) - length) ** 2 / length
    for b in np.unique(strands).tolist():
        free = [a + c - b for a, c in strands.tolist() if b in (a, c)]
        while len(free) > 1:  # those that are most nearly one line first
            a, c = min(itertools.combinations(free, 2), key=lambda pair: turn(X, pair[0], b, pair[1]))
            free = [node for node in free if node not in (a, c)]
            mean = 0.5 * (np.linalg.norm(X[a] - X[b]) + np.linalg.norm(X[c] - X[b]))
            k = material.strand_bending * E * np.pi * d**4 / 64.0 / mean
            total += 0.5 * k * (turn(x, a, b, c) - turn(X, a, b, c)) ** 2
    return total
