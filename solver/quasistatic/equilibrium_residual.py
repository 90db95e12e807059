# SPDX-License-Identifier: GPL-3.0-or-later
"""The residual of an equilibrium: one number that depends neither on units nor on the start of the solve.

    residual = ‖f over free nodes‖ / max(‖f over fixed nodes‖, ε S),    S² = Σ_tets Σ_a (V (2μ + λ) |g_a|)²

Where fixed nodes pull the body out of shape, the residual is relative to their reaction, as in felupe. Where they leave
it in its rest shape there is no reaction, and the residual is relative to the forces that a strain of ε in every tet
gives its nodes, before those of neighbours cancel. The forces at the start are no measure: those of a random scatter
are so large that a thousandth of them is left while four tets in ten are still inverted. Of several bodies, the worst
counts.
"""

from __future__ import annotations

import numpy as np

from ..mechanics.model import Model
from ..runtime.arrays import Bools, Floats

REFERENCE_STRAIN = 1.0e-3  # ε

ALL_TETS = slice(None)


def force_scales(model: Model) -> list[float]:
    """Returns ε S [N] of every body."""
    return [force_scale(model, body.tets) for body in model.bodies]


def force_scale(model: Model, tets: slice = ALL_TETS) -> float:
    """Returns ε S [N] of some tets."""
    g = model.Dm_inverse[tets]
    of_first = g[:, 0] + g[:, 1] + g[:, 2]
    squares = np.einsum("tij,tij->t", g, g) + np.einsum("ti,ti->t", of_first, of_first)
    stiffness = model.volume[tets] * (2.0 * model.mu[tets] + model.lam[tets])
    return REFERENCE_STRAIN * float(np.sqrt(np.sum(stiffness**2 * squares)))


def relative_residual(force: Floats, is_free: Bools, force_floor: float) -> float:
    """Returns the residual of forces [N], (n, 3), for a floor ε S [N]; infinite where they are not finite."""
    # np.linalg.norm's sum depends on the number of threads
    squares = np.einsum("ni,ni->n", force, force)
    out_of_balance = float(np.sqrt(np.sum(squares[is_free])))
    reaction = float(np.sqrt(np.sum(squares[~is_free])))
    if not np.isfinite(out_of_balance) or not np.isfinite(reaction):
        return float("inf")
    measure = max(reaction, force_floor)
    if measure == 0.0:  # so soft that strain makes no force
        return 0.0 if out_of_balance == 0.0 else float("inf")
    return out_of_balance / measure
