# SPDX-License-Identifier: GPL-3.0-or-later
"""QR bodies whose products are made tet by tet: the matrix of a step without their stiffness, and what belongs to it.

Their rows have mass, springs and contacts alone. Where bodies push each other, where nodes of other bodies have to be
solved for without symmetry, or where a body has a rigid core, is a crumb or has molten, the matrix is assembled all
the same: solves there look at single blocks.
"""

from __future__ import annotations

from weakref import WeakKeyDictionary

import numpy as np

from ...linalg.block_pattern import BlockPattern
from ...linalg.direct_small_islands import MAX_SMALL_ISLAND_NODES
from ...linalg.element_by_element import DAMPING_NUMBERS, STIFFNESS_NUMBERS, ElementProducts
from ...mechanics.elements.assembly import assemble, gather_forces
from ...mechanics.elements.element_buffer import (
    DAMPED_LENGTH,
    DAMPING_LAMBDA,
    DAMPING_MU,
    DEFORMED_GRADIENTS,
    LEFT_CAUCHY_GREEN,
    ROTATED_GRADIENTS,
    V_LAMBDA,
    V_MU,
)
from ...mechanics.elements.element_rotations import has_present_gradients
from ...mechanics.model import Model
from ...mechanics.vertex_warp import is_any_warped
from ...runtime.arrays import Floats
from ...runtime.jit import kernel
from ...scene.formulation import QR
from .workspace import workspace


def diagonal_mass(model: Model, dt: float) -> Floats:
    """Returns what every node has on the diagonal by its mass and the damping of that [kg], (n,)."""
    return model.mass * (1.0 + dt * model.mass_damping)


_cache: WeakKeyDictionary[BlockPattern, ElementProducts] = WeakKeyDictionary()


def matrix_free_bodies(model: Model) -> list[int]:
    """Returns the numbers of the bodies whose stiffness may stay out of the matrix of a step."""
    asked = [k for k, method in enumerate(model.methods) if method.name == QR and method.is_matrix_free]
    needs_blocks = is_any_warped(model) or len(model.cores) or len(model.pressure_modulus)
    return asked if not needs_blocks and model.pattern.smallest_island > MAX_SMALL_ISLAND_NODES else []


def leave_out_stiffness(model: Model, numbers: list[int], dt: float) -> None:
    """Writes the rows of some bodies with their mass alone, and the elastic forces, and keeps the rest, if any."""
    if not numbers:  # any more: something has molten since
        _cache.pop(model.pattern, None)
        return
    pattern, work, drag = model.pattern, workspace(model.pattern), diagonal_mass(model, dt)
    for number in numbers:
        nodes = model.bodies[number].nodes
        work.values[pattern.row_start[nodes.start] : pattern.row_start[nodes.stop]] = 0.0
        work.values[pattern.diagonal[nodes][:, None], [0, 4, 8]] = drag[nodes][:, None]
        gather_forces(nodes.start, nodes.stop, pattern.corner_start, pattern.corners, work.element_records, work.force)
    _cache[pattern] = make_element_products(model, numbers, dt * dt, dt)


def restore_stiffness(model: Model, dt: float) -> None:
    """Writes the rows that were left out after all."""
    if _cache.pop(model.pattern, None) is not None:
        work, drag = workspace(model.pattern), diagonal_mass(model, dt)
        for number in matrix_free_bodies(model):
            assemble(
                dt * dt,
                dt,
                drag,
                model.pattern,
                work.element_records,
                work.values,
                work.force,
                model.bodies[number].nodes,
            )


def matrix_free_terms(model: Model) -> ElementProducts | None:
    """Returns what the matrix of the present step lacks, or None."""
    return _cache.get(model.pattern) if model.methods else None


def make_element_products(model: Model, numbers: list[int], stiff: float, damp: float) -> ElementProducts:
    """Returns `stiff` K + `damp` C of some bodies out of the records of their tets."""
    ranges = [model.bodies[number].tets for number in numbers]
    tets = np.concatenate([model.tets[t] for t in ranges])
    present = [has_present_gradients(model.methods[number]) for number in numbers]
    has_damping = any(
        damp * model.stiffness_damping[t].any() and not own for t, own in zip(ranges, present, strict=True)
    )
    stiffness, damping = (
        np.zeros((len(tets), STIFFNESS_NUMBERS)),
        np.zeros((len(tets) if has_damping else 0, DAMPING_NUMBERS)),
    )
    first = 0
    for t, own in zip(ranges, present, strict=True):
        last = first + t.stop - t.start
        damped = damping[first:last] if has_damping and not own else damping[:0]
        copy_records(own, stiff, damp, workspace(model.pattern).element_records[t], stiffness[first:last], damped)
        first = last
    return ElementProducts(tets, stiffness, damping)


@kernel()
def copy_records(is_present, stiff, damp, warped, stiffness, damping):
    """Writes the rows of `ElementProducts` of the tets of a body; see there.

    With present gradients damping is a multiple of the stiffness; else it is in rows of its own, where there are any.
    """
    for tet in range(len(warped)):
        of, out = warped[tet], stiffness[tet]
        for m in range(9):
            out[m] = of[ROTATED_GRADIENTS + 3 + m]
        out[9], out[10] = stiff * of[V_LAMBDA], stiff * of[V_MU]
        if is_present and len(of) >= DAMPED_LENGTH:
            out[9], out[10] = out[9] + damp * of[DAMPING_LAMBDA], out[10] + damp * of[DAMPING_MU]
        if len(damping) > 0:
            row = damping[tet]
            for m in range(9):
                row[m] = of[DEFORMED_GRADIENTS + 3 + m]
            xx, yy, zz = of[LEFT_CAUCHY_GREEN], of[LEFT_CAUCHY_GREEN + 1], of[LEFT_CAUCHY_GREEN + 2]
            xy, yz, zx = of[LEFT_CAUCHY_GREEN + 3], of[LEFT_CAUCHY_GREEN + 4], of[LEFT_CAUCHY_GREEN + 5]
            row[9], row[10], row[11], row[12], row[13], row[14] = xx, xy, zx, xy, yy, yz
            row[15], row[16], row[17] = zx, yz, zz
            row[18], row[19] = damp * of[DAMPING_LAMBDA], damp * of[DAMPING_MU]
