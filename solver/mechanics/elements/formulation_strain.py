# SPDX-License-Identifier: GPL-3.0-or-later
"""The strain of tets as the method of their body measures it, where that is not by the rotation nearest to F.

With R of `element_rotations.py` it is sym(RᵀF) − I. Of QR tets with present gradients it is that of the displacement
u = Rᵀ x − X by the same B as in the force, f = −V R Bᵀ E B u, so that f = −K u and K has no negative eigenvalue:

    ε = B u = J I − sym(adj(RᵀF)),    adj(A) = det(A) A⁻¹,

which is sym(RᵀF) − I while it is small. With the latter in their force, tets that are inverted or stretched to a
multiple run away: of 216 single ones, let go in random shapes, 43 were lost; with the former none. Rotations that are
held for some steps count in forces alone: strain is measured with those of the moment.

Source: Nesme, Payan and Faure 2005, (1) and section 3.1.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ...runtime.arrays import Floats, Indices
from ...runtime.jit import kernel
from ...runtime.threads.thread_pool import run_ranges
from ...scene.formulation import FormulationSettings
from ..model import Model
from .deformation_gradient import corotated_strain_of, deformation_gradient_of, matrix_entries
from .element_rotations import TETS_PER_CHUNK, compute_rotations, has_own_rotations, has_present_gradients

NO_STRAIN = np.zeros((0, 6))  # in place of the strains of tets that all have that by the nearest rotation


def formulation_strain(model: Model, tets: slice, x: Floats) -> Floats:
    """Returns ε of the tets of one body as xx, yy, zz, xy, yz, zx, (k, 6), or `NO_STRAIN` where R is the nearest.

    Args:
        model: The bodies.
        tets: Of the body.
        x: Node positions [m], (n, 3).
    """
    for method, body in zip(model.methods, model.bodies, strict=False):
        if body.tets == tets and has_own_rotations(method):
            e = strain_and_rotation(method, x, model.tets[tets], model.Dm_inverse[tets])[0]
            zero_core_strain(model, np.arange(tets.start, tets.stop, dtype=np.int32), e)
            return e
    return NO_STRAIN


def zero_core_strain(model: Model, which: npt.NDArray[np.integer], e: Floats) -> None:
    """Takes the strain of tets of rigid cores to be none, also where the method takes a turn for strain.

    Args:
        model: The bodies.
        which: Some tets, (k,).
        e: Their strain, (k, 6), changed.
    """
    for core in model.cores:
        e[np.isin(which, core.tets)] = 0.0


def strain_and_rotation(
    method: FormulationSettings, x: Floats, tets: Indices, Dm_inverse: Floats
) -> tuple[Floats, Floats]:
    """Returns ε and R of tets as a method has them, (k, 6) and (k, 3, 3)."""
    frames, strain = np.empty((len(tets), 3, 3)), np.empty((len(tets), 6))
    compute_rotations(method, x, tets, Dm_inverse, frames)
    measure = present_strain_range if has_present_gradients(method) else corotated_strain_range
    run_ranges(
        0, len(tets), TETS_PER_CHUNK, lambda begin, end: measure(begin, end, frames, x, tets, Dm_inverse, strain)
    )
    return strain, frames


@kernel()
def corotated_strain_range(begin, end, frames, x, tets, Dm_inverse, strain):
    """Writes sym(RᵀF) − I of the tets from `begin` to `end`."""
    for tet in range(begin, end):
        e = strain[tet]
        F, R = deformation_gradient_of(x, tets[tet], Dm_inverse[tet]), matrix_entries(frames[tet])
        e[0], e[1], e[2], e[3], e[4], e[5] = corotated_strain_of(F, R)


@kernel()
def present_strain_range(begin, end, frames, x, tets, Dm_inverse, strain):
    """Writes J I − sym(adj(RᵀF)) of the tets from `begin` to `end`: adj(RᵀF) is (Rᵀ cof F)ᵀ."""
    for tet in range(begin, end):
        e, R = strain[tet], matrix_entries(frames[tet])
        a, b, c, d, f, g, h, i, k = deformation_gradient_of(x, tets[tet], Dm_inverse[tet])
        p, q, r = f * k - g * i, g * h - d * k, d * i - f * h
        s, t, u = c * i - b * k, a * k - c * h, b * h - a * i
        v, w, y = b * g - c * f, c * d - a * g, a * f - b * d
        xx, yy, zz, xy, yz, zx = corotated_strain_of((p, q, r, s, t, u, v, w, y), R)
        J = a * p + b * q + c * r
        e[0], e[1], e[2], e[3], e[4], e[5] = J - 1.0 - xx, J - 1.0 - yy, J - 1.0 - zz, -xy, -yz, -zx
