# SPDX-License-Identifier: GPL-3.0-or-later
"""Slow twins of what tears a sheet and of what it is made of then, triangle after triangle."""

from __future__ import annotations

import numpy as np
import scipy.linalg

from reference.sheets import plane_frame
from sinew.solver.mechanics.sheets.sheet_elements import SheetMaterial
from sinew.solver.runtime.arrays import Floats, Indices


def largest_stress(X: Floats, x: Floats, axis: Floats, material: SheetMaterial) -> tuple[float, Floats]:
    """Returns the largest principal stress of a triangle [Pa] and its direction at rest, (3,), by polar decomposition.

    Args:
        X, x: Its corners at rest and now [m], (3, 3) each.
        axis: Along which the material axis lies, (3,).
        material: What it is made of.
    """
    rest = plane_frame(X, axis)
    F = (x[1:] - x[0]).T @ np.linalg.inv(rest[1:].T)
    strain = scipy.linalg.polar(F)[1] - np.eye(2)
    E1, nu = material.youngs_modulus, material.poisson_ratio
    E2 = material.across or E1
    shear = material.shear_modulus or E1 / 2.0 / (1.0 + nu)
    compliance = np.array([[1.0 / E1, -nu / E1, 0.0], [-nu / E1, 1.0 / E2, 0.0], [0.0, 0.0, 1.0 / shear]])
    s = np.linalg.solve(compliance, [strain[0, 0], strain[1, 1], 2.0 * strain[0, 1]])
    values, directions = np.linalg.eigh([[s[0], s[2]], [s[2], s[1]]])
    frame = (X[1:] - X[0]).T @ np.linalg.inv(rest[1:].T)  # the plane in space
    return float(values[1]), frame @ directions[:, 1]


def node_copies(triangles: Indices, torn: set[frozenset[int]]) -> list[list[int]]:
    """Returns a name for the node at each corner of each triangle of a sheet that is torn along some edges.

    Two triangles have the same copy of a node if one is reached from the other through edges at that node that are not
    torn, or if they were not joined by edges in the whole sheet.
    """
    at_node: dict[int, list[int]] = {}
    for number, corners in enumerate(triangles.tolist()):
        for node in corners:
            at_node.setdefault(node, []).append(number)
    names = [[-1] * 3 for _ in triangles]
    count = 0
    for node, around in at_node.items():
        whole = _groups(triangles, node, around, set())
        lead = {member: group[0] for group in whole for member in group}
        parts = _groups(triangles, node, around, torn)
        # fans that nothing joined hang together at the node by their first triangles
        held = [part for part in parts if any(lead[member] == member for member in part)]
        merged = [sum(held, [])] + [part for part in parts if part not in held] if len(whole) > 1 else parts
        for part in merged:
            for member in part:
                names[member][triangles[member].tolist().index(node)] = count
            count += 1
    return names


def _groups(triangles: Indices, node: int, around: list[int], torn: set[frozenset[int]]) -> list[list[int]]:
    """Returns the triangles around a node in groups that edges join which exactly two triangles share."""
    left, groups = list(around), []
    while left:
        group, todo = [], [left[0]]
        while todo:
            here = todo.pop()
            if here not in left:
                continue
            left.remove(here)
            group.append(here)
            for other in triangles[here]:
                edge = frozenset((node, int(other)))
                sharing = [t for t in around if int(other) in triangles[t]]
                if int(other) != node and edge not in torn and len(sharing) == 2:
                    todo += sharing
        groups.append(sorted(group))
    return groups
