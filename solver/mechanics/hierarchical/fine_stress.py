# SPDX-License-Identifier: GPL-3.0-or-later
"""The stress in the fine tets of a hierarchical body, by what they pull their corners with.

With the forces f_a = −V P g_a of a tet on its corners the Cauchy stress σ = P Fᵀ / J is −Σ_a f_a ⊗ (x_a − x_0) / (J V),
a = 1, 2, 3; symmetric but for what is of second order in the details.
"""

from __future__ import annotations

import numpy as np

from ...runtime.arrays import Floats, floats
from ..elements.record_layout import FORCE, UNDAMPED_LENGTH
from ..model import Model
from .hierarchical_body import hierarchical_body

MIN_VOLUME_RATIO = 1.0e-6  # volume ratio that is divided by at least
VOIGT_INDICES = ((0, 0), (1, 1), (2, 2), (0, 1), (1, 2), (2, 0))  # of xx, yy, zz, xy, yz, zx


def level_stress(model: Model, number: int, x: Floats) -> tuple[Floats, Floats]:
    """Returns the Cauchy stress in every tet of a body, and its largest principal value.

    Args:
        model: All bodies.
        number: Of the hierarchical one.
        x: Node positions [m], (n, 3).

    Returns:
        xx, yy, zz, xy, yz, zx [Pa], (m, 6), and the largest eigenvalue [Pa], (m,), as
        `mechanics/elements/elastic_stress.py` has them.
    """
    body = hierarchical_body(model, number)
    own = floats(x[body.nodes])
    records = np.empty((len(body.corners), UNDAMPED_LENGTH))
    body.write(own, body.rotations(own), records)
    pull = records[:, FORCE : FORCE + 9].reshape(-1, 3, 3)
    edges = own[body.corners[:, 1:]] - own[body.corners[:, :1]]
    ratio = np.linalg.det(np.swapaxes(edges, 1, 2) @ body.Dm_inverse)
    size = np.copysign(np.maximum(np.abs(ratio), MIN_VOLUME_RATIO), ratio) * body.volume
    stress = -np.swapaxes(pull, 1, 2) @ edges / size[:, None, None]
    stress = 0.5 * (stress + np.swapaxes(stress, 1, 2))
    return np.stack([stress[:, i, j] for i, j in VOIGT_INDICES], axis=1), np.linalg.eigvalsh(stress)[:, 2]
