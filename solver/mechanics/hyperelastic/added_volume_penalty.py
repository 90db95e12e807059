# SPDX-License-Identifier: GPL-3.0-or-later
"""The pressure that preserves the volume of flesh which its own weight would press flat: added to the law of a tet.

A tet of the modulus κ has ψ_p = ½ κ (J − 1)² besides, J = det F, and below J₀ = `MIN_FREE_VOLUME_RATIO` also
½ κ V₀ (J − J₀)² of the whole tet V₀, so that almost empty tets come out of a tangle too: the energy of
`mechanics/elements/added_volume_penalty.py`. With p = ∂Ψ/∂J and the gradients ∂J/∂x_a node a feels −p ∂J/∂x_a, and

    K_ab = ∂²Ψ/∂J² ∂J/∂x_a (∂J/∂x_b)ᵀ + p ∂²J/∂x_a∂x_b

J is linear in each node, so that ∂²J/∂x_a∂x_b is the matrix of a cross product, and zero for a = b. The clamped tangent
has the first part alone, which is positive semi-definite whatever the tet looks like. Own derivation.
"""

from __future__ import annotations

from ...runtime.jit import kernel
from ..elements.added_volume_penalty import MIN_FREE_VOLUME_RATIO
from .tet_kernels import BLOCKS_OFFSET, ENERGY_ONLY, WITH_TANGENT


@kernel(allow_fma=True)
def add_volume_tets(begin, end, wanted, clamped, kappa, x, rest, pairs, h, twist, energy, record):
    """Adds the energies of tets with κ > 0 and, where wanted, what the tet pass leaves of them.

    Args:
        begin, end: First tet and the one after the last.
        wanted, clamped: As for `hyperelastic_tets`.
        kappa: κ [Pa], (m,).
        x: Positions [m], (n, 3).
        rest: `RestShapes`.
        pairs: Corners a < b of the six blocks, (6, 2).
        h, twist: Work space: ∂J/∂x_a, (4, 3), and the axial vectors of ∂²J/∂x_a∂x_b, (6, 3).
        energy: [J], (m,), in and out.
        record: (m, RECORD_LENGTH), in and out.
    """
    tets, Dm_inverse, volume = rest
    for tet in range(begin, end):
        if not kappa[tet] > 0.0:
            continue
        n, G, w = tets[tet], Dm_inverse[tet], record[tet]
        d = G[0, 0] * (G[1, 1] * G[2, 2] - G[1, 2] * G[2, 1]) + G[0, 1] * (G[1, 2] * G[2, 0] - G[1, 0] * G[2, 2])
        d += G[0, 2] * (G[1, 0] * G[2, 1] - G[1, 1] * G[2, 0])  # one over six times the whole volume at rest
        J = 0.0
        for i in range(3):
            k, m = (i + 1) % 3, (i + 2) % 3
            p, q, r = x[n[1], i] - x[n[0], i], x[n[2], i] - x[n[0], i], x[n[3], i] - x[n[0], i]
            pk, qk, rk = x[n[1], k] - x[n[0], k], x[n[2], k] - x[n[0], k], x[n[3], k] - x[n[0], k]
            pm, qm, rm = x[n[1], m] - x[n[0], m], x[n[2], m] - x[n[0], m], x[n[3], m] - x[n[0], m]
            h[1, i], h[2, i], h[3, i] = d * (qk * rm - qm * rk), d * (rk * pm - rm * pk), d * (pk * qm - pm * qk)
            h[0, i] = -h[1, i] - h[2, i] - h[3, i]
            twist[0, i], twist[1, i], twist[2, i] = d * (q - r), d * (r - p), d * (p - q)
            twist[3, i], twist[4, i], twist[5, i] = -d * r, d * q, -d * p
            J += p * h[1, i]
        stiffness = kappa[tet] * volume[tet]
        energy[tet] += 0.5 * stiffness * (J - 1.0) * (J - 1.0)
        push = stiffness * (J - 1.0)
        if J < MIN_FREE_VOLUME_RATIO:
            whole = kappa[tet] / (6.0 * d)
            energy[tet] += 0.5 * whole * (J - MIN_FREE_VOLUME_RATIO) * (J - MIN_FREE_VOLUME_RATIO)
            push += whole * (J - MIN_FREE_VOLUME_RATIO)
            stiffness += whole
        if wanted == ENERGY_ONLY:
            continue
        for a in range(3):
            for i in range(3):
                w[3 * a + i] -= push * h[a + 1, i]
        if wanted != WITH_TANGENT:
            continue
        turned = 0.0 if clamped else push
        for pair in range(6):
            g, o, block = h[pairs[pair, 0]], h[pairs[pair, 1]], w[BLOCKS_OFFSET + 9 * pair :]
            a, b, c = turned * twist[pair, 0], turned * twist[pair, 1], turned * twist[pair, 2]
            for i in range(3):
                for k in range(3):
                    block[3 * i + k] += stiffness * g[i] * o[k]
            block[1], block[2], block[5] = block[1] - c, block[2] + b, block[5] - a
            block[3], block[6], block[7] = block[3] + c, block[6] - b, block[7] + a
