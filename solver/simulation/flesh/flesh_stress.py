# SPDX-License-Identifier: GPL-3.0-or-later
"""The stress in flesh, by what its tets pull their corners with.

With the forces f_a = −V P g_a of a tet on its corners, g_a the gradients of their shape functions, the Cauchy stress
σ = P Fᵀ / J is

    σ = −Σ_a f_a ⊗ (x_a − x_0) / (J V),   a = 1, 2, 3

Of nearly incompressible bodies part of the stress is that of deformations averaged at nodes
(`mechanics/hyperelastic/nodal_averaging.py`); a tet has the mean of what its four corners have, besides its own.
"""

from __future__ import annotations

import numpy as np

from ...mechanics.hyperelastic.hyperelastic_bodies import Hyperelastic, TetArrays, forces, tet_arrays
from ...mechanics.hyperelastic.nodal_averaging import node_averages
from ...mechanics.hyperelastic.nodal_passes import nodal_pass
from ...mechanics.hyperelastic.tet_kernels import WITH_FORCES
from ...mechanics.model import Model
from ...runtime.arrays import Floats
from .flesh_bodies import FleshPart

MIN_VOLUME_RATIO = 1.0e-6  # volume ratio that is divided by at least
VOIGT_INDICES = ((0, 0), (1, 1), (2, 2), (0, 1), (1, 2), (2, 0))  # of xx, yy, zz, xy, yz, zx


def cauchy_stress(flesh: FleshPart, model: Model, x: Floats) -> tuple[Floats, Floats]:
    """Returns the Cauchy stress in every tet, and its largest principal value.

    Args:
        flesh: The bodies.
        model: Their model, with the rest shapes that hold now.
        x: Positions of its nodes [m], (n, 3).

    Returns:
        xx, yy, zz, xy, yz, zx [Pa], (m, 6), and the largest eigenvalue [Pa], (m,), above zero where something is
        pulled; both as `mechanics/elements/elastic_stress.py` has them for other bodies.
    """
    work = tet_arrays(model.pattern)
    forces(model, flesh.law, x, np.empty((model.node_count, 3)), work)
    stress = _tet_stress(model, x, work)
    at_nodes = _node_stress(model, flesh.law, x, work)
    if at_nodes is not None:
        stress += at_nodes[model.tets].mean(axis=1)
    stress = 0.5 * (stress + np.swapaxes(stress, 1, 2))
    return np.stack([stress[:, i, j] for i, j in VOIGT_INDICES], axis=1), np.linalg.eigvalsh(stress)[:, 2]


def _tet_stress(model: Model, x: Floats, work: TetArrays) -> Floats:
    pull = work.record[:, :9].reshape(-1, 3, 3)
    edges = x[model.tets[:, 1:]] - x[model.tets[:, :1]]
    ratio = np.linalg.det(np.swapaxes(edges, 1, 2) @ model.Dm_inverse)
    return -np.swapaxes(pull, 1, 2) @ edges / (_bounded_volume_ratio(ratio) * model.volume)[:, None, None]


def _node_stress(model: Model, law: Hyperelastic, x: Floats, work: TetArrays) -> Floats | None:
    """Returns the stress of the averages at nodes, zero at others, (n, 3, 3); None where there are none."""
    if law.left is None:
        return None
    passed = nodal_pass(model, law, x, work, WITH_FORCES, False)
    assert passed is not None
    averages, pattern = node_averages(model, law.law, law.parameter, law.left), model.pattern
    parts = x[pattern.column][:, :, None] * averages.gradient[:, None, :]
    F = np.add.reduceat(parts, pattern.row_start[:-1].astype(np.int64))[averages.nodes]
    size = _bounded_volume_ratio(np.linalg.det(F)) * averages.volume
    stress = np.zeros((model.node_count, 3, 3))
    stress[averages.nodes] = passed.stress.reshape(-1, 3, 3) @ np.swapaxes(F, 1, 2) / size[:, None, None]
    return stress


def _bounded_volume_ratio(ratio: Floats) -> Floats:
    return np.copysign(np.maximum(np.abs(ratio), MIN_VOLUME_RATIO), ratio)
