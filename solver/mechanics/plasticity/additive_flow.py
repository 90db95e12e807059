# SPDX-License-Identifier: GPL-3.0-or-later
"""Plastic flow as Müller and Gross 2004 have it: a plastic strain that is subtracted from the strain.

    ε_elastic = sym(RᵀF) − I − ε_plastic;  if ‖ε_elastic‖ > c_yield: ε_plastic += Δt c_creep ε_elastic;
    if ‖ε_plastic‖ > c_max: ε_plastic *= c_max / ‖ε_plastic‖

‖·‖ is that of the vector of six with shear angles, ε_xx, ε_yy, ε_zz, 2 ε_xy, 2 ε_yz, 2 ε_zx. It changes forces only:
the stiffness of the step stays what it was. It does not keep volume where the plastic strain is large.

Source: Müller and Gross 2004, section 3.
"""

from __future__ import annotations

import math

from ...runtime.jit import kernel
from ..elements.deformation_gradient import corotated_strain_of, deformation_gradient_of, unpack_six
from ..elements.nearest_rotation import nearest_rotation


@kernel()
def flow_additive(
    first, x, tets, Dm_inverse, initial_strain, own_strain, dt, yield_strain, rate, maximum, plastic_strain
):
    """Lets the tets from number `first` on flow for Δt = `dt` [s]: one for each of `yield_strain`.

    Args:
        first: Number of the first tet in the model.
        x: Node positions at the end of the step [m], (n, 3).
        tets: Of the model, (m, 4).
        Dm_inverse, initial_strain: Of the model as it was built, (m, 3, 3) and (m, 6) or (0, 6).
        own_strain: The strain as the method of the body measures it, (k, 6), or (0, 6): by the nearest rotation.
        dt: Δt [s].
        yield_strain, rate, maximum: c_yield, c_creep [1/s], which acts as 1 / Δt at most, and c_max, (k,) each.
        plastic_strain: ε_plastic as xx, yy, zz, xy, yz, zx of the tensor, (m, 6), in and out.
    """
    for k in range(len(yield_strain)):
        tet = first + k
        if len(own_strain) > 0:
            xx, yy, zz, xy, yz, zx = unpack_six(own_strain[k])
        else:
            F = deformation_gradient_of(x, tets[tet], Dm_inverse[tet])
            xx, yy, zz, xy, yz, zx = corotated_strain_of(F, nearest_rotation(*F))
        p = plastic_strain[tet]
        xx, yy, zz, xy, yz, zx = xx - p[0], yy - p[1], zz - p[2], xy - p[3], yz - p[4], zx - p[5]
        if len(initial_strain) > 0:
            o = initial_strain[tet]
            xx, yy, zz, xy, yz, zx = xx - o[0], yy - o[1], zz - o[2], xy - o[3], yz - o[4], zx - o[5]
        if not voigt_norm(xx, yy, zz, xy, yz, zx) > yield_strain[k]:
            continue
        share = min(dt * rate[k], 1.0)
        xx, yy, zz = p[0] + share * xx, p[1] + share * yy, p[2] + share * zz
        xy, yz, zx = p[3] + share * xy, p[4] + share * yz, p[5] + share * zx
        norm = voigt_norm(xx, yy, zz, xy, yz, zx)
        scale = maximum[k] / norm if norm > maximum[k] else 1.0
        p[0], p[1], p[2], p[3], p[4], p[5] = scale * xx, scale * yy, scale * zz, scale * xy, scale * yz, scale * zx


@kernel(device_only=True)
def voigt_norm(xx, yy, zz, xy, yz, zx):
    """Returns the norm of a strain as a vector of six with shear angles."""
    return math.sqrt(xx * xx + yy * yy + zz * zz + 4.0 * (xy * xy + yz * yz + zx * zx))
