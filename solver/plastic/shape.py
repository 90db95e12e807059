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

import numpy as np

from ..arrays import Floats, floats
from ..model import Model
from ..state import State
from .bodies import PlasticBody

FP_INVERSE = "tet.Fp_inverse"
FLOWED = "tet.flowed"
PLASTIC_STRAIN = "tet.plastic_strain"


def with_plastic_strain(model: Model, state: State) -> Model:
    """Returns the model with the rest shapes that plastic strain makes; topology, masses and volumes stay."""
    changes: dict[str, Floats] = {}
    if FP_INVERSE in state.fields:
        changes["Dm_inverse"] = model.Dm_inverse @ state.fields[FP_INVERSE]
    if PLASTIC_STRAIN in state.fields:
        strain = state.fields[PLASTIC_STRAIN]
        changes["initial_strain"] = model.initial_strain + strain if len(model.initial_strain) else floats(strain)
    return replace(model, **changes) if changes else model


def plastic_norm(model: Model, state: State) -> Floats:
    """Returns how large the plastic strain of each tet is, (m,): ‖ln Fp‖, or of the additive law its vector's norm."""
    norm = np.zeros(model.tet_count)
    if FP_INVERSE in state.fields:
        inverse = state.fields[FP_INVERSE]
        changed = np.flatnonzero(state.fields[FLOWED] > 0.0)
        stretches = np.linalg.svd(inverse[changed], compute_uv=False)
        norm[changed] = np.linalg.norm(np.log(stretches), axis=1)
    if PLASTIC_STRAIN in state.fields:
        strain = state.fields[PLASTIC_STRAIN]
        norm += np.sqrt(np.sum(strain[:, :3] ** 2, axis=1) + 4.0 * np.sum(strain[:, 3:] ** 2, axis=1))
    return norm


def largest_plastic_strain(bodies: Sequence[PlasticBody], model: Model, state: State) -> dict[str, dict[str, float]]:
    """Returns the largest plastic strain of every plastic body: key → "largest_plastic_strain"."""
    if not bodies:
        return {}
    norm = plastic_norm(model, state)
    return {body.key: {"largest_plastic_strain": float(norm[body.tets].max())} for body in bodies}
