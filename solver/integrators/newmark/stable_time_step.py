# SPDX-License-Identifier: GPL-3.0-or-later
"""The longest step of an explicit scheme: 2 / ω with the highest frequency ω of a body at this moment.

With the step h, a mode of frequency ω turns into one of the matrix [[1 − z/2, 1], [−z (1 − z/4), 1 − z/2]], z = h² ω².
Its determinant is 1 and its trace 2 − z, so it neither grows nor fades for z < 4. Implicit damping b makes the bound
z < 4 (1 + b h / 2), so the limit without it is on the safe side. ω² is the largest eigenvalue of M^(-1/2) K M^(-1/2),
which Lanczos's method finds from below to about a percent; the clamped K bounds it from above where tets are pressed.

Source: scheme of S07, 6.3.3; the limit by own derivation, as in its appendix B.2. Bodies are searched side by side.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...linalg.block_pattern import BlockPattern
from ...mechanics.hyperelastic.hyperelastic_bodies import partition
from ...runtime.arrays import Bools, Floats
from ...runtime.row_dot_products import row_dot_products
from ...runtime.threads.thread_pool import run_parts
from ..system.block_ops import multiply_rows

LANCZOS_ITERATIONS = 24  # products; after them 1.5 % are missing at most (tests)
LANCZOS_SEED = 4


def highest_frequencies(
    pattern: BlockPattern, values: Floats, mass: Floats, is_free: Bools, starts: Sequence[int]
) -> Floats:
    """Returns ω [rad/s] of bodies whose nodes begin at `starts`, (k,), for blocks of K [N/m] and masses [kg]."""
    root = np.where(is_free, 1.0 / np.sqrt(np.where(is_free, mass, 1.0)), 0.0)[:, None]
    counts = np.diff([*starts, pattern.node_count])
    parts, product = partition(pattern.node_count), np.empty((pattern.node_count, 3))

    def multiply(q: Floats) -> Floats:
        scaled = root * q
        run_parts(
            len(parts),
            lambda k: multiply_rows(*parts[k], pattern.row_start, pattern.column, values, scaled, product),
        )
        return root * product

    def dot(a: Floats, b: Floats) -> Floats:
        return np.add.reduceat(row_dot_products(a, b), starts)

    def spread(numbers: Floats) -> Floats:
        return np.repeat(numbers, counts)[:, None]

    q = np.random.default_rng(LANCZOS_SEED).normal(size=product.shape) * is_free[:, None]
    before, beta = np.zeros_like(q), np.sqrt(dot(q, q))
    matrix = np.zeros((len(starts), LANCZOS_ITERATIONS, LANCZOS_ITERATIONS))
    for k in range(LANCZOS_ITERATIONS):
        with np.errstate(divide="ignore", invalid="ignore"):
            q = np.where(spread(beta) > 0.0, q / spread(beta), 0.0)
        w = multiply(q)
        alpha = dot(w, q)
        matrix[:, k, k] = alpha
        if k + 1 == LANCZOS_ITERATIONS:
            break
        w -= spread(alpha) * q + spread(beta if k else np.zeros_like(beta)) * before
        before, q = q, w
        beta = np.sqrt(dot(w, w))
        # nothing is left of bodies with few free nodes but round-off
        beta = np.where(beta > 1.0e-10 * np.abs(matrix[:, 0, 0]), beta, 0.0)
        matrix[:, k, k + 1] = matrix[:, k + 1, k] = beta
    return np.sqrt(np.maximum(np.linalg.eigvalsh(matrix)[:, -1], 0.0))
