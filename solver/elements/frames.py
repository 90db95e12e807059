# SPDX-License-Identifier: GPL-3.0-or-later
"""The rotations R of tets as numbers of their own, for methods that do not take the nearest one anew in every step."""

from __future__ import annotations

import numpy as np

from ..arrays import Floats, Indices
from ..geometry.chunks import run_ranges
from ..jit import kernel
from ..method import HIGHAM, LINEAR, POLAR, QR, Method
from .corotational import deform
from .gradient import gradient_of
from .higham import orthogonal_factor_of
from .qr import qr_rotation_of
from .rotation_lanes import LANES, rotate

L = LANES

AT_ONCE = 2048  # tets that a thread works on


def has_own_frames(method: Method) -> bool:
    """Whether tets have other rotations than the nearest ones."""
    return method.name in (LINEAR, QR) or (method.name == POLAR and method.rotation == HIGHAM)


def has_present_gradients(method: Method) -> bool:
    """Whether the strain–displacement matrix is that of the present shape (`edge_framed.py`)."""
    return method.name == QR and not method.is_stale


def find_frames(method: Method, x: Floats, tets: Indices, Dm_inverse: Floats, frames: Floats) -> None:
    """Writes the rotation of every tet as a method has it, (m, 3, 3).

    Args:
        method: How the tets resist.
        x: Node positions [m], (n, 3).
        tets, Dm_inverse: Of the model, or of one of its bodies.
        frames: Out.
    """
    if method.name == LINEAR:
        frames[:] = 0.0
        frames[:, (0, 1, 2), (0, 1, 2)] = 1.0
        return
    kernel_of = qr_range if method.name == QR else higham_range if has_own_frames(method) else nearest_range
    run_ranges(0, len(tets), AT_ONCE, lambda begin, end: kernel_of(begin, end, x, tets, Dm_inverse, frames))


@kernel(contract=True)
def nearest_range(begin, end, x, tets, Dm_inverse, frames):
    """Writes the nearest rotations of the tets from `begin` to `end`, inverted ones too; see `rotation_lanes.py`."""
    F, R, state = np.zeros(9 * L), np.empty(9 * L), np.empty(2 * L)
    for first in range(begin, end, L):
        count = min(L, end - first)
        for i in range(count):
            deform(first + i, x, tets, Dm_inverse, F, i)
        rotate(count, F, R, state)
        for i in range(count):
            for row in range(3):
                for column in range(3):
                    frames[first + i, row, column] = R[(3 * column + row) * L + i]


@kernel()
def higham_range(begin, end, x, tets, Dm_inverse, frames):
    """Writes the orthogonal factors of the tets from `begin` to `end`; see `higham.py`."""
    for tet in range(begin, end):
        write(frames[tet], *orthogonal_factor_of(*gradient_of(x, tets[tet], Dm_inverse[tet])))


@kernel()
def qr_range(begin, end, x, tets, Dm_inverse, frames):
    """Writes the rotations by edges of the tets from `begin` to `end`; see `qr.py`."""
    for tet in range(begin, end):
        G = Dm_inverse[tet]
        F = gradient_of(x, tets[tet], G)
        write(frames[tet], *qr_rotation_of(*F, G[1, 0], G[1, 1], G[1, 2], G[2, 0], G[2, 1], G[2, 2]))


@kernel(inside=True, inline=True)
def write(R, a, b, c, d, e, f, g, h, i):
    """Writes the nine entries of a matrix, (3, 3)."""
    R[0, 0], R[0, 1], R[0, 2], R[1, 0], R[1, 1], R[1, 2], R[2, 0], R[2, 1], R[2, 2] = a, b, c, d, e, f, g, h, i
