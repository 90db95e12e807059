# SPDX-License-Identifier: GPL-3.0-or-later
"""What plastic strain makes of a model, and how large it is. It is kept in the state, per tet of the model:

    tet.Fp_inverse       Fp⁻¹ of the multiplicative law, (m, 3, 3), determinant 1
    tet.flowed           the strain that has flowed under it, all in all, (m,)
    tet.plastic_strain   ε_plastic of the additive law as xx, yy, zz, xy, yz, zx of the tensor, (m, 6)

A field that is not there says that nothing has flowed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ...runtime.arrays import Floats, floats
from ...runtime.jit import kernel
from ..model import Model
from ..state import State
from ..state_fields import FLOWED, FP_INVERSE, PLASTIC_STRAIN
from .plastic_bodies import PlasticBody
from .symmetric_matrix import matrix_entries, plastic_shear


def with_plastic_strain(model: Model, state: State) -> Model:
    """Returns the model with the rest shapes that plastic strain makes; topology, masses and volumes stay."""
    return replace(model, **rest_shapes(model, state))


def rest_shapes(model: Model, state: State) -> dict[str, Any]:
    """Returns what plastic strain makes of the fields of a model, by name."""
    made: dict[str, Any] = {}
    if FP_INVERSE in state.fields:
        made["Dm_inverse"] = np.empty_like(model.Dm_inverse)
        multiply(model.Dm_inverse, state.fields[FP_INVERSE], made["Dm_inverse"])
    if PLASTIC_STRAIN in state.fields:
        strain = floats(state.fields[PLASTIC_STRAIN], -1, 6)
        made["initial_strain"] = model.initial_strain + strain if len(model.initial_strain) else strain
    return made


def plastic_norm(model: Model, state: State) -> Floats:
    """Returns how large the plastic strain of each tet is, (m,): ‖ln Fp‖, or of the additive law its vector's norm."""
    norm = np.zeros(model.tet_count)
    if FP_INVERSE in state.fields:
        shear_norms(state.fields[FP_INVERSE], state.fields[FLOWED], norm)
    if PLASTIC_STRAIN in state.fields:
        strain = state.fields[PLASTIC_STRAIN]
        norm += np.sqrt(np.sum(strain[:, :3] ** 2, axis=1) + 4.0 * np.sum(strain[:, 3:] ** 2, axis=1))
    return norm


def largest_plastic_strain(bodies: Sequence[PlasticBody], model: Model, state: State) -> dict[str, dict[str, float]]:
    """Returns the largest plastic strain of every plastic body: key → "largest_plastic_strain"."""
    found = {}
    for body in bodies:
        if not body.is_additive and FP_INVERSE in state.fields:
            largest = largest_shear(state.fields[FP_INVERSE][body.tets], state.fields[FLOWED][body.tets])
        else:
            largest = plastic_norm(model, state)[body.tets].max()
        found[body.key] = {"largest_plastic_strain": float(largest)}
    return found


@kernel()
def multiply(A, B, product):
    """Writes A B, (m, 3, 3) each."""
    for tet in range(len(A)):
        a, b, c = A[tet], B[tet], product[tet]
        for row in range(3):
            x, y, z = a[row, 0], a[row, 1], a[row, 2]
            for column in range(3):
                c[row, column] = x * b[0, column] + y * b[1, column] + z * b[2, column]


@kernel()
def shear_norms(Fp_inverse, flowed, norm):
    """Writes ‖ln Fp‖ where anything has flowed, (m,)."""
    for tet in range(len(flowed)):
        if flowed[tet] > 0.0:
            norm[tet] = plastic_shear(matrix_entries(Fp_inverse[tet]))[4][3]


@kernel()
def largest_shear(Fp_inverse, flowed):
    """Returns the largest ‖ln Fp‖ of tets; it is never more than the strain that has flowed."""
    largest = 0.0
    for tet in range(len(flowed)):
        if flowed[tet] > largest:
            largest = max(largest, plastic_shear(matrix_entries(Fp_inverse[tet]))[4][3])
    return largest
