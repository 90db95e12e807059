# SPDX-License-Identifier: GPL-3.0-or-later
"""Mean deformation gradients of coarse tets, as sums over the nodes on their faces: those inside have none."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...mesh.red_refinement import RefinementLevels, interpolate_from_coarse, red_refinement
from ...runtime.arrays import Floats, Indices, floats, indices
from ...runtime.jit import kernel
from ...runtime.simd.vec3 import vec3, vec3_axpy, vec3_load, vec3_store, vec3_unpack, vec3_zero


@dataclass(frozen=True, eq=False)
class MeanGradientOperator:
    """How the mean gradients of M coarse tets follow from q nodes each: F = Σ x_a ⊗ g_a.

    Attributes:
        nodes: Numbers of the body's own, (M, q).
        gradients: g_a [1/m], (M, q, 3).
        coarse: Of the functions of the four coarse nodes [1/m], (M, 4, 3).
        volume: Of the coarse tets [m³], (M,).
    """

    nodes: Indices
    gradients: Floats
    coarse: Floats
    volume: Floats


def mean_gradient_operator(
    levels: RefinementLevels, tets: Indices, Dm_inverse: Floats, volume: Floats
) -> MeanGradientOperator:
    """Returns the means of a body.

    Args:
        levels: Of the body.
        tets: Its fine tets in the body's own numbers, (m, 4).
        Dm_inverse, volume: Of a `Model`, of these tets.
    """
    count, per = len(levels.coarse_tets), levels.children_per_coarse_tet
    # all coarse tets fall apart as one does
    pattern, of_one = red_refinement(np.arange(4, dtype=np.int32).reshape(1, 4), 4, levels.count)
    shares = interpolate_from_coarse(of_one, np.eye(4))  # of the coarse functions, (q + inner, 4)
    is_outer = shares.min(axis=1) == 0.0
    _, first = np.unique(pattern, return_index=True)
    V = volume.reshape(count, per)
    weight = (V / V.sum(axis=1, keepdims=True))[..., None, None]
    g = np.concatenate([-Dm_inverse.sum(axis=1, keepdims=True), Dm_inverse], axis=1).reshape(count, per, 4, 3)
    g = (weight * g).reshape(count, 4 * per, 3)
    every = np.zeros((count, len(shares), 3))
    for corner, node in enumerate(pattern.ravel()):
        every[:, node] += g[:, corner]
    return MeanGradientOperator(
        nodes=indices(tets.reshape(count, -1)[:, first[is_outer]], count, -1),
        gradients=floats(every[:, is_outer]),
        coarse=floats(np.einsum("nc,mni->mci", shares, every)),
        volume=floats(V.sum(axis=1)),
    )


@kernel(allow_fma=True)
def mean_gradients(x, nodes, gradients, F):
    """Writes Σ x_a ⊗ g_a of every coarse tet, (M, 3, 3), for what the body's nodes have, (n, 3)."""
    for tet in range(len(nodes)):
        a, b, c = vec3_zero(), vec3_zero(), vec3_zero()
        for k in range(nodes.shape[1]):
            (p, q, r), g = (
                vec3_unpack(vec3_load(x, 3 * nodes[tet, k])),
                vec3_load(gradients, 3 * (tet * nodes.shape[1] + k)),
            )
            a, b, c = vec3_axpy(a, p, g), vec3_axpy(b, q, g), vec3_axpy(c, r, g)
        vec3_store(F, 9 * tet, a)
        vec3_store(F, 9 * tet + 3, b)
        vec3_store(F, 9 * tet + 6, c)


@kernel(allow_fma=True)
def add_tangent_product(factor, moduli, v, nodes, gradients, out):
    """Adds `factor` H : δF g_a of every coarse tet with H, (M, 9, 9), and δF of v, (n, 3), to its nodes, (n, 3)."""
    count = nodes.shape[1]
    dF, P = np.empty(9), np.empty(9)
    for tet in range(len(nodes)):
        a, b, c = vec3_zero(), vec3_zero(), vec3_zero()
        for k in range(count):
            (p, q, r), g = vec3_unpack(vec3_load(v, 3 * nodes[tet, k])), vec3_load(gradients, 3 * (tet * count + k))
            a, b, c = vec3_axpy(a, p, g), vec3_axpy(b, q, g), vec3_axpy(c, r, g)
        vec3_store(dF, 0, a)
        vec3_store(dF, 3, b)
        vec3_store(dF, 6, c)
        for row in range(9):
            P[row] = 0.0
        for column in range(9):  # which is row as well, since H is symmetric
            share = factor * dF[column]
            for row in range(9):
                P[row] += share * moduli[tet, column, row]
        a, b, c = vec3(P[0], P[3], P[6]), vec3(P[1], P[4], P[7]), vec3(P[2], P[5], P[8])
        for k in range(count):
            (x, y, z), i = vec3_unpack(vec3_load(gradients, 3 * (tet * count + k))), 3 * nodes[tet, k]
            vec3_store(out, i, vec3_axpy(vec3_axpy(vec3_axpy(vec3_load(out, i), x, a), y, b), z, c))


@kernel(allow_fma=True)
def coarse_blocks(moduli, gradients, blocks):
    """Writes the sixteen blocks g_aᵀ H g_b of every coarse tet, (16 M, 9), for H, (M, 9, 9), and g, (M, 4, 3)."""
    half = np.empty((9, 3))
    for tet in range(len(moduli)):
        H = moduli[tet]
        for b in range(4):
            x, y, z = gradients[tet, b, 0], gradients[tet, b, 1], gradients[tet, b, 2]
            for row in range(9):
                for k in range(3):
                    half[row, k] = H[row, 3 * k] * x + H[row, 3 * k + 1] * y + H[row, 3 * k + 2] * z
            for a in range(4):
                u, v, w = gradients[tet, a, 0], gradients[tet, a, 1], gradients[tet, a, 2]
                out = blocks[16 * tet + 4 * a + b]
                for i in range(3):
                    for k in range(3):
                        out[3 * i + k] = u * half[3 * i, k] + v * half[3 * i + 1, k] + w * half[3 * i + 2, k]


@kernel(allow_fma=True)
def add_stress(factor, P, nodes, gradients, out):
    """Adds `factor` P g_a of every coarse tet with P, (M, 3, 3), to its nodes, (n, 3)."""
    for tet in range(len(nodes)):
        for k in range(nodes.shape[1]):
            x, y, z = vec3_unpack(vec3_load(gradients, 3 * (tet * nodes.shape[1] + k)))
            i = nodes[tet, k]
            for row in range(3):
                out[i, row] += factor * (P[tet, row, 0] * x + P[tet, row, 1] * y + P[tet, row, 2] * z)
