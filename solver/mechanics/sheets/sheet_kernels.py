# SPDX-License-Identifier: GPL-3.0-or-later
"""Energy, forces, stiffness and damping of hinges: two triangles and the edge between them, four nodes.

A hinge with the dihedral angle θ at its edge, and θ₀ at rest, is bent by φ = θ − θ₀. It has the energy ½ M φ, with its
moment M (`bending_flexibility.py`), beside that of those of its triangles that belong to it. All is computed in the
places d of its nodes 1, 2 and 3 relative to node 0, and the Hessian in d is made positive semi-definite as a whole:
what is pressed does no harm where the rest outweighs it. In it angles resist each for itself, with k φ, and Newton's
method adds what joins them (`coupled_bending.py`); forces and energies are exact.

What is left is the record of a tet (`mechanics/hyperelastic/tet_kernels.py`): forces on nodes 1 to 3, and six blocks.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ...runtime.arrays import Floats, Indices
from ...runtime.jit import kernel
from ..hyperelastic.tet_kernels import BLOCKS_OFFSET, ENERGY_ONLY, WITH_TANGENT
from .dihedral_angle import dihedral_angle
from .membrane_kernels import membrane, strain_stiffness

TURN = 2.0 * math.pi


class HingeArrays(NamedTuple):
    """What h hinges and the t triangles that belong to them are made of.

    Attributes:
        bending: Stiffness k of the angle in the tangent [N m], zero where it does not bend, (h,).
        rest_angle: θ₀, (h,).
        bent_before: φ about which it is sought, up to half a turn on either side, (h,): a sheet that has gone through
            itself has turned on.
        triangle_start: Where the triangles of each hinge begin, (h + 1,).
        corners: Of each triangle, which of the four nodes of its hinge they are, (t, 3).
        rest_inverse: Of its edges from its first corner, as columns, in its material axes [1/m], (t, 2, 2).
        volume: Area times thickness [m³], (t,).
        law: Number of the law (`membrane_kernels.py`), (t,).
        moduli: C₁₁, C₂₂, C₁₂ and G [Pa], (t, 4).
    """

    bending: Floats
    rest_angle: Floats
    bent_before: Floats
    triangle_start: Indices
    corners: Indices
    rest_inverse: Floats
    volume: Floats
    law: npt.NDArray[np.int8]
    moduli: Floats


class BentHinges(NamedTuple):
    """Hinges at some places of nodes.

    Attributes:
        hinges: What they are made of; `bending` is zero of those whose triangles have no normals there, for which φ is
            zero.
        bent: φ, (h,).
        moment: M = ∂E/∂φ [N m], (h,).
    """

    hinges: HingeArrays
    bent: Floats
    moment: Floats


@kernel(device_only=True)
def load_relative(nodes, x, d):
    """Writes the places of nodes 1 to 3 relative to node 0 [m], (3, 3)."""
    for a in range(3):
        for i in range(3):
            d[a, i] = x[nodes[a + 1], i] - x[nodes[0], i]


@kernel(device_only=True)
def write_shape_gradients(corners, rest_inverse, g):
    """Writes by which F changes with each of the places d: ∂F_ir/∂d_ai = g_ar, (3, 2), zero for other nodes."""
    g[:] = 0.0
    for r in range(2):
        first, second = rest_inverse[0, r], rest_inverse[1, r]
        for corner in range(3):
            share = first if corner == 1 else second if corner == 2 else -first - second
            if corners[corner] > 0:
                g[corners[corner] - 1, r] += share


@kernel(device_only=True)
def deformation_gradient(d, g, F):
    """Writes F, (3, 2)."""
    for i in range(3):
        for r in range(2):
            F[i, r] = d[0, i] * g[0, r] + d[1, i] * g[1, r] + d[2, i] * g[2, r]


@kernel(device_only=True)
def add_membrane_hessian(scale, g, H, hessian):
    """Adds scale times ∂²ψ/∂d² for H = ∂²ψ/∂F², (6, 6)."""
    for a in range(3):
        for b in range(3):
            p, q, r, s = g[a, 0] * g[b, 0], g[a, 0] * g[b, 1], g[a, 1] * g[b, 0], g[a, 1] * g[b, 1]
            for i in range(3):
                for k in range(3):
                    hessian[3 * a + i, 3 * b + k] += scale * (
                        p * H[2 * i, 2 * k]
                        + q * H[2 * i, 2 * k + 1]
                        + r * H[2 * i + 1, 2 * k]
                        + s * H[2 * i + 1, 2 * k + 1]
                    )


@kernel(device_only=True)
def nearest_turn(angle, before):
    """Returns an angle and the full turns that bring it nearest to another: it jumps where a sheet is folded flat."""
    return angle - TURN * math.floor((angle - before) / TURN + 0.5)


@kernel()
def bend_hinges(begin, end, rows, tets, x, rest_angle, bent_before, bending, bent):
    """Writes how far hinges are bent; where triangles have no normals they do not bend.

    Args:
        begin, end, rows, tets, x: See `hinge_derivatives`.
        rest_angle, bent_before, bending: See `HingeArrays`; the last one changed.
        bent: φ, (h,), out.
    """
    d, slope, unused = np.empty((3, 3)), np.empty((3, 3)), np.empty((0, 0))
    for hinge in range(begin, end):
        bent[hinge] = 0.0
        if bending[hinge] > 0.0:
            load_relative(tets[rows[hinge]], x, d)
            has_normals, angle = dihedral_angle(d, False, slope, unused)
            if has_normals:
                bent[hinge] = nearest_turn(angle - rest_angle[hinge], bent_before[hinge])
            else:
                bending[hinge] = 0.0


@kernel()
def hinge_derivatives(begin, end, wanted, rows, tets, x, bent_hinges, energy, smallest, gradient, hessian):
    """Writes energies of hinges, and where wanted their derivatives in d, which are not clamped.

    Args:
        begin, end: The first hinge, and the one after the last.
        wanted: WITH_TANGENT: both derivatives; WITH_FORCES: the gradient; ENERGY_ONLY: neither.
        rows: Which tets of the model the hinges are, (h,).
        tets: Nodes of all tets, (m, 4).
        x: Node positions [m], (n, 3).
        bent_hinges: `BentHinges`.
        energy: [J], (m,), out.
        smallest: (m,), out: 1, since no triangle can be turned inside out.
        gradient: [N], (end − begin, 3, 3), out.
        hessian: [N/m], (end − begin, 9, 9), out; empty where not wanted.
    """
    hinges, bent, moment = bent_hinges
    bending, _, _, triangle_start, corners, rest_inverse, volume, law, moduli = hinges
    d, g, F, P, H = np.empty((3, 3)), np.empty((3, 2)), np.empty((3, 2)), np.empty((3, 2)), np.empty((6, 6))
    slope, curvature = np.empty((3, 3)), np.empty((9, 9))
    for hinge in range(begin, end):
        place, tet, total = hinge - begin, rows[hinge], 0.0
        load_relative(tets[tet], x, d)
        G = gradient[place]
        G[:] = 0.0
        if wanted == WITH_TANGENT:
            hessian[place] = 0.0
        for triangle in range(triangle_start[hinge], triangle_start[hinge + 1]):
            write_shape_gradients(corners[triangle], rest_inverse[triangle], g)
            deformation_gradient(d, g, F)
            total += volume[triangle] * membrane(law[triangle], moduli[triangle], F, P, H)
            for a in range(3):
                for i in range(3):
                    G[a, i] += volume[triangle] * (P[i, 0] * g[a, 0] + P[i, 1] * g[a, 1])
            if wanted == WITH_TANGENT:
                add_membrane_hessian(volume[triangle], g, H, hessian[place])
        k = bending[hinge]
        if k > 0.0:
            total += 0.5 * moment[hinge] * bent[hinge]
            if wanted != ENERGY_ONLY:
                dihedral_angle(d, wanted == WITH_TANGENT, slope, curvature)
                for a in range(3):
                    for i in range(3):
                        G[a, i] += moment[hinge] * slope[a, i]
            if wanted == WITH_TANGENT:
                for i in range(9):
                    for j in range(9):
                        product = slope[i // 3, i % 3] * slope[j // 3, j % 3]
                        hessian[place, i, j] += k * product + moment[hinge] * curvature[i, j]
        energy[tet], smallest[tet] = total, 1.0


@kernel()
def hinge_damping(begin, end, rows, tets, x, hinges, damping, hessian):
    """Writes the damping of hinges in d [N s/m], (end − begin, 9, 9), positive semi-definite.

    It is β times the stiffness against changes of Green's strain and of angles, which no rigid motion makes.

    Args:
        begin, end, rows, tets, x, hinges: See `hinge_derivatives`.
        damping: β of all tets [s], (m,).
        hessian: Out.
    """
    bending, _, _, triangle_start, corners, rest_inverse, volume, _, moduli = hinges
    d, g, F, H = np.empty((3, 3)), np.empty((3, 2)), np.empty((3, 2)), np.empty((6, 6))
    slope, unused = np.empty((3, 3)), np.empty((0, 0))
    for hinge in range(begin, end):
        place, tet = hinge - begin, rows[hinge]
        load_relative(tets[tet], x, d)
        hessian[place] = 0.0
        for triangle in range(triangle_start[hinge], triangle_start[hinge + 1]):
            write_shape_gradients(corners[triangle], rest_inverse[triangle], g)
            deformation_gradient(d, g, F)
            strain_stiffness(moduli[triangle], F, H)
            add_membrane_hessian(damping[tet] * volume[triangle], g, H, hessian[place])
        k = damping[tet] * bending[hinge]
        if k > 0.0 and dihedral_angle(d, False, slope, unused)[0]:
            for i in range(9):
                for j in range(9):
                    hessian[place, i, j] += k * slope[i // 3, i % 3] * slope[j // 3, j % 3]


@kernel()
def write_forces(begin, end, rows, gradient, record):
    """Writes the forces on nodes 1 to 3 [N] into the records of hinges."""
    for hinge in range(begin, end):
        w = record[rows[hinge]]
        for a in range(3):
            for i in range(3):
                w[3 * a + i] = -gradient[hinge - begin, a, i]


@kernel()
def write_blocks(begin, end, rows, hessian, pairs, record):
    """Writes the blocks of hinges into their records.

    Args:
        begin, end, rows: See `hinge_derivatives`.
        hessian: [N/m], (end − begin, 9, 9).
        pairs: Corners a < b of the six blocks, (6, 2).
        record: (m, RECORD_LENGTH), out.
    """
    for hinge in range(begin, end):
        T, w = hessian[hinge - begin], record[rows[hinge]]
        for pair in range(6):
            a, b, block = pairs[pair, 0], pairs[pair, 1], w[BLOCKS_OFFSET + 9 * pair :]
            for i in range(3):
                for k in range(3):
                    column = 3 * (b - 1) + k
                    if a > 0:
                        block[3 * i + k] = T[3 * (a - 1) + i, column]
                    else:  # rows of blocks have the sum zero
                        block[3 * i + k] = -T[i, column] - T[3 + i, column] - T[6 + i, column]
