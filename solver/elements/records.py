# SPDX-License-Identifier: GPL-3.0-or-later
"""The records of the tets of one body, by the formulation that it asks for.

linear                  `cauchy.py`
polar, nearest          `corotational.py`, which finds rotations 32 at a time; other methods that ask for no
                        records of their own are given these
polar, Higham; qr       `frames.py` for the rotations, `framed.py` for the records
polar, held             rotations that are given, `framed.py`
"""

from __future__ import annotations

import numpy as np

from ..arrays import Floats
from ..method import DEFAULT, HIGHAM, LINEAR, POLAR, QR, Method
from ..model import Model
from .cauchy import warp_linear
from .corotational import warp_tets
from .framed import warp_framed
from .frames import find_frames


def method_of(model: Model, number: int) -> Method:
    """Returns by which formulation the tets of a body resist."""
    return model.methods[number] if model.methods else DEFAULT


def has_own_frames(method: Method) -> bool:
    """Whether rotations are not the nearest ones of every step."""
    return method.name == QR or (method.name == POLAR and method.rotation == HIGHAM)


def write_records(model: Model, number: int, x: Floats, warped: Floats, held: Floats | None = None) -> None:
    """Writes the records of the tets of a body but for what a pressure by volume adds.

    Args:
        model: The bodies.
        number: Of the body.
        x: Node positions [m], (n, 3).
        warped: Records of all bodies, (m, WARPED), out.
        held: Rotations of all tets, (m, 3, 3), which polar bodies that hold theirs have instead of those of x.
    """
    method, t = method_of(model, number), model.bodies[number].tets
    strain = model.initial_strain
    of_tets = (
        model.tets[t], model.Dm_inverse[t], model.volume[t], model.mu[t], model.lam_by_strain[t],
        model.stiffness_damping[t], strain[t] if len(strain) else strain, warped[t],
    )  # fmt: skip
    if method.name == LINEAR:
        warp_linear(x, *of_tets)
        return
    is_held = held is not None and method.name == POLAR and method.rotations_every > 1
    if not (is_held or has_own_frames(method)):
        warp_tets(x, *of_tets)
        return
    frames = np.empty((t.stop - t.start, 3, 3))
    if held is not None and is_held:
        frames = held[t]
    else:
        find_frames(method, x, model.tets[t], model.Dm_inverse[t], frames)
    warp_framed(method.name == QR and not method.is_stale, frames, x, *of_tets)
