# SPDX-License-Identifier: GPL-3.0-or-later
"""The rows of linear bodies, which are the same in all steps of the same Δt: kept, and not assembled anew."""

from __future__ import annotations

from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from ...linalg.block_pattern import BlockPattern
from ...mechanics.elements.assembly import gather_forces
from ...mechanics.elements.fill_element_buffer import method_of
from ...mechanics.model import Model
from ...runtime.arrays import Floats
from ...scene.formulation import LINEAR
from .workspace import workspace

_cache: WeakKeyDictionary[BlockPattern, dict[int, tuple[tuple[Any, ...], Floats]]] = WeakKeyDictionary()


def restore_rows(model: Model, number: int, dt: float) -> bool:
    """Writes the rows of a linear body and its elastic forces, if they are known; returns whether they were.

    The blocks have the bits that `assemble` gave them. What they follow from is compared by which arrays they are,
    since models are replaced where anything in them changes; what BDF2 scales in every step, by its values.
    """
    kept = _cache.get(model.pattern, {}).get(number)
    if kept is None or len(model.pressure_modulus):
        return False
    (asked_dt, given, scaled), values = kept
    if asked_dt != dt or any(a is not b for a, b in zip(_cache_key(model), given, strict=True)):
        return False
    if not all(a is b or np.array_equal(a, b) for a, b in zip(_bdf2_cache_key(model), scaled, strict=True)):
        return False
    pattern, nodes, work = model.pattern, model.bodies[number].nodes, workspace(model.pattern)
    work.values[pattern.row_start[nodes.start] : pattern.row_start[nodes.stop]] = values
    gather_forces(nodes.start, nodes.stop, pattern.corner_start, pattern.corners, work.element_records, work.force)
    return True


def store_rows(model: Model, number: int, dt: float) -> None:
    """Keeps the rows of a body that is linear as they are."""
    if method_of(model, number).name == LINEAR and not len(model.pressure_modulus):
        pattern, nodes = model.pattern, model.bodies[number].nodes
        rows = slice(int(pattern.row_start[nodes.start]), int(pattern.row_start[nodes.stop]))
        values = workspace(pattern).values[rows].copy()
        _cache.setdefault(pattern, {})[number] = ((dt, _cache_key(model), _bdf2_cache_key(model)), values)


def _cache_key(model: Model) -> tuple[Floats, ...]:
    """Returns what the rows of linear bodies follow from."""
    return model.Dm_inverse, model.volume, model.mu, model.lam


def _bdf2_cache_key(model: Model) -> tuple[Floats, ...]:
    """Returns the same of what BDF2 scales."""
    return model.stiffness_damping, model.mass, model.mass_damping
