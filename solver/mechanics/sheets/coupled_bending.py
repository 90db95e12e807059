# SPDX-License-Identifier: GPL-3.0-or-later
"""By what the stiffness of bending is more than that of hinges each for itself: Jᵀ (F⁻¹ − k) J.

The tangent of a sheet has k JᵀJ for each hinge, with the gradient J of its angle; the moments of a plate, M = F⁻¹ φ
(`bending_flexibility.py`), join all hinges of a sheet. F⁻¹ is a full matrix, so only its products with vectors are
computed here.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...runtime.arrays import Floats, Indices
from ...runtime.jit import kernel
from .dihedral_angle import dihedral_angle
from .sheet_elements import SheetElements
from .sheet_kernels import load_relative


@dataclass(frozen=True, eq=False)
class CoupledBending:
    """What joins the hinges of a model at some places of nodes.

    Attributes:
        sheets: The hinges, h of them.
        tets: Nodes of all tets of the model, (m, 4).
        slope: J of the places of nodes 1 to 3 relative to node 0 [1/m], (h, 3, 3); zero where nothing bends.
    """

    sheets: SheetElements
    tets: Indices
    slope: Floats

    def times(self, u: Floats) -> Floats:
        """Returns Jᵀ (F⁻¹ − k) J u [N], (n, 3), for displacements u [m], (n, 3)."""
        sheets, rate, force = self.sheets, np.empty(len(self.slope)), np.zeros_like(u)
        bend_rates(sheets.tets, self.tets, self.slope, u, rate)
        moment = sheets.flexibility.moments(rate) - sheets.hinges.bending * rate
        add_moment_forces(sheets.tets, self.tets, self.slope, moment, force)
        return force


def coupled_bending(sheets: SheetElements, tets: Indices, x: Floats) -> CoupledBending:
    """Returns what joins hinges where nodes are at x [m], (n, 3), given the nodes of all tets, (m, 4)."""
    slope = np.empty((len(sheets.tets), 3, 3))
    write_slopes(sheets.tets, tets, x, sheets.hinges.bending, slope)
    return CoupledBending(sheets, tets, slope)


@kernel()
def write_slopes(rows, tets, x, bending, slope):
    """Writes J of hinges, (h, 3, 3); zero where there is no stiffness `bending`, (h,), or a triangle has no normal.

    Args:
        rows: Which tets of the model the hinges are, (h,).
        tets: Nodes of all tets, (m, 4).
        x: Node positions [m], (n, 3).
        bending: k [N m], (h,).
        slope: Out [1/m].
    """
    d, unused = np.empty((3, 3)), np.empty((0, 0))
    for hinge in range(len(rows)):
        has_normals = False
        if bending[hinge] > 0.0:
            load_relative(tets[rows[hinge]], x, d)
            has_normals = dihedral_angle(d, False, slope[hinge], unused)[0]
        if not has_normals:
            slope[hinge] = 0.0


@kernel()
def bend_rates(rows, tets, slope, u, rate):
    """Writes J u of hinges, (h,); for the arguments see `write_slopes`."""
    for hinge in range(len(rows)):
        nodes, total = tets[rows[hinge]], 0.0
        for a in range(3):
            for i in range(3):
                total += slope[hinge, a, i] * (u[nodes[a + 1], i] - u[nodes[0], i])
        rate[hinge] = total


@kernel()
def add_moment_forces(rows, tets, slope, moment, force):
    """Adds Jᵀ M to forces on nodes [N], (n, 3), for moments M [N m], (h,); other arguments as `write_slopes`."""
    for hinge in range(len(rows)):
        nodes = tets[rows[hinge]]
        for a in range(3):
            for i in range(3):
                of_node = slope[hinge, a, i] * moment[hinge]
                force[nodes[a + 1], i] += of_node
                force[nodes[0], i] -= of_node
