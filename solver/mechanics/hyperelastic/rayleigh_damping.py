# SPDX-License-Identifier: GPL-3.0-or-later
"""Damping of hyperelastic tets: Rayleigh's, with the stiffness that they have at rest, and no torque.

S07's damping stress P_d = γ (μ (Ḟ + Ḟᵀ) + λ tr Ḟ I) is γ times the stiffness at rest (D.1), so γ is the β [s] of a
body, whatever its law is. It holds in the frame of a tet at rest. Carried to a turned tet by its rotation, it is still
excited by a rigid turn where the tet is stretched. Here the rate is that of Green's strain,

    P_d = β F (2μ Ė + λ tr(Ė) I),   Ė = sym(FᵀḞ)

the same near rest, zero in every rigid motion, and without torque: the rule of
`mechanics/elements/corotational_element.py`, so that both kinds of bodies are damped alike. As there, β is divided by
(‖F‖² / 3)² where a tet is stretched.

The blocks D_ab = β V [λ (F g_a)(F g_b)ᵀ + μ ((F g_b)(F g_a)ᵀ + (g_a·g_b) F Fᵀ)] make a positive semi-definite matrix,
for inverted tets too, whose rows have the sum zero.

Source: S07, appendix D.1.
"""

from __future__ import annotations

import numpy as np

from ...runtime.arrays import Floats
from ...runtime.jit import kernel
from ...runtime.threads.index_partition import partition
from ...runtime.threads.thread_pool import run_parts
from ..model import Model
from ..sheets.hinge_records import write_hinge_damping
from .added_volume_penalty import add_volume_tets
from .hyperelastic_bodies import UPPER, TetArrays, gather
from .nodal_averaging import NodalShare
from .tet_kernels import BLOCKS_OFFSET, WITH_TANGENT, RestShapes

NONE = np.zeros(0)


def damping_matrix(
    model: Model,
    x: Floats,
    values: Floats,
    work: TetArrays,
    left: NodalShare | None = None,
    pressure_modulus: Floats = NONE,
) -> None:
    """Writes the blocks of D [N s/m], (b, 9), at node positions x [m], (n, 3); the damping force is −D v.

    The stiffness at rest is that of `model.mu` and `model.lam`; of tets that average at their nodes, without λ, which
    would lock their motion as it would lock their shape. `work.record` is overwritten.

    Args:
        model: The bodies.
        x, values: Positions, and the blocks.
        work: Its record.
        left: Of the tets' `Hyperelastic`.
        pressure_modulus: Of it, too: the pressure damps changes of volume by β times its own stiffness.
    """
    thick = pressure_modulus * model.stiffness_damping if len(pressure_modulus) else NONE
    unused = np.zeros(model.tet_count if len(thick) else 0)
    lam = model.lam if left is None else np.where(left.is_averaged, 0.0, model.lam)
    parts, rest = partition(model.tet_count), RestShapes(model.tets, model.Dm_inverse, model.volume)

    def run(part: int) -> None:
        scratch = np.empty((10, 3))
        damping_records(
            *parts[part], x, rest, model.mu, lam, model.stiffness_damping, UPPER, scratch[:4], scratch[4:8], work.record
        )
        if len(thick):
            add_volume_tets(
                *parts[part], WITH_TANGENT, True, thick, x, rest, UPPER, scratch[:4], scratch[4:], unused, work.record
            )

    run_parts(len(parts), run)
    if model.sheets is not None:
        write_hinge_damping(model.sheets, model.tets, x, model.stiffness_damping, work.record)
    gather(model, work, True, values, np.empty((model.node_count, 3)))


@kernel(allow_fma=True)
def damping_records(begin, end, x, rest, mu, lam, damping, pairs, g, h, record):
    """Writes the blocks of D into the records of the tets from `begin` to `end`, as `tet_kernels.py` does those of K.

    Args:
        begin, end: First tet and the one after the last.
        x: Positions [m], (n, 3).
        rest: `RestShapes`.
        mu, lam: Of the model [Pa], (m,).
        damping: β [s], (m,).
        pairs: Corners a < b of the six blocks, (6, 2).
        g, h: Work space for g_a and F g_a, (4, 3).
        record: (m, RECORD_LENGTH), out; forces become zero.
    """
    tets, Dm_inverse, volume = rest
    for tet in range(begin, end):
        G, w = Dm_inverse[tet], record[tet]
        n = tets[tet]
        a, b, c, d, e, f, p, q, r = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
        for k in range(3):
            u, v, o = x[n[k + 1], 0] - x[n[0], 0], x[n[k + 1], 1] - x[n[0], 1], x[n[k + 1], 2] - x[n[0], 2]
            a, b, c = a + u * G[k, 0], b + u * G[k, 1], c + u * G[k, 2]
            d, e, f = d + v * G[k, 0], e + v * G[k, 1], f + v * G[k, 2]
            p, q, r = p + o * G[k, 0], q + o * G[k, 1], r + o * G[k, 2]
        xx, yy, zz = a * a + b * b + c * c, d * d + e * e + f * f, p * p + q * q + r * r
        xy, yz, zx = a * d + b * e + c * f, d * p + e * q + f * r, p * a + q * b + r * c
        for k in range(3):
            u, v, o = G[k, 0], G[k, 1], G[k, 2]
            g[k + 1, 0], g[k + 1, 1], g[k + 1, 2] = u, v, o
            h[k + 1, 0], h[k + 1, 1], h[k + 1, 2] = a * u + b * v + c * o, d * u + e * v + f * o, p * u + q * v + r * o
            g[0, k], h[0, k] = 0.0, 0.0
        for k in range(1, 4):
            for axis in range(3):
                g[0, axis] -= g[k, axis]
                h[0, axis] -= h[k, axis]
        ease = max(1.0, (xx + yy + zz) / 3.0)
        scale = damping[tet] * volume[tet] / (ease * ease)
        L, M = scale * lam[tet], scale * mu[tet]
        for k in range(BLOCKS_OFFSET):
            w[k] = 0.0
        for pair in range(6):
            m, j = pairs[pair, 0], pairs[pair, 1]
            k = M * (g[m, 0] * g[j, 0] + g[m, 1] * g[j, 1] + g[m, 2] * g[j, 2])
            lx, ly, lz = L * h[m, 0], L * h[m, 1], L * h[m, 2]
            mx, my, mz = M * h[m, 0], M * h[m, 1], M * h[m, 2]
            s, t, o = h[j, 0], h[j, 1], h[j, 2]
            block = w[BLOCKS_OFFSET + 9 * pair :]
            block[0], block[1], block[2] = (lx + mx) * s + k * xx, lx * t + s * my + k * xy, lx * o + s * mz + k * zx
            block[3], block[4], block[5] = ly * s + t * mx + k * xy, (ly + my) * t + k * yy, ly * o + t * mz + k * yz
            block[6], block[7], block[8] = lz * s + o * mx + k * zx, lz * t + o * my + k * yz, (lz + mz) * o + k * zz
