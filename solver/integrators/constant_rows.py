# SPDX-License-Identifier: GPL-3.0-or-later
"""The rows of linear bodies, which are the same in all steps of the same Δt: kept, and not assembled anew."""

from __future__ import annotations

from typing import Any
from weakref import WeakKeyDictionary

from ..arrays import Floats
from ..elements.assembly import gather_forces
from ..elements.records import method_of
from ..linear.pattern import BlockPattern
from ..method import LINEAR
from ..model import Model
from .workspace import workspace

_kept: WeakKeyDictionary[BlockPattern, dict[int, tuple[tuple[Any, ...], Floats]]] = WeakKeyDictionary()


def recall(model: Model, number: int, dt: float) -> bool:
    """Writes the rows of a linear body and its elastic forces, if they are known; returns whether they were.

    The blocks have the bits that `assemble` gave them. What they follow from is compared by which arrays they are:
    models are replaced where anything in them changes.
    """
    kept = _kept.get(model.pattern, {}).get(number)
    if kept is None or len(model.pressure_modulus):
        return False
    asked, values = kept
    if any(a is not b for a, b in zip(_source(model), asked[1:], strict=True)) or asked[0] != dt:
        return False
    pattern, nodes, work = model.pattern, model.bodies[number].nodes, workspace(model.pattern)
    work.values[pattern.row_start[nodes.start] : pattern.row_start[nodes.stop]] = values
    gather_forces(nodes.start, nodes.stop, pattern.corner_start, pattern.corners, work.warped, work.force)
    return True


def keep(model: Model, number: int, dt: float) -> None:
    """Keeps the rows of a body that is linear as they are."""
    if method_of(model, number).name == LINEAR and not len(model.pressure_modulus):
        pattern, nodes = model.pattern, model.bodies[number].nodes
        rows = slice(int(pattern.row_start[nodes.start]), int(pattern.row_start[nodes.stop]))
        values = workspace(pattern).values[rows].copy()
        _kept.setdefault(pattern, {})[number] = ((dt, *_source(model)), values)


def _source(model: Model) -> tuple[Floats, ...]:
    """Returns all that the rows of a linear body follow from but Δt."""
    return (
        model.Dm_inverse, model.volume, model.mu, model.lam, model.stiffness_damping, model.mass, model.mass_damping
    )  # fmt: skip
