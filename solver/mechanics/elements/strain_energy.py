# SPDX-License-Identifier: GPL-3.0-or-later
"""The elastic energy of bodies, island by island, from the records of their tets.

The nodes 1 to 3 of a tet feel f_a = −T R g_a with T = V σ, so that T = −Σ f_a d_aᵀ with the dual basis d of the R g_a.
Isotropic material stores ½ V σ : C⁻¹ σ = (T : T − λ / (3 λ + 2 μ) (tr T)²) / (4 V μ), whatever strain it began with.
A pressure by volume is taken out of the forces first (`added_volume_penalty.py` has its energy). The present gradients
of QR bodies have no dual basis where a tet is flat: what these store, V (μ ε:ε + ½ λ tr² ε), is found anew.
"""

from __future__ import annotations

import numpy as np

from ...runtime.arrays import Floats
from ...runtime.jit import kernel
from ...runtime.simd.vec3 import vec3_add_cross, vec3_axpy, vec3_fma, vec3_load, vec3_sum, vec3_unpack, vec3_zero
from ..model import Model
from .added_volume_penalty import MIN_FREE_VOLUME_RATIO
from .element_rotations import has_present_gradients
from .formulation_strain import formulation_strain
from .record_layout import (
    BULK_STIFFNESS,
    FORCE,
    MAX_RECORD_LENGTH,
    ROTATED_GRADIENTS,
    V_LAMBDA,
    V_MU,
    VOLUME_GRADIENTS,
)

MIN_BULK_OVER_SHEAR = 1.0e-9  # 3 λ + 2 μ over μ up to which strain says nothing of volume


def stored_energy(model: Model, x: Floats, records: Floats) -> Floats:
    """Returns what every island stores [J], (k,).

    Args:
        model: The bodies.
        x: Node positions [m], (n, 3).
        records: The records of tets there, (m, …).
    """
    stored = np.zeros(model.pattern.island_count)
    is_apart = [has_present_gradients(method) for method in model.methods]
    if not any(is_apart):
        _add_by_records(model, slice(0, model.tet_count), x, records, stored)
        return stored
    for body, is_own in zip(model.bodies, is_apart, strict=True):
        (_add_by_strain if is_own else _add_by_records)(model, body.tets, x, records, stored)
    return stored


def _add_by_records(model: Model, t: slice, x: Floats, records: Floats, stored: Floats) -> None:
    kappa, strain = model.pressure_modulus, model.initial_strain
    sum_stored(
        x,
        model.pattern.island_of_row,
        model.tets[t],
        model.volume[t],
        kappa[t] if len(kappa) else kappa,
        strain[t] if len(strain) else strain,
        records[t],
        stored,
    )


def _add_by_strain(model: Model, t: slice, x: Floats, records: Floats, stored: Floats) -> None:
    tets, e, J0 = model.tets[t], formulation_strain(model, t, x), np.ones(t.stop - t.start)
    if len(model.initial_strain):
        e -= model.initial_strain[t]
        J0 += model.initial_strain[t, :3].sum(axis=1)
    square = np.sum(e * e, axis=1) + np.sum(e[:, 3:] ** 2, axis=1)
    energy = records[t, V_MU] * square + 0.5 * records[t, V_LAMBDA] * e[:, :3].sum(axis=1) ** 2
    if len(model.pressure_modulus):
        edges = x[tets[:, 1:]] - x[tets[:, :1]]
        J, stiffness = np.linalg.det(edges) * np.linalg.det(model.Dm_inverse[t]), records[t, BULK_STIFFNESS]
        stiffness = np.where(stiffness > 0.0, model.pressure_modulus[t] * model.volume[t], 0.0)
        energy += 0.5 * stiffness * (J - J0) ** 2
        whole = np.where(records[t, BULK_STIFFNESS] > 0.0, records[t, BULK_STIFFNESS] - stiffness, 0.0)
        energy += np.where(J < MIN_FREE_VOLUME_RATIO, 0.5 * whole * (J - MIN_FREE_VOLUME_RATIO) ** 2, 0.0)
    stored += np.bincount(model.pattern.island_of_row[tets[:, 0]], energy, len(stored))


@kernel()
def sum_stored(x, island_of_row, tets, volume, kappa, initial_strain, records, stored):
    """Adds up what tets store for every island, see `stored_energy`; `kappa` and `initial_strain` are of a `Model`."""
    length = records.shape[1]
    for tet in range(len(tets)):
        w, push, energy = length * tet, 0.0, 0.0
        if length >= MAX_RECORD_LENGTH and records[tet, BULK_STIFFNESS] > 0.0:
            tripled = vec3_zero()
            for a in range(4):
                tripled = vec3_fma(
                    tripled, vec3_load(x, 3 * tets[tet, a]), vec3_load(records, w + VOLUME_GRADIENTS + 3 * a)
                )
            J, J0, stiffness = vec3_sum(tripled) / 3.0, 1.0, kappa[tet] * volume[tet]
            if len(initial_strain) > 0:
                J0 += initial_strain[tet, 0] + initial_strain[tet, 1] + initial_strain[tet, 2]
            push, energy = stiffness * (J - J0), 0.5 * stiffness * (J - J0) ** 2
            if J < MIN_FREE_VOLUME_RATIO:
                push += (records[tet, BULK_STIFFNESS] - stiffness) * (J - MIN_FREE_VOLUME_RATIO)
                energy += 0.5 * (records[tet, BULK_STIFFNESS] - stiffness) * (J - MIN_FREE_VOLUME_RATIO) ** 2
        g, h, i = (
            vec3_load(records, w + ROTATED_GRADIENTS + 3),
            vec3_load(records, w + ROTATED_GRADIENTS + 6),
            vec3_load(records, w + ROTATED_GRADIENTS + 9),
        )
        p, q, r = (
            vec3_add_cross(vec3_zero(), h, i),
            vec3_add_cross(vec3_zero(), i, g),
            vec3_add_cross(vec3_zero(), g, h),
        )
        det = vec3_sum(vec3_fma(vec3_zero(), g, p))
        x_row, y_row, z_row = vec3_zero(), vec3_zero(), vec3_zero()
        for a in range(1, 4):
            dual = p if a == 1 else q if a == 2 else r
            f = vec3_load(records, w + FORCE + 3 * a - 3)
            if push != 0.0:
                f = vec3_axpy(f, push, vec3_load(records, w + VOLUME_GRADIENTS + 3 * a))
            fx, fy, fz = vec3_unpack(f)
            x_row, y_row, z_row = vec3_axpy(x_row, fx, dual), vec3_axpy(y_row, fy, dual), vec3_axpy(z_row, fz, dual)
        square = vec3_fma(vec3_fma(vec3_fma(vec3_zero(), x_row, x_row), y_row, y_row), z_row, z_row)
        (xx, _, _), (_, yy, _), (_, _, zz) = vec3_unpack(x_row), vec3_unpack(y_row), vec3_unpack(z_row)
        v_lam, v_mu = records[tet, V_LAMBDA], records[tet, V_MU]
        if v_mu > 0.0:
            bulk = 3.0 * v_lam + 2.0 * v_mu  # none where volume is left to the pressure, and tr T is none either
            trace = v_lam / bulk * (xx + yy + zz) ** 2 if bulk > MIN_BULK_OVER_SHEAR * v_mu else 0.0
            energy += (vec3_sum(square) - trace) / (4.0 * v_mu * det * det)
        stored[island_of_row[tets[tet, 0]]] += energy
