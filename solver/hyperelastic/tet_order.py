# SPDX-License-Identifier: GPL-3.0-or-later
"""Many tets with neighbours after each other: a pass over them then finds what it needs in the processor's cache.

Meshes from files and lattices come in any order. Nodes, and with them the blocks of the matrix, keep theirs.
Source: Morton 1966, A computer oriented geodetic data base and a new technique in file sequencing.
"""

from __future__ import annotations

from dataclasses import field, replace
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt

from ..arrays import Floats, Indices
from ..late_dataclass import dataclass
from ..linear.pattern import Unsigned
from ..model import Model
from .edge_pass import MANY
from .element import Hyperelastic
from .node_averages import Averaged

STEPS = 2**10  # along the longest side
# (shift, mask): after each the bits of a number are farther apart, in the end with two zeros between them
SPREAD = ((16, 0x030000FF), (8, 0x0300F00F), (4, 0x030C30C3), (2, 0x09249249))
OF_TETS = ("Dm_inverse", "volume", "mu", "lam", "stiffness_damping", "initial_strain", "pressure_modulus")


@dataclass(frozen=True, eq=False)
class InOrder:
    """A model with its tets in another order.

    Attributes:
        model: The model.
        order: The tet of the model as it was that each one is, (m,).
    """

    model: Model
    order: Indices
    laws: WeakKeyDictionary[Hyperelastic, Hyperelastic] = field(default_factory=WeakKeyDictionary)
    parts_of_laws: WeakKeyDictionary[Averaged, Averaged] = field(default_factory=WeakKeyDictionary)

    def law(self, law: Hyperelastic) -> Hyperelastic:
        """Returns what the tets are made of; the same for the same law, without a term of its own."""
        if law not in self.laws:
            names = ("law", "mu", "lam", "share", *(("pressure_modulus",) if len(law.pressure_modulus) else ()))
            moved = {name: getattr(law, name)[self.order] for name in names}
            self.laws[law] = replace(law, **moved, left=None if law.left is None else self._left(law.left))
        return self.laws[law]

    def _left(self, left: Averaged) -> Averaged:
        if left not in self.parts_of_laws:
            order = self.order
            self.parts_of_laws[left] = Averaged(left.is_averaged[order], left.mu[order], left.lam[order])
        return self.parts_of_laws[left]


_kept: WeakKeyDictionary[Model, InOrder] = WeakKeyDictionary()


def in_order(model: Model) -> InOrder | None:
    """Returns a model with the tets of every body in order, found once; None where there are too few to gain by it."""
    if model.tet_count < MANY:
        return None
    if model not in _kept:
        of_bodies = [body.tets.start + along_curve(model.X, model.tets[body.tets]) for body in model.bodies]
        order = np.concatenate(of_bodies).astype(np.int32)
        _kept[model] = InOrder(_moved(model, order), order)
    return _kept[model]


def along_curve(X: Floats, tets: Indices) -> npt.NDArray[np.int64]:
    """Returns tets, (m, 4), of nodes at X [m], (n, 3), by the place of their middles on Morton's curve, (m,)."""
    middle = X[tets].mean(axis=1)
    low = middle.min(axis=0)
    longest = float((middle - low).max())
    steps = (STEPS - 1) / longest if longest > 0.0 else 0.0
    place = ((middle - low) * steps).astype(np.uint32)
    key = _spread(place[:, 0]) | _spread(place[:, 1]) << np.uint32(1) | _spread(place[:, 2]) << np.uint32(2)
    return np.argsort(key, kind="stable")


def _spread(place: Unsigned) -> Unsigned:
    """Returns whole numbers below 2¹⁰ with two zeros before every bit."""
    for shift, mask in SPREAD:
        place = (place | place << np.uint32(shift)) & np.uint32(mask)
    return place


def _moved(model: Model, order: Indices) -> Model:
    tets = model.tets[order]
    pattern = replace(
        model.pattern,
        corners=np.argsort(tets.ravel(), kind="stable").astype(np.uint32),
        corner_block=model.pattern.corner_block.reshape(-1, 4, 4)[order].reshape(-1, 4),
    )
    moved: dict[str, Any] = {name: getattr(model, name) for name in OF_TETS}
    moved = {name: values[order] if len(values) else values for name, values in moved.items()}
    return replace(model, tets=tets, pattern=pattern, **moved)
