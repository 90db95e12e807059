# SPDX-License-Identifier: GPL-3.0-or-later
"""The elastic energy of bodies, island by island, from the records of their tets.

The nodes 1 to 3 of a tet feel f_a = −T R g_a with T = V σ, so that T = −Σ f_a d_aᵀ with the dual basis d of the R g_a.
Isotropic material stores ½ V σ : C⁻¹ σ = (T : T − λ / (3 λ + 2 μ) (tr T)²) / (4 V μ), whatever strain it began with.
A pressure by volume is taken out of the forces first; see `volume_pressure.py` for its energy. The present gradients
of QR bodies have no dual basis where a tet is flat: what these store, V (μ ε:ε + ½ λ tr² ε), is found anew.
"""

from __future__ import annotations

import numpy as np

from ..arrays import Floats
from ..jit import kernel
from ..linear.threes import add, add_cross, add_products, load, nothing, numbers, total
from ..model import Model
from .frames import has_present_gradients
from .own_strain import own_strain
from .record import BULK, FORCE, PRESSED, TURNED, V_LAMBDA, V_MU, WARPED
from .volume_pressure import FLAT

NO_BULK = 1.0e-9  # 3 λ + 2 μ over μ up to which strain says nothing of volume


def stored_energy(model: Model, x: Floats, warped: Floats) -> Floats:
    """Returns what every island stores [J], (k,).

    Args:
        model: The bodies.
        x: Node positions [m], (n, 3).
        warped: The records of tets there, (m, …).
    """
    stored = np.zeros(model.pattern.island_count)
    is_apart = [has_present_gradients(method) for method in model.methods]
    if not any(is_apart):
        _add_by_records(model, slice(0, model.tet_count), x, warped, stored)
        return stored
    for body, is_own in zip(model.bodies, is_apart, strict=True):
        (_add_by_strain if is_own else _add_by_records)(model, body.tets, x, warped, stored)
    return stored


def _add_by_records(model: Model, t: slice, x: Floats, warped: Floats, stored: Floats) -> None:
    kappa, strain = model.pressure_modulus, model.initial_strain
    sum_stored(
        x, model.pattern.island_of_row, model.tets[t], model.volume[t], kappa[t] if len(kappa) else kappa,
        strain[t] if len(strain) else strain, warped[t], stored,
    )  # fmt: skip


def _add_by_strain(model: Model, t: slice, x: Floats, warped: Floats, stored: Floats) -> None:
    tets, e, J0 = model.tets[t], own_strain(model, t, x), np.ones(t.stop - t.start)
    if len(model.initial_strain):
        e -= model.initial_strain[t]
        J0 += model.initial_strain[t, :3].sum(axis=1)
    square = np.sum(e * e, axis=1) + np.sum(e[:, 3:] ** 2, axis=1)
    energy = warped[t, V_MU] * square + 0.5 * warped[t, V_LAMBDA] * e[:, :3].sum(axis=1) ** 2
    if len(model.pressure_modulus):
        edges = x[tets[:, 1:]] - x[tets[:, :1]]
        J, stiffness = np.linalg.det(edges) * np.linalg.det(model.Dm_inverse[t]), warped[t, BULK]
        stiffness = np.where(stiffness > 0.0, model.pressure_modulus[t] * model.volume[t], 0.0)
        energy += 0.5 * stiffness * (J - J0) ** 2
        whole = np.where(warped[t, BULK] > 0.0, warped[t, BULK] - stiffness, 0.0)
        energy += np.where(J < FLAT, 0.5 * whole * (J - FLAT) ** 2, 0.0)
    stored += np.bincount(model.pattern.island_of_row[tets[:, 0]], energy, len(stored))


@kernel()
def sum_stored(x, island_of_row, tets, volume, kappa, initial_strain, warped, stored):
    """Adds up what tets store for every island, see `stored_energy`; `kappa` and `initial_strain` are of a `Model`."""
    length = warped.shape[1]
    for tet in range(len(tets)):
        w, push, energy = length * tet, 0.0, 0.0
        if length >= WARPED and warped[tet, BULK] > 0.0:
            tripled = nothing()
            for a in range(4):
                tripled = add_products(tripled, load(x, 3 * tets[tet, a]), load(warped, w + PRESSED + 3 * a))
            J, J0, stiffness = total(tripled) / 3.0, 1.0, kappa[tet] * volume[tet]
            if len(initial_strain) > 0:
                J0 += initial_strain[tet, 0] + initial_strain[tet, 1] + initial_strain[tet, 2]
            push, energy = stiffness * (J - J0), 0.5 * stiffness * (J - J0) ** 2
            if J < FLAT:
                push += (warped[tet, BULK] - stiffness) * (J - FLAT)
                energy += 0.5 * (warped[tet, BULK] - stiffness) * (J - FLAT) ** 2
        g, h, i = load(warped, w + TURNED + 3), load(warped, w + TURNED + 6), load(warped, w + TURNED + 9)
        p, q, r = add_cross(nothing(), h, i), add_cross(nothing(), i, g), add_cross(nothing(), g, h)
        det = total(add_products(nothing(), g, p))
        x_row, y_row, z_row = nothing(), nothing(), nothing()
        for a in range(1, 4):
            dual = p if a == 1 else q if a == 2 else r
            f = load(warped, w + FORCE + 3 * a - 3)
            if push != 0.0:
                f = add(f, push, load(warped, w + PRESSED + 3 * a))
            fx, fy, fz = numbers(f)
            x_row, y_row, z_row = add(x_row, fx, dual), add(y_row, fy, dual), add(z_row, fz, dual)
        square = add_products(add_products(add_products(nothing(), x_row, x_row), y_row, y_row), z_row, z_row)
        (xx, _, _), (_, yy, _), (_, _, zz) = numbers(x_row), numbers(y_row), numbers(z_row)
        v_lam, v_mu = warped[tet, V_LAMBDA], warped[tet, V_MU]
        if v_mu > 0.0:
            bulk = 3.0 * v_lam + 2.0 * v_mu  # none where volume is left to the pressure, and tr T is none either
            trace = v_lam / bulk * (xx + yy + zz) ** 2 if bulk > NO_BULK * v_mu else 0.0
            energy += (total(square) - trace) / (4.0 * v_mu * det * det)
        stored[island_of_row[tets[tet, 0]]] += energy
