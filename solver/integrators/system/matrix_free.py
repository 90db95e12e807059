# SPDX-License-Identifier: GPL-3.0-or-later
"""QR bodies whose stiffness is multiplied tet by tet instead of being assembled.

Their rows of the matrix have only mass, springs and contacts. The stiffness is assembled all the same where a solve
looks at single blocks: where bodies push each other, where the system is unsymmetric, and for bodies that have a rigid
core, are very small or have melted.
"""

from __future__ import annotations

import numpy as np

from ...linalg.direct_small_islands import MAX_SMALL_ISLAND_NODES
from ...linalg.element_by_element import DAMPING_NUMBERS, STIFFNESS_NUMBERS, ElementProducts
from ...mechanics.elements.element_rotations import has_present_gradients
from ...mechanics.elements.record_layout import (
    DAMPED_LENGTH,
    DAMPING_LAMBDA,
    DAMPING_MU,
    DEFORMED_GRADIENTS,
    LEFT_CAUCHY_GREEN,
    ROTATED_GRADIENTS,
    V_LAMBDA,
    V_MU,
)
from ...mechanics.model import Model
from ...mechanics.vertex_warp import is_any_warped
from ...runtime.arrays import Floats
from ...runtime.jit import kernel
from ...scene.formulation import QR


def matrix_free_bodies(model: Model) -> list[int]:
    """Returns the numbers of the bodies whose stiffness may stay out of the matrix of a step."""
    matrix_free = [k for k, method in enumerate(model.methods) if method.name == QR and method.is_matrix_free]
    needs_blocks = is_any_warped(model) or len(model.cores) or len(model.pressure_modulus) or model.bound is not None
    return matrix_free if not needs_blocks and model.pattern.smallest_island > MAX_SMALL_ISLAND_NODES else []


def make_element_products(model: Model, numbers: list[int], records: Floats, dt: float) -> ElementProducts:
    """Returns Δt² K + Δt C of some bodies.

    Args:
        model: The bodies.
        numbers: Of the bodies whose stiffness is returned.
        records: Records of all tets, (m, …).
        dt: Δt [s].
    """
    ranges = [model.bodies[number].tets for number in numbers]
    tets = np.concatenate([model.tets[t] for t in ranges])
    present = [has_present_gradients(model.methods[number]) for number in numbers]
    has_damping = any(dt * model.stiffness_damping[t].any() and not own for t, own in zip(ranges, present, strict=True))
    stiffness, damping = (
        np.zeros((len(tets), STIFFNESS_NUMBERS)),
        np.zeros((len(tets) if has_damping else 0, DAMPING_NUMBERS)),
    )
    first = 0
    for t, own in zip(ranges, present, strict=True):
        last = first + t.stop - t.start
        damped = damping[first:last] if has_damping and not own else damping[:0]
        copy_records(own, dt * dt, dt, records[t], stiffness[first:last], damped)
        first = last
    return ElementProducts(tets, stiffness, damping)


@kernel()
def copy_records(is_present, stiff, damp, records, stiffness, damping):
    """Writes the rows of `ElementProducts` of the tets of a body; see there.

    With present gradients damping is a multiple of the stiffness; else it is in rows of its own, where there are any.
    """
    for tet in range(len(records)):
        of, out = records[tet], stiffness[tet]
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
