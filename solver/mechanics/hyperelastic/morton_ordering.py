# SPDX-License-Identifier: GPL-3.0-or-later
"""Reorders the tets of large meshes along Morton's curve, so that a pass over them hits the processor's cache.

Meshes from files and lattices come in any order. Nodes keep theirs, and so do the blocks of the matrix.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from ...mesh.geometry.morton_code import morton_codes
from ...runtime.arrays import Floats, Indices
from ...runtime.frozen_memo import derived, derived_from
from ..model import TET_ARRAYS, Model
from .edge_assembly import MIN_TETS_FOR_PARTS
from .hyperelastic_bodies import Hyperelastic
from .nodal_averaging import NodalShare

CURVE_CELLS = 2**10  # along the longest side


@dataclass(frozen=True, eq=False)
class OrderedModel:
    """A model with its tets in another order.

    Attributes:
        model: The model.
        order: The tet of the model as it was that each one is, (m,).
    """

    model: Model
    order: Indices

    def law(self, law: Hyperelastic) -> Hyperelastic:
        """Returns what the tets are made of; the same for the same law, without a term of its own."""
        return derived_from(law, "ordered_law", lambda: self._ordered_law(law), inputs=(self.order,))

    def _ordered_law(self, law: Hyperelastic) -> Hyperelastic:
        names = ("law", "mu", "lam", "parameter", *(("pressure_modulus",) if len(law.pressure_modulus) else ()))
        moved = {name: getattr(law, name)[self.order] for name in names}
        return replace(law, **moved, left=None if law.left is None else self._ordered_share(law.left))

    def _ordered_share(self, left: NodalShare) -> NodalShare:
        order = self.order
        return derived_from(
            left,
            "ordered_share",
            lambda: NodalShare(left.is_averaged[order], left.mu[order], left.lam[order]),
            inputs=(order,),
        )


@derived
def ordered_model(model: Model) -> OrderedModel | None:
    """Returns a model with the tets of every body in order; None where there are too few to gain by it."""
    if model.tet_count < MIN_TETS_FOR_PARTS:
        return None
    of_bodies = [body.tets.start + morton_order(model.X, model.tets[body.tets]) for body in model.bodies]
    order = np.concatenate(of_bodies).astype(np.int32)
    return OrderedModel(_reorder(model, order), order)


def morton_order(X: Floats, tets: Indices) -> npt.NDArray[np.int64]:
    """Returns tets, (m, 4), of nodes at X [m], (n, 3), by the place of their middles on Morton's curve, (m,)."""
    middle = X[tets].mean(axis=1)
    low = middle.min(axis=0)
    longest = float((middle - low).max())
    steps = (CURVE_CELLS - 1) / longest if longest > 0.0 else 0.0
    return np.argsort(morton_codes(((middle - low) * steps).astype(np.int64)), kind="stable")


def _reorder(model: Model, order: Indices) -> Model:
    tets = model.tets[order]
    pattern = replace(
        model.pattern,
        corners=np.argsort(tets.ravel(), kind="stable").astype(np.uint32),
        corner_block=model.pattern.corner_block.reshape(-1, 4, 4)[order].reshape(-1, 4),
    )
    moved: dict[str, Any] = {name: getattr(model, name) for name in TET_ARRAYS}
    moved = {name: values[order] if len(values) else values for name, values in moved.items()}
    return replace(model, tets=tets, pattern=pattern, **moved)
