# SPDX-License-Identifier: GPL-3.0-or-later
"""What materials make of a model: moduli, masses and damping of bodies, from their values and from what is painted.

    E = E0 · p_E,   ν = min(ν0 · p_ν, max(ν0, 0.49)),   ρ = ρ0 · p_ρ,   α = α0 · p_α,   β = β0 · p_β

with factors p per tet. The mass damping of a node is the mean of its tets', weighted with what they add to its mass,
m α = Σ ¼ ρ V α: so its force is the sum of theirs.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from ..mesh.tet_mesh import TetMesh
from ..mesh.tet_paint_values import extrapolate_to_tets
from ..runtime.arrays import Floats
from ..scene.scene import Body
from .elastic_moduli import lame_moduli
from .model import Model

MIN_PAINT_FACTOR = 0.01  # of what is not painted: without any stiffness or mass nothing says where nodes are
MAX_PAINTED_POISSON_RATIO = 0.49  # as far as paint above 1 raises it; what the body itself has stays


@dataclass(frozen=True, eq=False)
class PaintFactors:
    """What is painted on a body, per tet, (k,) each; see `MaterialPaint`."""

    youngs_modulus: Floats
    poisson_ratio: Floats
    density: Floats
    mass_damping: Floats
    stiffness_damping: Floats


def paint_factors(body: Body, mesh: TetMesh) -> PaintFactors:
    """Returns what is painted on a body with these tets; 1 where nothing is."""
    paint = body.material_paint
    stiffness, volume, density, mass_damping, damping = extrapolate_to_tets(
        body,
        mesh,
        paint.youngs_modulus,
        paint.poisson_ratio,
        paint.density,
        paint.mass_damping,
        paint.stiffness_damping,
    )
    return PaintFactors(
        np.maximum(stiffness, MIN_PAINT_FACTOR),
        np.maximum(volume, 0.0),
        np.maximum(density, MIN_PAINT_FACTOR),
        np.maximum(mass_damping, 0.0),
        np.maximum(damping, 0.0),
    )


def with_materials(model: Model, bodies: Mapping[int, Body], paint: Mapping[int, PaintFactors]) -> Model:
    """Returns the model with the materials of some bodies, without a pressure of theirs.

    Args:
        model: All bodies; its volumes are those that they were built with.
        bodies: Whose materials are taken, by their numbers in the model.
        paint: What is painted on each of them.
    """
    if not bodies:
        return model
    names = ("mu", "lam", "density", "stiffness_damping", "mass", "mass_damping")
    made = {name: getattr(model, name).copy() for name in names}
    for number, body in bodies.items():
        nodes, tets = model.bodies[number].nodes, model.bodies[number].tets
        material, factors = body.material, paint[number]
        nu = material.poisson_ratio
        E = material.youngs_modulus / body.simulated_scale**2 * factors.youngs_modulus
        made["mu"][tets], made["lam"][tets] = lame_moduli(
            E, np.minimum(nu * factors.poisson_ratio, max(nu, MAX_PAINTED_POISSON_RATIO))
        )
        made["density"][tets] = density = material.density * factors.density
        made["stiffness_damping"][tets] = material.stiffness_damping * factors.stiffness_damping
        share = 0.25 * density * model.volume[tets]
        made["mass"][nodes] = mass = _sums_at_nodes(model, number, share)
        alpha = material.mass_damping * factors.mass_damping
        is_even = bool((alpha == alpha[0]).all())
        made["mass_damping"][nodes] = alpha[0] if is_even else _sums_at_nodes(model, number, share * alpha) / mass
    return replace(model, **made)


def _sums_at_nodes(model: Model, number: int, values: Floats) -> Floats:
    """Returns for the nodes of a body the sum of what its tets give to each of their corners, (n,)."""
    nodes, tets = model.bodies[number].nodes, model.bodies[number].tets
    corners = model.tets[tets].ravel() - nodes.start
    sums = np.bincount(corners, np.repeat(values, 4), minlength=nodes.stop - nodes.start)
    return np.asarray(sums, np.float64)
