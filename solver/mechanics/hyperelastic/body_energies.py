# SPDX-License-Identifier: GPL-3.0-or-later
"""Elastic energies of the bodies of a model, one by one, at the last pass over their tets."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...runtime.arrays import Bools, Floats
from .law_numbers import CONSTANT_EXTENSION
from .nodal_passes import nodal_energies, nodal_stretches

if TYPE_CHECKING:
    from ..model import Model
    from .hyperelastic_bodies import Hyperelastic, TetArrays


def body_energies(model: Model, law: Hyperelastic, work: TetArrays) -> Floats:
    """Returns Ψ of every body at the last pass over the tets [J], (b,)."""
    found = np.add.reduceat(work.energy, [body.tets.start for body in model.bodies])
    if law.left is not None:
        nodes, of_nodes = nodal_energies(model, law, work)
        found = found + np.bincount(_bodies_of_nodes(model, nodes), of_nodes, len(model.bodies))
    return found


def extended_bodies(model: Model, law: Hyperelastic, work: TetArrays) -> Bools:
    """Returns which bodies had tets or averages below the threshold of the constant extension in that pass, (b,)."""
    if law.extension != CONSTANT_EXTENSION:
        return np.zeros(len(model.bodies), bool)
    is_below = ~(work.smallest >= law.threshold)
    found = np.logical_or.reduceat(is_below, [body.tets.start for body in model.bodies])
    if law.left is not None:
        nodes, of_nodes = nodal_stretches(model, law, work)
        found[_bodies_of_nodes(model, nodes[~(of_nodes >= law.threshold)])] = True
    return found


def _bodies_of_nodes(model: Model, nodes: np.ndarray) -> np.ndarray:
    return np.searchsorted([body.nodes.start for body in model.bodies], nodes, side="right") - 1
