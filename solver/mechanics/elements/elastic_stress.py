# SPDX-License-Identifier: GPL-3.0-or-later
"""The elastic stress in every tet, and how large it is.

With the rotation R of F = Ds Dm⁻¹ and ε = sym(RᵀF) − I − ε0, or the R and the strain that the body's method has
(`formulation_strain.py`), the stress is R σ Rᵀ, σ = 2μ ε + λ tr(ε) I: force per area of the shape that the tet has at
rest by now, in the directions of space. A model of plastic or hot bodies has their present rest shapes and moduli, so
this is the elastic stress of those too. Tets that resist changes of their volume itself (`added_volume_penalty.py`)
have κ (J − 1 − tr ε0) I in place of κ tr(ε) I.

Source: Müller and Gross 2004, section 4.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from ...runtime.arrays import Floats, Indices
from ...runtime.jit import kernel
from ...scene.formulation import LINEAR, FormulationSettings
from ..model import Model
from .deformation_gradient import corotated_strain_of, deformation_gradient_of
from .element_rotations import has_own_rotations
from .formulation_strain import strain_and_rotation, zero_core_strain
from .nearest_rotation import nearest_rotation


def elastic_stress(model: Model, x: Floats, which: Indices | None = None) -> tuple[Floats, Floats]:
    """Returns the stress of every tet at node positions x [m], (n, 3), and its largest principal value.

    Args:
        model: The bodies; of a plastic or hot one the present model.
        x: Node positions [m].
        which: Only these k tets, (k,).

    Returns:
        Stress in space as xx, yy, zz, xy, yz, zx [Pa], (m, 6) or (k, 6), and its largest eigenvalue [Pa]: above zero
        where something is pulled.
    """
    of = slice(None) if which is None else which
    tets, strain, kappa = model.tets[of], model.initial_strain, model.pressure_modulus
    stress, largest = np.empty((len(tets), 6)), np.empty(len(tets))
    stress_of_tets(
        x,
        tets,
        model.Dm_inverse[of],
        model.mu[of],
        model.lam_by_strain[of],
        kappa[of] if len(kappa) else kappa,
        strain[of] if len(strain) else strain,
        stress,
        largest,
    )
    number = np.arange(model.tet_count, dtype=np.int64) if which is None else which
    for method, body in zip(model.methods, model.bodies, strict=False):
        if has_own_rotations(method):
            rows = np.flatnonzero((number >= body.tets.start) & (number < body.tets.stop))
            stress[rows], largest[rows] = _from_formulation_strain(model, method, number[rows], x)
    return stress, largest


def _from_formulation_strain(
    model: Model, method: FormulationSettings, which: npt.NDArray[np.integer], x: Floats
) -> tuple[Floats, Floats]:
    """Returns the same of some tets of a body with a strain of its own, (k, 6) and (k,)."""
    e, R = strain_and_rotation(method, x, model.tets[which], model.Dm_inverse[which])
    zero_core_strain(model, which, e)
    strain, kappa = model.initial_strain, model.pressure_modulus
    J0 = np.ones(len(which))
    if len(strain):
        e -= strain[which]
        J0 += strain[which, :3].sum(axis=1)
    pressure = model.lam_by_strain[which] * e[:, :3].sum(axis=1)
    if len(kappa):
        edges = x[model.tets[which, 1:]] - x[model.tets[which, :1]]
        pressure += kappa[which] * (np.linalg.det(edges) * np.linalg.det(model.Dm_inverse[which]) - J0)
    sigma = 2.0 * model.mu[which, None, None] * e[:, [[0, 3, 5], [3, 1, 4], [5, 4, 2]]]
    sigma += pressure[:, None, None] * np.eye(3)
    in_space = R @ sigma @ np.swapaxes(R, 1, 2)
    return in_space[:, [0, 1, 2, 0, 1, 2], [0, 1, 2, 1, 2, 0]], np.linalg.eigvalsh(sigma)[:, 2]


def principal_stresses(stress: Floats) -> tuple[Floats, Floats]:
    """Returns the principal stresses [Pa], (k, 3), rising, and their directions in space, (k, 3, 3), as columns.

    For the few tets that are looked at closely: `elastic_stress` gives the largest of all tets in less time.
    """
    return np.linalg.eigh(stress[:, [0, 3, 5, 3, 1, 4, 5, 4, 2]].reshape(-1, 3, 3))


def normal_at_rest(model: Model, x: Floats, which: Indices, normal: Floats) -> Floats:
    """Returns the unit normals, (k, 3), that planes across the tets `which`, (k,), have in rest coordinates.

    A plane with the normal n in space has Fᵀ n there; F is of the rest shape in `model.X`, plastic strain included.
    The stress of linear tets acts on planes at rest.
    """
    corners, rest = x[model.tets[which]], model.X[model.tets[which]]
    edges, rest_edges = corners[:, 1:] - corners[:, :1], rest[:, 1:] - rest[:, :1]
    at_rest = np.linalg.solve(rest_edges, np.einsum("kai,ki->ka", edges, normal)[:, :, None])[:, :, 0]
    for method, body in zip(model.methods, model.bodies, strict=False):
        if method.name == LINEAR:
            is_own = (which >= body.tets.start) & (which < body.tets.stop)
            at_rest[is_own] = normal[is_own]
    return at_rest / np.maximum(np.linalg.norm(at_rest, axis=1, keepdims=True), 1e-300)


def von_mises(stress: Floats) -> Floats:
    """Returns √(3/2 s:s) [Pa], (m,), of stresses (m, 6) with deviator s: one number for how hard a tet is sheared."""
    xx, yy, zz, xy, yz, zx = stress.T
    return np.sqrt(0.5 * ((xx - yy) ** 2 + (yy - zz) ** 2 + (zz - xx) ** 2) + 3.0 * (xy * xy + yz * yz + zx * zx))


@kernel()
def stress_of_tets(x, tets, Dm_inverse, mu, lam, kappa, initial_strain, stress, largest):
    """Writes what `elastic_stress` returns; `kappa` is (m,) or (0,) and `initial_strain` (m, 6) or (0, 6) for none."""
    for tet in range(len(tets)):
        F, s = deformation_gradient_of(x, tets[tet], Dm_inverse[tet]), stress[tet]
        A, B, C, D, E, G, P, Q, R = nearest_rotation(*F)
        exx, eyy, ezz, exy, eyz, ezx = corotated_strain_of(F, (A, B, C, D, E, G, P, Q, R))
        J0 = 1.0
        if len(initial_strain) > 0:
            o = initial_strain[tet]
            exx, eyy, ezz, exy, eyz, ezx = exx - o[0], eyy - o[1], ezz - o[2], exy - o[3], eyz - o[4], ezx - o[5]
            J0 += o[0] + o[1] + o[2]
        k, pressure = 2.0 * mu[tet], lam[tet] * (exx + eyy + ezz)
        if len(kappa) > 0:
            a, b, c, d, e, f, g, h, i = F
            pressure += kappa[tet] * (a * (e * i - f * h) + b * (f * g - d * i) + c * (d * h - e * g) - J0)
        xx, yy, zz, xy, yz, zx = k * exx + pressure, k * eyy + pressure, k * ezz + pressure, k * exy, k * eyz, k * ezx
        largest[tet] = largest_eigenvalue(xx, yy, zz, xy, yz, zx)
        # R σ, then (R σ) Rᵀ
        a, b, c = A * xx + B * xy + C * zx, A * xy + B * yy + C * yz, A * zx + B * yz + C * zz
        d, e, f = D * xx + E * xy + G * zx, D * xy + E * yy + G * yz, D * zx + E * yz + G * zz
        g, h, i = P * xx + Q * xy + R * zx, P * xy + Q * yy + R * yz, P * zx + Q * yz + R * zz
        s[0], s[1], s[2] = a * A + b * B + c * C, d * D + e * E + f * G, g * P + h * Q + i * R
        s[3], s[4], s[5] = a * D + b * E + c * G, d * P + e * Q + f * R, g * A + h * B + i * C


@kernel()
def largest_eigenvalue(xx, yy, zz, xy, yz, zx):
    """Returns the largest eigenvalue of a symmetric matrix, by the three cosines that solve its cubic."""
    middle = (xx + yy + zz) / 3.0
    u, v, w = xx - middle, yy - middle, zz - middle
    size = math.sqrt((u * u + v * v + w * w + 2.0 * (xy * xy + yz * yz + zx * zx)) / 6.0)
    if not size > 0.0:
        return middle
    half = 0.5 * (u * (v * w - yz * yz) - xy * (xy * w - yz * zx) + zx * (xy * yz - v * zx)) / (size * size * size)
    return middle + 2.0 * size * math.cos(math.acos(min(1.0, max(-1.0, half))) / 3.0)
