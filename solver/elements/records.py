# SPDX-License-Identifier: GPL-3.0-or-later
"""The records of the tets of one body, by the formulation that it asks for.

linear           `cauchy.py`
polar, nearest   `corotational.py`; methods that ask for no records of their own are given these too
polar, Higham    `frames.py` for the rotations, `framed.py` for the records
polar, held      `framed.py`, for rotations that are given
qr               `edge_framed.py`
vertex-warp      those of polar, for damping alone; none where there is no damping
"""

from __future__ import annotations

import numpy as np

from ..arrays import Floats
from ..method import DEFAULT, HIGHAM, LINEAR, POLAR, QR, VERTEX_WARP, Method
from ..model import Model
from .cauchy import warp_linear
from .corotational import warp_tets
from .edge_framed import warp_by_edges
from .framed import warp_framed
from .frames import find_frames


def method_of(model: Model, number: int) -> Method:
    """Returns by which formulation the tets of a body resist."""
    return model.methods[number] if model.methods else DEFAULT


def needs_records(model: Model, number: int) -> bool:
    """Whether a step reads anything of the records of a body: of warped vertices only what damps them."""
    t = model.bodies[number].tets
    return method_of(model, number).name != VERTEX_WARP or bool(model.stiffness_damping[t].any())


def write_records(model: Model, number: int, x: Floats, warped: Floats, held: Floats | None = None) -> None:
    """Writes the records of the tets of a body but for what a pressure by volume adds.

    Args:
        model: The bodies.
        number: Of the body.
        x: Node positions [m], (n, 3).
        warped: Records of all bodies, (m, …), out.
        held: Rotations of all tets, (m, 3, 3), which polar bodies that hold theirs have instead of those of x.
    """
    if not needs_records(model, number):
        return
    method, t = method_of(model, number), model.bodies[number].tets
    strain, is_polar = model.initial_strain, method.name == POLAR
    tets, Dm_inverse = model.tets[t], model.Dm_inverse[t]
    rest = (
        model.volume[t], model.mu[t], model.lam_by_strain[t], model.stiffness_damping[t],
        strain[t] if len(strain) else strain, warped[t],
    )  # fmt: skip
    if method.name == LINEAR:
        warp_linear(x, tets, Dm_inverse, *rest)
    elif method.name == QR:
        warp_by_edges(not method.is_stale, x, tets, Dm_inverse, *rest)
    elif held is not None and is_polar and method.rotations_every > 1:
        warp_framed(held[t], x, tets, Dm_inverse, *rest)
    elif is_polar and method.rotation == HIGHAM:
        frames = np.empty((len(tets), 3, 3))
        find_frames(method, x, tets, Dm_inverse, frames)
        warp_framed(frames, x, tets, Dm_inverse, *rest)
    else:
        warp_tets(x, tets, Dm_inverse, *rest)
