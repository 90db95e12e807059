# SPDX-License-Identifier: GPL-3.0-or-later
"""QR bodies whose products are made tet by tet: the matrix of a step without their stiffness, and what belongs to it.

Their rows have mass, springs and contacts alone. Where bodies push each other, where nodes of other bodies have to be
solved for without symmetry, or where a body has a rigid core, is a crumb or has molten, the matrix is assembled all
the same: solves there look at single blocks.
"""

from __future__ import annotations

from weakref import WeakKeyDictionary

import numpy as np

from ..arrays import Floats
from ..elements.assembly import assemble, gather_forces
from ..elements.frames import has_present_gradients
from ..elements.record import DAMPED_LAMBDA, DAMPED_MU, SQUARE, STRETCHED, TURNED, V_LAMBDA, V_MU, WITH_DAMPING
from ..jit import kernel
from ..linear.pattern import BlockPattern
from ..linear.small_islands import MOST_NODES
from ..linear.tet_products import DAMPED, STIFF, TetProducts
from ..method import QR
from ..model import Model
from ..vertex_warp import is_any_warped
from .workspace import workspace


def drag_of(model: Model, dt: float) -> Floats:
    """Returns what every node has on the diagonal by its mass and the damping of that [kg], (n,)."""
    return model.mass * (1.0 + dt * model.mass_damping)


_kept: WeakKeyDictionary[BlockPattern, TetProducts] = WeakKeyDictionary()


def bodies_without_matrix(model: Model) -> list[int]:
    """Returns the numbers of the bodies whose stiffness may stay out of the matrix of a step."""
    asked = [k for k, method in enumerate(model.methods) if method.name == QR and method.is_matrix_free]
    needs_blocks = is_any_warped(model) or len(model.cores) or len(model.pressure_modulus)
    return asked if not needs_blocks and model.pattern.smallest_island > MOST_NODES else []


def leave_out(model: Model, numbers: list[int], dt: float) -> None:
    """Writes the rows of some bodies with their mass alone, and the elastic forces, and keeps the rest, if any."""
    if not numbers:  # any more: something has molten since
        _kept.pop(model.pattern, None)
        return
    pattern, work, drag = model.pattern, workspace(model.pattern), drag_of(model, dt)
    for number in numbers:
        nodes = model.bodies[number].nodes
        work.values[pattern.row_start[nodes.start] : pattern.row_start[nodes.stop]] = 0.0
        work.values[pattern.diagonal[nodes][:, None], [0, 4, 8]] = drag[nodes][:, None]
        gather_forces(nodes.start, nodes.stop, pattern.corner_start, pattern.corners, work.warped, work.force)
    _kept[pattern] = tet_products(model, numbers, dt * dt, dt)


def take_in(model: Model, dt: float) -> None:
    """Writes the rows that were left out after all."""
    if _kept.pop(model.pattern, None) is not None:
        work, drag = workspace(model.pattern), drag_of(model, dt)
        for number in bodies_without_matrix(model):
            assemble(dt * dt, dt, drag, model.pattern, work.warped, work.values, work.force, model.bodies[number].nodes)


def left_out(model: Model) -> TetProducts | None:
    """Returns what the matrix of the present step lacks, or None."""
    return _kept.get(model.pattern) if model.methods else None


def tet_products(model: Model, numbers: list[int], stiff: float, damp: float) -> TetProducts:
    """Returns `stiff` K + `damp` C of some bodies out of the records of their tets."""
    ranges = [model.bodies[number].tets for number in numbers]
    tets = np.concatenate([model.tets[t] for t in ranges])
    present = [has_present_gradients(model.methods[number]) for number in numbers]
    has_damping = any(
        damp * model.stiffness_damping[t].any() and not own for t, own in zip(ranges, present, strict=True)
    )
    stiffness, damping = np.zeros((len(tets), STIFF)), np.zeros((len(tets) if has_damping else 0, DAMPED))
    first = 0
    for t, own in zip(ranges, present, strict=True):
        last = first + t.stop - t.start
        damped = damping[first:last] if has_damping and not own else damping[:0]
        copy_records(own, stiff, damp, workspace(model.pattern).warped[t], stiffness[first:last], damped)
        first = last
    return TetProducts(tets, stiffness, damping)


@kernel()
def copy_records(is_present, stiff, damp, warped, stiffness, damping):
    """Writes the rows of `TetProducts` of the tets of a body; see there.

    With present gradients damping is a multiple of the stiffness; else it is in rows of its own, where there are any.
    """
    for tet in range(len(warped)):
        of, out = warped[tet], stiffness[tet]
        for m in range(9):
            out[m] = of[TURNED + 3 + m]
        out[9], out[10] = stiff * of[V_LAMBDA], stiff * of[V_MU]
        if is_present and len(of) >= WITH_DAMPING:
            out[9], out[10] = out[9] + damp * of[DAMPED_LAMBDA], out[10] + damp * of[DAMPED_MU]
        if len(damping) > 0:
            row = damping[tet]
            for m in range(9):
                row[m] = of[STRETCHED + 3 + m]
            xx, yy, zz = of[SQUARE], of[SQUARE + 1], of[SQUARE + 2]
            xy, yz, zx = of[SQUARE + 3], of[SQUARE + 4], of[SQUARE + 5]
            row[9], row[10], row[11], row[12], row[13], row[14] = xx, xy, zx, xy, yy, yz
            row[15], row[16], row[17] = zx, yz, zz
            row[18], row[19] = damp * of[DAMPED_LAMBDA], damp * of[DAMPED_MU]
