# SPDX-License-Identifier: GPL-3.0-or-later
"""Pressure by volume, for material that is much softer in shape than in volume: what melts.

A tet whose volume is J times that at rest has the energy ½ κ V (J − 1)², so that node a feels −κ V (J − 1) ∂J/∂x_a.
The trace of the corotated strain, by which elastic bodies resist, is zero for stretches such as 2, 1, 0 too: where the
shear modulus is small, weight presses tets flat and turns them inside out, and they stay so. There J is negative, and
the pressure brings them back. V is the filled share of a tet; what is almost empty would still be turned inside out by
its neighbours, so that below J₀ = `MIN_FREE_VOLUME_RATIO` ½ κ V₀ (J − J₀)² is added, of the whole tet V₀.

The stiffness is κ V ∂J/∂x_a (∂J/∂x_b)ᵀ, without the part of the second derivatives, so that it is positive
semi-definite whatever the tet looks like. The same times β damps changes of volume. Own derivation.
"""

from __future__ import annotations

from ...runtime.arrays import Floats
from ...runtime.jit import kernel
from ...runtime.simd.vec3 import vec3_add_cross, vec3_axpy, vec3_fma, vec3_load, vec3_store, vec3_sum, vec3_zero
from ...runtime.threads.thread_pool import run_ranges
from ..model import Model
from .record_layout import BULK_DAMPING, BULK_STIFFNESS, FORCE, MAX_RECORD_LENGTH, VOLUME_GRADIENTS

MIN_FREE_VOLUME_RATIO = 0.25
TETS_AT_ONCE = 2048  # that a thread works on


def add_pressure(model: Model, x: Floats, tets: slice, records: Floats) -> None:
    """Adds the pressure of tets with κ > 0 to their records, which are those of all tets, (m, …), at x [m], (n, 3)."""

    def add(first: int, end: int) -> None:
        own = slice(first, end)
        add_pressure_to_records(
            x, model.tets[own], model.Dm_inverse[own], model.volume[own], model.pressure_modulus[own],
            model.stiffness_damping[own], model.initial_strain[own], records[own],
        )  # fmt: skip

    run_ranges(tets.start, tets.stop, TETS_AT_ONCE, add)


@kernel(allow_fma=True)
def add_pressure_to_records(x, tets, Dm_inverse, volume, kappa, damping, initial_strain, records):
    """Adds the pressure of tets with κ > 0 to their records: to the forces, and what makes stiffness and damping.

    Args:
        x: Node positions [m], (n, 3).
        tets, Dm_inverse, volume: Of the model, (m, 4), (m, 3, 3), (m,).
        kappa: κ [Pa], (m,).
        damping: β [s], (m,).
        initial_strain: ε0, whose trace is the J − 1 without pressure, (m, 6), or (0, 6) for none.
        records: Records with room for it, (m, MAX_RECORD_LENGTH), in and out.
    """
    for tet in range(len(tets)):
        if not kappa[tet] > 0.0:
            continue
        w, rows = MAX_RECORD_LENGTH * tet, 9 * tet  # where its record begins, and Dm⁻¹
        origin, p = vec3_load(x, 3 * tets[tet, 0]), vec3_load(x, 3 * tets[tet, 1])
        q, r = vec3_load(x, 3 * tets[tet, 2]), vec3_load(x, 3 * tets[tet, 3])
        p, q, r = vec3_axpy(p, -1.0, origin), vec3_axpy(q, -1.0, origin), vec3_axpy(r, -1.0, origin)
        # one over six times the whole volume at rest
        normal = vec3_add_cross(vec3_zero(), vec3_load(Dm_inverse, rows + 3), vec3_load(Dm_inverse, rows + 6))
        d = vec3_sum(vec3_fma(vec3_zero(), vec3_load(Dm_inverse, rows), normal))
        h1 = vec3_axpy(vec3_zero(), d, vec3_add_cross(vec3_zero(), q, r))
        h2 = vec3_axpy(vec3_zero(), d, vec3_add_cross(vec3_zero(), r, p))
        h3 = vec3_axpy(vec3_zero(), d, vec3_add_cross(vec3_zero(), p, q))
        h0 = vec3_axpy(vec3_axpy(vec3_axpy(vec3_zero(), -1.0, h1), -1.0, h2), -1.0, h3)
        J, J0 = vec3_sum(vec3_fma(vec3_zero(), p, h1)), 1.0
        if len(initial_strain) > 0:
            J0 += initial_strain[tet, 0] + initial_strain[tet, 1] + initial_strain[tet, 2]
        stiffness = kappa[tet] * volume[tet]
        push = stiffness * (J - J0)
        if J < MIN_FREE_VOLUME_RATIO:
            whole = kappa[tet] / (6.0 * d)
            push += whole * (J - MIN_FREE_VOLUME_RATIO)
            stiffness += whole
        records[tet, BULK_STIFFNESS], records[tet, BULK_DAMPING] = stiffness, stiffness * damping[tet]
        vec3_store(records, w + VOLUME_GRADIENTS, h0)
        vec3_store(records, w + VOLUME_GRADIENTS + 3, h1)
        vec3_store(records, w + VOLUME_GRADIENTS + 6, h2)
        vec3_store(records, w + VOLUME_GRADIENTS + 9, h3)
        vec3_store(records, w + FORCE, vec3_axpy(vec3_load(records, w + FORCE), -push, h1))
        vec3_store(records, w + FORCE + 3, vec3_axpy(vec3_load(records, w + FORCE + 3), -push, h2))
        vec3_store(records, w + FORCE + 6, vec3_axpy(vec3_load(records, w + FORCE + 6), -push, h3))
