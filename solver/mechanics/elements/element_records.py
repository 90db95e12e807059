# SPDX-License-Identifier: GPL-3.0-or-later
"""Writes the element records of one body, by the kernel of its formulation (`record_layout.py` has the layout).

linear           `linear_element.py`
polar, nearest   `corotational_element.py`; methods that ask for no records of their own are given these too
polar, Higham    `element_rotations.py` for the rotations, `given_rotation_element.py` for the records
polar, lagged    `given_rotation_element.py`, with the rotations of an earlier step
qr               `qr_element.py`
vertex-warp      those of polar, for damping alone; none where there is no damping
"""

from __future__ import annotations

import numpy as np

from ...runtime.arrays import Floats
from ...scene.formulation import DEFAULT_FORMULATION, HIGHAM, LINEAR, POLAR, QR, VERTEX_WARP, FormulationSettings
from ..model import Model
from .corotational_element import compute_corotational_records
from .element_rotations import compute_rotations
from .given_rotation_element import compute_records_with_rotations
from .linear_element import compute_linear_records
from .qr_element import compute_qr_records
from .record_layout import element_arrays


def method_of(model: Model, number: int) -> FormulationSettings:
    """Returns the formulation of a body's tets."""
    return model.methods[number] if model.methods else DEFAULT_FORMULATION


def needs_records(model: Model, number: int) -> bool:
    """Whether a step reads the records of a body: of bodies with warped vertices it reads only the damping."""
    t = model.bodies[number].tets
    return method_of(model, number).name != VERTEX_WARP or bool(model.stiffness_damping[t].any())


def write_records(model: Model, number: int, x: Floats, records: Floats, held: Floats | None = None) -> None:
    """Writes the records of the tets of a body, without the pressure of `added_volume_penalty.py`.

    Args:
        model: The bodies.
        number: Of the body.
        x: Node positions [m], (n, 3).
        records: Records of all bodies, (m, …), out.
        held: Lagged rotations of all tets, (m, 3, 3); polar bodies whose rotations lag use these instead of those at x.
    """
    if not needs_records(model, number):
        return
    method, t = method_of(model, number), model.bodies[number].tets
    elements, own, is_polar = element_arrays(model).select(t), records[t], method.name == POLAR
    if method.name == LINEAR:
        compute_linear_records(x, elements, own)
    elif method.name == QR:
        compute_qr_records(not method.is_stale, x, elements, own)
    elif held is not None and is_polar and method.rotations_every > 1:
        compute_records_with_rotations(held[t], x, elements, own)
    elif is_polar and method.rotation == HIGHAM:
        frames = np.empty((len(elements.tets), 3, 3))
        compute_rotations(method, x, elements.tets, elements.Dm_inverse, frames)
        compute_records_with_rotations(frames, x, elements, own)
    else:
        compute_corotational_records(x, elements, own)
