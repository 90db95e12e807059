# SPDX-License-Identifier: GPL-3.0-or-later
"""The rotations R of tets as numbers of their own, for methods that do not take the nearest one anew in every step."""

from __future__ import annotations

import numpy as np

from ...runtime.arrays import Floats, Indices
from ...runtime.jit import kernel
from ...runtime.simd.lane_count import LANES
from ...runtime.threads.thread_pool import run_ranges
from ...scene.formulation import HIGHAM, LINEAR, POLAR, QR, FormulationSettings
from .corotational_element import write_deformation_gradient
from .deformation_gradient import deformation_gradient_of
from .higham_polar import orthogonal_factor_of
from .nearest_rotation_simd import nearest_rotation_lanes
from .qr_rotation import qr_rotation_of

L = LANES

TETS_PER_CHUNK = 2048  # tets that a thread works on


def has_own_rotations(method: FormulationSettings) -> bool:
    """Whether tets have other rotations than the nearest ones."""
    return method.name in (LINEAR, QR) or (method.name == POLAR and method.rotation == HIGHAM)


def has_present_gradients(method: FormulationSettings) -> bool:
    """Whether the strain–displacement matrix is that of the present shape (`qr_element.py`)."""
    return method.name == QR and not method.is_stale


def compute_rotations(
    method: FormulationSettings, x: Floats, tets: Indices, Dm_inverse: Floats, frames: Floats
) -> None:
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
    kernel_of = (
        qr_rotation_range
        if method.name == QR
        else higham_rotation_range
        if has_own_rotations(method)
        else nearest_rotation_range
    )
    run_ranges(0, len(tets), TETS_PER_CHUNK, lambda begin, end: kernel_of(begin, end, x, tets, Dm_inverse, frames))


@kernel(allow_fma=True)
def nearest_rotation_range(begin, end, x, tets, Dm_inverse, frames):
    """Writes the nearest rotations of the tets from `begin` to `end`, inverted ones too."""
    F, R, state = np.zeros(9 * L), np.empty(9 * L), np.empty(2 * L)
    for first in range(begin, end, L):
        count = min(L, end - first)
        for i in range(count):
            write_deformation_gradient(first + i, x, tets, Dm_inverse, F, i)
        nearest_rotation_lanes(count, F, R, state)
        for i in range(count):
            for row in range(3):
                for column in range(3):
                    frames[first + i, row, column] = R[(3 * column + row) * L + i]


@kernel()
def higham_rotation_range(begin, end, x, tets, Dm_inverse, frames):
    """Writes the orthogonal factors of the tets from `begin` to `end`; see `higham_polar.py`."""
    for tet in range(begin, end):
        write_matrix(frames[tet], *orthogonal_factor_of(*deformation_gradient_of(x, tets[tet], Dm_inverse[tet])))


@kernel()
def qr_rotation_range(begin, end, x, tets, Dm_inverse, frames):
    """Writes the rotations by edges of the tets from `begin` to `end`; see `qr_rotation.py`."""
    for tet in range(begin, end):
        G = Dm_inverse[tet]
        F = deformation_gradient_of(x, tets[tet], G)
        write_matrix(frames[tet], *qr_rotation_of(F, (G[1, 0], G[1, 1], G[1, 2]), (G[2, 0], G[2, 1], G[2, 2])))


@kernel(device_only=True, inline=True)
def write_matrix(R, a, b, c, d, e, f, g, h, i):
    """Writes the nine entries of a matrix, (3, 3)."""
    R[0, 0], R[0, 1], R[0, 2], R[1, 0], R[1, 1], R[1, 2], R[2, 0], R[2, 1], R[2, 2] = a, b, c, d, e, f, g, h, i
